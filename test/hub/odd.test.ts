// Goal: no well-formed message of anybody makes the hub throw, in any state of a stream or a room,
// with 256 members of 256 attached and as many strangers.
// Method: the machine of the hub at a desk, which fails what throws; every message that there is,
// by seed, with lists of 0, 1 and 256.
import { expect, test } from 'vitest'
import { HUB_VERSION, type ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  below,
  chance,
  create as chaosOf,
  fork,
  pick,
  type Prng,
} from '../../packages/holdfast/src/faults/prng.ts'
import { frameKnock, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { Desk, keyOf, linkOf, listed, OPEN, proof } from './desk.ts'

const MOST = 256
const SAID = 1_500
const NUMBERS = [0, 1, 2, 3, 255, MOST, 257, 2 ** 20, 2 ** 21, 2 ** 32, 2 ** 53 - 1]

interface Scene {
  desk: Desk
  chaos: Prng
  id: string
  streams: number[]
  members: number
}

const n = (chaos: Prng): number => pick(chaos, NUMBERS)

// What anybody may ask.
function asked({ chaos, desk, id }: Scene, session: string): ToHub {
  const request = n(chaos)
  const inc = pick(chaos, [1, 2, 3, MOST, 257])
  const epoch = desk.hub.registers.rows.get(id)?.entry.register.epoch ?? 1
  const place = { game: pick(chaos, ['g', 'h']), room: pick(chaos, ['main', 'side', '']) }
  const who = { hash: listed(inc).hash, link: linkOf(inc), key: keyOf(inc) }
  const [recovers, hosts, fresh] = [chance(chaos, 0.5), chance(chaos, 0.2), chance(chaos, 0.2)]
  const terms = pick(chaos, ['', 'keep=5', 'entry=invite', 'listed=no', 'x'.repeat(100)])
  const ticket = pick(chaos, ['', '', 'toy', 'invite.00'])
  const wish = { ...place, playersMax: n(chaos), topology: 'star', terms, ...OPEN, ...who } as const
  const why = pick(chaos, ['add', 'drop', 'takeover', 'handover', 'recover', 'end'] as const)
  const change = { expect: pick(chaos, [epoch, n(chaos)]), primary: inc, backup: n(chaos), why }
  return pick<ToHub>(chaos, [
    { kind: 'hello', version: chance(chaos, 0.9) ? HUB_VERSION : n(chaos) },
    { kind: 'list', request, game: place.game, after: pick(chaos, ['', '1', 'x']) },
    { kind: 'get', request, session },
    { kind: 'add', request, ...wish, recovers, hosts, fresh, ticket },
    { kind: 'change', request, session, inc, proof: proof(inc), ...change },
    { kind: 'attach', request, session, inc, proof: proof(inc) },
    { kind: 'ping', count: n(chaos) },
  ])
}

// What only members say, and mostly the primary alone.
function told({ chaos, desk, id }: Scene, session: string): ToHub {
  const epoch = pick(chaos, [desk.hub.registers.rows.get(id)?.entry.register.epoch ?? 1, n(chaos)])
  const members = Array.from({ length: pick(chaos, [0, 1, 2, MOST]) }, (_, at) => listed(at + 1))
  const { hash: digest } = listed(2)
  const of = { number: n(chaos), from: chance(chaos, 0.5) ? null : n(chaos), index: n(chaos) }
  const when = {
    time: n(chaos),
    next: n(chaos),
    acks: pick(chaos, ['free', 'strict', 'relayed'] as const),
  }
  const piece = { piece: pick(chaos, [0, 0, n(chaos)]), of: pick(chaos, [1, 1, n(chaos)]) }
  const bytes = new Uint8Array(pick(chaos, [0, 1, 16_000]))
  return pick<ToHub>(chaos, [
    { kind: 'members', session, members, players: n(chaos) },
    { kind: 'yes', session, epoch, nonce: 1, players: n(chaos) },
    { kind: 'invite', request: n(chaos), digest, uses: n(chaos), rights: below(chaos, 256) },
    { kind: 'keep', session, ...of, ...when, ...piece, bytes },
    { kind: 'alive', session, epoch, nonce: 1 },
    { kind: 'ice', session },
  ])
}

function said(scene: Scene): ToHub {
  const { chaos, id } = scene
  const session = pick(chaos, [id, id, id, '', 'nowhere', 'x'.repeat(8)])
  return chance(chaos, 0.6) ? asked(scene, session) : told(scene, session)
}

function stream({ chaos, streams, desk }: Scene): number {
  const open = streams.filter((one) => !desk.closed.has(one))
  if (open.length > 0 && !chance(chaos, 0.05)) return pick(chaos, open)
  const made = chance(chaos, 0.8) ? desk.open() : desk.dial()
  streams.push(made)
  return made
}

test.each([1, 2, 3, 4])(
  'seed %i: valid messages at the wrong time, in a full room (N-3)',
  (seed) => {
    const desk = new Desk()
    desk.recovers = true
    const chaos = fork(chaosOf(seed), 'odd')
    desk.out.servers = () => ({ urls: ['stun:a'], username: '', credential: '', lasts: n(chaos) })
    const { id, streams } = desk.session(MOST)
    const scene: Scene = { desk, chaos, id, streams, members: MOST }
    for (let at = 0; at < SAID; at++) {
      desk.atOnce = chance(chaos, 0.7)
      const one = stream(scene)
      const way = below(chaos, 20)
      if (way === 0) desk.bytes(one, frameRelay(pick(chaos, NUMBERS), new Uint8Array(9)))
      else if (way === 1) desk.bytes(one, frameKnock(pick(chaos, NUMBERS), new Uint8Array(9)))
      else if (way === 2) desk.close(one)
      else if (!desk.closed.has(one)) desk.say(one, said(scene))
      if (way === 2) desk.closed.set(one, 'gone')
      if (chance(chaos, 0.05)) desk.write(chance(chaos, 0.3) ? 'the disk is full' : null)
      if (chance(chaos, 0.05)) desk.go(pick(chaos, [10, 1_000, 20_000]))
    }
    desk.write()
    desk.restart()
    expect(desk.hub.registers.rows.size).toBeGreaterThanOrEqual(0)
  },
)
