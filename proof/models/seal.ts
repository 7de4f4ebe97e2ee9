/**
 * The shipped sealing in a small world: two ends that ask for links and say a few things, and
 * whoever is on the way, who loses, doubles and reorders datagrams, keeps and repeats old ones, and
 * says that they came from elsewhere. Curves answer at once and ciphers are the simulator's toys,
 * so keys cannot be guessed and nothing else is hidden.
 */

import { assert, type Millis, rulesOf } from '../../packages/holdfast/src/machine.ts'
import { BASE_POINT } from '../../packages/holdfast/src/ports.ts'
import { LIMITS, type Limits } from '../../packages/holdfast/src/seal/limits.ts'
import { KIND } from '../../packages/holdfast/src/seal/messages.ts'
import * as seal from '../../packages/holdfast/src/seal/seal.ts'
import type { Peer, Seal, SealSink } from '../../packages/holdfast/src/seal/state.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { toyCiphers, toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { sealRules, type SealBug } from '../mutants.ts'
import type { Rows } from './rows.ts'

/** How much may happen. */
export interface SealScope {
  /** Links that the end with the lower key asks for, and the other. */
  asks: readonly [number, number]
  /** Packets that each end says once it has a link. */
  texts: number
  /** Datagrams that may be lost, come twice, come again later, or come from elsewhere. */
  losses: number
  doubles: number
  replays: number
  elsewheres: number
  /** How often time passes to what is due next. */
  wakes: number
  /** One end has a newer view than the other. */
  newer?: boolean
  /** When keys are replaced. */
  rekeyMs?: Millis
  bug?: SealBug
}

interface Flying {
  to: number
  bytes: Uint8Array
}

/** Both ends and the network. */
export interface SealWorld {
  now: Millis
  ends: [Seal, Seal]
  flying: Flying[]
  /** What was ever sent, for whoever keeps it. */
  kept: Flying[]
  /** What is left to happen. */
  asks: [number, number]
  texts: [number, number]
  losses: number
  doubles: number
  replays: number
  elsewheres: number
  wakes: number
  /** Texts that each end got. */
  got: [number[], number[]]
  /** Links that each end had. */
  ups: [number[], number[]]
  /** Whether an end heard that it has no link. */
  failed: boolean
  lost: boolean
  /** Bytes from and to the place that is nobody's. */
  came: number
  went: number
}

const PLACES = ['udp:low', 'udp:high'] as const
const ELSEWHERE = 'udp:elsewhere'
const SMALL: Limits = { ...LIMITS, window: 32, rekeyMs: Infinity }
/** No verb runs before its seal has a sink. */
const UNSET = {} as SealSink
/** What is due later than that is the end of old keys, or of the world. */
const SOON_MS = 12_000

/** The model of one scope. */
export function sealModel(name: string, scope: SealScope): Model<SealWorld> {
  return {
    name,
    init: () => start(scope),
    actions: (world) => actions(world),
    always: {
      'seal.once': once,
      'seal.stands': stands,
      'seal.old': old,
      'seal.address': address,
      'seal.bytes': ({ came, went }) =>
        went <= came || `${went} bytes went where ${came} came from`,
    },
    sometimes: {
      'both have one link': ({ ends }) => numberOf(ends, 0) !== 0 && agree(ends),
      ...(scope.texts > 0 && {
        'all texts came': ({ got }) => got.flat().length === 2 * scope.texts,
      }),
      ...(scope.replays > 0 && {
        'an old message 1 was refused': ({ ends }) => ends.some(({ counters }) => counters.old > 0),
      }),
      ...(scope.asks[0] > 0 &&
        scope.asks[1] > 0 && {
          'two handshakes crossed': ({ ends }) => ends.some(({ counters }) => counters.crossed > 0),
        }),
      ...(scope.elsewheres > 0 && { 'somebody was challenged': ({ went }) => went > 0 }),
      ...(scope.rekeyMs !== undefined && {
        'keys were replaced': ({ ends }) => ends.every(({ counters }) => counters.rekeys > 0),
      }),
    },
    settled: { 'seal.agree': settled },
    canonical: essence,
    show,
  }
}

