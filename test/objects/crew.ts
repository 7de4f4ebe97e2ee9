/**
 * A crew of members with objects, in virtual time: the shipped part on plain states, with links
 * and packets in the hand of the test.
 *
 * A link is reliable, ordered and numbered, and says by `delivered` what has come; a packet with
 * updates arrives, is acked or is lost when the test says so. `settle` lets everything arrive.
 */

import { calmPart } from '../calmly.ts'
import { expect } from 'vitest'
import type { Millis, PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Part, PartOut, PartView } from '../../packages/holdfast/src/kind/protocol/part.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type {
  ObjectEvent,
  Objects,
  Replica,
  Context,
  TypeRules,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { createWriter, finish } from '../../packages/holdfast/src/wire/bytes.ts'
import {
  type Fields,
  type Quantised,
  schema,
  u8,
} from '../../packages/holdfast/src/wire/fields/schema.ts'

/** A reliable message under way. */
export interface Letter {
  from: PeerId
  to: PeerId
  number: number
  bytes: Uint8Array
  /** In place of bytes: how things stand, as the session says it. */
  view?: Partial<PartView>
}

/** A packet with updates. */
export interface Packet {
  from: PeerId
  to: PeerId
  seq: number
  bytes: Uint8Array
}

/** See the head of this file. */
export interface Crew {
  now: Millis
  types: readonly TypeRules[]
  part: Part<Objects>
  mesh: boolean
  primary: PeerId
  epoch: number
  /** Who is here by the newest view: the player of each. */
  here: Map<PeerId, number>
  /** What members may do, where that is not all that a player may. */
  rights: Map<PeerId, number>
  states: Map<PeerId, Objects>
  events: Map<PeerId, ObjectEvent[]>
  /** Open links, as `from>to`. */
  links: Map<string, { last: number; letters: Letter[] }>
  lastSeq: number
  /** Who takes down what is said and told, if anybody. */
  ear: Ear | null
}

/** What is heard of a crew: a message or a packet as it leaves, and what a member is told. */
export interface Ear {
  letter(from: PeerId, to: PeerId, bytes: Uint8Array): void
  packet(packet: Packet): void
  event(inc: PeerId, event: ObjectEvent): void
}

/** Bytes that a packet has for updates. */
export const BUDGET = 1_000

/** A type of two numbers; anybody may take it. */
export function rules(some: Partial<TypeRules> = {}, fields: Fields = { one: u8, other: u8 }) {
  return {
    schema: schema(fields),
    timed: false,
    take: 'free',
    unanswered: 'refuse',
    onOwnerLeave: 'keep',
    balance: false,
    weight: 1,
    visibility: null,
    eyes: -1,
    ...some,
  } satisfies TypeRules
}

/** How a crew begins. */
export interface Start {
  incs?: readonly PeerId[]
  mesh?: boolean
  types?: readonly TypeRules[]
}

/** Members with the same view, linked, and with nothing to tell. */
export function meet({ incs = [1, 2, 3], mesh = false, types = [rules()] }: Start = {}): Crew {
  const crew: Crew = {
    now: 1_000,
    types,
    part: calmPart(objects.objectsPart(types)),
    mesh,
    primary: incs[0]!,
    epoch: 1,
    here: new Map(incs.map((inc) => [inc, inc])),
    rights: new Map(),
    states: new Map(),
    events: new Map(),
    links: new Map(),
    lastSeq: 0,
    ear: null,
  }
  for (const inc of incs) enter(crew, inc)
  for (const inc of incs) see(crew, inc)
  wire(crew)
  settle(crew)
  for (const told of crew.events.values()) told.length = 0
  return crew
}

/** A process that is in no session yet. */
export function enter(crew: Crew, inc: PeerId): void {
  crew.states.set(inc, objects.create())
  crew.events.set(inc, [])
}

/** Links everybody with whom the topology says. */
export function wire(crew: Crew): void {
  for (const one of crew.states.keys()) {
    for (const other of crew.states.keys()) {
      const wanted = crew.mesh || one === crew.primary || other === crew.primary
      const known = crew.links.has(`${one}>${other}`)
      if (one < other && wanted && !known) link(crew, one, other)
    }
  }
}

