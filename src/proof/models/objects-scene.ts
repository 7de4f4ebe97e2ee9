/**
 * The world of the objects' model: members, links between them, one object; and what each step
 * does to it. A link delivers in order, links to different members in any (B12); updates arrive
 * in any order of all, and where the scope says so are lost, doubled or taken for lost.
 *
 * Lists in a scene are replaced and never changed, so that copies of it share them; but for those
 * that `copyOf` copies.
 */

import type { PeerId } from '../../machine.ts'
import { rulesOf } from '../../machine.ts'
import type { Objects, RequestRules } from '../../objects/objects.ts'
import { type ObjectsBug, objectsRules } from '../twists.ts'
import * as interned from './interned.ts'
import { type Effects, fresh, type Input, step, thing, typesOf } from '../objects-peer.ts'

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
}

/** How much may happen in one model; what is not given does not happen. */
export interface Scope extends Partial<Budgets> {
  name: string
  members: number
  star?: boolean
  /** Fields that are written; 1 if not given. */
  fields?: number
  /** Packets with updates in all; any number if not given. */
  packets?: number
  /** Only these are granted the object, destroy it, are removed. */
  grantees?: readonly PeerId[]
  destroyers?: readonly PeerId[]
  removed?: readonly PeerId[]
  /** Only these take it, are given it. */
  takers?: readonly PeerId[]
  givees?: readonly PeerId[]
  /** Its owner is asked; else anybody may take it. */
  asks?: boolean
  /** Decisions about requests that are twisted. */
  rules?: Partial<RequestRules>
  /** Who is removed, or follows a primary, is dead. */
  dies?: boolean
  /** May not see the object while its first field is odd. */
  hides?: PeerId
  variant?: ObjectsBug
  /** Judge these claims alone; by default all. */
  claims?: readonly string[]
  /** Planted in what surrounds the objects. */
  around?: 'opens-early' | 'takeover-tells-difference' | 'view-not-committed' | 'gate-by-packet'
}

/** A packet with updates under way. */
export interface Packet {
  from: PeerId
  to: PeerId
  seq: number
  frame: number
  /** The ack is under way, back to the sender. */
  ack: boolean
}

/** Who leads, in which epoch, and whom. */
export interface Term {
  readonly primary: PeerId
  readonly epoch: number
  readonly members: readonly PeerId[]
}

/** Everything at one instant; members, messages and frames by their numbers. */
export interface Scene {
  peers: number[]
  up: readonly boolean[]
  /** Removed by some primary. */
  gone: readonly PeerId[]
  /** Who believes that it leads, its epoch and members; the last of them does. */
  terms: readonly Term[]
  /** By `linkOf`: what is under way, in order; null where no link is open. */
  links: (readonly number[] | null)[]
  /** By `linkOf`: messages that told something and have come, and their sender does not know. */
  acks: number[]
  /** In the order of `before`. */
  packets: readonly Packet[]
  /** Packets whose verdict their sender does not have, though they are not under way. */
  silent: readonly Packet[]
  /** Of a packet with updates, where one may be lost: no number is used twice. */
  nextSeq: number
  left: Budgets & { packets: number }
  created: boolean
  /** For each member the newest that it had: epoch, count, and the sum of what was written. */
  high: (readonly [number, number, number])[]
  /** What the owner's fields were at each oseq. */
  history: Readonly<Record<number, string>>
  /** By the version that they asked about: who was told that it is granted. */
  granted: Readonly<Record<string, readonly PeerId[]>>
  broken: string
}

/** What is kept once. */
export interface Tables {
  scope: Scope
  peers: interned.Interned<Objects>
  words: interned.Interned<Word>
  outcomes: Map<string, Outcome>[]
}

interface Outcome {
  peer: number
  messages: Sent[]
  frames: Sent[]
  granted: string[]
}

type Word =
  | { bytes: Uint8Array; told: boolean }
  | { epoch: number; members: readonly PeerId[] | number }
interface Sent {
  to: PeerId
  word: number
  seq: number
}

const FOUNDER: PeerId = 1
/** Who creates the object. */
export const CREATOR: PeerId = 2
/** Who takes over. */
export const HEIR: PeerId = 3

/** Nothing kept so far. */
export function tablesOf(scope: Scope): Tables {
  return { scope, peers: interned.create(), words: interned.create(), outcomes: [] }
}

