/**
 * The world of the objects' model: members, links between them, one object; and what each step
 * does to it. A link delivers in order, links to different members in any (B12); updates arrive
 * in any order of all, and where the scope says so are lost, doubled or taken for lost.
 *
 * Sets of members are bits: `1 << inc` for each.
 */

import { type PeerId, rulesOf } from '../../packages/holdfast/src/machine.ts'
import {
  BARRIER,
  leads,
  type Objects,
  type ObjectsRules,
  type Replica,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import { type ObjectsBug, objectsRules } from '../mutants.ts'
import { type Effects, fresh, type Input, isTold, step, thing, typesOf } from './objects-peer.ts'

/** How often each thing may happen that need not happen. */
export interface Budgets {
  grants: number
  writes: number
  destroys: number
  /** Members removed by the primary. */
  removals: number
  /** Times that the last member becomes one only later. */
  joins: number
  /** Primaries that are followed by the third member. */
  takeovers: number
  /** Packets with updates that vanish, arrive twice, or are taken for lost though they are not. */
  losses: number
  doubles: number
  doubts: number
  /** Requests, and links to the primary that are lost and found. */
  takes: number
  gives: number
  relinks: number
  /** Packets with updates in all; any number if not given. */
  packets: number
}

/** How much may happen in one model; what is not given does not happen. */
export interface Scope extends Partial<Budgets> {
  members: number
  star?: boolean
  /** Fields that are written; 1 if not given. */
  fields?: number
  /** Only these are granted the object, destroy it, are removed. */
  grantees?: readonly PeerId[]
  destroyers?: readonly PeerId[]
  removed?: readonly PeerId[]
  /** Only these take it, are given it. */
  takers?: readonly PeerId[]
  givees?: readonly PeerId[]
  /** Its owner is asked; else anybody may take it. */
  asks?: boolean
  /** Decisions about requests that are altered. */
  rules?: Partial<ObjectsRules>
  /** Who is removed, or follows a primary, is dead. */
  dies?: boolean
  /** May not see the object while its first field is odd. */
  hides?: PeerId
  bug?: ObjectsBug
  /** Planted in what surrounds the objects. */
  around?: 'opens-early' | 'takeover-tells-difference' | 'view-not-committed' | 'gate-by-packet'
}

/** That a member is gone, or who is one: the session says it. */
export interface News {
  kind: 'members'
  from: PeerId
  epoch: number
  /** All of them; 0 where one is gone. */
  members: number
  gone: PeerId
}

/** A packet with updates, or its ack on the way back to the sender. */
export interface Packet {
  from: PeerId
  to: PeerId
  seq: number
  frame: Uint8Array
  ack: boolean
}

/** Who believes that it leads, in which epoch, and whom. */
interface Term {
  primary: PeerId
  epoch: number
  members: number
}

/** Who is up, who was removed in order, and who leads; the last of the terms is the true one. */
export interface World {
  created: boolean
  up: number
  gone: readonly PeerId[]
  terms: readonly Term[]
}

/** The newest that a member had, the sum of what was written, and what broke as it came so far. */
interface High {
  epoch: number
  count: number
  sum: number
  broken: string
}

/** Everything at one instant, as cells. */
export interface Scene {
  /** By member. */
  peers: Objects[]
  /** By sender and receiver (`linkAt`): what is under way, oldest first; null for no link. */
  links: (readonly (Input | News)[] | null)[]
  /** By link: messages that have come and told something, of which their sender does not know. */
  acks: number[]
  world: World
  left: Readonly<Budgets>
  /** In the order of `packetOrder`; `silent` are those whose verdict their sender lacks. */
  packets: readonly Packet[]
  silent: readonly Packet[]
  /** By the version about which they had asked, sorted: who was told that it is granted. */
  granted: readonly (readonly [version: string, members: readonly PeerId[]])[]
  /** What was broken on the way. */
  broken: string
  /** By member; claims alone read it. */
  highs: High[]
  /** What the owner's fields were at each oseq; null where it had none. */
  history: readonly (string | null)[]
  /** Number of the next packet, where one may be lost: no number is used twice. */
  nextSeq: number
}

/** Fields that are arrays of cells. */
export const ARRAYS: readonly (keyof Scene)[] = ['peers', 'links', 'acks', 'highs']
/** What tells no states apart: claims alone read it, or all that it numbers is in the rest. */
export const ASIDE: readonly (keyof Scene)[] = ['highs', 'history', 'nextSeq']

/** One step in it. */
export type Step = Action<Scene>

/** What steps and claims ask of a member. */
export interface Face {
  state: Objects
  me: PeerId
  epoch: number
  primary: PeerId
  /** Who is here, as it knows. */
  here: number
  /** The object as it knows it. */
  own: Replica | null
  owns: boolean
  leads: boolean
  /** The version that it knows, as a number that is higher for a newer one; -1 for none. */
  rank: number
  fields: string
  /** Whether the object is there, whose, and what its fields are. */
  standing: string
  /** What it believes that others have: of each the oseq. */
  beliefs: readonly { peer: PeerId; acked: number }[]
  /** Some request of its own or of others that has not ended, and how; or nothing. */
  waits: string
}

interface Outcome {
  peer: Objects
  sent: { to: PeerId; input: Input }[]
  frames: Packet[]
  granted: string[]
  /** Whether what it has is to be noted. */
  noted: boolean
}

/** One model: its scope, and functions that run once for each list of arguments. */
export interface Tables {
  scope: Scope
  members: number
  all: cells.Cells
  /** Whether what becomes of a packet matters. */
  lossy: boolean
  act(peer: Objects, input: Input, nextSeq: number): Outcome
  face(peer: Objects): Face
  about(kind: 'delivered' | 'linked', peer: PeerId): Input
  spend(left: Scene['left'], name: keyof Budgets): Scene['left']
  had(high: High, peer: Objects): High
  owned(history: Scene['history'], peer: Objects): Scene['history']
}

/** Who creates the object. */
export const CREATOR: PeerId = 2
/** Who takes over. */
export const HEIR: PeerId = 3
const FOUNDER: PeerId = 1

/** Tables with nothing in them. */
export function createTables(scope: Scope): Tables {
  const all = cells.create()
  const { hides = 0, asks = false, losses = 0, doubts = 0, doubles = 0 } = scope
  const types = typesOf(hides, asks ? 'ask' : 'free')
  const face = cells.remember(all, faceOf)
  return {
    ...{ scope, members: scope.members, all, face },
    lossy: losses + doubts + doubles > 0,
    act: cells.remember(all, (before: Objects, input: Input, nextSeq: number) => {
      const { state, effects } = step(before, input, types, nextSeq)
      return outcomeOf(all, face(before), face(state), effects)
    }),
    about: cells.remember(all, (kind: 'delivered' | 'linked', peer: PeerId) => ({ kind, peer })),
    spend: cells.remember(all, (left: Scene['left'], name: keyof Budgets) => {
      return { ...left, [name]: left[name] - 1 }
    }),
    had: cells.remember(all, (high: High, peer: Objects) => had(high, face(peer))),
    owned: cells.remember(all, (history: Scene['history'], peer: Objects) => {
      return owned(history, face(peer))
    }),
  }
}

function outcomeOf(all: cells.Cells, was: Face, face: Face, effects: Effects): Outcome {
  const { state, me: from } = face
  return {
    peer: cells.same(all, state),
    sent: effects.messages.map(({ to, bytes }) => {
      return { to, input: cells.same(all, { kind: 'message', from, bytes } as const) }
    }),
    frames: effects.frames.map(({ to, seq, bytes: frame }) => {
      return cells.same(all, { from, to, seq, frame, ack: false })
    }),
    granted: effects.granted,
    // What is as it was has been noted.
    noted: face.own !== null && !areAlike(was, face),
  }
}

function areAlike(one: Face, other: Face): boolean {
  if (!one.own || one.own.oseq !== other.own!.oseq || one.owns !== other.owns) return false
  // This says whether it is dead or hidden, too.
  return one.rank === other.rank && one.standing === other.standing
}

const COUNTS = 1 << 16

function faceOf(state: Objects): Face {
  const own = thing(state)
  const { me, epoch, primary } = state
  return {
    ...{ state, me, epoch, primary, own },
    here: membersOf(state.here.keys()),
    owns: own !== null && !own.dead && own.owner === me,
    leads: leads(state),
    rank: own ? own.version.epoch * COUNTS + own.version.count : -1,
    fields: own ? own.fields.join() : '',
    standing: standingOf(own),
    beliefs: own && !own.dead ? beliefsOf(state, own) : [],
    waits: waitsOf(state),
  }
}

/** The version that it knows. */
export function versionOf({ rank }: Face): string {
  return `${Math.floor(rank / COUNTS)}.${rank % COUNTS}`
}

function standingOf(replica: Replica | null): string {
  if (!replica || replica.dead) return 'gone'
  if (replica.hidden) return 'hidden'
  const { version, owner, fields } = replica
  return `${version.epoch}.${version.count} of ${owner} ${fields.join()}`
}

function beliefsOf({ subscribers }: Objects, { index }: Replica): Face['beliefs'] {
  const open = [...subscribers].filter(([, { barrier }]) => barrier[index] === BARRIER.open)
  return open.map(([peer, { acked }]) => ({ peer, acked: acked[index]! }))
}

function waitsOf(state: Objects): string {
  const [waits] = state.requests.values()
  if (waits) return `${state.me} waits for what came of its ${waits.what}`
  if (!leads(state)) return ''
  const [asked] = state.openAsks.values()
  if (asked) return `${state.me} waits for what ${asked.owner} says to ${asked.by}`
  const [first] = state.pending
  return first ? `${state.me} has not decided on a ${first.what}` : ''
}

// A member has the object as it is now.
function had({ epoch: e, count: c, sum: s }: High, { me, own, fields: text }: Face): High {
  const { version, fields, dead, hidden } = own!
  const { epoch, count } = version
  const sum = fields.reduce<number>((total, field) => total + Number(field), 0)
  // What is hidden is of any state before.
  const back = epoch - e || count - c || (dead || hidden ? 0 : sum - s)
  const broken = back < 0 ? `${me} went back to ${epoch}.${count} ${text}` : ''
  const isLater = epoch > e || count > c
  return { epoch, count, sum: hidden ? (isLater ? 0 : s) : sum, broken }
}

// Its owner has it as it is now.
function owned(history: Scene['history'], { own, fields }: Face): Scene['history'] {
  const { oseq } = own!
  const length = Math.max(history.length, oseq + 1)
  const now = Array.from({ length }, (_, at) => history[at] ?? null)
  now[oseq] ??= fields
  return now
}

/** Whether that is one of them. */
export function has(members: number, inc: PeerId): boolean {
  return ((members >> inc) & 1) === 1
}

/** Each of them, in order. */
export function incsOf(members: number): PeerId[] {
  const incs: PeerId[] = []
  for (let inc = 1; members >> inc !== 0; inc++) if (has(members, inc)) incs.push(inc)
  return incs
}

function membersOf(incs: Iterable<PeerId>): number {
  let members = 0
  for (const inc of incs) members |= 1 << inc
  return members
}

/** A member as it is. */
export function faceIn(tables: Tables, { peers }: Scene, inc: PeerId): Face {
  return tables.face(peers[inc - 1]!)
}

/** Who leads. */
export function termIn({ world }: Scene): Term {
  return world.terms.at(-1)!
}

/** Where the link from one member to another stands; there is none from one to itself. */
export function linkAt({ members }: Tables, from: PeerId, to: PeerId): number {
  return (from - 1) * members + to - 1
}

/** All members have their view and their links, and there is no object. */
export function begin(tables: Tables): Scene {
  const { scope, members: count } = tables
  const rules = rulesOf({ ...objectsRules(scope.bug ?? null), ...scope.rules })
  const first = scope.joins ? count - 1 : count
  const members = membersOf(Array.from({ length: first }, (_, i) => i + 1))
  const peer = fresh(rules)
  const each = <Value>(length: number, value: Value): Value[] => Array.from({ length }, () => value)
  const scene: Scene = {
    peers: each(count, peer),
    links: each(count * count, null),
    acks: each(count * count, 0),
    world: {
      created: false,
      up: members,
      gone: [],
      terms: [{ primary: FOUNDER, epoch: 1, members }],
    },
    left: budgetsOf(scope),
    ...{ packets: [], silent: [], granted: [], broken: '' },
    highs: each(count, { epoch: -1, count: -1, sum: 0, broken: '' }),
    ...{ history: [], nextSeq: 1 },
  }
  for (const inc of incsOf(members)) see(tables, scene, inc, FOUNDER, 1, members)
  for (;;) {
    const busy = scene.links.findIndex((link) => link !== null && link.length > 0)
    if (busy < 0) return scene
    arrive(tables, scene, Math.floor(busy / count) + 1, (busy % count) + 1)
  }
}

function budgetsOf(scope: Scope): Budgets {
  const { grants = 0, writes = 0, destroys = 0, removals = 0, joins = 0, takeovers = 0 } = scope
  const { losses = 0, doubles = 0, doubts = 0, packets = Infinity } = scope
  const { takes = 0, gives = 0, relinks = 0 } = scope
  const others = { losses, doubles, doubts, packets, takes, gives, relinks }
  return { grants, writes, destroys, removals, joins, takeovers, ...others }
}

/** A member takes an input. */
export function act(tables: Tables, scene: Scene, inc: PeerId, input: Input): void {
  const seq = tables.lossy ? scene.nextSeq : 0
  const { peer, sent, frames, granted, noted } = tables.act(scene.peers[inc - 1]!, input, seq)
  scene.peers[inc - 1] = peer
  if (noted) note(tables, scene, inc)
  for (const { to, input: word } of sent) {
    const at = linkAt(tables, inc, to)
    push(scene, at, word)
    if (tables.scope.around === 'gate-by-packet') scene.acks[at] = 1
  }
  for (const packet of frames) {
    if (scene.links[linkAt(tables, inc, packet.to)] === null) continue
    scene.left = tables.spend(scene.left, 'packets')
    scene.nextSeq = Math.max(scene.nextSeq, packet.seq + 1)
    scene.packets = withPacket(tables, scene.packets, packet)
  }
  for (const version of granted) grant(scene, version, inc)
}

function push({ links }: Scene, at: number, input: Input | News): void {
  const queue = links[at]
  if (queue) links[at] = [...queue, input]
}

function note(tables: Tables, scene: Scene, inc: PeerId): void {
  const peer = scene.peers[inc - 1]!
  const high = tables.had(scene.highs[inc - 1]!, peer)
  scene.highs[inc - 1] = high
  scene.broken ||= high.broken
  if (tables.face(peer).owns) scene.history = tables.owned(scene.history, peer)
}

// A member is told that what it asked for is granted.
function grant(scene: Scene, version: string, inc: PeerId): void {
  const granted = new Map(scene.granted)
  granted.set(version, [...(granted.get(version) ?? []), inc])
  scene.granted = [...granted].sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The same packets and one more. */
export function withPacket(
  { all }: Tables,
  packets: readonly Packet[],
  packet: Packet,
): readonly Packet[] {
  const order = (one: Packet, other: Packet): number =>
    one.from - other.from ||
    one.to - other.to ||
    one.seq - other.seq ||
    cells.numberOf(all, one) - cells.numberOf(all, other)
  return [...packets, packet].sort(order)
}

/** The same packets without one of these. */
export function withoutPacket(
  { all }: Tables,
  packets: readonly Packet[],
  packet: Packet,
): readonly Packet[] {
  const number = cells.numberOf(all, packet)
  return packets.toSpliced(
    packets.findIndex((one) => cells.numberOf(all, one) === number),
    1,
  )
}

/** The object is created. */
export function create(tables: Tables, scene: Scene): void {
  scene.world = { ...scene.world, created: true }
  act(tables, scene, CREATOR, { kind: 'create' })
}

/** The next message of a link arrives. */
export function arrive(tables: Tables, scene: Scene, from: PeerId, to: PeerId): void {
  const at = linkAt(tables, from, to)
  const [input] = scene.links[at]!
  scene.links[at] = scene.links[at]!.slice(1)
  if (input!.kind === 'members') return hear(tables, scene, to, input as News)
  act(tables, scene, to, input as Input)
  if (!isTold(input as Input)) return
  // Where nothing is written no gate matters.
  if (tables.scope.writes) scene.acks[at]!++
  else deliver(tables, scene, from, to)
}

/** The sender hears that the oldest thing it told has come. */
export function deliver(tables: Tables, scene: Scene, from: PeerId, to: PeerId): void {
  const at = linkAt(tables, from, to)
  if (scene.acks[at]! > 0) scene.acks[at]!--
  act(tables, scene, from, tables.about('delivered', to))
}

function hear(tables: Tables, scene: Scene, to: PeerId, news: News): void {
  const { from, epoch, members, gone } = news
  const own = faceIn(tables, scene, to)
  if (epoch < own.epoch) return
  see(tables, scene, to, from, epoch, gone === 0 ? members : own.here & ~(1 << gone))
}

function see(
  tables: Tables,
  scene: Scene,
  me: PeerId,
  primary: PeerId,
  epoch: number,
  members: number,
): void {
  const list = incsOf(members).map((inc) => ({ inc, player: inc }))
  const mesh = !tables.scope.star
  const view = { session: 'a', me, primary, epoch, mesh, members: list, left: false }
  act(tables, scene, me, { kind: 'view', view })
  for (let other = 1; other <= tables.members; other++) {
    if (!has(members, other)) close(tables, scene, me, other)
    else if (other !== me) meet(tables, scene, me, other)
  }
}

// The gate rule: a link opens when both are in the other's view.
function meet(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  const { star, around } = tables.scope
  const [there, back] = [linkAt(tables, one, other), linkAt(tables, other, one)]
  const { up } = scene.world
  if (scene.links[there] !== null || !has(up, one) || !has(up, other)) return
  const [mine, theirs] = [faceIn(tables, scene, one), faceIn(tables, scene, other)]
  const early = around === 'opens-early' && theirs.me !== 0
  if (!has(theirs.here, one) && !early) return
  if (!has(mine.here, other)) return
  // The backup has its links before it leads.
  const lead = (1 << mine.primary) | (1 << theirs.primary) | (1 << HEIR)
  if (star && !has(lead, one) && !has(lead, other)) return
  for (const at of [there, back]) {
    scene.links[at] = []
    scene.acks[at] = 0
  }
  act(tables, scene, one, tables.about('linked', other))
  act(tables, scene, other, tables.about('linked', one))
}

function close(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  if (one === other) return
  for (const at of [linkAt(tables, one, other), linkAt(tables, other, one)]) {
    scene.links[at] = null
    scene.acks[at] = 0
  }
  const isBetween = ({ from, to }: Packet): boolean =>
    (from === one && to === other) || (from === other && to === one)
  scene.packets = scene.packets.filter((packet) => !isBetween(packet))
  scene.silent = scene.silent.filter((packet) => !isBetween(packet))
}

/** A link is lost with what was under way, and there is another. */
export function relink(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  close(tables, scene, one, other)
  meet(tables, scene, one, other)
}

/** The primary removes a member, dead or alive. */
export function remove(tables: Tables, scene: Scene, inc: PeerId): void {
  const { world } = scene
  const { primary, epoch, members: before } = termIn(scene)
  const members = before & ~(1 << inc)
  scene.world = {
    ...world,
    gone: [...world.gone, inc],
    terms: [...world.terms.slice(0, -1), { primary, epoch, members }],
  }
  if (tables.scope.dies) silence(tables, scene, inc)
  close(tables, scene, primary, inc)
  // The session says it to the others before the parts of the primary hear of it.
  say(tables, scene, members, { kind: 'members', from: primary, epoch, members: 0, gone: inc })
  see(tables, scene, primary, primary, epoch, members)
}

// Nothing more reaches a member that dies; what it sent before may still arrive.
function silence(tables: Tables, scene: Scene, inc: PeerId): void {
  scene.world = { ...scene.world, up: scene.world.up & ~(1 << inc) }
  for (let from = 1; from <= tables.members; from++) {
    if (from !== inc) scene.links[linkAt(tables, from, inc)] = null
  }
}

// A primary says it to all of them.
function say(tables: Tables, scene: Scene, to: number, news: News): void {
  for (let inc = 1; inc <= tables.members; inc++) {
    if (inc !== news.from && has(to, inc)) push(scene, linkAt(tables, news.from, inc), news)
  }
}

/** The last member is let in: the primary and the newcomer know it at once, the others hear it. */
export function join(tables: Tables, scene: Scene): void {
  const { members: inc } = tables
  const { world } = scene
  const { primary, epoch, members: before } = termIn(scene)
  const members = before | (1 << inc)
  scene.world = {
    ...world,
    up: world.up | (1 << inc),
    terms: [...world.terms.slice(0, -1), { primary, epoch, members }],
  }
  say(tables, scene, before, { kind: 'members', from: primary, epoch, members, gone: 0 })
  see(tables, scene, primary, primary, epoch, members)
  see(tables, scene, inc, primary, epoch, members)
}

/** The third member leads from now on; the one before may not know. */
export function takeOver(tables: Tables, scene: Scene): void {
  const { dies, around } = tables.scope
  const { world } = scene
  const { primary: before, members: all, epoch: last } = termIn(scene)
  const known = around === 'view-not-committed' ? faceIn(tables, scene, HEIR).here : all
  const members = known & ~(1 << before)
  const epoch = last + 1
  scene.world = {
    ...world,
    gone: [...world.gone, before],
    terms: [...world.terms, { primary: HEIR, epoch, members }],
  }
  if (dies) silence(tables, scene, before)
  const news: News =
    around === 'takeover-tells-difference'
      ? { kind: 'members', from: HEIR, epoch, members: 0, gone: before }
      : { kind: 'members', from: HEIR, epoch, members, gone: 0 }
  const isStranger = (inc: PeerId): boolean =>
    inc !== HEIR && scene.links[linkAt(tables, HEIR, inc)] === null
  const strangers = membersOf(incsOf(members).filter(isStranger))
  say(tables, scene, members, news)
  see(tables, scene, HEIR, HEIR, epoch, members)
  // On a new link a primary says its view.
  say(tables, scene, strangers, news)
}
