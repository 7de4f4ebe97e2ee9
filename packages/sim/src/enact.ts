/**
 * Enacts the migration of one object with the shipped part of a few members in a mesh. The play
 * sets who does what and when, and when each message arrives; the outcome follows from the code
 * (B31-B48).
 *
 * Only the order within a link is guaranteed (B12). `firstForm` is the source's first version of
 * the rules: the host tells everybody of the new owner, a MIGRATE creates nothing, there are no
 * counters and no tombstones.
 */

import { badValue, type Millis, type PeerId, rulesOf } from '../../holdfast/src/machine.ts'
import type { PartOut, PartView } from '../../holdfast/src/kind/protocol/part.ts'
import { install } from '../../holdfast/src/objects/protocol/accept.ts'
import { KIND, readEntry, readVersion } from '../../holdfast/src/objects/protocol/messages.ts'
import * as objects from '../../holdfast/src/objects/protocol/objects.ts'
import type { Objects, TypeRules, Version } from '../../holdfast/src/objects/protocol/objects.ts'
import {
  leads,
  type ObjectsRules,
  compare,
  FIRST,
} from '../../holdfast/src/objects/protocol/state.ts'
import { createReader, readU8 } from '../../holdfast/src/wire/bytes.ts'
import { quantise, schema, u8 } from '../../holdfast/src/wire/fields/schema.ts'

/** An action of a member. Only the host grants. */
export type Deed = {
  /** When, in ms of the play. */
  at: Millis
  /** The member's name. */
  who: string
} & ({ does: 'create' | 'destroy' } | { does: 'grant'; to: string })

/** A play to enact. */
export interface Play {
  /** Names, the host first. */
  members: readonly string[]
  /** Whether to use the first form of the rules, which had a fault. */
  firstForm: boolean
  /** In order of time. */
  deeds: readonly Deed[]
  /** When a message should arrive: never before it was sent, nor out of its link's order. */
  arrival(message: Telling): Millis
}

/** One message about an object. */
export interface Telling {
  /** In the order of sending, from 0. */
  id: number
  /** Sender's name. */
  from: string
  /** Receiver's name. */
  to: string
  /** The protocol's message. */
  word: 'CREATE' | 'MIGRATE' | 'DESTROY' | 'GRANT'
  /** How often the object's owner had changed. */
  count: number
  /** The owner it names; for a DESTROY the member that reports it, for a GRANT the new owner. */
  owner: string
  /** When, in ms of the play. */
  sentAt: Millis
}

/** A message that arrived, and its effect. */
export interface Arrival {
  /** The message. */
  message: Telling
  /** When it arrived, in ms of the play. */
  at: Millis
  /** The receiver's knowledge before and after. */
  before: Standing
  /** See `before`. */
  after: Standing
}

/** What a member knows of an object: nothing, that it was destroyed, or its owner. */
export type Standing =
  | { kind: 'unknown' }
  | { kind: 'gone'; count: number }
  | { kind: 'owned'; owner: string; count: number }

/** A change of what a member knows. */
export interface Change {
  /** The member's name. */
  who: string
  /** When, in ms of the play. */
  at: Millis
  /** What it knows from then on. */
  standing: Standing
}

/** The outcome of a play. */
export interface Enacted {
  /** In order of arrival. */
  arrivals: Arrival[]
  /** In order of time. */
  changes: Change[]
  /** By name, after the last arrival. */
  ends: Record<string, Standing>
  /** Whether all members end in agreement; unknown and destroyed count as the same. */
  agree: boolean
}

interface Stage {
  readonly play: Play
  readonly states: readonly Objects[]
  readonly arrivals: Arrival[]
  readonly changes: Change[]
  /** Messages in flight, in no order. */
  under: { message: Telling; bytes: Uint8Array; at: Millis }[]
  /** By link: the arrival time of its newest message. */
  readonly lastAt: Map<string, Millis>
  /** Messages sent, and those of them that have a counterpart in the source's terms. */
  sent: number
  reported: number
}

