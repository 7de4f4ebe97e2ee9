/**
 * The processes of a simulated run: each joins, adds to its counter by actions, moves a dot,
 * and remembers what it was answered and what it was shown.
 */

import { action, type ActionType } from '../packages/holdfast/src/actions/actions.ts'
import { object } from '../packages/holdfast/src/objects/objects.ts'
import { type ObjectType, withRoom } from '../packages/holdfast/src/objects/types.ts'
import { joinIn } from '../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../packages/holdfast/src/join/session-impl.ts'
import type { ObjectHandle } from '../packages/holdfast/src/objects/handles.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import type { Topology } from '../packages/holdfast/src/hub-protocol/messages.ts'
import { serves } from '../packages/holdfast/src/session/state.ts'
import type { Role } from '../packages/holdfast/src/session/role-table.ts'
import type { SimNode } from '../packages/sim/src/world.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../packages/holdfast/src/faults/prng.ts'
import { answerCalls, type Book, callSomebody, createBook, echo, tell } from './workloads/calls.ts'
import { u16, u8 } from '../packages/holdfast/src/wire/fields/schema.ts'
import { playClocks, ring, wind } from './workloads/timers.ts'
import { Card, createHand, deal, type Hand, playCards } from './workloads/pieces.ts'
import {
  answerAsks,
  createRequests,
  Ghost,
  playRequests,
  Prize,
  type Requests,
  Relic,
} from './workloads/requests.ts'
import type { Actor } from './seeds.ts'
import { environmentOf, hubUrlOf } from '../packages/sim/src/session-world.ts'

/** The dot of a player: how often it moved. */
export const Dot: ObjectType<{ moves: typeof u16 }> = object('dot', { moves: u16 })

/** Anybody's, and it stays when its owner goes. */
export const Thing: ObjectType<{ turns: typeof u16; face: typeof u8; side: typeof u8 }> = object(
  'thing',
  { turns: u16, face: u8, side: u8 },
  { take: 'free', onOwnerLeave: 'keep', kept: withRoom() },
)

/** Adds one to the counter of `who` and writes down that `seq` was done, each time it is. */
export const add: ActionType<{ who: string; seq: number }, number> = action(
  'add',
  (table, { who, seq }: { who: string; seq: number }) => {
    const count = Number(table.get(`count ${who}`) ?? 0) + 1
    table.set(`count ${who}`, count)
    table.set(`done ${who} ${seq}`, Number(table.get(`done ${who} ${seq}`) ?? 0) + 1)
    return count
  },
)

const TYPES = [Dot, Thing, Prize, Relic, Ghost, Card, add, deal, wind, ring, echo, tell]
// Cards have secrets: what is kept of the room is sealed.
const WISH = {
  ...{ game: 'proof', types: TYPES },
  keepRoom: { key: '5a'.repeat(32) },
}

/** The newest version and oseq that a member had of an object. */
export interface Sighting {
  /** The session and the member's number when the object was looked at. */
  who: string
  epoch: number
  count: number
  oseq: number
  /** The number of the member that was written down as owner of that version; 0 if none was. */
  owned: number
}

/** All of a client on which a look at its role depends. */
export interface Look {
  own: NonNullable<Session['member']>['session']
  role: Role
  epoch: number
  id: string
  me: number
}

/** One client of one process. */
export interface Client {
  /** The machine and which of its clients, such as `m3.1`. */
  name: string
  node: SimNode
  kind: Actor['kind']
  session: Session | null
  dot: ObjectHandle<{ moves: typeof u16 }> | null
  /** The session that it is in, and its player there, which stays. */
  home: string
  player: number
  /** How often its session was lost with all that was in it, and it began in another. */
  moved: number
  asked: number
  /** Answers by the number it asked with. */
  answered: Map<number, number>
  /** Numbers that were answered before the table showed what they did. */
  unseen: number[]
  /** Rows of the table that it was ever shown, with the newest value. */
  shown: Map<string, number>
  /** Things that it created, and answers about things that it waits for. */
  made: number
  waiting: number
  /** The last sighting of each object, by the object's key. */
  seen: Map<number, Sighting>
  /** The last look at the role of this client; null before the first. */
  lastLook: Look | null
  /** Why it did not get in. */
  failed: string
  /** It called `leave`, after which every verb fails. */
  leaves: boolean
  /** It served at some time. */
  served: boolean
  /** Who it was in the client before, if it came back with that token. */
  former: { home: string; player: number } | null
  /** Operations of which it was told that a recovery lost them. */
  named: number
  /** It was told that it came back as somebody new. */
  anew: boolean
  /** Sessions it was in that were recovered. */
  recovered: Set<string>
  /** Its calls, and those that it was asked to run. */
  book: Book
  /** What it did to cards. */
  hand: Hand
  /** What it asked others for. */
  requests: Requests
}

/** Whether its process runs and is in a session. */
export function isIn(client: Client): client is Client & { session: Session } {
  return client.node.alive() && client.session !== null && client.session.status !== 'lost'
}

