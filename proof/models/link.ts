/**
 * The shipped link in a small world: one end sends a few messages, the network loses, doubles
 * and reorders packets and acks, timers go off whenever they are due or as much later as the
 * network dawdles. Time stands still but for timers, which it jumps to, so every order of
 * deliveries and timers is explored, spurious losses and late acks among them.
 *
 * Small means: a handful of sequence numbers, a window of three packets, a receiver that keeps
 * room for one piece ahead (all of it data of the link, see link/limits.ts).
 */

import { LINK_TIMEOUT } from '../../packages/holdfast/src/link/limits.ts'
import type { Limits } from '../../packages/holdfast/src/link/limits.ts'
import { type LinkBug, linkRules } from '../mutants.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Link, LinkSink } from '../../packages/holdfast/src/link/link.ts'
import { FATE, RUNS_MAX } from '../../packages/holdfast/src/link/window.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import type { Rows } from './rows.ts'

/** How much may happen. */
export interface LinkScope {
  /** Messages to be sent. */
  messages: number
  /** Packets that the sender may send, and acks that the receiver may. */
  packets: number
  acks: number
  /** Packets or acks that the network may lose, and may deliver twice. */
  losses: number
  doubles: number
  limits: Limits
  bug?: LinkBug
}

/** The network and both ends. */
export interface LinkWorld {
  now: Millis
  sender: Link
  receiver: Link
  /** Messages queued so far. */
  queued: number
  /** What the receiver handed up: the first byte of each message. */
  got: number[]
  /** Pieces that each packet of the sender carries, by its sequence. */
  carried: number[][]
  /** Packets of the sender with the verdict `acked`. */
  acked: number[]
  lateAcked: boolean
  network: { to: 'sender' | 'receiver'; sequence: number; bytes: Uint8Array }[]
  losses: number
  doubles: number
}

/** The model for one scope. */
export function linkModel(name: string, scope: LinkScope): Model<LinkWorld> {
  return {
    name,
    init: () => start(scope),
    actions: (world) => actions(world, scope),
    always: {
      'link.order': order,
      'link.truth': truth,
      'link.fate': fate,
    },
    sometimes: {
      'all messages arrived': (world) => world.got.length === scope.messages,
      'all is acked': (world) => world.sender.outgoing.delivered === scope.messages,
      'a piece was sent again': ({ sender }) => sender.counters.retransmitted > 0,
      'a packet was taken for lost': ({ sender }) => sender.counters.lost > 0,
      'an ack came late': (world) => world.lateAcked,
      'a packet was refused for lack of room': (world) =>
        world.receiver.counters.droppedForRoom > 0,
      ...(scope.doubles > 0 && {
        'a duplicate came': (world: LinkWorld) => world.receiver.counters.duplicate > 0,
      }),
    },
    settled: { 'link.live': (world) => live(world, scope) },
    canonical: essence,
    show,
  }
}

function start(scope: LinkScope): LinkWorld {
  return {
    now: 0,
    sender: quiet(scope),
    receiver: quiet(scope),
    queued: 0,
    got: [],
    carried: [],
    acked: [],
    lateAcked: false,
    network: [],
    losses: scope.losses,
    doubles: scope.doubles,
  }
}

// Keepalives and questions about the clock only add packets that carry nothing.
function quiet({ limits, bug }: LinkScope): Link {
  const options = { keepaliveMs: LINK_TIMEOUT, limits, rules: linkRules(bug ?? null) }
  const state = link.create(0, options)
  state.clock.asked = [{ at: 0, by: 0 }]
  state.clock.askedAt = Infinity
  return state
}

function* actions(world: LinkWorld, scope: LinkScope): Iterable<Action<LinkWorld>> {
  const { sender, receiver } = world
  const { limits } = scope
  const sent = sender.sent.next - limits.first
  if (world.queued < scope.messages && sent < scope.packets) yield queueing(world.queued)
  for (const [index, { to, sequence }] of world.network.entries()) {
    const what = `${to === 'receiver' ? 'packet' : 'ack'} ${sequence}`
    yield { label: `${what} arrives`, next: (copy) => arrive(copy, index, true) }
    if (world.losses > 0) yield { label: `${what} is lost`, environment: true, next: lose(index) }
    if (world.doubles > 0)
      yield { label: `${what} arrives early, and again`, environment: true, next: double(index) }
  }
  if (sent < scope.packets && isBusy(sender)) {
    yield { label: 'sender wakes', next: (copy) => wake(copy, 'sender') }
  }
  if (receiver.sent.next - limits.first < scope.acks && isBusy(receiver)) {
    yield { label: 'receiver wakes', next: (copy) => wake(copy, 'receiver') }
  }
}

