// Goal: everybody sees the newest state of all who are here, and of nobody else.
// Method: whole sessions in virtual time; events as an editor takes them.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../sim/src/session-world.ts'
import { type Awareness, type AwarenessChange, yDoc } from './index.ts'

const Notes = yDoc('notes')
const office = { game: 'office', types: [Notes] }

async function room(seed: number, count: number, conditions = 'rtt=40,loss=3%') {
  const w = world({ seed, conditions })
  const all: Session[] = []
  for (let i = 0; i < count; i++) all.push(await w.join({ ...office, name: `P${i}` }))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  return { w, all, at: all.map((session) => session.part(Notes).awareness) }
}

/** The names in all states that a member has, sorted. */
function names(awareness: Awareness): string[] {
  const all = [...awareness.getStates().values()]
  return all.map(({ name }) => String(name)).toSorted()
}

async function named(w: SessionWorld, at: readonly Awareness[]): Promise<void> {
  for (const [i, one] of at.entries()) one.setLocalStateField('name', `n${i}`)
  await w.run(1_000)
}

describe('awareness', () => {
  test('is seen by all, by newcomers too, and goes with its member', async () => {
    const { w, all, at } = await room(1, 3)
    await named(w, at)
    for (const one of at) expect(names(one)).toEqual(['n0', 'n1', 'n2'])
    const late = await w.join({ ...office, name: 'Late' })
    await w.run(1_000)
    expect(names(late.part(Notes).awareness)).toEqual(['n0', 'n1', 'n2', 'undefined'])
    w.kill(all[0]!)
    await w.run(10_000)
    for (const one of at.slice(1)) expect(names(one)).toEqual(['n1', 'n2', 'undefined'])
    void all[1]!.leave()
    await w.run(5_000)
    expect(names(at[2]!)).toEqual(['n2', 'undefined'])
    // What was left sees nobody else.
    expect(names(at[1]!)).toEqual(['n1'])
    expect(w.reported).toEqual([])
  })

  test('has the newest state after a takeover, however fast it changed', async () => {
    const { w, all, at } = await room(2, 4)
    await named(w, at)
    for (let i = 0; i < 100; i++) {
      at[3]!.setLocalStateField('cursor', { at: i })
      if (i === 50) w.kill(all[0]!)
      if (i === 70) all[1]!.handOver()
      await w.run(5)
    }
    await w.run(3_000)
    for (const one of at.slice(1)) {
      expect(one.getStates().get(at[3]!.clientID)).toEqual({ name: 'n3', cursor: { at: 99 } })
    }
  })

  test('tells editors what was added, updated and removed, and who did it', async () => {
    const { w, at } = await room(3, 2, 'rtt=40')
    await w.run(500)
    const events: unknown[] = []
    const [one, two] = at as [Awareness, Awareness]
    const listen = (kind: string) => (change: AwarenessChange, origin: unknown) => {
      events.push([kind, change, origin === 'local' ? origin : 'other'])
    }
    const onChange = listen('change')
    one.on('change', onChange)
    one.once('update', listen('update'))
    const id = two.clientID
    two.setLocalStateField('name', 'two')
    await w.run(500)
    two.setLocalStateField('name', 'two')
    await w.run(500)
    two.setLocalState(null)
    await w.run(500)
    one.off('change', onChange)
    two.setLocalState({})
    await w.run(500)
    expect(events).toEqual([
      ['change', { added: [], updated: [id], removed: [] }, 'other'],
      ['update', { added: [], updated: [id], removed: [] }, 'other'],
      ['change', { added: [], updated: [], removed: [id] }, 'other'],
    ])
    expect(one.getStates().has(id)).toBe(true)
    one.destroy()
    await w.run(500)
    expect([one.getLocalState(), two.getStates().size]).toEqual([null, 1])
  })

  test('is sent again now and then, for a message may be lost with a link', async () => {
    const { w, at } = await room(6, 2, 'rtt=40')
    await named(w, at)
    const events: string[] = []
    for (const kind of ['update', 'change']) at[0]!.on(kind, () => events.push(kind))
    await w.run(65_000)
    expect(events).toEqual(['update', 'update'])
  })

  test('refuses states that are too large or no JSON, by name', async () => {
    const { at } = await room(4, 2)
    expect(() => at[0]!.setLocalStateField('name', 'x'.repeat(9_000))).toThrow(
      'the awareness of the document "notes" has at most 8128 bytes: 9011',
    )
    expect(() => at[0]!.setLocalStateField('n', 1n)).toThrow(
      'the awareness of the document "notes"',
    )
    expect(at[0]!.getLocalState()).toEqual({})
  })

  test('sends the newest of many states, not each of them', async () => {
    const { w, all, at } = await room(5, 2, 'rtt=40')
    await w.run(500)
    const before = all[1]!.debug.figures().bytesPerSecond
    for (let i = 0; i < 1_000; i++) {
      at[1]!.setLocalStateField('cursor', { at: i, pad: 'x'.repeat(200) })
      await w.run(1)
    }
    await w.run(200)
    expect(at[0]!.getStates().get(at[1]!.clientID)).toMatchObject({ cursor: { at: 999 } })
    expect(all[1]!.debug.figures().bytesPerSecond.out - before.out).toBeLessThan(12_000)
  })
})