/** Opens a link between two, or a new one in its place: what was under way is lost. */
export function link(crew: Crew, one: PeerId, other: PeerId): void {
  crew.links.set(`${one}>${other}`, { last: 0, letters: [] })
  crew.links.set(`${other}>${one}`, { last: 0, letters: [] })
  for (const [inc, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    crew.part.linked!(state(crew, inc), crew.now, peer)
    flush(crew, inc)
  }
}

/** Closes the link between two. */
export function cut(crew: Crew, one: PeerId, other: PeerId): void {
  crew.links.delete(`${one}>${other}`)
  crew.links.delete(`${other}>${one}`)
}

/** A member's state. */
export function state(crew: Crew, inc: PeerId): Objects {
  return crew.states.get(inc)!
}

/** One verb at a member, and what follows from it. */
export function act<Result>(crew: Crew, inc: PeerId, verb: (turn: Context) => Result): Result {
  const turn = { objects: state(crew, inc), types: crew.types, now: crew.now, out: out(crew, inc) }
  const result = verb(turn as Context)
  flush(crew, inc)
  return result
}

function flush(crew: Crew, inc: PeerId): void {
  crew.part.flush!(state(crew, inc), crew.now, out(crew, inc))
}

function out(crew: Crew, from: PeerId): PartOut {
  return {
    send: (to, bytes) => {
      const open = crew.links.get(`${from}>${to}`)
      if (!open) return 0
      crew.ear?.letter(from, to, bytes)
      open.letters.push({ from, to, number: ++open.last, bytes })
      return open.last
    },
    emit: (event) => {
      crew.ear?.event(from, event as ObjectEvent)
      crew.events.get(from)!.push(event as ObjectEvent)
    },
  }
}

function membersOf({ here, rights }: Crew): PartView['members'] {
  return [...here].map(([inc, player]) => ({ inc, player, rights: rights.get(inc) }))
}

/** A member hears how things stand, by default as the crew has it. */
export function see(crew: Crew, me: PeerId, more: Partial<PartView> = {}): void {
  const { primary, epoch, mesh } = crew
  const members = membersOf(crew)
  const view = { session: 'a', me, primary, epoch, mesh, members, left: false, ...more }
  crew.part.view!(state(crew, me), crew.now, view, out(crew, me))
  flush(crew, me)
}

/** All who are here hear how things stand, the primary first. */
export function seeAll(crew: Crew, more: Partial<PartView> = {}): void {
  see(crew, crew.primary, more)
  for (const inc of crew.here.keys()) if (inc !== crew.primary) see(crew, inc, more)
}

/** The primary hears how things stand, and the others by its links. */
export function spreadView(crew: Crew): void {
  const { primary, epoch, mesh } = crew
  const members = membersOf(crew)
  for (const to of crew.here.keys()) {
    const open = crew.links.get(`${primary}>${to}`)
    const view = { primary, epoch, mesh, members }
    open?.letters.push({ from: primary, to, number: ++open.last, bytes: new Uint8Array(0), view })
  }
  see(crew, primary)
}

/** A member is let in, with a link as the topology says. */
export function join(crew: Crew, inc: PeerId, player: number = inc): void {
  crew.here.set(inc, player)
  enter(crew, inc)
  seeAll(crew)
  wire(crew)
}

/** A process is gone, and what it had under way with it. */
export function die(crew: Crew, inc: PeerId): void {
  crew.states.delete(inc)
  for (const key of crew.links.keys()) {
    if (key.split('>').includes(`${inc}`)) crew.links.delete(key)
  }
}

/** A member is dead, and all hear it. @param left  it left for good */
export function lose(crew: Crew, inc: PeerId, left = false): void {
  die(crew, inc)
  crew.here.delete(inc)
  seeAll(crew, { left })
}

/** The primary is dead, and another leads. */
export function takeOver(crew: Crew, heir: PeerId, more: Partial<PartView> = {}): void {
  die(crew, crew.primary)
  crew.here.delete(crew.primary)
  crew.primary = heir
  crew.epoch++
  seeAll(crew, more)
  wire(crew)
}

/** What is under way from one to another. */
export function under(crew: Crew, from: PeerId, to: PeerId): Letter[] {
  return crew.links.get(`${from}>${to}`)?.letters ?? []
}

/** First bytes of what is under way. */
export function kinds(crew: Crew, from: PeerId, to: PeerId): number[] {
  return under(crew, from, to).map(({ bytes }) => bytes[0]!)
}

/** The next messages of a link come, all if not said; and their sender hears it, if not `deaf`. */
export function carry(crew: Crew, from: PeerId, to: PeerId, count = Infinity, deaf = false): void {
  const letters = under(crew, from, to)
  for (let carried = 0; carried < count && letters.length > 0; carried++) {
    const { number, bytes, view } = letters.shift()!
    if (view) see(crew, to, view)
    else hear(crew, to, from, bytes)
    if (!deaf) heard(crew, from, to, number)
  }
}

/** A member hears a message of somebody. */
export function hear(crew: Crew, to: PeerId, from: PeerId, bytes: Uint8Array): void {
  crew.part.receive!(state(crew, to), crew.now, from, bytes, out(crew, to))
  flush(crew, to)
}

/** Who sent them learns that its messages up to that one have come. */
export function heard(crew: Crew, from: PeerId, to: PeerId, upTo: number): void {
  crew.part.delivered!(state(crew, from), to, upTo)
  flush(crew, from)
}

/** What one has to say to another in a packet now, or null. */
export function pull(crew: Crew, from: PeerId, to: PeerId, budget = BUDGET): Packet | null {
  const writer = createWriter()
  const seq = ++crew.lastSeq
  if (!crew.part.write!(state(crew, from), crew.now, to, seq, writer, budget)) return null
  const packet = { from, to, seq, bytes: finish(writer) }
  crew.ear?.packet(packet)
  return packet
}

/** A packet arrives; its sender does not know yet. */
export function land(crew: Crew, { from, to, bytes }: Packet): void {
  crew.part.read!(state(crew, to), crew.now, from, bytes, out(crew, to))
  flush(crew, to)
}

/** The sender of a packet learns what became of it. */
export function verdict(crew: Crew, packet: Packet, came: boolean): void {
  const sender = crew.states.get(packet.from)
  if (sender) crew.part[came ? 'acked' : 'lost']!(sender, packet.to, packet.seq)
}

/** Packets of all who have something to say by now, as their runner would build them. */
export function packets(crew: Crew): Packet[] {
  const made: Packet[] = []
  for (const [from, sender] of crew.states) {
    for (const to of crew.part.dirty!(sender, crew.now)) {
      if (!crew.links.has(`${from}>${to}`)) continue
      for (let packet; (packet = pull(crew, from, to));) made.push(packet)
    }
    // A member's next verb is never far.
    flush(crew, from)
  }
  return made
}

// More than a few members have to do at one moment.
const OVERDUE_MAX = 1_000

/** Time passes, and who has something due does it. */
export function pass(crew: Crew, ms: Millis): void {
  const end = crew.now + ms
  let left = OVERDUE_MAX
  for (;;) {
    const due = Math.min(...[...crew.states.values()].map((one) => crew.part.deadline!(one)))
    if (due > end) break
    if (due >= crew.now) left = OVERDUE_MAX
    else if (left-- === 0) expect.fail(`what is due at ${due} stays due`)
    crew.now = Math.max(crew.now, due)
    wake(crew)
    deliverAll(crew)
    // A deadline that is kept by a packet moves on when the packet is built.
    if (due === crew.now) crew.now = Math.min(end, crew.now + 1)
    if (crew.now >= end) break
  }
  crew.now = end
}

/** Who has something due does it. */
export function wake(crew: Crew): void {
  for (const [inc, one] of crew.states) {
    if (crew.part.deadline!(one) > crew.now) continue
    crew.part.wake!(one, crew.now, out(crew, inc))
    flush(crew, inc)
  }
}

function deliverAll(crew: Crew): boolean {
  let moved = false
  for (const key of [...crew.links.keys()]) {
    const [from, to] = key.split('>').map(Number) as [PeerId, PeerId]
    if (under(crew, from, to).length === 0) continue
    carry(crew, from, to)
    moved = true
  }
  for (const packet of packets(crew)) {
    moved = true
    if (!crew.states.has(packet.to)) continue
    land(crew, packet)
    verdict(crew, packet, true)
  }
  return moved
}

/** Everything arrives, until nobody has anything to say. */
export function settle(crew: Crew): void {
  for (let quiet = 0, rounds = 0; quiet < 3; rounds++) {
    if (rounds > 1_000) expect.fail('the crew does not come to rest')
    crew.now += 10
    quiet = deliverAll(crew) ? 0 : quiet + 1
  }
}

/** A new object. @returns its key */
export function spawn(crew: Crew, inc: PeerId, fields: Quantised = [1, 1], type = 0): number {
  return act(crew, inc, (turn) => objects.spawn(turn, type, fields)).key
}

/** Its owner has another state of it. @returns whether that is said */
export function set(
  crew: Crew,
  inc: PeerId,
  key: number,
  fields: Quantised,
  mask: number,
  madeAt: Millis = NaN,
  waits = false,
): boolean {
  const replica = thing(crew, inc, key)
  const own = state(crew, inc)
  if (objects.isMine(own, replica))
    for (const [i, field] of fields.entries()) replica.fields[i] = field
  return act(crew, inc, () => {
    return objects.set(own, crew.types, crew.now, replica, mask, madeAt, waits)
  })
}

/** Its owner changes a field. */
export function write(crew: Crew, inc: PeerId, key: number, value: number, field = 0): void {
  const next = [...thing(crew, inc, key).fields]
  next[field] = value
  set(crew, inc, key, next, 1 << field)
}

/** Its owner ends it. */
export function destroy(crew: Crew, inc: PeerId, key: number): void {
  act(crew, inc, (turn) => objects.destroy(turn, thing(crew, inc, key)))
}

/** A member asks for an object. @returns the number of the request */
export function take(crew: Crew, inc: PeerId, key: number): number {
  return act(crew, inc, (turn) => objects.request(turn, thing(crew, inc, key), 'take', inc))
}

/** The application of an owner answers who asks for an object. */
export function reply(crew: Crew, inc: PeerId, key: number, yes: boolean): void {
  act(crew, inc, (turn) => {
    const asking = turn.objects.incomingAsks.get(key)
    if (asking) objects.reply(turn, key, asking, yes)
  })
}

/** Its owner gives it to somebody. @returns the number of the request */
export function give(crew: Crew, inc: PeerId, key: number, to: PeerId): number {
  return act(crew, inc, (turn) => objects.request(turn, thing(crew, inc, key), 'give', to))
}

/** The primary grants it, as it does when it moves one by itself. */
export function grant(crew: Crew, key: number, to: PeerId): void {
  act(crew, crew.primary, (turn) => objects.give(turn, thing(crew, crew.primary, key), to))
}

/** What a member knows of an object. */
export function thing(crew: Crew, inc: PeerId, key: number): Replica {
  const replica = state(crew, inc).replicas.get(key)
  if (!replica) return expect.fail(`${inc} does not know ${objects.idOf(key)}`)
  return replica
}

/** One object as a member sees it: owner, version, fields; or what there is instead. */
export function look(crew: Crew, inc: PeerId, key: number): string {
  const replica = state(crew, inc).replicas.get(key)
  if (!replica) return 'unknown'
  const { version, owner, fields, dead, hidden } = replica
  const name = `v${version.epoch}.${version.count}`
  if (dead) return `gone ${name}`
  return hidden ? 'hidden' : `${owner} ${name} ${fields.join()}`
}

/** One object as all members see it; the same text is said once. */
export function looks(crew: Crew, key: number): string[] {
  return [...new Set([...crew.states.keys()].map((inc) => look(crew, inc, key)))]
}

/** What a member was told of one kind. */
export function told<Kind extends ObjectEvent['kind']>(
  crew: Crew,
  inc: PeerId,
  kind: Kind,
): Extract<ObjectEvent, { kind: Kind }>[] {
  return crew.events.get(inc)!.filter((event) => event.kind === kind) as never
}

/** What came of a member's requests, in order. */
export function answers(crew: Crew, inc: PeerId): string[] {
  return told(crew, inc, 'object-answer').map(({ answer }) => answer)
}