// Something but a keepalive is due.
function isBusy(side: Link): boolean {
  return link.deadline(side) < side.lastSent + side.keepaliveMs
}

function queueing(message: number): Action<LinkWorld> {
  return {
    label: `message ${message} is sent`,
    next: (world) => {
      world.queued += 1
      link.send(world.sender, world.now, new Uint8Array([message]))
      link.flush(world.sender, world.now, sinkOf(world, 'sender'))
    },
  }
}

function lose(index: number): (world: LinkWorld) => void {
  return (world) => {
    world.losses -= 1
    world.network.splice(index, 1)
  }
}

function double(index: number): (world: LinkWorld) => void {
  return (world) => {
    world.doubles -= 1
    arrive(world, index, false)
  }
}

const arrivals = link.createArrivals()

function arrive(world: LinkWorld, index: number, last: boolean): void {
  const { to, bytes } = world.network[index]!
  if (last) world.network.splice(index, 1)
  const sink = sinkOf(world, to)
  const isTaken = link.receive(world[to], world.now, bytes, arrivals)
  for (const { what, number, bytes: came } of arrivals.list.slice(0, arrivals.count)) {
    if (what === 'message') world.got.push(came[0]!)
    else if (what === 'acked') world.acked.push(number)
  }
  world.lateAcked = world.sender.counters.lateAcked > 0
  if (isTaken) link.answer(world[to], world.now, sink)
  link.flush(world[to], world.now, sink)
}

function wake(world: LinkWorld, side: 'sender' | 'receiver'): void {
  world.now = Math.max(world.now, link.deadline(world[side]))
  link.wake(world[side], world.now, sinkOf(world, side))
}

function sinkOf(world: LinkWorld, side: 'sender' | 'receiver'): LinkSink {
  const { sent } = world[side]
  return {
    packet: (bytes) => {
      const to = side === 'sender' ? 'receiver' : 'sender'
      const sequence = sent.next - 1
      world.network.push({ to, sequence, bytes: new Uint8Array(bytes) })
      if (side === 'sender') world.carried[sequence - world.sender.limits.first] = carriedBy(world)
    },
    write: () => -1,
    lost: () => {},
  }
}

function carriedBy({ sender: { sent } }: LinkWorld): number[] {
  const slot = (sent.next - 1) % sent.fate.length
  const pieces: number[] = []
  for (let run = 0; run < sent.runCount[slot]!; run++) {
    const at = (slot * RUNS_MAX + run) * 2
    for (let id = 0; id < sent.runs[at + 1]!; id++) pieces.push(sent.runs[at]! + id)
  }
  return pieces
}

function order({ got }: LinkWorld): true | string {
  const wrong = got.findIndex((message, place) => message !== place)
  return wrong < 0 || `message ${got[wrong]} is handed up at place ${wrong}: ${got.join(' ')}`
}

function truth({ acked, carried, receiver, sender, got }: LinkWorld): true | string {
  for (const sequence of acked) {
    for (const piece of carried[sequence - sender.limits.first]!) {
      if (piece < receiver.incoming.next || receiver.incoming.early.has(piece)) continue
      return `packet ${sequence} is acked, but the receiver does not hold its message ${piece - 1}`
    }
  }
  const told = sender.outgoing.delivered
  return told <= got.length || `${told} messages are told as delivered, ${got.length} are`
}

function fate({ acked, sender: { sent } }: LinkWorld): true | string {
  const twice = acked.find((sequence, place) => acked.indexOf(sequence) !== place)
  if (twice !== undefined) return `packet ${twice} is acked twice`
  for (const sequence of acked) {
    const found = sent.fate[sequence % sent.fate.length]
    if (found !== FATE.acked) return `packet ${sequence} is acked and yet ${found}`
  }
  return true
}

