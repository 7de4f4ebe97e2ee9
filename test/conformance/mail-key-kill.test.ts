// Goal: whenever a mailbox dies while keys are replaced, the two know each other by their newest
// keys in the end, and each letter took effect once and in order meanwhile.
// Method: SIGKILL at random moments of two processes that write and replace their keys; real files.
// Slow: each of twenty kills starts a process anew.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle } from './bundle.ts'
import type { FromKeyLife, KeyBooks } from './mail-key-life.ts'
import { dice } from './until.ts'
import { freePort } from './free-port.ts'
import { spin } from './spin.ts'

const KILLS = 20
const IDS = ['a', 'b'] as const
type Id = (typeof IDS)[number]

/** A process, and what it has told. */
class Life {
  readonly child: ChildProcess
  replaced = 0

  constructor(script: string, words: string[]) {
    this.child = fork(script, words, { execArgv: [] })
    this.child.on('message', ({ kind }: FromKeyLife) => {
      if (kind === 'replaced') this.replaced++
    })
  }

  /** Its next message of that kind. */
  hears(kind: FromKeyLife['kind']): Promise<FromKeyLife> {
    return new Promise((resolve) => {
      const listen = (message: FromKeyLife): void => {
        if (message.kind !== kind) return
        this.child.off('message', listen)
        resolve(message)
      }
      this.child.on('message', listen)
    })
  }

  async books(): Promise<KeyBooks> {
    const told = this.hears('books')
    this.child.send({})
    const message = await told
    return (message as FromKeyLife & { kind: 'books' }).books
  }

  async kill(): Promise<void> {
    const gone = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await gone
  }
}

/** Waits until all is through, or never will be. @returns what both have then */
async function settled(lives: ReadonlyMap<Id, Life>): Promise<[a: KeyBooks, b: KeyBooks]> {
  for (;;) {
    const both = await Promise.all(IDS.map((id) => lives.get(id)!.books()))
    const [a, b] = both as [KeyBooks, KeyBooks]
    const isThrough = a.waiting + b.waiting === 0 && a.knows === b.key && b.knows === a.key
    if (isThrough || a.wrong.length + b.wrong.length > 0) return [a, b]
  }
}

test(`S31: ${KILLS} kills while keys are replaced: the newest are known, each letter came once (MB-21)`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-key-kill-'))
  const script = await bundle('test/conformance/mail-key-life.ts', join(folder, 'life'))
  const [port, random] = [String(await freePort()), dice(11)]
  const lives = new Map<Id, Life>()
  const live = async (id: Id): Promise<void> => {
    const life = new Life(script, [id, join(folder, `${id}.db`), port])
    lives.set(id, life)
    await life.hears('open')
  }
  let replaced = 0
  try {
    for (const id of IDS) await live(id)
    for (let kills = 0; kills < KILLS; kills++) {
      const id = IDS[random.below(2)]!
      const other = id === 'a' ? 'b' : 'a'
      // In its own change, in one of the other that it takes, or at any moment.
      const moments = [
        [id, 'replacing'] as const,
        [other, 'replaced'] as const,
        [id, 'took'] as const,
      ]
      const [whose, kind] = moments[random.below(3)]!
      for (let times = random.below(3); times >= 0; times--) await lives.get(whose)!.hears(kind)
      spin(3 * random.next())
      replaced += lives.get(id)!.replaced
      await lives.get(id)!.kill()
      await live(id)
    }
    const [a, b] = await settled(lives)
    expect([a.wrong, b.wrong, a.took, b.took]).toEqual([[], [], b.sent, a.sent])
    expect(replaced).toBeGreaterThan(KILLS / 2)
  } finally {
    await Promise.all([...lives.values()].map((life) => life.kill()))
    rmSync(folder, { recursive: true })
  }
}, 300_000)