const FIELDS = schema({ value: u8 })
const TYPES: readonly TypeRules[] = [
  {
    schema: FIELDS,
    timed: false,
    take: 'free',
    unanswered: 'refuse',
    onOwnerLeave: 'keep',
    balance: false,
    weight: 1,
    visibility: null,
    eyes: -1,
  },
]
const PART = objects.objectsPart(TYPES)

/** The source's first form: the host announces changes of owner, the creator the object. */
export const FIRST_FORM: Partial<ObjectsRules> = {
  // Without a counter a member can only tell whether it has the object.
  order: (entry, known) => {
    if (entry.dead) return 0
    return known.dead || compare(entry.version, FIRST) > 0 ? 1 : -1
  },
  creates: ({ version }) => compare(version, FIRST) <= 0,
  isAuthorized: ({ objects: own }, from) => !own.departed.has(from),
  sendsTo: (own, replica, peer) => {
    const first = compare(replica.version, FIRST) === 0
    if (replica.owner === own.me && (replica.dead || first)) return true
    return leads(own) && !first && !replica.dead && peer !== own.me
  },
  grant: (turn, replica, version, to) => {
    install(turn, replica, { ...replica, version, owner: to })
  },
}

/**
 * Enacts a play to the end, deterministically.
 *
 * @throws HoldfastError `bad-value` for an action of an unknown member, or one that it cannot do
 * then
 */
export function enact(play: Play): Enacted {
  const stage = begin(play)
  const deeds = play.deeds.toSorted((a, b) => a.at - b.at)
  for (;;) {
    const next = nextOf(stage)
    const deed = deeds[0]
    if (deed && (!next || deed.at < next.at)) act(stage, deeds.shift()!)
    else if (next) arrive(stage, next)
    else break
  }
  const all = play.members.map((name, i) => [name, standing(stage, i + 1)] as const)
  const { arrivals, changes } = stage
  return { arrivals, changes, ends: Object.fromEntries(all), agree: agree(all) }
}

// All members have their view and links, and there is no object.
function begin(play: Play): Stage {
  const { members, firstForm } = play
  const rules = firstForm ? rulesOf({ ...objects.RULES, ...FIRST_FORM }) : objects.RULES
  const stage: Stage = {
    play,
    states: members.map(() => objects.create(undefined, rules)),
    arrivals: [],
    changes: [],
    under: [],
    lastAt: new Map(),
    sent: 0,
    reported: 0,
  }
  const incs = members.map((_, i) => i + 1)
  const here = incs.map((inc) => ({ inc, player: inc }))
  const shared = { session: 'a', primary: 1, epoch: 1, mesh: true, members: here, left: false }
  for (const me of incs) {
    const view: PartView = { ...shared, me }
    turn(stage, me, 0, ({ objects: state, out }) => PART.view!(state, 0, view, out))
    for (const peer of incs) {
      if (peer !== me) turn(stage, me, 0, ({ objects: state }) => PART.linked!(state, 0, peer))
    }
  }
  return stage
}

function act(stage: Stage, deed: Deed): void {
  const inc = numberOf(stage, deed.who)
  const thing = thingOf(stage, inc)
  const isThere = thing !== null && !thing.dead
  const can = {
    create: !thing,
    destroy: isThere && thing.owner === inc,
    grant: isThere && inc === 1,
  }
  if (!can[deed.does]) {
    throw badValue(`${deed.who} cannot ${deed.does} at ${deed.at} ms`)
  }
  turn(stage, inc, deed.at, (own) => {
    if (deed.does === 'grant') objects.give(own, thing!, numberOf(stage, deed.to))
    else if (deed.does === 'destroy') objects.destroy(own, thing!)
    else objects.spawn(own, 0, quantise(FIELDS, { value: 0 }))
  })
}

function numberOf({ play }: Stage, name: string): PeerId {
  const place = play.members.indexOf(name)
  if (place < 0) throw badValue(`nobody is called ${name}`)
  return place + 1
}

function thingOf({ states }: Stage, inc: PeerId): objects.Replica | null {
  return [...states[inc - 1]!.replicas.values()][0] ?? null
}