/** All members have their view and their links, and there is no object. */
export function begin(tables: Tables): Scene {
  const { scope } = tables
  const all = Array.from({ length: scope.members }, (_, i) => i + 1)
  const members = scope.joins ? all.slice(0, -1) : all
  const rules = rulesOf({ ...objectsRules(scope.variant ?? null), ...scope.rules })
  const none = interned.numberOf(tables.peers, fresh(rules))
  const scene: Scene = {
    peers: all.map(() => none),
    up: all.map((inc) => members.includes(inc)),
    gone: [],
    terms: [{ primary: FOUNDER, epoch: 1, members }],
    links: Array.from({ length: scope.members ** 2 }, () => null),
    acks: Array.from({ length: scope.members ** 2 }, () => 0),
    packets: [],
    silent: [],
    nextSeq: 1,
    left: leftOf(scope),
    created: false,
    high: all.map(() => [-1, -1, 0] as const),
    history: {},
    granted: {},
    broken: '',
  }
  for (const inc of members) see(tables, scene, inc, FOUNDER, 1, members)
  for (;;) {
    const busy = scene.links.findIndex((words) => words !== null && words.length > 0)
    if (busy < 0) return scene
    arrive(tables, scene, ...endsOf(busy, scope.members))
  }
}

function leftOf(scope: Scope): Scene['left'] {
  const { grants = 0, writes = 0, destroys = 0, removals = 0, joins = 0, takeovers = 0 } = scope
  const { losses = 0, doubles = 0, doubts = 0, packets = Infinity } = scope
  const { takes = 0, gives = 0, relinks = 0 } = scope
  const others = { losses, doubles, doubts, packets, takes, gives, relinks }
  return { grants, writes, destroys, removals, joins, takeovers, ...others }
}

/** A member's state. */
export function stateOf(tables: Tables, scene: Scene, inc: PeerId): Objects {
  return interned.valueOf(tables.peers, scene.peers[inc - 1]!)
}

/** A copy that may be changed; what is only ever replaced is shared. */
export function copyOf(scene: Scene): Scene {
  const { peers, up, gone, terms, links, acks, packets, silent, nextSeq, left, created } = scene
  const { high, history, granted, broken } = scene
  return {
    peers: peers.slice(),
    up,
    gone,
    terms,
    links: links.slice(),
    acks: acks.slice(),
    packets,
    silent,
    nextSeq,
    left: { ...left },
    created,
    high: high.slice(),
    history,
    granted,
    broken,
  }
}

/** The number of the link between two, among so many members. */
export function linkOf(from: PeerId, to: PeerId, members: number): number {
  return (from - 1) * members + to - 1
}

/** Who is at the ends of a link. */
export function endsOf(link: number, members: number): [from: PeerId, to: PeerId] {
  return [Math.floor(link / members) + 1, (link % members) + 1]
}

/** In which order packets stand: where two scenes have the same, they are equal. */
export function withPacket(packets: readonly Packet[], packet: Packet): Packet[] {
  const at = packets.findIndex((other) => compare(packet, other) < 0)
  return packets.toSpliced(at < 0 ? packets.length : at, 0, packet)
}

function compare(one: Packet, other: Packet): number {
  const ends = one.from - other.from || one.to - other.to
  return (
    ends || one.seq - other.seq || one.frame - other.frame || Number(one.ack) - Number(other.ack)
  )
}

/** One member takes an input. @param name  tells inputs apart */
export function act(
  tables: Tables,
  scene: Scene,
  inc: PeerId,
  input: Input,
  name: string = interned.textOf(input),
): void {
  const before = scene.peers[inc - 1]!
  const outcomes = (tables.outcomes[before] ??= new Map<string, Outcome>())
  const seq = lossy(tables.scope) ? scene.nextSeq : 0
  const key = `${inc} ${seq} ${name}`
  const outcome = outcomes.get(key) ?? outcomeOf(tables, before, input, seq)
  outcomes.set(key, outcome)
  scene.peers[inc - 1] = outcome.peer
  if (outcome.peer !== before) note(tables, scene, inc)
  for (const version of outcome.granted) {
    const known = scene.granted[version] ?? []
    scene.granted = { ...scene.granted, [version]: [...known, inc] }
  }
  for (const { to, word } of outcome.messages) {
    const link = linkOf(inc, to, scene.peers.length)
    push(scene, link, word)
    if (tables.scope.around === 'gate-by-packet') scene.acks[link] = 1
  }
  for (const { to, word, seq } of outcome.frames) {
    if (!scene.links[linkOf(inc, to, scene.peers.length)]) continue
    scene.left.packets--
    scene.nextSeq = Math.max(scene.nextSeq, seq + 1)
    const packet = { from: inc, to, seq, frame: word, ack: false }
    scene.packets = withPacket(scene.packets, packet)
  }
}

