// Goal: a player is who can sign with its key: nobody else comes in as it, whatever they saw, and
// whoever carries a JOIN changes nothing in it.
// Method: whole sessions in virtual time; a stranger by hand asks the primary through the hub.
import { describe, expect, test } from 'vitest'
import type { Running as Session } from '../../src/faces/live.ts'
import { fromHub, HUB_VERSION, type ToHub, toHub } from '../../src/directory/messages.ts'
import type { Stream } from '../../src/ports.ts'
import { HUB_URL, type SessionWorld, world } from '../../src/proof/world.ts'
import type { Member } from '../../src/replication/layouts.ts'
import { claimOf, type Join, joinedLayout, joinLayout } from '../../src/session/messages.ts'
import { SESSION_VERSION } from '../../src/session/messages.ts'
import { toyCurves } from '../../src/sim/toy-ciphers.ts'
import { decode, encode } from '../../src/wire/layout.ts'
import { frameMessage, readFrame } from '../../src/wire/relay.ts'

const SEED = new Uint8Array(32).fill(7)
const KEY = toyCurves.signer(SEED) as Uint8Array

/** Who asks to come in, by hand. */
class Stranger {
  readonly answers: string[] = []
  readonly #stream: Stream

  constructor(w: SessionWorld, name: string) {
    this.#stream = w.sim.node(name).connect(HUB_URL, {
      opened: () => this.#say({ kind: 'hello', version: HUB_VERSION }),
      message: (bytes) => this.#hear(bytes),
      closed: () => {},
    })
  }

  #say(message: ToHub): void {
    this.#stream.send(frameMessage(encode(toHub, message)))
  }

  #hear(bytes: Uint8Array): void {
    const frame = readFrame(bytes)
    const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
    if (message?.kind !== 'reply') return
    const answer = decode(joinedLayout, message.blob)!
    this.answers.push(answer.kind === 'denied' ? answer.code : answer.kind)
  }

  ask(session: string, blob: Uint8Array): void {
    this.#say({ kind: 'signal', session, blob })
  }
}

interface Room {
  w: SessionWorld
  ada: Session
  id: string
  eve: Stranger
}

async function room(): Promise<Room> {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const ada = await w.join({ game: 'garden', name: 'Ada' })
  await w.join({ game: 'garden', name: 'Grace' })
  await w.runUntil(() => ada.safety === 'backed-up', 10_000)
  const eve = new Stranger(w, 'eve')
  await w.run(200)
  return { w, ada, id: ada.member!.session.id, eve }
}

function wishOf(ada: Session, more: Partial<Join> = {}): Omit<Join, 'signature'> {
  return {
    version: SESSION_VERSION,
    schema: ada.member!.session.schema,
    ...{ name: 'Eve', kind: 'node', addresses: [] },
    link: new Uint8Array(32).fill(1),
    registerHash: new Uint8Array(16).fill(2),
    key: KEY,
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

describe('a JOIN', () => {
  test('T14: that its player signed is answered', async () => {
    const { w, ada, id, eve } = await room()
    eve.ask(id, signed(id, wishOf(ada)))
    await w.run(200)
    expect(eve.answers).toEqual(['joined'])
    expect(rowOf(ada, 'Eve').key).toEqual(KEY)
  })

  test('T34: in the name of a player whose key one does not have is dropped (SE-2)', async () => {
    const { w, ada, id, eve } = await room()
    const grace = rowOf(ada, 'Grace')
    const resume = { player: grace.player, inc: 0, settled: 0 }
    eve.ask(id, signed(id, wishOf(ada, { key: grace.key, resume })))
    await w.run(200)
    expect([eve.answers, ada.member!.counters.forged]).toEqual([[], 1])
    // With a key of one's own one is somebody else.
    eve.ask(id, signed(id, wishOf(ada, { resume })))
    await w.run(200)
    expect(eve.answers).toEqual(['joined'])
    expect(rowOf(ada, 'Grace')).toEqual(grace)
    expect(rowOf(ada, 'Eve').player).not.toBe(grace.player)
  })

  test('T42: that somebody altered on its way, or signed for elsewhere, is dropped (SE-2)', async () => {
    const { w, ada, id, eve } = await room()
    const whole = signed(id, wishOf(ada))
    for (let at = 1; at < whole.length; at++) {
      const other = whole.slice()
      other[at]! ^= 1
      eve.ask(id, other)
      await w.run(30)
    }
    eve.ask(id, signed('elsewhere', wishOf(ada)))
    await w.run(200)
    expect(eve.answers).toEqual([])
    expect(ada.members.map(({ name }) => name)).toEqual(['Ada', 'Grace'])
    const { forged, malformed } = ada.member!.counters
    expect(forged + malformed).toBe(whole.length)
    expect(forged).toBeGreaterThan(100)
  })

  test('T14: of another version is told so, whatever else is in it', async () => {
    const { w, id, eve } = await room()
    eve.ask(id, Uint8Array.of(2, 1, 2, 3))
    eve.ask(id, Uint8Array.of(SESSION_VERSION + 1))
    await w.run(200)
    expect(eve.answers).toEqual(['version', 'version'])
  })
})
