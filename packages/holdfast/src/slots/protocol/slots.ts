/** Slots as a part of a member: dispatches frames, messages, views, links and timers. */

import { rulesOf, mayPlay, type Millis, type PeerId, RIGHTS } from '../../machine.ts'
import {
  haveAllReported,
  receiveReport,
  receiveDiffers,
  isNear,
  endRound,
  carryOver,
} from './agreement.ts'
import { sorted, advance } from './fold.ts'
import {
  createState,
  type Slots,
  type SlotsRules,
  type Context,
  createPeer,
  type Game,
  GONE_MAX,
  type SlotPeer,
  type SlotsOut,
} from './state.ts'
import type { Part, PartView } from '../../kind/protocol/part.ts'
import { createReader } from '../../wire/bytes.ts'
import { fingerprint } from '../../wire/digest.ts'
import { decode, encode } from '../../wire/layout.ts'
import {
  onAcked,
  forward,
  isDueTo,
  onLost,
  collectDue,
  queueEvent,
  write,
  type Frame,
  readFrame,
} from './frames.ts'
import { digestOf, rangeOf } from './events.ts'
import { SAYS_MAX, slotsLayout, SLOTS_CHANNEL, type SlotsMessage } from './messages.ts'
import { findWorld, yieldTo, adopt, ANSWER_AGAIN_MS, requestWorld, encodeWorld } from './worlds.ts'
import { updateApart, referenceOf } from './reference.ts'
import { receiveEvent, reportGone } from './receive.ts'

export { diverging } from './agreement.ts'
export { ahead, seal, shown } from './fold.ts'
export { SLOTS_CHANNEL } from './messages.ts'
export { open } from './worlds.ts'
export * from './state.ts'
export { hasRoom, makeEvent } from './receive.ts'

export const RULES: SlotsRules = rulesOf<SlotsRules>({
  counted: (_slots, event) => event,
  isLate: ({ standing, base }, slot) => standing === 'live' && slot <= base,
  sorted,
  mayAsk: ({ askAt }, now) => now >= askAt,
  haveAllReported,
})

export function create(rules: SlotsRules = RULES): Slots {
  return createState(rules)
}

// Messages that a watching member may send.
const ACCEPTED_OF_WATCHERS = new Set<string | undefined>(['standing', 'inquiry'])

// An alarm just before the end of the slot would be set again and again.
const ROUNDING_MS: Millis = 0.01

/** The game's definition of its world, once there is one. */
export interface GameBox {
  game: Game | null
}

/** Creates the part. `box.game` is set when the application opens the world. */
export function slotsPart(box: GameBox): Part<Slots> {
  return {
    channel: SLOTS_CHANNEL,
    receive: (slots, now, from, bytes, out) => {
      receive({ slots, game: box.game, now, out: out as SlotsOut }, from, bytes)
    },
    // A watching member may announce its standing and request the world, and nothing else.
    acceptsFromWatcher: (bytes) => ACCEPTED_OF_WATCHERS.has(decode(slotsLayout, bytes)?.kind),
    acceptsWatcherFrames: true,
    read: (slots, now, from, bytes, out) => {
      const { game } = box
      if (game) read({ slots, game, now, out: out as SlotsOut }, from, bytes)
    },
    write,
    waits: isDueTo,
    dirty: collectDue,
    flush: (slots, _now, out) => flush(slots, out as SlotsOut),
    wake: (slots, now, out) => {
      if (box.game) tick(slots, box.game, now, out as SlotsOut)
    },
    deadline,
    clock: (slots, offset) => void (slots.offset = offset),
    reset,
    view: onView,
    linked: (slots, now, inc) => {
      slots.peers.set(inc, { ...createPeer(), receivedAt: now })
    },
    unlinked: (slots, _now, inc) => void slots.peers.delete(inc),
    acked: onAcked,
    lost: onLost,
  }
}

