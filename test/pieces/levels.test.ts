// Goal: levels stay a total order that is short, however often pieces are raised or put between
// two others; lots are fair, and none is drawn twice.
// Method: very many operations on few pieces, by the shipped primary.
import { describe, expect, test } from 'vitest'
import { HoldfastError, piece, secret, u8 } from '../../packages/holdfast/src/index.ts'
import { readLevel, respaceLevels } from '../../packages/holdfast/src/pieces/protocol/levels.ts'
import { draw } from '../../packages/holdfast/src/pieces/protocol/drafts.ts'
import { isLost } from '../../packages/holdfast/src/pieces/protocol/state.ts'
import {
  above,
  between,
  byLevel,
  draft,
  type Row,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { createReader } from '../../packages/holdfast/src/wire/bytes.ts'
import { act, follow, room } from './room.ts'

/** Bytes of a level that may stay. */
const LEVEL_LONG = 24

const types = [piece('chip', { worth: u8 }).rules]
const PIECES = 12

function sorted(rows: Iterable<Row>): Row[] {
  return [...rows].sort(byLevel)
}

function isTotal(rows: readonly Row[]): boolean {
  return rows.every((row, i) => i === 0 || byLevel(rows[i - 1]!, row) < 0)
}

describe('levels', () => {
  test('O38: after 10,000 raises they are in order, and short', () => {
    const all = room(types, 1, PIECES)
    const [ada] = all.seats as [(typeof all.seats)[0]]
    let longest = 0
    for (let i = 0; i < 10_000; i++) {
      const id = 1 + (i % PIECES)
      const z = above(ada.state.published.values())
      expect(act(all, ada, id, { z }).kind).toBe('recorded')
      longest = Math.max(longest, z.length)
    }
    const rows = sorted(all.primary.state.committed.rows.values())
    expect(isTotal(rows)).toBe(true)
    expect(longest).toBeLessThan(10)
    expect(rows.at(-1)!.id).toBe(1 + (9_999 % PIECES))
  })

  test('O38: after 10,000 moves into one gap they are in order, and short: what is long is spaced anew', () => {
    const all = room(types, 2, PIECES)
    const [ada, bob] = all.seats as [(typeof all.seats)[0], (typeof all.seats)[0]]
    let [longest, clamped] = [0, 0]
    for (let i = 0; i < 10_000; i++) {
      // The lowest goes to just under the highest, so the gap gets narrower all the time.
      const rows = sorted(ada.state.published.values())
      const [lowest, under, top] = [rows[0]!, rows.at(-2)!, rows.at(-1)!]
      const z = between(under.z, top.z)
      const outcome = act(all, i % 2 ? ada : bob, lowest.id, { z })
      if (outcome.kind === 'clamped') clamped++
      else expect(outcome.kind).toBe('recorded')
      const now = sorted(ada.state.published.values())
      expect(now.at(-2)!.id).toBe(lowest.id)
      longest = Math.max(longest, ...now.map((row) => row.z.length))
    }
    expect(isTotal(sorted(all.primary.state.committed.rows.values()))).toBe(true)
    expect(longest).toBeLessThanOrEqual(LEVEL_LONG)
    expect(clamped).toBeGreaterThan(10)
    expect(sorted(bob.state.published.values())).toEqual(
      sorted(all.primary.state.committed.rows.values()),
    )
  })

  test('O38: what is spaced anew is short, and stays between those that do not crowd (PR-2)', () => {
    const all = room(types, 1, 4)
    const rows = [...all.primary.state.committed.rows.values()]
    const tail = 'V'.repeat(LEVEL_LONG)
    for (const [i, z] of ['a0', `a0${tail}`, `a0${tail}V`, 'a1'].entries()) rows[i]!.z = z
    const levels = respaceLevels(rows, rows[2]!, 10)
    expect([...levels.keys()]).toEqual([rows[1]!.id, rows[2]!.id])
    const order = ['a0', ...levels.values(), 'a1']
    expect(order).toEqual([...new Set(order)].toSorted())
    expect(Math.max(...order.map(({ length }) => length))).toBeLessThan(6)
  })

  test('O38: of one alone that is too long the new one is short (PR-2)', () => {
    const all = room(types, 1, 1)
    const crowded = {
      ...all.primary.state.committed.rows.get(1)!,
      z: `a0${'V'.repeat(LEVEL_LONG)}`,
    }
    expect(respaceLevels([crowded], crowded, 9)).toEqual(new Map([[1, 'a0']]))
  })

  test('a session has 1,000 pieces; one more is refused, with the number (PR-2)', () => {
    const all = room(types, 1, 999)
    const opened = draft(all.primary.state, types, all.part.channel, 0)
    const create = (): unknown => opened.api.create(0, 0, [], 'b0')
    expect(create).not.toThrow()
    expect(create).toThrow('a session has 1000 pieces at most: 1000')
  })

  test('O34: one that says to be longer than what is left, or than a level may be, is none (PR-2)', () => {
    const [two, long] = ['a0', `z${'z'.repeat(63)}`].map((text) => new TextEncoder().encode(text))
    const read = (...parts: readonly (number | Uint8Array)[]): [level: string, failed: boolean] => {
      const bytes = Uint8Array.from(
        parts.flatMap((part) => (part instanceof Uint8Array ? [...part] : part)),
      )
      // What stands behind the reader's end is not its own.
      const reader = createReader(bytes, 0, bytes.length - 1)
      return [readLevel(reader), reader.failed]
    }
    expect(read(2, two!, 86)).toEqual(['a0', false])
    expect(read(3, two!, 86)).toEqual(['', true])
    expect(read(64, long!, 86)).toEqual([new TextDecoder().decode(long), false])
    expect(read(65, long!, 86, 86)).toEqual(['', true])
    // 256, of which the second byte is 2: not a level of two letters, and anything behind it.
    expect(read(128, 2, two!, new Uint8Array(255).fill(48))).toEqual(['', true])
  })

  test('O37: of two with the same level the newer lies above, for all', () => {
    const all = room(types, 2, 3)
    const [ada, bob] = all.seats as [(typeof all.seats)[0], (typeof all.seats)[0]]
    const z = above(ada.state.published.values())
    act(all, ada, 2, { z })
    act(all, bob, 1, { z })
    for (const { state } of all.seats) {
      expect(sorted(state.published.values()).map(({ id }) => id)).toEqual([3, 2, 1])
    }
    // Nothing lies between two that are equal: who wants to be there is above both.
    expect(() => between(z, z)).not.toThrow()
    expect(between(z, z)).toBe(z)
    act(all, ada, 3, { z: between(z, z) })
    expect(sorted(bob.state.published.values()).map(({ id }) => id)).toEqual([2, 1, 3])
  })
})

describe('lots', () => {
  test('are fair', () => {
    const counts = [0, 0, 0, 0, 0, 0]
    for (let i = 0; i < 12_000; i++) counts[draw(Uint8Array.of(5), 1, i, 6)]!++
    // Chi-square with five degrees of freedom is below 20.5 in 999 of 1,000 cases.
    const off = counts.reduce((sum, count) => sum + (count - 2_000) ** 2 / 2_000, 0)
    expect(off).toBeLessThan(20.5)
  })

  test('O58: are not repeated by who takes over, nor by who recovers the session', () => {
    const all = room(types, 1, 1)
    const [ada] = all.seats as [(typeof all.seats)[0]]
    const take = (count: number): string => {
      const opened = draft(all.primary.state, types, 7, 0)
      const drawn = Array.from({ length: count }, () => opened.api.draw(2 ** 31))
      for (const change of opened.done().changes) all.part.apply!(all.primary.state, change)
      return drawn.join()
    }
    const seen = [take(8), take(8)]
    // Ada stood by once, and has the seed and an old count.
    all.part.restore!(ada.state, all.part.snapshot!(all.primary.state))
    seen.push(take(8))
    for (const epoch of [2, 3]) {
      follow(all, all.primary, 100, 100, epoch)
      all.primary.state.committed.seed = ada.state.committed.seed
      all.part.restore!(all.primary.state, all.part.published!(ada.state))
      seen.push(take(8), take(8))
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(new Set(seen.join().split(',')).size).toBe(seen.length * 8)
  })

  test('what an action drew and did not keep is drawn again, so nobody can choose', () => {
    const all = room(types, 1, 1)
    const first = draft(all.primary.state, types, 7, 0).api.draw(1_000_000)
    expect(draft(all.primary.state, types, 7, 0).api.draw(1_000_000)).toBe(first)
    expect(() => draft(all.primary.state, types, 7, 0).api.draw(0)).toThrow(HoldfastError)
  })
})

test('O58: a generation is lost that was never given, or that a recovery left out (PR-2)', () => {
  const fork = { after: 10, until: 20 }
  const lost = [5, 10, 11, 19, 20, 30, 31].map((gen) => isLost(gen, 30, [fork]))
  expect(lost).toEqual([false, false, true, true, false, false, true])
  expect(isLost(31, 30, [])).toBe(true)
})

test('O37: a level that comes with what the server adds is as new as that (PR-2)', () => {
  const Card = piece('card', { face: secret(u8, (card, who) => card.heldBy === who) })
  const all = room([Card.rules], 1, 2)
  const [ada] = all.seats as [(typeof all.seats)[0]]
  const { rows } = all.primary.state.committed
  const before = rows.get(1)!.zg
  const z = above(rows.values())
  expect(act(all, ada, 1, { hold: 'grab', z }, true).kind).toBe('clamped')
  expect(rows.get(1)!).toMatchObject({ z, zg: rows.get(1)!.gen })
  expect(rows.get(1)!.zg).toBeGreaterThan(before)
})
