// Goal: a room is laid aside by whom it was asked for, once they could not read it, and by nobody
// else, nor later; a session that one was named the primary of, and did not begin, is left.
// Method: a member by hand.
import { describe, expect, test } from 'vitest'
import { SPENT, type ToHub, UNREADABLE } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Saved } from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import { Bare, SESSION } from './bare.ts'

type Asked<Kind> = (ToHub & { kind: Kind })[]

/** What it asked of that kind. */
function asked<Kind extends ToHub['kind']>({ asked: all }: Bare, kind: Kind): Asked<Kind> {
  return all.filter((one): one is ToHub & { kind: Kind } => one.kind === kind)
}

/** Somebody who was named the primary of a room, and gets bytes that are no room. */
function named(fresh: boolean): Bare {
  const bare = new Bare({ fresh })
  bare.opens()
  bare.added(true, { opened: { inc: 3, time: 0, segments: 1, imported: false } }, 3)
  bare.hears({ kind: 'segment', session: SESSION, piece: 0, of: 1, bytes: Uint8Array.of(1) })
  return bare
}

const freshly = (bare: Bare): boolean[] => asked(bare, 'add').map(({ fresh }) => fresh)

describe('who cannot read a room', () => {
  test('leaves it at once, and fails', () => {
    const bare = named(false)
    expect(asked(bare, 'change')).toMatchObject([
      { session: SESSION, inc: 3, expect: 1, primary: 0, backup: 0, why: 'end' },
    ])
    expect(bare.events.at(-1)).toMatchObject({ kind: 'failed', code: 'store' })
    expect(freshly(bare)).toEqual([false])
  })

  test('and wants it anew asks for that, and is told where the old one is', () => {
    const bare = named(true)
    expect(freshly(bare)).toEqual([false, true])
    bare.added(true)
    const aside = bare.events.find(({ kind }) => kind === 'aside')
    expect(aside).toMatchObject({ as: `r~${SESSION}`, why: UNREADABLE })
  })

  test('asks no more for that once it has found somebody there', () => {
    const bare = named(true)
    bare.added(false, {}, 1)
    expect(bare.events.some(({ kind }) => kind === 'aside')).toBe(false)
    // Whoever it asked to let it in is silent, so it looks again.
    bare.closes()
    bare.opens()
    expect(freshly(bare).at(-1)).toBe(false)
  })

  test('of a saved room that is to begin there asks for nothing else', () => {
    const saved = {} as Saved
    const bare = new Bare({ fresh: true, saved })
    bare.opens()
    bare.hears({ kind: 'refused', request: 1, why: UNREADABLE })
    bare.wake(10_000)
    expect(freshly(bare)).toEqual([false, false])
  })

  test('whose numbers are spent begins anew, or is told so at once', () => {
    const told = new Bare()
    told.opens()
    told.hears({ kind: 'refused', request: 1, why: SPENT })
    expect(told.events.at(-1)).toMatchObject({ kind: 'failed', code: 'full', why: SPENT })
    const bare = new Bare({ fresh: true })
    bare.opens()
    bare.hears({ kind: 'refused', request: 1, why: SPENT })
    bare.wake(10_000)
    expect(freshly(bare)).toEqual([false, true])
  })

  test('looks anew when the stream to the hub broke meanwhile', () => {
    const bare = named(true)
    bare.closes()
    bare.opens()
    expect(freshly(bare)).toEqual([false, true, false])
  })

  test.each([
    [true, [false, true]],
    [false, [false, false]],
  ])('as the hub could not either asks for it anew if it wants that (%s)', (fresh, all) => {
    const bare = new Bare({ fresh })
    bare.opens()
    bare.hears({ kind: 'refused', request: 1, why: UNREADABLE })
    bare.wake(10_000)
    expect(freshly(bare)).toEqual(all)
    bare.added(true)
    const aside = bare.events.find(({ kind }) => kind === 'aside')
    expect(aside).toEqual(fresh ? { kind: 'aside', as: '', why: UNREADABLE } : undefined)
  })
})

test('a segment of another session, or for which nobody waits, is nothing (PR-2)', () => {
  const segment = (bare: Bare, session: string): void => {
    bare.hears({ kind: 'segment', session, piece: 0, of: 1, bytes: Uint8Array.of(1) })
  }
  const bare = new Bare({})
  bare.opens()
  segment(bare, SESSION)
  bare.added(true, { opened: { inc: 3, time: 0, segments: 1, imported: false } }, 3)
  const before = bare.events.length
  segment(bare, 'another')
  expect([bare.events.length - before, bare.run.member.opening?.incoming.bytes]).toEqual([0, 0])
  segment(bare, SESSION)
  expect(bare.events.at(-1)).toMatchObject({ kind: 'failed', code: 'store' })
})