/** Advances the current slot to `now`. @returns whether session time is known */
export function tick(slots: Slots, game: Game, now: Millis, out: SlotsOut): boolean {
  const to = slotAt(slots, now)
  const before = slots.slot
  if (Number.isNaN(to)) return false
  if (slots.standing === 'live') advance(slots, game, to)
  else slots.slot = Number.isNaN(slots.slot) ? to : Math.max(slots.slot, to)
  if (slots.standing === 'joining') {
    forgetPast(slots, to)
    findWorld(slots, game, now, out)
  }
  updateApart(slots, now)
  if (referenceOf(slots, now).reference === slots.me) {
    // A member without a world keeps requesting one, even as the primary of a star.
    if (slots.standing === 'live') slots.asked = 0
    // Only the reference member reports departures.
    reportGone(slots, game, now)
  }
  if (slots.slot !== before) endRound(slots, out)
  return true
}

// Keeps events that are folded into our earlier world, because that world may continue.
function forgetPast({ bySlot, base, validWorlds, horizon }: Slots, to: number): void {
  for (const slot of bySlot.keys()) {
    const isKept = slot > base && slot < base + validWorlds
    if (slot < to - 2 * horizon && !isKept) bySlot.delete(slot)
  }
}

// The slot of an instant; NaN while session time is unknown.
function slotAt({ offset, ms }: Slots, now: Millis): number {
  return Math.floor((now + offset) / ms)
}

function deadline(slots: Slots): Millis {
  if (slots.standing === 'closed' || Number.isNaN(slots.offset)) return Infinity
  const known = Number.isNaN(slots.slot) ? 0 : slots.slot
  return Math.min((known + 1) * slots.ms - slots.offset + ROUNDING_MS, slots.dueAt)
}

function reset(slots: Slots): void {
  const { standing, ms, print, says, horizon, nextId, rules, counters } = slots
  const kept = { ms, print, says, horizon, nextId, counters }
  Object.assign(slots, createState(rules), kept, carryOver(slots))
  slots.standing = standing === 'closed' ? 'closed' : 'joining'
}

function onView(slots: Slots, now: Millis, view: PartView): void {
  if (slots.me !== 0 && slots.me !== view.me) onReturn(slots)
  slots.me = view.me
  slots.seed = fingerprint(view.session)
  slots.mesh = view.mesh
  slots.primary = view.primary
  const watching = view.members.filter(({ rights }) => !mayPlay(rights ?? RIGHTS.play))
  slots.watchers = new Set(watching.map(({ inc }) => inc))
  // Neither agreement nor the reference includes watchers.
  const members = view.members.map(({ inc }) => inc)
  slots.here = new Set(members.filter((inc) => inc === view.me || !slots.watchers.has(inc)))
  for (const { inc, player } of view.members) {
    slots.players.set(inc, player)
    if (inc === view.me) slots.player = player
  }
  forgetGone(slots)
  slots.changed ||= slots.standing !== 'closed'
  slots.scannedIn = -1
  slots.dueAt = Math.min(slots.dueAt, now)
}

// A returning member may have missed settled acts, so its world must not be the reference. That
// world continues only if nobody else has one.
function onReturn(slots: Slots): void {
  slots.nextId = 1
  slots.asked = 0
  slots.beginAt = NaN
  slots.askAt = -Infinity
  if (slots.standing === 'live') slots.standing = 'joining'
}

// Players are remembered so that nobody else can act in their name. The oldest are forgotten: no
// open slot holds acts of a member after whom so many others left. No world depends on this.
function forgetGone({ players, here }: Slots): void {
  for (const inc of players.keys()) {
    if (players.size <= here.size + GONE_MAX) return
    if (!here.has(inc)) players.delete(inc)
  }
}

function flush(slots: Slots, out: SlotsOut): void {
  for (const [inc, peer] of slots.peers) {
    if (peer.announced === slots.standing) continue
    const { standing, print, says } = slots
    const message = {
      kind: 'standing',
      standing,
      print,
      says: says.slice(0, SAYS_MAX / 3),
    } as const
    if (out.send(inc, encode(slotsLayout, message)) > 0) peer.announced = standing
  }
  for (const failure of slots.failures.splice(0)) out.emit({ kind: 'slots-failed', ...failure })
  if (!slots.changed) return
  slots.changed = false
  out.emit({ kind: 'slots' })
}