function createClient(
  node: SimNode,
  kind: Actor['kind'],
  count: number,
  before: Client | null,
): Client {
  return {
    name: `${node.name}.${count}`,
    node,
    kind,
    session: null,
    dot: null,
    home: '',
    player: 0,
    moved: 0,
    asked: 0,
    answered: new Map(),
    unseen: [],
    shown: new Map(),
    made: 0,
    waiting: 0,
    seen: new Map(),
    lastLook: null,
    failed: '',
    leaves: false,
    served: false,
    former: before && before.home !== '' ? { home: before.home, player: before.player } : null,
    named: 0,
    anew: false,
    recovered: new Set(),
    book: createBook(),
    hand: createHand(),
    requests: createRequests(),
  }
}

/** Starts a client on a machine. @param tell hears what happens, in words */
export function startClient(
  node: SimNode,
  { kind, topology, hubs = 1 }: { kind: Actor['kind']; topology: Topology; hubs?: number },
  count: number,
  tell: (what: string) => void,
  before: Client | null = null,
): Client {
  const client = createClient(node, kind, count, before)
  const server = hubUrlOf(node.name, hubs)
  const wish = { ...WISH, name: client.name, topology, server }
  const options = before?.session ? { ...wish, token: before.session.token } : wish
  joinIn(environmentOf(node, kind), options).then(
    (session) => {
      if (node.alive()) begin(client, session, tell)
    },
    (error: unknown) => {
      client.failed = String(error)
      if (node.alive()) tell(`does not get in: ${client.failed}`)
    },
  )
  return client
}

function begin(client: Client, session: Session, tell: (what: string) => void): void {
  client.session = session
  look(client)
  answerCalls(client.book, session)
  answerAsks(client.requests, session, prng.create(`asks ${client.name}`))
  // Who came back as the same player has its dot again.
  client.dot = session.all(Dot).find((dot) => dot.mine && !dot.away) ?? session.create(Dot)
  // One dot each: what is given back later than we could wait is too much.
  session.all(Dot).subscribe(() => {
    const others = session.all(Dot).filter((dot) => dot !== client.dot && dot.mine && !dot.away)
    for (const dot of others) dot.destroy()
  })
  tell(`is in as ${session.me.inc}`)
  session.on('status', (status) => tell(`is ${status} ${session.reason}`))
  session.on('safety', (safety) => tell(`is told: ${safety}`))
  session.on('primary', (member) => tell(`follows ${member.inc}`))
  session.on('members', (members) => {
    look(client)
    tell(`sees ${members.map((member) => member.inc).join(' ')} as ${session.me.inc}`)
  })
  session.on('recovered', ({ gone }) => {
    client.recovered.add(client.home)
    tell(`goes on without ${gone.map(({ name }) => name).join(' and ')}`)
  })
  session.on('healed', ({ same, lost }) => {
    client.named += lost
    client.anew ||= !same
    tell(`healed, ${same ? 'same' : 'new'}, lost ${lost}`)
  })
  session.table.on('changed', (keys) => {
    look(client)
    for (const key of keys) {
      const value = session.table.get(key)
      if (value !== undefined) client.shown.set(key, Number(value))
    }
  })
}

// What a lost session said is lost with it: in another one all begins anew.
function look(client: Client): void {
  const id = client.session?.member?.session.id ?? ''
  if (id === client.home || id === '') return
  if (client.home !== '') client.moved++
  client.home = id
  client.player = client.session!.me.player
  client.answered.clear()
  client.unseen.length = 0
  client.shown.clear()
}

/** Asks for one more, unless many are under way. */
export function ask(client: Client): void {
  if (!isIn(client) || client.session.member!.session.client.pending.length >= 16) return
  const seq = ++client.asked
  client.session.act(add, { who: client.name, seq }).then(
    (outcome) => {
      look(client)
      if (!outcome.ok || !client.node.alive()) return
      client.answered.set(seq, outcome.value)
      if (client.session?.table.get(`done ${client.name} ${seq}`) !== 1) client.unseen.push(seq)
    },
    () => {},
  )
}

/** Calls somebody. */
export function call(client: Client, chance: Prng): void {
  if (isIn(client)) callSomebody(client.book, client.session, client.name, chance)
}

/** Does something to cards, of which there are so many. */
export function handle(client: Client, cards: number, chance: Prng): void {
  if (isIn(client)) playCards(client.hand, client.session, cards, chance, () => client.node.alive())
}

/** Does something to requests, of which each makes so many. */
export function requestObjects(
  client: Client,
  share: number,
  chance: Prng,
  now: () => Millis,
): void {
  if (isIn(client)) playRequests(client.requests, client.session, { share, chance, now })
}

/** Winds a clock. */
export function clock(client: Client, chance: Prng): void {
  if (isIn(client)) playClocks(client.session, client.name, chance)
}

/** Gives its role away, if it serves. */
export function handOver(client: Client): void {
  if (isIn(client) && !client.leaves) client.session.handOver()
}

/** Goes for good. */
export function leave(client: Client): void {
  if (!isIn(client)) return
  client.leaves = true
  void client.session.leave()
}

/** Moves its dot. */
export function move(client: Client): void {
  const { dot } = client
  // Of who was away it may not have been given back yet.
  if (!isIn(client) || !dot?.alive || !dot.mine) return
  dot.set({ moves: (dot.state.moves + 1) % 65_536 })
}

/** As a primary: of which session, in which epoch; null if it does not serve. */
export function serving(client: Client): { session: string; epoch: number; inc: number } | null {
  const own = client.node.alive() ? client.session?.member?.session : undefined
  if (!own || !serves(own)) return null
  return { session: own.id, epoch: own.server.epoch, inc: own.me }
}