function live({ sender, receiver, got }: LinkWorld, scope: LinkScope): true | string {
  const { first } = scope.limits
  const spent =
    sender.sent.next - first >= scope.packets || receiver.sent.next - first >= scope.acks
  if (spent || (got.length === scope.messages && sender.outgoing.delivered === got.length))
    return true
  return `nothing moves any more, but only ${got.length} messages arrived`
}

/*
 * What can still make a difference. Left out: counters, which tell of the past; the window in
 * bytes and its tokens, which a few short packets never exhaust; when a packet left that has its
 * verdict; what an acked packet carried, for a receiver never lets go of what it holds. Times
 * count from now.
 */
function essence({ now, sender, receiver, ...world }: LinkWorld): unknown {
  return {
    ends: [essenceOf(sender, now), essenceOf(receiver, now)],
    queued: world.queued,
    got: world.got,
    network: world.network.map(({ to, bytes }) => [to, bytes]),
    losses: world.losses,
    doubles: world.doubles,
  }
}

function essenceOf(side: Link, now: Millis): unknown {
  const { sent, received, loss, outgoing, incoming } = side
  const { rtt } = link.current(side)
  const slots: unknown[] = []
  for (let sequence = side.limits.first; sequence < sent.next; sequence++) {
    const slot = sequence % sent.fate.length
    const fated = sent.fate[slot]!
    const open = fated === FATE.flying || fated === FATE.lost
    const runs = (slot * RUNS_MAX + sent.runCount[slot]!) * 2
    slots.push(fated)
    if (open) slots.push(sent.runs.slice(slot * RUNS_MAX * 2, runs))
    if (fated === FATE.flying) slots.push(sent.at[slot]! - now)
  }
  const flying = sent.oldest < sent.next
  const pieces = outgoing.ring.map((piece) => (piece ? [piece.stage, piece.packet] : null))
  return {
    slots,
    acks: [sent.newestAcked, sent.ackBits, received.newest, received.bits],
    timing: [rtt.samples, rtt.latest, rtt.min, rtt.smoothed, rtt.variation, loss.probes],
    timers: [flying ? loss.probeFrom - now : 0, loss.lostAt - now, side.ackAt - now],
    owed: [side.unanswered, side.newestAt - now],
    out: [outgoing.base, outgoing.unsent, outgoing.next, outgoing.againFrom, pieces],
    in: [incoming.next, incoming.open, [...incoming.early.keys()]],
  }
}

function show({ now, sender, receiver, got, network }: LinkWorld): string {
  const flying = network.map(({ to, sequence }) => `${to === 'receiver' ? 'p' : 'a'}${sequence}`)
  const fates = [...sender.sent.fate.subarray(0, 8)].join('')
  const { next } = receiver.incoming
  const under = flying.join(' ')
  return `${now} ms, got [${got.join(' ')}], next ${next}, fates ${fates}, flying ${under}`
}

const GOOD: LinkScope = {
  messages: 2,
  packets: 3,
  acks: 3,
  losses: 1,
  doubles: 1,
  limits: { modulus: 16, window: 3, memory: 8, ahead: 4, reorder: 1, first: 14 },
}

/** Scopes in which all holds, with more sequence numbers than packets. */
export const SCOPES: Rows<LinkScope> = {
  L1: { says: 'two messages, a loss and a double', scope: GOOD, states: 60_000 },
  'L1-once': {
    says: 'two messages, a loss, and nothing comes twice',
    scope: { ...GOOD, doubles: 0 },
    states: 8_800,
  },
  'L1-deep': {
    says: 'three messages, a loss',
    scope: { ...GOOD, messages: 3, packets: 4, doubles: 0 },
    states: 224_000,
    size: 'deep',
  },
}

/** Planted bugs. */
export const MUTANTS: Rows<LinkScope> = {
  'L-X1': { scope: { ...GOOD, bug: 'no-message-ids' }, violates: [['link.order', 4]] },
  'L-X2': {
    scope: {
      ...GOOD,
      messages: 4,
      packets: 7,
      limits: { ...GOOD.limits, modulus: 4, first: 0 },
      bug: 'window-ignored',
    },
    violates: [['link.truth', 7]],
  },
  'L-X3': { scope: { ...GOOD, bug: 'dropped-but-acked' }, violates: [['link.truth', 5]] },
}