function outcomeOf(tables: Tables, before: number, input: Input, seq: number): Outcome {
  const { hides = 0, asks = false } = tables.scope
  const types = typesOf(hides, asks ? 'ask' : 'free')
  const { state, effects } = step(interned.valueOf(tables.peers, before), input, types, seq)
  const peer = interned.numberOf(tables.peers, state)
  return { peer, ...sentOf(tables, effects), granted: effects.granted }
}

// A word goes under way, if the link is open.
function push(scene: Scene, link: number, word: number): void {
  const words = scene.links[link]
  if (words) scene.links[link] = [...words, word]
}

/** Whether what becomes of a packet matters. */
export function lossy({ losses = 0, doubts = 0, doubles = 0 }: Scope): boolean {
  return losses + doubts + doubles > 0
}

function sentOf(
  tables: Tables,
  { messages, frames }: Effects,
): { messages: Sent[]; frames: Sent[] } {
  return {
    messages: messages.map(({ to, bytes, told }) => {
      return { to, word: interned.numberOf(tables.words, { bytes, told }), seq: 0 }
    }),
    frames: frames.map(({ to, seq, bytes }) => {
      return { to, seq, word: interned.numberOf(tables.words, { bytes, told: false }) }
    }),
  }
}

function note(tables: Tables, scene: Scene, inc: PeerId): void {
  const own = thing(stateOf(tables, scene, inc))
  if (!own) return
  const { epoch, count } = own.version
  const sum = own.fields.reduce<number>((total, field) => total + Number(field), 0)
  const [e, c, s] = scene.high[inc - 1]!
  // What is hidden is of any state before.
  const back = epoch - e || count - c || (own.dead || own.hidden ? 0 : sum - s)
  if (back < 0) scene.broken ||= `${inc} went back to ${epoch}.${count} ${own.fields.join()}`
  const isLater = epoch > e || count > c
  scene.high[inc - 1] = [epoch, count, own.hidden ? (isLater ? 0 : s) : sum]
  if (own.dead || own.owner !== inc) return
  const now = own.fields.join()
  const was = scene.history[own.oseq]
  if (was === undefined) scene.history = { ...scene.history, [own.oseq]: now }
}

/** The next message of a link arrives. */
export function arrive(tables: Tables, scene: Scene, from: PeerId, to: PeerId): void {
  const link = linkOf(from, to, scene.peers.length)
  const [number = 0, ...behind] = scene.links[link]!
  scene.links[link] = behind
  const word = interned.valueOf(tables.words, number)
  if ('members' in word) return hear(tables, scene, to, from, word)
  act(tables, scene, to, { kind: 'message', from, bytes: word.bytes }, `m${from} ${number}`)
  if (!word.told || scene.links[link] === null) return
  // Where nothing is written no gate matters.
  if (tables.scope.writes) scene.acks[link]!++
  else deliver(tables, scene, from, to)
}

/** The sender hears that the oldest thing it told has come. */
export function deliver(tables: Tables, scene: Scene, from: PeerId, to: PeerId): void {
  const link = linkOf(from, to, scene.peers.length)
  if (scene.acks[link]! > 0) scene.acks[link]!--
  act(tables, scene, from, { kind: 'delivered', peer: to }, `d${to}`)
}

type Told = Extract<Word, { members: unknown }>

// A number stands for one that went.
function hear(
  tables: Tables,
  scene: Scene,
  to: PeerId,
  from: PeerId,
  { epoch, members }: Told,
): void {
  const own = stateOf(tables, scene, to)
  const known = [...own.here.keys()]
  const now = typeof members === 'number' ? known.filter((inc) => inc !== members) : members
  if (epoch < own.epoch) return
  see(tables, scene, to, from, epoch, now)
}

function see(
  tables: Tables,
  scene: Scene,
  inc: PeerId,
  primary: PeerId,
  epoch: number,
  members: readonly PeerId[],
): void {
  const { star = false } = tables.scope
  const list = [...members].sort((a, b) => a - b).map((each) => ({ inc: each, player: each }))
  const view = { session: 'a', me: inc, primary, epoch, mesh: !star, members: list, left: false }
  act(tables, scene, inc, { kind: 'view', view })
  for (let other = 1; other <= scene.peers.length; other++) {
    if (!members.includes(other)) close(scene, inc, other)
    else if (other !== inc) meet(tables, scene, inc, other)
  }
}

