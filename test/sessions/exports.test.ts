// Goal: who waits for the room as a file has it, or a sentence: whoever serves may be silent, may
// send what is no room, or be gone.
// Method: the shipped waiting, with a runner by hand.
import { describe, expect, test } from 'vitest'
import { Exports } from '../../packages/holdfast/src/join/saved-file.ts'
import type { MemberLoop } from '../../packages/holdfast/src/runtime/member-loop.ts'

/** A runner that serves nothing, and counts what is asked. */
class Hand {
  now = 0
  asked = 0
  due = Infinity
  #ring: () => void = () => {}
  readonly runner: MemberLoop = {
    loop: {
      now: () => this.now,
      alarm: (run: () => void) => {
        this.#ring = run
        return { set: (at: number) => (this.due = at), cancel: () => (this.due = Infinity) }
      },
    },
    // Whether the whole room is here is asked without the time.
    do: (verb: (...given: unknown[]) => unknown) => {
      if (verb.length === 2 && !String(verb).includes('holds')) this.asked++
      return undefined
    },
  } as unknown as MemberLoop

  /** Time passes until the alarm. */
  ring(): void {
    this.now = this.due
    this.#ring()
  }
}

async function waiting(): Promise<{ hand: Hand; all: Exports; file: Promise<unknown> }> {
  const hand = new Hand()
  const all = new Exports()
  const file = all.make(hand.runner).catch((error: unknown) => error)
  await Promise.resolve()
  return { hand, all, file }
}

describe('who waits for a file', () => {
  test('asks again every two seconds, and gives up after half a minute', async () => {
    const { hand, file } = await waiting()
    const first = hand.asked
    while (hand.due < Infinity) hand.ring()
    expect([first, hand.asked, hand.now]).toEqual([1, 15, 30_000])
    expect(await file).toMatchObject({
      code: 'timeout',
      message: 'cannot export: whoever serves does not answer',
    })
  })

  test('is patient while pieces come', async () => {
    const { hand, all } = await waiting()
    hand.now = 1_500
    all.came({ kind: 'file', bytes: null }, hand.runner)
    expect([hand.due, hand.asked]).toEqual([3_500, 1])
  })

  test('is told that what came is no room', async () => {
    const { hand, all, file } = await waiting()
    all.came({ kind: 'file', bytes: Uint8Array.of(1, 2, 3) }, hand.runner)
    expect([await file, hand.due]).toMatchObject([{ code: 'store' }, Infinity])
    // What comes late is nobody's.
    all.came({ kind: 'file', bytes: null }, hand.runner)
    expect(hand.due).toBe(Infinity)
  })

  test.each(['forbidden', 'full', 'not-ready'] as const)('is told %s', async (code) => {
    const { hand, all, file } = await waiting()
    all.came({ kind: 'file', unsaved: { code, why: 'so' } }, hand.runner)
    expect(await file).toMatchObject({ code, message: 'cannot export: so' })
  })

  test('is told that the session is over, and nobody waits any more', async () => {
    const { hand, all, file } = await waiting()
    all.end('the session ended')
    expect(await file).toMatchObject({ code: 'left' })
    const again = all.make(hand.runner).catch((error: unknown) => error)
    await Promise.resolve()
    expect(hand.due).toBe(hand.now + 2_000)
    all.end('over')
    await again
  })
})