function start({ asks, texts, losses, doubles, replays, ...scope }: SealScope): SealWorld {
  const limits = { ...SMALL, rekeyMs: scope.rekeyMs ?? SMALL.rekeyMs }
  const rules = sealRules(scope.bug ?? null)
  const keys = [1, 2].map((me) => {
    const secret = new Uint8Array(32).fill(me)
    const point = toyCurves.agree(secret, BASE_POINT)!
    return { secret, point }
  })
  keys.sort((a, b) => (seal.nameOf(a.point) < seal.nameOf(b.point) ? -1 : 1))
  const ends = keys.map(({ secret, point }, at) => {
    const seed = new Uint8Array(32).fill(at + 10)
    const mv = scope.newer ? at + 1 : 1
    const options = { secret, point, seed, me: at + 1, mv, session: 's', limits, rules }
    return seal.create(0, { out: UNSET, ciphers: toyCiphers, ...options })
  })
  return {
    ...{ now: 0, ends: ends as [Seal, Seal], flying: [], kept: [], asks: [...asks] },
    ...{ texts: [texts, texts], losses, doubles, replays, elsewheres: scope.elsewheres },
    ...{ wakes: scope.wakes, got: [[], []], ups: [[], []], failed: false, lost: false },
    ...{ came: 0, went: 0 },
  }
}

function* actions(world: SealWorld): Iterable<Action<SealWorld>> {
  for (const end of [0, 1]) {
    if (world.asks[end]! > 0) yield { label: `${end} asks`, next: (copy) => ask(copy, end) }
    if (world.texts[end]! > 0 && numberOf(world.ends, end) !== 0) {
      yield { label: `${end} says something`, next: (copy) => say(copy, end) }
    }
  }
  for (const [at, { to, bytes }] of world.flying.entries()) {
    const what = `${nameOf(bytes)} to ${to}`
    yield { label: `${what} arrives`, next: (copy) => arrive(copy, take(copy, at)) }
    if (world.losses > 0) yield env(`${what} is lost`, (copy) => lose(copy, at))
    if (world.doubles > 0) yield env(`${what} arrives, and stays`, (copy) => double(copy, at))
    if (world.elsewheres > 0) {
      yield env(`${what} arrives from elsewhere`, (copy) => deceive(copy, at))
    }
  }
  if (world.replays > 0) {
    for (const [at, { to, bytes }] of world.kept.entries()) {
      yield env(`${nameOf(bytes)} to ${to}, an old one, arrives`, (copy) => replay(copy, at))
    }
  }
  const due = Math.min(...world.ends.map(seal.deadline))
  if (world.wakes > 0 && due < world.now + SOON_MS) {
    yield { label: 'time passes', next: (copy) => wake(copy) }
  }
}

function env(label: string, next: (world: SealWorld) => void): Action<SealWorld> {
  return { label, environment: true, next }
}

function nameOf(bytes: Uint8Array): string {
  const kind = bytes[0]!
  if (kind === KIND.first) return 'message 1'
  if (kind === KIND.second) return 'message 2'
  return kind < KIND.word ? 'a packet' : 'a word'
}

function peerOf(world: SealWorld, end: number): string {
  return seal.nameOf(world.ends[1 - end]!.point)
}

function run(world: SealWorld, end: number, verb: (own: Seal) => void): void {
  const own = world.ends[end]!
  const waiting: [job: number, pairs: readonly (readonly [Uint8Array, Uint8Array])[]][] = []
  // A copy of a world has seals whose sink is that of the original.
  own.out = rulesOf(sinkOf(world, end, waiting))
  verb(own)
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const shared = next[1].map(([secret, point]) => toyCurves.agree(secret, point))
    seal.agreed(own, world.now, next[0], shared)
  }
}

function sinkOf(
  world: SealWorld,
  end: number,
  waiting: [number, readonly (readonly [Uint8Array, Uint8Array])[]][],
): SealSink {
  return {
    datagram: (to, bytes) => {
      if (to === ELSEWHERE) {
        world.went += bytes.length
        return
      }
      assert(to === PLACES[1 - end], `a datagram leaves for ${to}`)
      const flying = { to: 1 - end, bytes: new Uint8Array(bytes) }
      world.flying.push(flying)
      if (world.replays > 0) world.kept.push(flying)
    },
    agree: (job, pairs) => waiting.push([job, pairs]),
    admit: () => null,
    event: (event) => {
      if (event.kind === 'up') world.ups[end]!.push(event.link)
      else if (event.kind !== 'answered') world.failed = true
    },
  }
}

