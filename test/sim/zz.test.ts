import { test } from 'vitest'
import { draw } from '../../src/proof/seeds.ts'
import { run } from '../../src/proof/trial.ts'
test('x', async () => {
  for (const s of [439]) {
    await run(draw(s))
    for (const l of (globalThis as any).LIVES ?? []) {
      const m = l.session?.member
      if (!m || !l.node.alive()) continue
      const o = m.slots[0].state
      console.log(
        '|',
        s,
        l.name,
        m.session.me,
        'prim',
        o.primary,
        [...o.replicas.values()].map((r: any) => `${r.id}#${r.oseq}${r.dead ? 'x' : ''}`).join(' '),
        'early',
        [...o.early].map(
          ([k, v]: any) => k + ':' + [...v.values()].map((r: any) => `${r.id}#${r.oseq}`),
        ),
        'sights',
        [...o.sights]
          .map(
            ([k, v]: any) =>
              `${k} todo[${[...v.todo]}] acked[${[...v.acked].map((a: any) => a.join('#'))}] carried ${v.carried.size}`,
          )
          .join(' ; '),
        JSON.stringify(o.counters),
      )
    }
  }
})
