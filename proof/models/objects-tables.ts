/**
 * What a global state of the objects' model is: a row of numbers, each of something that is kept
 * once; and how they are looked up.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type {
  Objects,
  ObjectsRules,
  TypeRules,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import type { ObjectsBug } from '../mutants.ts'
import { type Input, typesOf } from './objects-peer.ts'
import * as budgets from './budgets.ts'
import * as interned from './interned.ts'
import * as faces from './objects-faces.ts'
import * as notes from './objects-notes.ts'
import * as outcomes from './objects-outcomes.ts'
import * as packets from './objects-packets.ts'
import * as worlds from './objects-worlds.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'
import { type Places, placesOf } from './places.ts'
import * as queues from './queues.ts'

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
  rules?: Partial<ObjectsRules>
  /** Who is removed, or follows a primary, is dead. */
  dies?: boolean
  /** May not see the object while its first field is odd. */
  hides?: PeerId
  bug?: ObjectsBug
  /** Planted in what surrounds the objects. */
  around?: 'opens-early' | 'takeover-tells-difference' | 'view-not-committed' | 'gate-by-packet'
}

/**
 * Everything at one instant, by the places of its tables:
 *
 *   peer       each member
 *   link       for each two of them what is under way (objects-links.ts)
 *   world      who is up, leads and is a member (objects-worlds.ts)
 *   left       what may still happen
 *   packets    those with updates that are under way
 *   silent     packets whose verdict their sender does not have, though they are not under way
 *   granted    who was told what is granted
 *   broken     what was broken on the way
 *
 * and what tells no states apart, since claims alone are judged by it, or all that it numbers is in
 * the rest:
 *
 *   high       for each member the newest that it had
 *   history    what the owner's fields were at each oseq
 *   nextSeq    of a packet with updates, where one may be lost: no number is used twice
 *
 * Each is the number of what is kept once.
 */
export type Scene = Int32Array

/** One step in it. */
export type Step = Action<Scene>

/** That a member is gone, or who is one: the session says it. */
export interface News {
  kind: 'members'
  from: PeerId
  epoch: number
  /** All of them; 0 where one is gone. */
  members: number
  gone: PeerId
}

/** What the links need to know of what a member hears. */
export interface Word {
  news: News | null
  /** Its sender hears when it has come. */
  told: boolean
}

/** What becomes of a packet, as inputs; and the packet that is its ack. */
export interface Fate extends packets.Packet {
  arrives: number
  acked: number
  lost: number
  acknowledged: number
}

/** The link from one member to another. */
export interface Link {
  from: PeerId
  to: PeerId
  /** Its place in a scene. */
  at: number
}

/** The tables of one model. */
export interface Tables {
  scope: Scope
  members: number
  types: readonly TypeRules[]
  /** Whether what becomes of a packet matters. */
  lossy: boolean
  /** Whether members come, go or take over. */
  changes: boolean
  /** Planted: what is sent counts as come. */
  gateByPacket: boolean
  place: Places<Telling | 'high' | 'history' | 'nextSeq'>
  /** In the order of their places. */
  links: Link[]
  /** By sender * (members + 1) + receiver. */
  linkAt: number[]
  peers: interned.Interned<Objects>
  faces: faces.Faces
  inputs: interned.Interned<Input | News>
  /** By input. */
  words: Word[]
  /** By members, with who sees them and who leads them; by members, with who says so. */
  views: pairs.Pairs
  news: pairs.Pairs
  /** By the other member: that there is a link to it, that the oldest thing told it has come. */
  linked: number[]
  delivered: number[]
  queues: queues.Queues
  /** By peer and input; where packets have numbers of their own, also by the next. */
  outcomes: outcomes.Outcomes
  worlds: worlds.Worlds
  budgets: budgets.Budgets<keyof Budgets | 'packets'>
  packets: packets.Packets
  /** By packet. */
  fates: Fate[]
  notes: notes.Notes
}

type Telling = 'peer' | 'link' | 'world' | 'left' | 'packets' | 'silent' | 'granted' | 'broken'

/** What may still happen. */
export type Left = budgets.Left<keyof Budgets | 'packets'>

/** Who creates the object. */
export const CREATOR: PeerId = 2
/** Who takes over. */
export const HEIR: PeerId = 3