// The gate rule: a link opens when both are in the other's view.
function meet(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  const { star, around } = tables.scope
  const [there, back] = linksOf(scene, one, other)
  if (scene.links[there] || !scene.up[one - 1] || !scene.up[other - 1]) return
  const [mine, theirs] = [stateOf(tables, scene, one), stateOf(tables, scene, other)]
  const known = theirs.here.has(one) || (around === 'opens-early' && theirs.me !== 0)
  if (!known || !mine.here.has(other)) return
  // The backup has its links before it leads.
  const leads = [mine.primary, theirs.primary, HEIR]
  if (star && !leads.includes(one) && !leads.includes(other)) return
  scene.links[there] = []
  scene.links[back] = []
  act(tables, scene, one, { kind: 'linked', peer: other })
  act(tables, scene, other, { kind: 'linked', peer: one })
}

function linksOf({ peers }: Scene, one: PeerId, other: PeerId): [there: number, back: number] {
  return [linkOf(one, other, peers.length), linkOf(other, one, peers.length)]
}

/** What was under way between two is lost. */
export function close(scene: Scene, one: PeerId, other: PeerId): void {
  for (const link of linksOf(scene, one, other)) {
    scene.links[link] = null
    scene.acks[link] = 0
  }
  const between = ({ from, to }: Packet): boolean =>
    [one, other].includes(from) && [one, other].includes(to)
  scene.packets = scene.packets.filter((packet) => !between(packet))
  scene.silent = scene.silent.filter((packet) => !between(packet))
}

/** A link is lost with what was under way, and there is another. */
export function relink(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  close(scene, one, other)
  meet(tables, scene, one, other)
}

/** The term that is in force. */
export function termOf(scene: Scene): Scene['terms'][number] {
  return scene.terms.at(-1)!
}

/** The primary removes a member, dead or alive. */
export function remove(tables: Tables, scene: Scene, inc: PeerId): void {
  const before = termOf(scene)
  const { primary, epoch } = before
  const members = before.members.filter((member) => member !== inc)
  scene.terms = [...scene.terms.slice(0, -1), { primary, epoch, members }]
  scene.gone = [...scene.gone, inc]
  if (tables.scope.dies) kill(scene, inc)
  close(scene, primary, inc)
  // The session says it to the others before the parts of the primary hear of it.
  for (const to of members) say(tables, scene, primary, to, { epoch, members: inc })
  see(tables, scene, primary, primary, epoch, members)
}

function kill(scene: Scene, inc: PeerId): void {
  scene.up = scene.up.with(inc - 1, false)
  // What it sent before may still arrive.
  for (let other = 1; other <= scene.peers.length; other++) {
    scene.links[linkOf(other, inc, scene.peers.length)] = null
  }
}

function say(tables: Tables, scene: Scene, from: PeerId, to: PeerId, word: Told): void {
  if (from === to) return
  const link = linkOf(from, to, scene.peers.length)
  push(scene, link, interned.numberOf<Word>(tables.words, word))
}

/** The last member is let in: the primary and the newcomer know it at once, the others hear it. */
export function join(tables: Tables, scene: Scene): void {
  const { primary, epoch, members: before } = termOf(scene)
  const inc = scene.peers.length
  const members = [...before, inc]
  scene.up = scene.up.with(inc - 1, true)
  scene.terms = [...scene.terms.slice(0, -1), { primary, epoch, members }]
  for (const to of before) say(tables, scene, primary, to, { epoch, members })
  see(tables, scene, primary, primary, epoch, members)
  see(tables, scene, inc, primary, epoch, members)
}

/** The third member leads from now on; the one before may not know. */
export function takeOver(tables: Tables, scene: Scene): void {
  const { around, dies } = tables.scope
  const before = termOf(scene)
  const known = [...stateOf(tables, scene, HEIR).here.keys()]
  const inherited = around === 'view-not-committed' ? known : before.members
  const members = inherited.filter((inc) => inc !== before.primary)
  const epoch = before.epoch + 1
  scene.terms = [...scene.terms, { primary: HEIR, epoch, members }]
  scene.gone = [...scene.gone, before.primary]
  if (dies) kill(scene, before.primary)
  const told = around === 'takeover-tells-difference' ? before.primary : members
  const count = scene.peers.length
  const strangers = members.filter((inc) => !scene.links[linkOf(HEIR, inc, count)])
  for (const to of members) say(tables, scene, HEIR, to, { epoch, members: told })
  see(tables, scene, HEIR, HEIR, epoch, members)
  // On a new link a primary says its view.
  for (const to of strangers) say(tables, scene, HEIR, to, { epoch, members: told })
}
