// Goal: what a member says in a part of another author's reaches whom it is for, once, and no
// stranger; more than a second allows is not passed on.
// Method: the part by itself, bytes in and out.
import { calmPart } from '../calmly.ts'
import { describe, expect, test } from 'vitest'
import {
  create,
  type Custom,
  customMessage,
  customPart,
  type CustomEvent,
  sendMessage,
} from '../../packages/holdfast/src/custom/protocol/custom.ts'
import type { PartOut } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'

const author = {
  create: () => [],
  perform: () => ({ kind: 'refused', reason: '' }) as const,
  apply: () => {},
  snapshot: () => new Uint8Array(0),
  restore: () => [],
}
const part = calmPart(customPart(64, author))
const HELLO = Uint8Array.of(7)

/** Member `me` of three, of which 1 serves; links that are named here are down. */
function member(me: number, { mesh = false, down = [] as number[] } = {}) {
  const state = create(author)
  const sent: string[] = []
  const heard: string[] = []
  const out: PartOut = {
    send: (to, bytes) => {
      const message = decode(customMessage, bytes)!
      const whom = message.kind === 'say' ? ` for ${message.to}` : ''
      sent.push(`${to}: ${message.kind}${whom}`)
      return down.includes(to) ? 0 : 1
    },
    emit: (event) => {
      const { kind, ...more } = event as CustomEvent
      heard.push('from' in more ? `${kind} from ${more.from}` : kind)
    },
  }
  const members = [1, 2, 3].map((inc) => ({ inc, player: inc }))
  const view = { session: 's', me, primary: 1, epoch: 1, mesh, members, left: false }
  part.view!(state, 0, view, out)
  const says = (to: number, bytes: Uint8Array = HELLO, now = 0) =>
    sendMessage(state, now, to, bytes, out)
  return { state, sent, heard, out, says, view }
}

describe('what a member says', () => {
  test('goes by way of who serves in a star, and directly in a mesh (PR-2)', () => {
    const star = member(2)
    expect([star.says(3), star.says(0), star.says(1)]).toEqual([true, true, true])
    expect(star.sent).toEqual(['1: say for 3', '1: say for 0', '1: say for 1'])
    const mesh = member(2, { mesh: true })
    mesh.says(3)
    mesh.says(0)
    expect(mesh.sent).toEqual(['3: say for 3', '1: say for 1', '3: say for 3'])
  })
  test('goes by way of who serves where a link of a mesh is down (PR-2)', () => {
    const mesh = member(2, { mesh: true, down: [3] })
    mesh.says(3)
    expect(mesh.sent).toEqual(['3: say for 3', '1: say for 3'])
  })
  test('to itself is heard at once, and goes nowhere (PR-2)', () => {
    for (const [me, mesh] of [[2, false] as const, [2, true] as const, [1, false] as const]) {
      const one = member(me, { mesh })
      expect(one.says(me)).toBe(true)
      expect([one.sent, one.heard]).toEqual([[], [`custom-received from ${me}`]])
    }
  })
  test('who serves says to one, to all others, and to nobody who is not here (PR-2)', () => {
    const one = member(1)
    one.says(3)
    one.says(0)
    one.says(9)
    expect([one.sent, one.heard]).toEqual([['3: said', '2: said', '3: said'], []])
  })
  test('is 400 messages at once and 200 a second, by units of 256 bytes (PR-2)', () => {
    const one = member(1)
    const taken = (bytes: Uint8Array, now: number): number => {
      let count = 0
      while (count < 1_000 && one.says(3, bytes, now)) count++
      return count
    }
    expect(taken(new Uint8Array(255), 0)).toBe(400)
    expect(taken(new Uint8Array(255), 1_000)).toBe(200)
    expect(taken(new Uint8Array(256), 2_000)).toBe(100)
    expect(taken(new Uint8Array(256), 3_000)).toBe(100)
  })
})

describe('what comes', () => {
  const come = (one: ReturnType<typeof member>, from: number, to: number, now = 0): void => {
    part.receive!(one.state, now, from, encode(customMessage, { kind: 'say', to, bytes: HELLO }), {
      ...one.out,
    })
  }
  test('for who it is for is heard, for others passed on by who serves alone (PR-2)', () => {
    const one = member(1)
    come(one, 2, 1)
    come(one, 2, 3)
    come(one, 2, 0)
    expect(one.heard).toEqual(['custom-received from 2', 'custom-received from 2'])
    expect(one.sent).toEqual(['3: said', '3: said'])
    const other = member(3)
    come(other, 2, 3)
    come(other, 2, 1)
    expect([other.heard, other.sent]).toEqual([['custom-received from 2'], []])
    expect(other.state.counters).toMatchObject({ dropped: 1, malformed: 0 })
  })
  test('of a stranger, or of none that it can be, is dropped and counted (PR-2)', () => {
    const one = member(1)
    come(one, 9, 1)
    part.receive!(one.state, 0, 2, Uint8Array.of(99), one.out)
    const said = encode(customMessage, { kind: 'said', from: 9, bytes: HELLO })
    const three = member(3)
    part.receive!(three.state, 0, 1, said, three.out)
    part.receive!(three.state, 0, 2, said, three.out)
    expect([one.heard, three.heard]).toEqual([[], []])
    expect(one.state.counters).toMatchObject({ dropped: 1, malformed: 1 })
    come(one, 9, 3)
    expect([one.sent, one.state.counters.dropped, one.state.rates.size]).toEqual([[], 2, 0])
    expect(three.state.counters).toMatchObject({ dropped: 2, malformed: 0 })
  })
  test('is counted for each member that is here, and forgotten with who left (PR-2)', () => {
    const one = member(1)
    come(one, 2, 3)
    come(one, 3, 2)
    expect([...one.state.rates.keys()]).toEqual([2, 3])
    const members = one.view.members.filter(({ inc }) => inc !== 2)
    part.view!(one.state, 0, { ...one.view, members }, one.out)
    expect([...one.state.rates.keys()]).toEqual([3])
  })
  test('of a snapshot ends when another serves (PR-2)', () => {
    const one = member(3)
    const piece = encode(customMessage, { kind: 'state', piece: 0, of: 2, bytes: HELLO })
    part.receive!(one.state, 0, 1, piece, one.out)
    const incoming = (state: Custom) => state.incoming !== null
    expect(incoming(one.state)).toBe(true)
    part.view!(one.state, 0, one.view, one.out)
    expect(incoming(one.state)).toBe(true)
    part.view!(one.state, 0, { ...one.view, primary: 2 }, one.out)
    expect(incoming(one.state)).toBe(false)
  })
})
