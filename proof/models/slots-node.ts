/**
 * One member of the slots' model: the shipped part, its clock, and what it says in answer to one
 * input. A function of member and input, so that what comes back often is computed once.
 *
 * The world is that of the source's scene (M32): players on cells, one a cell; who wants a cell
 * that is taken stays where he is.
 */

import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import { seal, settle, shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import {
  create,
  createPeer,
  type Game,
  makeEvent,
  type Slots,
  type SlotsOut,
  slotsPart,
} from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { type SlotsBug, slotsRules } from '../mutants.ts'

/** What is explored. */
export interface SlotsScope {
  /** Who wants which cell, and in which slot by its own clock. */
  acts: readonly { slot: number; by: PeerId; to: number }[]
  /** Slots in which anything may happen. */
  slots: number
  /** Clocks are apart by at most so many slots. */
  skew: number
  /** Frames that come and are taken for lost. One that is lost is as one that was not told yet. */
  doubts: number
  /** Slots that stay open. */
  horizon: number
  /** What somebody did comes to all before it is settled anywhere. */
  bounded: boolean
  /** Member 2 may stand still in one round, and member 1 may be gone after any. */
  troubled: boolean
  bug: SlotsBug | null
}

/** One member. */
export interface Node {
  now: Millis
  slots: Slots
}

/** What a member says, and what it tells its application to be void. */
export interface Said {
  words: { from: PeerId; to: PeerId; bytes: Uint8Array }[]
  void: { by: PeerId; to: unknown }[]
}

/** What steps and claims ask of a member, read once of each of its states. */
export interface Face {
  node: Node
  /** The slot under way, from 0. */
  slot: number
  /** To whom it owes events, in its order. */
  owes: readonly PeerId[]
  /** A bit for each act of the scope that it has made or knows of. */
  knows: number
  /** The world that it shows, and the cells that are taken in it. */
  view: string
  cells: readonly number[]
  again: boolean
  adopted: boolean
}

/** A slot, in milliseconds. */
export const MS = 200
const FIRST = 40

type Cells = Record<number, number>

const game: Game = {
  ms: MS,
  print: 1,
  says: '200 highest cell',
  start: { 1: 0, 2: 2, 3: 3 } satisfies Cells,
  order: 'highest',
  rule: (world, acts) => {
    const cells = { ...(world as Cells) }
    for (const { by, act } of acts) {
      const to = act as number
      if (!Object.values(cells).includes(to)) cells[by] = to
    }
    return cells
  },
  decode: (bytes) => (bytes.length === 1 ? bytes[0] : undefined),
}
const part = slotsPart({ game })

/** A member that has the world as it begins. */
export function member(me: PeerId, { horizon, bug }: SlotsScope): Node {
  const slots = {
    ...create(slotsRules(bug)),
    me,
    player: me,
    mesh: true,
    primary: 1,
    offset: 0,
  }
  slots.ms = MS
  slots.print = 1
  slots.horizon = horizon
  slots.standing = 'live'
  slots.slot = FIRST
  settle(slots, FIRST - 1, seal(game.start), 0)
  for (const inc of [1, 2, 3]) {
    slots.here.add(inc)
    slots.players.set(inc, inc)
    if (inc === me) continue
    slots.peers.set(inc, {
      ...createPeer(),
      standing: 'live',
      announced: 'live',
      receivedAt: FIRST * MS,
      saidIn: FIRST,
    })
  }
  return { now: FIRST * MS, slots }
}

/** Wants a cell. */
export function want({ slots, now }: Node, to: number): void {
  makeEvent(slots, now, game, new Uint8Array([to]), 0)
}

/** A slot goes by. */
export function tick(node: Node, said: Said): void {
  node.now += MS
  part.wake!(node.slots, node.now, outOf(node, said))
}

/**
 * Tells a peer all that there is to say; of a frame it hears at once that it came, or that it is
 * lost.
 *
 * @returns the frame, or null if there is nothing
 */
export function tell({ slots, now }: Node, to: PeerId, acked: boolean): Uint8Array | null {
  const writer = { bytes: new Uint8Array(256), length: 0 }
  // Each frame says all that there is to say, and what is owed leaves now, whenever that is.
  slots.peers.get(to)!.saidIn = -1
  if (!part.write!(slots, now, to, PACKET, writer, 256)) return null
  if (acked) part.acked!(slots, to, PACKET)
  else part.lost!(slots, to, PACKET)
  return writer.bytes.slice(0, writer.length)
}

// What becomes of one packet is known before there is another.
const PACKET = 1

/** Hears a frame, or a word that comes reliably. */
export function hear(
  node: Node,
  what: 'frame' | 'word',
  from: PeerId,
  bytes: Uint8Array,
  said: Said,
): void {
  const { slots, now } = node
  const out = outOf(node, said)
  if (what === 'frame') part.read!(slots, now, from, bytes, out)
  else part.receive!(slots, now, from, bytes, out)
}

function outOf({ slots: { me } }: Node, said: Said): SlotsOut {
  return {
    send: (to, bytes) => said.words.push({ from: me, to, bytes: bytes.slice() }),
    emit: (event) => {
      if (event.kind !== 'slots-discarded') return
      for (const to of event.acts) said.void.push({ by: me, to })
    },
  }
}

/** Reads a member; its world is folded by that, which whoever looks does. */
export function faceOf(node: Node, { acts }: SlotsScope): Face {
  const { slots } = node
  const world = shown(slots, game) as Cells
  let knows = 0
  for (const [act, { slot, by }] of acts.entries()) {
    if (by === slots.me || hasAct(slots, FIRST + slot, by)) knows |= 1 << act
  }
  return {
    node,
    slot: slots.slot - FIRST,
    owes: [...slots.peers].filter(([, { unacked }]) => unacked.size > 0).map(([peer]) => peer),
    knows,
    view: JSON.stringify(world),
    cells: Object.values(world),
    again: slots.counters.again > 0,
    adopted: slots.counters.adopted > 0,
  }
}

function hasAct(slots: Slots, slot: number, by: PeerId): boolean {
  if (slot <= slots.base) return true
  for (const event of slots.bySlot.get(slot)?.events.values() ?? [])
    if (event.inc === by) return true
  return false
}

/**
 * What tells members apart. Left out: counters, which tell of the past, and worlds but the settled
 * one, which follow from it and the events. Times count from now.
 */
export function essenceOf({ slots, now }: Node, { bounded, troubled, bug }: SlotsScope): unknown {
  const events: number[][] = []
  for (const [slot, { events: known }] of slots.bySlot) {
    for (const [key, { held }] of known)
      events.push([slot, key, ...[...held].sort((a, b) => a - b)])
  }
  if (bug !== 'order-of-arrival') events.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
  const owed = [...slots.peers.values()].map((peer) =>
    [...peer.unacked.keys()].map(({ inc, id }) => inc * 100 + id),
  )
  const { slot, base, worlds } = slots
  const known = [slot, base, worlds[0]!.text, events, owed]
  // Where nothing comes too late nobody asks, and it does not matter whom one hears.
  if (bug !== null) known.push(worlds.map(({ text }) => text).join())
  if (bounded) return known
  return [...known, rootEssence(slots, now), ...(troubled ? agreementEssence(slots) : [])]
}

function rootEssence(slots: Slots, now: Millis): unknown {
  const peers = [...slots.peers.values()].map(({ follows, near, apart, receivedAt }) => [
    follows,
    near,
    apart,
    now - receivedAt <= (slots.horizon / 2) * MS ? now - receivedAt : -1,
  ])
  const unsure = slots.unsure.map(({ id }) => id)
  return [slots.apart, slots.asked, Math.max(0, slots.askAt - now), unsure, peers]
}

function agreementEssence({
  agreed,
  round: begun,
  peers,
  settled,
  base,
  bySlot,
}: Slots): unknown[] {
  const said = [...peers].map(([inc, { same, earlyReport, standing }]) => [
    inc,
    same,
    earlyReport,
    standing,
  ])
  return [agreed, begun, said, settled.get(base)!.acts, bySlot.size]
}
