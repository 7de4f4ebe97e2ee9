// Goal: a player is who can sign with its key: nobody else comes in as it, whatever they saw, and
// whoever carries a JOIN changes nothing in it.
// Method: whole sessions in virtual time; a stranger by hand asks the primary in its handshake.
import { admissionOf } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import { claimOf, type Join, joinLayout } from '../../packages/holdfast/src/session/messages.ts'
import { SESSION_VERSION } from '../../packages/holdfast/src/session/messages.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { Caller } from '../member/caller.ts'

const CALLERS_MAX = 64

const SEED = new Uint8Array(32).fill(7)
const KEY = toyCurves.signer(SEED) as Uint8Array

interface Room {
  w: SessionWorld
  ada: Session
  id: string
  eve: Caller
}

async function room(): Promise<Room> {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const ada = await w.join({ game: 'garden', name: 'Ada' })
  await w.join({ game: 'garden', name: 'Grace' })
  await w.runUntil(() => ada.safety === 'backed-up', 10_000)
  const eve = new Caller(w.sim.node('eve'), 'garden', KEY)
  await w.run(200)
  return { w, ada, id: ada.member!.session.id, eve }
}

function wishOf({ ada, eve }: Room, more: Partial<Join> = {}): Omit<Join, 'signature'> {
  return {
    version: SESSION_VERSION,
    schema: ada.member!.session.schema,
    ...{ name: 'Eve', kind: 'node', watches: false, addresses: [] },
    link: eve.point,
    registerHash: new Uint8Array(16).fill(2),
    key: KEY,
    ...eve.admitted,
    resume: null,
    ...more,
  }
}

function signed(session: string, wish: Omit<Join, 'signature'>): Uint8Array {
  const signature = toyCurves.sign(SEED, claimOf(session, wish)) as Uint8Array
  return encode(joinLayout, { ...wish, signature })
}

function rowOf(ada: Session, name: string): Member {
  return ada.member!.session.client.view.members.find((one) => one.name === name)!
}

describe('one stream', () => {
  const claimed = ({ ada }: Room): number => ada.members.length

  test('brings in three as long as they do not attach; each further one has to wait (SE-13)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    for (let who = 1; who <= 12; who++) {
      const seed = new Uint8Array(32).fill(100 + who)
      const key = toyCurves.signer(seed) as Uint8Array
      eve.becomes(who, key)
      await w.run(50)
      const wish = wishOf(here, { key, name: `Eve ${who}` })
      const signature = toyCurves.sign(seed, claimOf(id, wish)) as Uint8Array
      eve.ask(encode(joinLayout, { ...wish, signature }))
      await w.run(200)
    }
    expect(eve.words()).toEqual(['joined', 'joined', 'joined'])
    expect(claimed(here)).toBe(2 + 3)
    expect(ada.member!.counters.unchecked).toBeGreaterThanOrEqual(9)
    // Somebody else is let in meanwhile.
    await w.join({ game: 'garden', name: 'Linus' })
    // Who never attaches is removed, and then the stream may bring others.
    await w.runUntil(() => claimed(here) === 3, 30_000)
    expect(claimed(here)).toBe(3)
  })

  test('that asks and never answers takes no seat and nobody else’s place: of 100 three wait (SE-13)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    for (let who = 1; who <= 100; who++) {
      eve.becomes(who)
      eve.ask(signed(id, wishOf(here, { link: eve.point })))
      // It is somebody else before the answer comes, so the link of before never stands.
      eve.becomes(200)
      await w.run(15)
      expect(ada.member!.pendingJoins.size).toBeLessThanOrEqual(3)
    }
    expect(claimed(here)).toBe(2)
    await w.join({ game: 'garden', name: 'Linus' })
    expect(claimed(here)).toBe(3)
  })
})

test('those who are refused on many streams wait for nothing, and hold up nobody (SE-13)', async () => {
  const here = await room()
  const { w, ada, id } = here
  const crowd: Room[] = []
  for (let who = 0; who < 30; who++) {
    crowd.push({ ...here, eve: new Caller(w.sim.node(`eve-${who}`), 'garden', KEY) })
  }
  await w.run(200)
  for (let who = 0; who < 3; who++) {
    for (const [at, { eve }] of crowd.entries()) eve.becomes(3 * at + who + 1, KEY)
    await w.run(200)
    for (const one of crowd) one.eve.ask(signed(id, wishOf(one, { schema: 1 })))
    await w.run(200)
  }
  const { pendingJoins: callers } = ada.member!
  expect(callers.size).toBe(CALLERS_MAX)
  expect([...callers.values()].every(({ peer }) => peer.link !== null)).toBe(true)
  const begun = w.sim.now()
  await w.join({ game: 'garden', name: 'Linus' })
  expect(w.sim.now() - begun).toBeLessThan(1_000)
})

