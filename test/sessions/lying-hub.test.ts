// Goal: a hub can stop a room, and lead a newcomer astray; what members say who know one another's
// keys it neither reads, nor alters, nor says again, nor says in another's name.
// Method: whole sessions in virtual time that reach each other through the hub alone, which lies at
// random, by a seed, about all that it carries and about whose key is whose.
import { describe, expect, test } from 'vitest'
import { fromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { joinIn, type JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Connect } from '../../packages/holdfast/src/ports.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import * as seal from '../../packages/holdfast/src/seal/seal.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import {
  frameKnock,
  frameMessage,
  frameRelay,
  readFrame,
} from '../../packages/holdfast/src/wire/relay.ts'
import { text, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger'] as const
const MALLORY = new Uint8Array(32).fill(66)
const Dot = object('dot', { of: text(9), n: u8 })
const score = action('score', { key: text(16) }, (table, { key }) => {
  table.set(key, ((table.get(key) as number | undefined) ?? 0) + 1)
})

/** A hub that lies: all that comes from it passes here. */
class Liar {
  lies = false
  /** What it says whose key is. */
  key: Uint8Array | null = null
  /** What it kept of all that it carried. */
  readonly kept: Uint8Array[] = []
  readonly #chaos: prng.Prng

  constructor(seed: number) {
    this.#chaos = prng.create(`lies ${seed}`)
  }

  over(connect: Connect): Connect {
    return (url, events) => {
      const message = (bytes: Uint8Array): void => {
        for (const one of this.#says(bytes)) events.message(one)
      }
      return connect(url, { ...events, message })
    }
  }

  #says(bytes: Uint8Array): Uint8Array[] {
    const frame = readFrame(bytes)
    if (!frame) return [bytes]
    if (frame.kind === 'message') return [this.#misnamed(bytes, frame.bytes)]
    this.kept.push(bytes.slice())
    if (!this.lies) return [bytes]
    const { kind, peer } = frame
    const framed = kind === 'relay' ? frameRelay : frameKnock
    switch (prng.below(this.#chaos, 8)) {
      case 0:
        return []
      case 1:
        return [bytes, bytes.slice()]
      case 2: {
        const altered = frame.bytes.slice()
        altered[prng.below(this.#chaos, altered.length)]! ^= 1 << prng.below(this.#chaos, 8)
        return [framed(peer, altered)]
      }
      case 3:
        return [bytes, prng.pick(this.#chaos, this.kept)]
      case 4:
        return [framed(1 + prng.below(this.#chaos, 5), frame.bytes.slice())]
      default:
        return [bytes]
    }
  }

  #misnamed(bytes: Uint8Array, inner: Uint8Array): Uint8Array {
    const said = decode(fromHub, inner)
    if (this.key === null || !said || !('leader' in said)) return bytes
    const leader = { link: this.key, grant: new Uint8Array(64) }
    return frameMessage(encode(fromHub, { ...said, leader }))
  }
}

async function enter(
  w: SessionWorld,
  name: string,
  liar: Liar,
  more: Partial<JoinOptions> = {},
): Promise<Session> {
  const { connect, ...place } = environmentOf(w.sim.node(name), 'browser')
  const own = { game: 'garden', name, types: [Dot, score], server: HUB_URL, ...more }
  let session: Session | null = null
  void joinIn({ ...place, connect: liar.over(connect) }, own).then((one) => (session = one))
  await w.runUntil(() => session !== null, 20_000)
  return session!
}

/** Whose link key a member uses for whom, where no view says so. */
function mistaken(session: Session): string[] {
  const { peers, session: own, seal: sealed } = session.member!
  const names = new Map(own.client.view.members.map(({ inc, link }) => [inc, seal.nameOf(link)]))
  const wrong = [...peers.values()].filter(({ inc, key, link }) => {
    return link !== null && key !== names.get(inc)
  })
  const strangers = [...sealed!.peers].filter(([key, peer]) => {
    return peer.link !== null && ![...names.values()].includes(key)
  })
  return [...wrong.map(({ inc }) => `${session.me.name}: ${inc}`), ...strangers.map(([key]) => key)]
}

interface Room {
  w: SessionWorld
  liar: Liar
  all: Session[]
  /** Keys of actions that were acknowledged. */
  acks: string[]
}

async function room(seed: number, topology: 'star' | 'mesh'): Promise<Room> {
  const w = world({ seed, conditions: 'rtt=20' })
  const liar = new Liar(seed)
  const all: Session[] = []
  for (const name of NAMES) all.push(await enter(w, name, liar, { topology }))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  for (const one of all) one.create(Dot, { of: one.me.name, n: 0 })
  return { w, liar, all, acks: [] }
}

/** All play for nine seconds. */
async function play({ w, all, acks }: Room): Promise<void> {
  for (let n = 1; n <= 60; n++) {
    for (const one of all) {
      const key = `${one.me.name}/${n}`
      const noted = ({ ok }: { ok: boolean }): unknown => ok && acks.push(key)
      void one.act(score, { key }).then(noted, () => {})
      one
        .all(Dot)
        .find(({ mine }) => mine)
        ?.set({ n })
    }
    await w.run(150)
    expect(all.flatMap(mistaken)).toEqual([])
  }
}

/** What was acknowledged is there, and nothing twice; and all see the same. */
function expectWhole({ all, acks }: Room): void {
  const [ada] = all as [Session]
  const counts = ada.table.keys().map((key) => [key, ada.table.get(key)])
  expect(counts.filter(([, times]) => times !== 1)).toEqual([])
  expect(acks.filter((key) => ada.table.get(key) !== 1)).toEqual([])
  expect(acks.length).toBeGreaterThan(100)
  for (const one of all) {
    expect(one.table.keys().toSorted()).toEqual(ada.table.keys().toSorted())
    const dots = one.all(Dot).map(({ state }) => `${state.of} ${state.n}`)
    expect(new Set(dots).size).toBe(dots.length)
  }
}

const cases = (['star', 'mesh'] as const).flatMap((topology) =>
  [1, 2, 3].map((seed) => [topology, seed] as const),
)

describe('a hub that lies', () => {
  test.each(cases)(
    'drops, repeats, alters, swaps, names wrong keys: nothing is forged, in a %s, seed %i (SE-2)',
    async (topology, seed) => {
      const here = await room(seed, topology)
      const { w, liar, all } = here
      liar.lies = true
      liar.key = MALLORY
      await play(here)
      liar.lies = false
      expect(await w.runUntil(() => all.every(({ status }) => status === 'live'), 60_000)).toBe(
        true,
      )
      await w.run(5_000)
      expectWhole(here)
      const refused = all.map(({ member }) => member!.seal!.counters)
      expect(Math.min(...refused.map((one) => one.forged + one.replayed))).toBeGreaterThan(20)
    },
  )
})

describe('a newcomer', () => {
  test('whom the hub tells a wrong key gets no answer of the primary, and does not come in (SE-2)', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const ada = await enter(w, 'Ada', new Liar(4))
    const liar = new Liar(5)
    liar.key = MALLORY
    const { connect, ...place } = environmentOf(w.sim.node('bob'), 'browser')
    const own = { game: 'garden', name: 'Bob', types: [Dot, score], server: HUB_URL }
    let why = ''
    const joining = joinIn({ ...place, connect: liar.over(connect) }, own)
    joining.catch((error: Error) => (why = error.message))
    await w.runUntil(() => why !== '', 20_000)
    expect(why).toBe('nobody let us into garden/main at ws://hub/hub within 15 s')
    expect(ada.members.map(({ name }) => name)).toEqual(['Ada'])
    expect(ada.member!.seal!.counters.unproven).toBeGreaterThan(0)
  })

  test('says and hears nothing on its way in that the hub can read (SE-2)', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    const liar = new Liar(6)
    await enter(w, 'Ada', liar)
    const bob = await enter(w, 'Barbara', liar)
    expect(bob.members.map(({ name }) => name)).toEqual(['Ada', 'Barbara'])
    const all = Buffer.concat(liar.kept)
    for (const word of ['Ada', 'Barbara']) expect(all.includes(word)).toBe(false)
    const { link, key } = bob.member!.session.client.view.members[1]!
    // The link key alone stands in no datagram, and the player's key in nothing at all.
    expect([all.includes(Buffer.from(link)), all.includes(Buffer.from(key))]).toEqual([
      false,
      false,
    ])
  })
})