function ask(world: SealWorld, end: number): void {
  world.asks[end]!--
  const asked = { peer: peerOf(world, end), to: 2 - end, addresses: [PLACES[1 - end]!] }
  run(world, end, (own) => seal.ask(own, world.now, asked))
}

function say(world: SealWorld, end: number): void {
  const text = Uint8Array.of(world.texts[end]!--)
  run(world, end, (own) => {
    if (!seal.send(own, world.now, peerOf(world, end), text)) world.texts[end]!++
  })
}

function take(world: SealWorld, at: number): Flying {
  return world.flying.splice(at, 1)[0]!
}

function arrive(world: SealWorld, { to, bytes }: Flying, from: string = PLACES[1 - to]!): void {
  run(world, to, (own) => {
    const packet = seal.receive(own, world.now, from, bytes)
    if (packet) world.got[to]!.push(packet.bytes[0]!)
  })
}

function lose(world: SealWorld, at: number): void {
  world.losses--
  world.lost = true
  world.flying.splice(at, 1)
}

function double(world: SealWorld, at: number): void {
  world.doubles--
  arrive(world, world.flying[at]!)
}

function deceive(world: SealWorld, at: number): void {
  world.elsewheres--
  // What came from elsewhere does not come from where it was sent; for the sender it is lost.
  world.lost = true
  const datagram = take(world, at)
  world.came += datagram.bytes.length
  arrive(world, datagram, ELSEWHERE)
}

function replay(world: SealWorld, at: number): void {
  world.replays--
  arrive(world, world.kept[at]!)
}

function wake(world: SealWorld): void {
  world.wakes--
  world.now = Math.max(world.now, Math.min(...world.ends.map(seal.deadline)))
  for (const end of [0, 1]) run(world, end, (own) => seal.wake(own, world.now))
}

function peersOf(ends: readonly Seal[]): (Peer | undefined)[] {
  return ends.map((own, at) => own.peers.get(seal.nameOf(ends[1 - at]!.point)))
}

function numberOf(ends: readonly Seal[], end: number): number {
  return peersOf(ends)[end]?.link?.number ?? 0
}

function agree(ends: readonly Seal[]): boolean {
  return numberOf(ends, 0) === numberOf(ends, 1)
}

function once({ got }: SealWorld): true | string {
  for (const texts of got) {
    const twice = texts.find((text, at) => texts.indexOf(text) !== at)
    if (twice !== undefined) return `text ${twice} came twice`
  }
  return true
}

/** Who was asked has a link that who asks has had. */
function stands({ ends, ups }: SealWorld): true | string {
  for (const [end, peer] of peersOf(ends).entries()) {
    const { number = 0, current = 0 } = peer?.link ?? {}
    const keys = ends[end]!.keys.get(current)
    if (!keys || keys.asked || ups[1 - end]!.includes(number)) continue
    return `${end} has link ${number}, of which ${1 - end} knows nothing`
  }
  return true
}

/** What was confirmed is never answered again. */
function old({ ends }: SealWorld): true | string {
  for (const [end, peer] of peersOf(ends).entries()) {
    if (!peer?.responder || peer.responder.counter > peer.newestCounter) continue
    const { counter } = peer.responder
    return `${end} answers message 1 number ${counter}, ${peer.newestCounter} was confirmed`
  }
  return true
}

function address({ ends }: SealWorld): true | string {
  for (const [end, peer] of peersOf(ends).entries()) {
    if (peer?.link?.shown.includes(ELSEWHERE)) return `${end} takes the other to be elsewhere`
  }
  return true
}