describe('a JOIN', () => {
  test('T14: that its player signed is answered', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    eve.ask(signed(id, wishOf(here)))
    await w.run(200)
    expect(eve.words()).toEqual(['joined'])
    expect(rowOf(ada, 'Eve').key).toEqual(KEY)
  })

  test('T34: in the name of a player whose key one does not have is dropped (SE-2)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    const grace = rowOf(ada, 'Grace')
    const resume = { player: grace.player, inc: 0, settled: 0 }
    eve.ask(signed(id, wishOf(here, { key: grace.key, resume })))
    await w.run(200)
    expect([eve.words(), ada.member!.counters.forged]).toEqual([[], 1])
    // With a key of one's own one is somebody else.
    eve.ask(signed(id, wishOf(here, { resume })))
    await w.run(200)
    expect(eve.words()).toEqual(['joined'])
    expect(rowOf(ada, 'Grace')).toEqual(grace)
    expect(rowOf(ada, 'Eve').player).not.toBe(grace.player)
  })

  test('T42: that is altered, or signed for elsewhere or another link, is dropped (SE-2)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    const whole = signed(id, wishOf(here))
    for (let at = 1; at < whole.length; at++) {
      const other = whole.slice()
      other[at]! ^= 1
      eve.ask(other)
      await w.run(80)
    }
    eve.ask(signed('elsewhere', wishOf(here)))
    await w.run(200)
    // What somebody else signed is of no use in a handshake of one's own.
    eve.ask(signed(id, wishOf(here, { link: rowOf(ada, 'Grace').link })))
    await w.run(200)
    expect(eve.words()).toEqual([])
    expect(ada.members.map(({ name }) => name)).toEqual(['Ada', 'Grace'])
    const { forged, malformed } = ada.member!.counters
    expect(forged + malformed).toBe(whole.length + 1)
    expect(forged).toBeGreaterThan(100)
  })

  test('with what the hub admitted of another key, link, session or right is dropped (SE-4, SE-18)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    const { rights, admission } = eve.admitted
    const spoilt = admission.slice()
    spoilt[9]! ^= 1
    const hub = (said: object): Uint8Array => {
      const right = { session: id, link: eve.point, key: KEY, rights, ...said }
      return toyCurves.sign(new Uint8Array(32).fill(1), admissionOf(right)) as Uint8Array
    }
    const wrong: Partial<Join>[] = [
      { admission: spoilt },
      { admission: new Uint8Array(64) },
      // Its own word, and not the hub's.
      { admission: hub({}) },
      { rights: rights | RIGHTS.host },
      { rights: 0 },
    ]
    for (const more of wrong) {
      eve.ask(signed(id, wishOf(here, more)))
      await w.run(200)
    }
    expect([eve.words(), ada.member!.counters.forged]).toEqual([[], wrong.length])
    // What was admitted for another link of the same player is none either.
    const old = wishOf(here)
    eve.becomes(77)
    eve.ask(signed(id, { ...old, link: eve.point }))
    await w.run(200)
    expect([eve.words(), ada.member!.counters.forged]).toEqual([[], wrong.length + 1])
    expect(ada.members.map(({ name }) => name)).toEqual(['Ada', 'Grace'])
  })

  test('without the right to play is dropped, though the hub signed that (SE-18)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    const right = { session: id, link: eve.point, key: KEY, rights: RIGHTS.host }
    const seed = new Uint8Array(32).fill(3)
    ada.member!.hubKey = toyCurves.signer(seed) as Uint8Array
    const ask = async (rights: number): Promise<void> => {
      const admission = toyCurves.sign(seed, admissionOf({ ...right, rights })) as Uint8Array
      eve.ask(signed(id, wishOf(here, { rights, admission })))
      await w.run(200)
    }
    await ask(RIGHTS.host)
    expect([eve.words(), ada.member!.counters.forged]).toEqual([[], 1])
    await ask(RIGHTS.host | RIGHTS.play)
    expect(eve.words()).toEqual(['joined'])
  })

  test('with a name that a terminal obeys is dropped, whoever signed it (SE-19)', async () => {
    const here = await room()
    const { w, ada, id, eve } = here
    for (const name of ['\u001B[2J', 'Eve\n', '\u202Eeve'])
      eve.ask(signed(id, wishOf(here, { name })))
    await w.run(200)
    expect([eve.words(), ada.member!.counters.malformed > 0]).toEqual([[], true])
    expect(ada.members.map(({ name }) => name)).toEqual(['Ada', 'Grace'])
  })

  test('T14: of another version is told so, whatever else is in it', async () => {
    const { w, eve } = await room()
    for (const version of [2, SESSION_VERSION + 1]) {
      eve.ask(Uint8Array.of(version, 1, 2, 3))
      await w.run(200)
    }
    expect(eve.words()).toEqual(['version', 'version'])
  })
})