/** Tables with nothing in them. */
export function createTables(scope: Scope): Tables {
  const { members, hides = 0, asks = false, joins = 0, dies = false } = scope
  const place = placeOf(members)
  const links = linksOf(members, place.link)
  const linkAt: number[] = []
  for (const { from, to, at } of links) linkAt[from * (members + 1) + to] = at
  const all = Array.from({ length: members }, (_, i) => i + 1)
  const first = joins > 0 ? all.slice(0, -1) : all
  const tables: Tables = {
    ...{ scope, members, place, links, linkAt },
    types: typesOf(hides, asks ? 'ask' : 'free'),
    lossy: isLossy(scope),
    changes: joins > 0 || (scope.removals ?? 0) > 0 || (scope.takeovers ?? 0) > 0,
    gateByPacket: scope.around === 'gate-by-packet',
    peers: interned.create(),
    faces: faces.create(),
    inputs: interned.create(),
    words: [],
    views: pairs.create(),
    news: pairs.create(),
    queues: queues.create(),
    outcomes: outcomes.create(),
    worlds: worlds.create(worlds.membersOf(first), dies),
    budgets: budgets.create(budgetsOf(scope)),
    packets: packets.create(),
    fates: [],
    notes: notes.create(),
    linked: [],
    delivered: [],
  }
  for (const peer of all) {
    tables.linked[peer] = inputOf(tables, { kind: 'linked', peer })
    tables.delivered[peer] = inputOf(tables, { kind: 'delivered', peer })
  }
  return tables
}

function placeOf(members: number): Tables['place'] {
  const single = { world: 1, left: 1, packets: 1, silent: 1, granted: 1, broken: 1 }
  const links = members * (members - 1)
  return placesOf({ peer: members, link: links, ...single, high: members, history: 1, nextSeq: 1 })
}

function linksOf(members: number, first: number): Link[] {
  const links: Link[] = []
  for (let from = 1; from <= members; from++) {
    for (let to = 1; to <= members; to++) {
      if (to !== from) links.push({ from, to, at: first + links.length })
    }
  }
  return links
}

function isLossy({ losses = 0, doubts = 0, doubles = 0 }: Scope): boolean {
  return losses + doubts + doubles > 0
}

function budgetsOf(scope: Scope): Left {
  const { grants = 0, writes = 0, destroys = 0, removals = 0, joins = 0, takeovers = 0 } = scope
  const { losses = 0, doubles = 0, doubts = 0, packets: under = Infinity } = scope
  const { takes = 0, gives = 0, relinks = 0 } = scope
  const others = { losses, doubles, doubts, packets: under, takes, gives, relinks }
  return { grants, writes, destroys, removals, joins, takeovers, ...others }
}

/** The place of the link from one member to another. */
export function linkAt({ linkAt: at, members }: Tables, from: PeerId, to: PeerId): number {
  return at[from * (members + 1) + to]!
}

/** Keeps a member, which is not changed from now on. */
export function keep(tables: Tables, state: Objects): number {
  const number = interned.numberOf(tables.peers, state)
  if (number === tables.faces.all.length) faces.add(tables.faces, state)
  return number
}

/** A member as it is; not to be changed. */
export function faceIn({ faces: { all }, place }: Tables, scene: Scene, inc: PeerId): faces.Face {
  return all[scene[place.peer + inc - 1]!]!
}

/** The number of an input, or of news. @param told  its sender hears when it has come */
export function inputOf(tables: Tables, input: Input | News, told = false): number {
  const number = interned.numberOf(tables.inputs, input)
  tables.words[number] ??= { news: input.kind === 'members' ? input : null, told }
  return number
}

/** Who is up, leads and is a member. */
export function worldIn({ worlds: all, place }: Tables, scene: Scene): worlds.World {
  return worlds.worldOf(all, scene[place.world]!)
}

/** Something happens that may not happen for ever. */
export function spend(
  { budgets: all, place }: Tables,
  scene: Scene,
  name: keyof Budgets | 'packets',
): void {
  scene[place.left] = budgets.spend(all, scene[place.left]!, name)
}

/** One line about a state. */
export function show(tables: Tables, scene: Scene): string {
  return worlds
    .incsOf(worldIn(tables, scene).up)
    .map((inc) => faceIn(tables, scene, inc))
    .map(({ own, me, standing }) => `${me}: ${own ? standing : 'nothing'}`)
    .join('  ')
}