function settled(world: SealWorld): true | string {
  // With time to pass, an end asks again; without, it may not have come to that.
  if (world.failed || (world.lost && world.wakes === 0)) return true
  if (!agree(world.ends)) {
    const links = [0, 1].map((end) => numberOf(world.ends, end))
    return `nothing moves, and the links are ${links.join(' and ')}`
  }
  return numberOf(world.ends, 0) !== 0 || 'nothing moves, and there is no link'
}

/*
 * Left out: what is counted, when keys were made, which changes nothing before it is due, and in
 * which order datagrams were sent, for they arrive in any.
 */
function essence({ ends, now, flying, kept, ...world }: SealWorld): unknown {
  const own = ends.map(({ peers, keys, chance, due }) => {
    const held = [...keys].map(([index, one]) => [
      index,
      { ...one, born: 0, until: one.until - now },
    ])
    return [peers, held, chance, due - now]
  })
  return { own, flying: countsOf(flying), kept: countsOf(kept), ...world }
}

function countsOf(datagrams: readonly Flying[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { to, bytes } of datagrams) {
    const one = `${to} ${seal.nameOf(bytes)}`
    counts.set(one, (counts.get(one) ?? 0) + 1)
  }
  return counts
}

function show({ now, ends, flying, got }: SealWorld): string {
  const links = [0, 1].map((end) => numberOf(ends, end))
  const stages = peersOf(ends).map((peer) => {
    return `${peer?.initiator?.stage ?? '-'}${peer?.responder ? ' answered' : ''}`
  })
  const under = flying.map(({ to, bytes }) => `${nameOf(bytes)}>${to}`).join(', ')
  const told = `links ${links.join(' ')}, ${stages.join('; ')}, got ${got.join(' | ')}`
  return `${now} ms, ${told}, ${under}`
}

const NOTHING: SealScope = {
  ...{ asks: [1, 0], texts: 0, losses: 0, doubles: 0, replays: 0, elsewheres: 0, wakes: 0 },
}

/** Scopes in which all holds. */
export const SCOPES = {
  Z1: {
    says: 'one asks, and a datagram is lost',
    scope: { ...NOTHING, texts: 1, losses: 1, wakes: 1 },
    states: 900,
  },
  Z2: {
    says: 'both ask at once, of different views, and a datagram comes twice',
    scope: { ...NOTHING, asks: [1, 1], doubles: 1, newer: true },
    states: 450,
  },
  Z3: {
    says: 'one asks twice, and old datagrams come again',
    scope: { ...NOTHING, asks: [2, 0], replays: 2 },
    states: 700,
  },
  Z4: {
    says: 'datagrams come from elsewhere',
    scope: { ...NOTHING, texts: 1, elsewheres: 2, replays: 1 },
    states: 9_000,
  },
  Z5: {
    says: 'keys are replaced while packets are on their way',
    scope: { ...NOTHING, texts: 1, rekeyMs: 3_000, wakes: 2 },
    states: 2_500,
  },
  Z6: {
    says: 'both ask at once, and a datagram is lost',
    scope: { ...NOTHING, asks: [1, 1], losses: 1, wakes: 2 },
    states: 100,
    size: 'deep',
  },
} satisfies Rows<SealScope>

/** Scopes with a bug, the property that it breaks, and the steps to there. */
export const MUTANTS = {
  'Z-X1': {
    scope: { ...NOTHING, texts: 1, doubles: 1, bug: 'no-replay-window' },
    violates: [['seal.once', 6]],
  },
  'Z-X2': {
    scope: { ...NOTHING, bug: 'stands-by-handshake' },
    violates: [['seal.stands', 2]],
  },
  'Z-X3': {
    scope: { ...NOTHING, replays: 1, bug: 'counter-ignored' },
    violates: [['seal.old', 5]],
  },
  'Z-X4': {
    scope: { ...NOTHING, elsewheres: 1, bug: 'moved-without-challenge' },
    violates: [['seal.address', 4]],
  },
  'Z-X5': {
    scope: { ...NOTHING, asks: [1, 1], bug: 'both-stand' },
    violates: [['seal.agree', 10]],
  },
  'Z-X6': {
    scope: { ...NOTHING, newer: true, bug: 'epoch-in-prologue' },
    violates: [['seal.agree', 2]],
  },
} satisfies Rows<SealScope>
