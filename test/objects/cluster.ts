/**
 * A cluster of members with objects, in virtual time: the shipped part on plain states, with links
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
export interface Cluster {
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

/** What is heard of a cluster: a message or a packet as it leaves, and what a member is told. */
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

/** How a cluster begins. */
export interface Start {
  incs?: readonly PeerId[]
  mesh?: boolean
  types?: readonly TypeRules[]
}

/** Members with the same view, linked, and with nothing to tell. */
export function meet({ incs = [1, 2, 3], mesh = false, types = [rules()] }: Start = {}): Cluster {
  const cluster: Cluster = {
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
  for (const inc of incs) enter(cluster, inc)
  for (const inc of incs) see(cluster, inc)
  wire(cluster)
  settle(cluster)
  for (const told of cluster.events.values()) told.length = 0
  return cluster
}

/** A process that is in no session yet. */
export function enter(cluster: Cluster, inc: PeerId): void {
  cluster.states.set(inc, objects.create())
  cluster.events.set(inc, [])
}

/** Links everybody with whom the topology says. */
export function wire(cluster: Cluster): void {
  for (const one of cluster.states.keys()) {
    for (const other of cluster.states.keys()) {
      const wanted = cluster.mesh || one === cluster.primary || other === cluster.primary
      const known = cluster.links.has(`${one}>${other}`)
      if (one < other && wanted && !known) link(cluster, one, other)
    }
  }
}

/** Opens a link between two, or a new one in its place: what was under way is lost. */
export function link(cluster: Cluster, one: PeerId, other: PeerId): void {
  cluster.links.set(`${one}>${other}`, { last: 0, letters: [] })
  cluster.links.set(`${other}>${one}`, { last: 0, letters: [] })
  for (const [inc, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    cluster.part.linked!(state(cluster, inc), cluster.now, peer)
    flush(cluster, inc)
  }
}

/** Closes the link between two. */
export function cut(cluster: Cluster, one: PeerId, other: PeerId): void {
  cluster.links.delete(`${one}>${other}`)
  cluster.links.delete(`${other}>${one}`)
}

/** A member's state. */
export function state(cluster: Cluster, inc: PeerId): Objects {
  return cluster.states.get(inc)!
}

/** One verb at a member, and what follows from it. */
export function act<Result>(
  cluster: Cluster,
  inc: PeerId,
  verb: (turn: Context) => Result,
): Result {
  const turn = {
    objects: state(cluster, inc),
    types: cluster.types,
    now: cluster.now,
    out: out(cluster, inc),
  }
  const result = verb(turn as Context)
  flush(cluster, inc)
  return result
}

function flush(cluster: Cluster, inc: PeerId): void {
  cluster.part.flush!(state(cluster, inc), cluster.now, out(cluster, inc))
}

function out(cluster: Cluster, from: PeerId): PartOut {
  return {
    send: (to, bytes) => {
      const open = cluster.links.get(`${from}>${to}`)
      if (!open) return 0
      cluster.ear?.letter(from, to, bytes)
      open.letters.push({ from, to, number: ++open.last, bytes })
      return open.last
    },
    emit: (event) => {
      cluster.ear?.event(from, event as ObjectEvent)
      cluster.events.get(from)!.push(event as ObjectEvent)
    },
  }
}

function membersOf({ here, rights }: Cluster): PartView['members'] {
  return [...here].map(([inc, player]) => ({ inc, player, rights: rights.get(inc) }))
}

/** A member hears how things stand, by default as the cluster has it. */
export function see(cluster: Cluster, me: PeerId, more: Partial<PartView> = {}): void {
  const { primary, epoch, mesh } = cluster
  const members = membersOf(cluster)
  const view = { session: 'a', me, primary, epoch, mesh, members, left: false, ...more }
  cluster.part.view!(state(cluster, me), cluster.now, view, out(cluster, me))
  flush(cluster, me)
}

/** All who are here hear how things stand, the primary first. */
export function seeAll(cluster: Cluster, more: Partial<PartView> = {}): void {
  see(cluster, cluster.primary, more)
  for (const inc of cluster.here.keys()) if (inc !== cluster.primary) see(cluster, inc, more)
}

/** The primary hears how things stand, and the others by its links. */
export function spreadView(cluster: Cluster): void {
  const { primary, epoch, mesh } = cluster
  const members = membersOf(cluster)
  for (const to of cluster.here.keys()) {
    const open = cluster.links.get(`${primary}>${to}`)
    const view = { primary, epoch, mesh, members }
    open?.letters.push({ from: primary, to, number: ++open.last, bytes: new Uint8Array(0), view })
  }
  see(cluster, primary)
}

/** A member is let in, with a link as the topology says. */
export function join(cluster: Cluster, inc: PeerId, player: number = inc): void {
  cluster.here.set(inc, player)
  enter(cluster, inc)
  seeAll(cluster)
  wire(cluster)
}

/** A process is gone, and what it had under way with it. */
export function die(cluster: Cluster, inc: PeerId): void {
  cluster.states.delete(inc)
  for (const key of cluster.links.keys()) {
    if (key.split('>').includes(`${inc}`)) cluster.links.delete(key)
  }
}

/** A member is dead, and all hear it. @param left  it left for good */
export function lose(cluster: Cluster, inc: PeerId, left = false): void {
  die(cluster, inc)
  cluster.here.delete(inc)
  seeAll(cluster, { left })
}

/** The primary is dead, and another leads. */
export function takeOver(cluster: Cluster, heir: PeerId, more: Partial<PartView> = {}): void {
  die(cluster, cluster.primary)
  cluster.here.delete(cluster.primary)
  cluster.primary = heir
  cluster.epoch++
  seeAll(cluster, more)
  wire(cluster)
}

/** What is under way from one to another. */
export function under(cluster: Cluster, from: PeerId, to: PeerId): Letter[] {
  return cluster.links.get(`${from}>${to}`)?.letters ?? []
}

/** First bytes of what is under way. */
export function kinds(cluster: Cluster, from: PeerId, to: PeerId): number[] {
  return under(cluster, from, to).map(({ bytes }) => bytes[0]!)
}

/** The next messages of a link come, all if not said; and their sender hears it, if not `deaf`. */
export function carry(
  cluster: Cluster,
  from: PeerId,
  to: PeerId,
  count = Infinity,
  deaf = false,
): void {
  const letters = under(cluster, from, to)
  for (let carried = 0; carried < count && letters.length > 0; carried++) {
    const { number, bytes, view } = letters.shift()!
    if (view) see(cluster, to, view)
    else hear(cluster, to, from, bytes)
    if (!deaf) heard(cluster, from, to, number)
  }
}

/** A member hears a message of somebody. */
export function hear(cluster: Cluster, to: PeerId, from: PeerId, bytes: Uint8Array): void {
  cluster.part.receive!(state(cluster, to), cluster.now, from, bytes, out(cluster, to))
  flush(cluster, to)
}

/** Who sent them learns that its messages up to that one have come. */
export function heard(cluster: Cluster, from: PeerId, to: PeerId, upTo: number): void {
  cluster.part.delivered!(state(cluster, from), to, upTo)
  flush(cluster, from)
}

/** What one has to say to another in a packet now, or null. */
export function pull(cluster: Cluster, from: PeerId, to: PeerId, budget = BUDGET): Packet | null {
  const writer = createWriter()
  const seq = ++cluster.lastSeq
  if (!cluster.part.write!(state(cluster, from), cluster.now, to, seq, writer, budget)) return null
  const packet = { from, to, seq, bytes: finish(writer) }
  cluster.ear?.packet(packet)
  return packet
}

/** A packet arrives; its sender does not know yet. */
export function land(cluster: Cluster, { from, to, bytes }: Packet): void {
  cluster.part.read!(state(cluster, to), cluster.now, from, bytes, out(cluster, to))
  flush(cluster, to)
}

/** The sender of a packet learns what became of it. */
export function verdict(cluster: Cluster, packet: Packet, came: boolean): void {
  const sender = cluster.states.get(packet.from)
  if (sender) cluster.part[came ? 'acked' : 'lost']!(sender, packet.to, packet.seq)
}

/** Packets of all who have something to say by now, as their runner would build them. */
export function packets(cluster: Cluster): Packet[] {
  const made: Packet[] = []
  for (const [from, sender] of cluster.states) {
    for (const to of cluster.part.dirty!(sender, cluster.now)) {
      if (!cluster.links.has(`${from}>${to}`)) continue
      for (let packet; (packet = pull(cluster, from, to));) made.push(packet)
    }
    // A member's next verb is never far.
    flush(cluster, from)
  }
  return made
}

// More than a few members have to do at one moment.
const OVERDUE_MAX = 1_000

/** Time passes, and who has something due does it. */
export function pass(cluster: Cluster, ms: Millis): void {
  const end = cluster.now + ms
  let left = OVERDUE_MAX
  for (;;) {
    const due = Math.min(...[...cluster.states.values()].map((one) => cluster.part.deadline!(one)))
    if (due > end) break
    if (due >= cluster.now) left = OVERDUE_MAX
    else if (left-- === 0) expect.fail(`what is due at ${due} stays due`)
    cluster.now = Math.max(cluster.now, due)
    wake(cluster)
    deliverAll(cluster)
    // A deadline that is kept by a packet moves on when the packet is built.
    if (due === cluster.now) cluster.now = Math.min(end, cluster.now + 1)
    if (cluster.now >= end) break
  }
  cluster.now = end
}

/** Who has something due does it. */
export function wake(cluster: Cluster): void {
  for (const [inc, one] of cluster.states) {
    if (cluster.part.deadline!(one) > cluster.now) continue
    cluster.part.wake!(one, cluster.now, out(cluster, inc))
    flush(cluster, inc)
  }
}

function deliverAll(cluster: Cluster): boolean {
  let moved = false
  for (const key of [...cluster.links.keys()]) {
    const [from, to] = key.split('>').map(Number) as [PeerId, PeerId]
    if (under(cluster, from, to).length === 0) continue
    carry(cluster, from, to)
    moved = true
  }
  for (const packet of packets(cluster)) {
    moved = true
    if (!cluster.states.has(packet.to)) continue
    land(cluster, packet)
    verdict(cluster, packet, true)
  }
  return moved
}

/** Everything arrives, until nobody has anything to say. */
export function settle(cluster: Cluster): void {
  for (let quiet = 0, rounds = 0; quiet < 3; rounds++) {
    if (rounds > 1_000) expect.fail('the cluster does not come to rest')
    cluster.now += 10
    quiet = deliverAll(cluster) ? 0 : quiet + 1
  }
}

/** A new object. @returns its key */
export function spawn(cluster: Cluster, inc: PeerId, fields: Quantised = [1, 1], type = 0): number {
  return act(cluster, inc, (turn) => objects.spawn(turn, type, fields)).key
}

/** Its owner has another state of it. @returns whether that is said */
export function set(
  cluster: Cluster,
  inc: PeerId,
  key: number,
  fields: Quantised,
  mask: number,
  madeAt: Millis = NaN,
  waits = false,
): boolean {
  const replica = thing(cluster, inc, key)
  const own = state(cluster, inc)
  if (objects.isMine(own, replica))
    for (const [i, field] of fields.entries()) replica.fields[i] = field
  return act(cluster, inc, () => {
    return objects.set(own, cluster.types, cluster.now, replica, mask, madeAt, waits)
  })
}

/** Its owner changes a field. */
export function write(cluster: Cluster, inc: PeerId, key: number, value: number, field = 0): void {
  const next = [...thing(cluster, inc, key).fields]
  next[field] = value
  set(cluster, inc, key, next, 1 << field)
}

/** Its owner ends it. */
export function destroy(cluster: Cluster, inc: PeerId, key: number): void {
  act(cluster, inc, (turn) => objects.destroy(turn, thing(cluster, inc, key)))
}

/** A member asks for an object. @returns the number of the request */
export function take(cluster: Cluster, inc: PeerId, key: number): number {
  return act(cluster, inc, (turn) => objects.request(turn, thing(cluster, inc, key), 'take', inc))
}

/** The application of an owner answers who asks for an object. */
export function reply(cluster: Cluster, inc: PeerId, key: number, yes: boolean): void {
  act(cluster, inc, (turn) => {
    const asking = turn.objects.incomingAsks.get(key)
    if (asking) objects.reply(turn, key, asking, yes)
  })
}

/** Its owner gives it to somebody. @returns the number of the request */
export function give(cluster: Cluster, inc: PeerId, key: number, to: PeerId): number {
  return act(cluster, inc, (turn) => objects.request(turn, thing(cluster, inc, key), 'give', to))
}

/** The primary grants it, as it does when it moves one by itself. */
export function grant(cluster: Cluster, key: number, to: PeerId): void {
  act(cluster, cluster.primary, (turn) =>
    objects.give(turn, thing(cluster, cluster.primary, key), to),
  )
}

/** What a member knows of an object. */
export function thing(cluster: Cluster, inc: PeerId, key: number): Replica {
  const replica = state(cluster, inc).replicas.get(key)
  if (!replica) return expect.fail(`${inc} does not know ${objects.idOf(key)}`)
  return replica
}

/** One object as a member sees it: owner, version, fields; or what there is instead. */
export function look(cluster: Cluster, inc: PeerId, key: number): string {
  const replica = state(cluster, inc).replicas.get(key)
  if (!replica) return 'unknown'
  const { version, owner, fields, dead, hidden } = replica
  const name = `v${version.epoch}.${version.count}`
  if (dead) return `gone ${name}`
  return hidden ? 'hidden' : `${owner} ${name} ${fields.join()}`
}

/** One object as all members see it; the same text is said once. */
export function looks(cluster: Cluster, key: number): string[] {
  return [...new Set([...cluster.states.keys()].map((inc) => look(cluster, inc, key)))]
}

/** What a member was told of one kind. */
export function told<Kind extends ObjectEvent['kind']>(
  cluster: Cluster,
  inc: PeerId,
  kind: Kind,
): Extract<ObjectEvent, { kind: Kind }>[] {
  return cluster.events.get(inc)!.filter((event) => event.kind === kind) as never
}

/** What came of a member's requests, in order. */
export function answers(cluster: Cluster, inc: PeerId): string[] {
  return told(cluster, inc, 'object-answer').map(({ answer }) => answer)
}