// A member acts or receives, and its messages are then in flight.
function turn(stage: Stage, inc: PeerId, now: Millis, run: (own: objects.Context) => void): void {
  const state = stage.states[inc - 1]!
  const before = standing(stage, inc)
  const sent: { to: PeerId; bytes: Uint8Array; number: number }[] = []
  const out: PartOut = {
    send: (to, bytes) => {
      if (!state.subscribers.get(to)?.linked) return 0
      sent.push({ to, bytes, number: ++stage.sent })
      return stage.sent
    },
    emit: () => {},
  }
  run({ objects: state, types: TYPES, now: 0, out })
  PART.flush!(state, 0, out)
  const after = standing(stage, inc)
  if (!same(before, after)) {
    stage.changes.push({ who: stage.play.members[inc - 1]!, at: now, standing: after })
  }
  for (const { to, bytes, number } of sent) {
    const message = readMessage(bytes, TYPES)
    if (message) send(stage, inc, to, message, bytes, now)
    // No fields are written here, so the time of delivery does not matter to the sender.
    turn(stage, inc, now, () => PART.delivered!(state, to, number))
  }
}

/** The content of a message about an object. */
interface ObjectMessage {
  /** CREATE before the first change of owner, MIGRATE after it, DESTROY once it is gone. */
  word: Telling['word']
  /** For a GRANT, the version that the grantee announces. */
  version: Version
  /** The owner; for a DESTROY the member that reports it, for a GRANT the former owner. */
  owner: PeerId
}

/** Reads a message in the source's terms; null for one without a counterpart. */
export function readMessage(bytes: Uint8Array, types: readonly TypeRules[]): ObjectMessage | null {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  const granted = kind === KIND.grant ? readVersion(reader) : null
  if (!granted && kind !== KIND.tell && kind !== KIND.unowned) return null
  const { dead, version, owner } = readEntry(reader, types)
  if (granted) return { word: 'GRANT', version: granted, owner }
  const isFirst = compare(version, FIRST) === 0
  return { word: dead ? 'DESTROY' : isFirst ? 'CREATE' : 'MIGRATE', version, owner }
}

function send(
  stage: Stage,
  from: PeerId,
  to: PeerId,
  { word, version, owner }: ObjectMessage,
  bytes: Uint8Array,
  sentAt: Millis,
): void {
  const { play, lastAt } = stage
  const name = (inc: PeerId): string => play.members[inc - 1]!
  const message: Telling = {
    id: stage.reported++,
    from: name(from),
    to: name(to),
    word,
    count: version.count,
    owner: name(word === 'GRANT' ? to : owner),
    sentAt,
  }
  const link = `${from}>${to}`
  const at = Math.max(play.arrival(message), sentAt, lastAt.get(link) ?? 0)
  lastAt.set(link, at)
  stage.under.push({ message, bytes, at })
}

// Of simultaneous arrivals the one sent first comes first.
function nextOf({ under }: Stage): Stage['under'][number] | null {
  return under.toSorted((a, b) => a.at - b.at || a.message.id - b.message.id)[0] ?? null
}

function arrive(stage: Stage, next: Stage['under'][number]): void {
  const { message, bytes, at } = next
  stage.under = stage.under.filter((each) => each !== next)
  const to = numberOf(stage, message.to)
  const before = standing(stage, to)
  const from = numberOf(stage, message.from)
  turn(stage, to, at, ({ objects: own, out }) => PART.receive!(own, 0, from, bytes, out))
  stage.arrivals.push({ message, at, before, after: standing(stage, to) })
}

function standing(stage: Stage, inc: PeerId): Standing {
  const own = thingOf(stage, inc)
  if (!own) return { kind: 'unknown' }
  const { count } = own.version
  if (own.dead) return { kind: 'gone', count }
  return { kind: 'owned', owner: stage.play.members[own.owner - 1]!, count }
}

function same(a: Standing, b: Standing): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function agree(all: readonly (readonly [string, Standing])[]): boolean {
  const views = all.map(([, end]) => (end.kind === 'owned' ? `${end.owner} ${end.count}` : 'gone'))
  return new Set(views).size <= 1
}