// Input is hostile: malformed messages are counted.
function receive(ctx: Context<Game | null>, from: PeerId, bytes: Uint8Array): void {
  const { slots, game, now, out } = ctx
  const message = decode(slotsLayout, bytes)
  const peer = slots.peers.get(from)
  if (!message) return void slots.counters.malformed++
  if (!peer) return
  if (message.kind === 'standing') {
    const fits = slots.print === 0 || message.print === slots.print || message.standing === 'closed'
    if (!fits) slots.counters.refused++
    peer.standing = fits ? message.standing : 'closed'
    peer.print = message.print
    peer.says = message.says
    peer.claims = message.standing
    if (!fits && !slots.watchers.has(from)) yieldTo(slots, from, out)
    slots.changed = true
  } else if (game) answer({ slots, game, now, out }, from, message)
}

function answer({ slots, game, now, out }: Context, from: PeerId, message: SlotsMessage): void {
  const peer = slots.peers.get(from)!
  if (message.kind === 'inquiry') {
    if (slots.standing !== 'live' || now - peer.answeredAt < ANSWER_AGAIN_MS) return
    peer.answeredAt = now
    // After a long standstill the base is out of date until this tick.
    tick(slots, game, now, out)
    out.send(from, encodeWorld(slots))
  } else if (message.kind === 'differs') {
    if (slots.standing === 'live') receiveDiffers(slots, from, message, out)
  } else if (message.kind === 'world') {
    if (from !== slots.asked) return void slots.counters.refused++
    slots.asked = 0
    const at = Math.max(slots.slot, slotAt(slots, now) || 0)
    if (!adopt(slots, game, message, at)) return void slots.counters.malformed++
    slots.changed = true
    tick(slots, game, now, out)
  }
}

function read(ctx: Context, from: PeerId, bytes: Uint8Array): void {
  const { slots, now } = ctx
  const peer = slots.peers.get(from)
  const player = slots.players.get(from)
  if (!peer || player === undefined || Number.isNaN(slots.slot)) return
  const frame = readFrame(createReader(bytes), slots.slot, { inc: from, player }, slots.horizon)
  if (!frame) return void slots.counters.malformed++
  peer.receivedAt = now
  peer.follows = frame.reference
  peer.near = frame.near
  peer.apart = frame.apart
  if (slots.watchers.has(from)) return
  for (const sent of frame.events) {
    const event = receiveEvent(ctx, from, sent)
    if (event) forward(slots, now, event)
  }
  if (slots.standing !== 'live') return
  compareEvents(slots, from, frame)
  compareWorlds(ctx, from, frame)
}

// If digests differ, one side lacks an event: queues all events that the peer may lack.
function compareEvents(slots: Slots, inc: PeerId, frame: Frame): void {
  const { from, to } = rangeOf(frame.slot, slots.horizon)
  if (frame.digest === null || from <= slots.base || to >= slots.slot) return
  if (digestOf(slots, from, to) === frame.digest) return
  for (let slot = from; slot <= to; slot++) {
    for (const event of slots.bySlot.get(slot)?.events.values() ?? []) queueEvent(slots, inc, event)
  }
}

function compareWorlds({ slots, now, out }: Context, inc: PeerId, frame: Frame): void {
  const report = reportToCompare(slots, slots.peers.get(inc)!, frame)
  const mine = report && slots.settled.get(report.slot)
  if (!mine) return
  receiveReport(slots, inc, mine, report, out)
  const { reference, near } = referenceOf(slots, now)
  const counts = inc === reference || (!near && frame.near && frame.reference === reference)
  if (!counts) return
  if (report.hash !== mine.hash || report.acts !== mine.acts)
    return requestWorld(slots, now, inc, out)
  slots.apart = false
  slots.asked = 0
}

// A peer whose clock is ahead of ours reports slots that are not settled here yet. Keeps its first
// such report until the slot is settled.
function reportToCompare(slots: Slots, peer: SlotPeer, frame: Frame): SlotPeer['earlyReport'] {
  const { earlyReport: early } = peer
  if (early && early.slot <= slots.base) {
    peer.earlyReport = null
    if (slots.settled.has(early.slot)) return early
  }
  const report = frame.settled
  if (report === null) return null
  if (slots.settled.has(report.slot)) return report
  if (isNear(slots, report.slot)) peer.earlyReport ??= report
  return null
}
