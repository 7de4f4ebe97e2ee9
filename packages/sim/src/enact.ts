/**
 * One object that changes hands, enacted by the shipped part of a few members in a mesh: who does
 * what and when is given, and when each message arrives; what it leads to is not (B31-B48).
 *
 * A link keeps its order and nothing else does (B12). `firstForm` is how the source first did it:
 * the host tells everybody of the new owner, a MIGRATE creates nothing, nothing has a counter, and
 * nothing is remembered of what is gone.
 */

import { HoldfastError, type Millis, type PeerId, rulesOf } from '../../holdfast/src/machine.ts'
import type { PartOut, PartView } from '../../holdfast/src/kind/protocol/part.ts'
import { install } from '../../holdfast/src/objects/protocol/accept.ts'
import { KIND, readEntry } from '../../holdfast/src/objects/protocol/messages.ts'
import * as objects from '../../holdfast/src/objects/protocol/objects.ts'
import type { Objects, TypeRules, Version } from '../../holdfast/src/objects/protocol/objects.ts'
import { leads, type ObjectsRules } from '../../holdfast/src/objects/protocol/state.ts'
import { compare, FIRST, readVersion } from '../../holdfast/src/objects/protocol/stamp.ts'
import { createReader, readU8 } from '../../holdfast/src/wire/bytes.ts'
import { quantise, schema, u8 } from '../../holdfast/src/wire/fields/schema.ts'

/** What somebody does. The host alone grants. */
export type Deed = {
  /** When, in ms of the play. */
  at: Millis
  /** By name. */
  who: string
} & ({ does: 'create' | 'destroy' } | { does: 'grant'; to: string })

/** What is enacted. */
export interface Play {
  /** The host first. */
  members: readonly string[]
  /** Whether the first form of the rules is played, which had a fault. */
  firstForm: boolean
  /** In order of time. */
  deeds: readonly Deed[]
  /** When a message should arrive: it does, if it was sent by then and keeps the link's order. */
  arrival(message: Telling): Millis
}

/** One message of an object, on its way. */
export interface Telling {
  /** In the order of sending, from 0. */
  id: number
  /** Who sent it, by name. */
  from: string
  /** To whom, by name. */
  to: string
  /** Which message of the protocol it is. */
  word: 'CREATE' | 'MIGRATE' | 'DESTROY' | 'GRANT'
  /** How often the object had changed hands. */
  count: number
  /** Who owns it by that; of one that is gone, who says so. Of a GRANT, its new owner. */
  owner: string
  /** When, in ms of the play. */
  sentAt: Millis
}

/** A message that came, and what came of it. */
export interface Arrival {
  /** What came. */
  message: Telling
  /** When it came, in ms of the play. */
  at: Millis
  /** What its receiver held true before and after. */
  before: Standing
  /** See `before`. */
  after: Standing
}

/** How an object stands with somebody: never heard of, gone, or owned. */
export type Standing =
  | { kind: 'unknown' }
  | { kind: 'gone'; count: number }
  | { kind: 'owned'; owner: string; count: number }

/** Somebody holds something else true from then on. */
export interface Change {
  /** By name. */
  who: string
  /** From when on, in ms of the play. */
  at: Millis
  /** What they hold true. */
  standing: Standing
}

/** What became of it. */
export interface Enacted {
  /** In the order of arrival. */
  arrivals: Arrival[]
  /** In the order of time. */
  changes: Change[]
  /** By name, when all has arrived. */
  ends: Record<string, Standing>
  /** Nobody's end differs from another's; who never heard of it agrees with who saw it go. */
  agree: boolean
}

interface Stage {
  readonly play: Play
  readonly states: readonly Objects[]
  readonly arrivals: Arrival[]
  readonly changes: Change[]
  /** Under way, in no order. */
  under: { message: Telling; bytes: Uint8Array; at: Millis }[]
  /** By link: when its newest message arrives. */
  readonly lastAt: Map<string, Millis>
  /** How many messages were said, and how many of these are told of. */
  said: number
  sent: number
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

/** The source's first form: the host tells of every change of owner, its creator of the object. */
export const FIRST_FORM: Partial<ObjectsRules> = {
  // Without a counter a member can go only by whether it has the object.
  order: (said, known) => {
    if (said.dead) return 0
    return known.dead || compare(said.version, FIRST) > 0 ? 1 : -1
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
 * Enacts it to the end. The same play ends the same each time.
 *
 * @throws HoldfastError `bad-value` for a deed of nobody, or of who could not do it then
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

// All have their view and their links, and there is no object.
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
    said: 0,
    sent: 0,
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
    throw new HoldfastError('bad-value', `${deed.who} cannot ${deed.does} at ${deed.at} ms`)
  }
  turn(stage, inc, deed.at, (own) => {
    if (deed.does === 'grant') objects.give(own, thing!, numberOf(stage, deed.to))
    else if (deed.does === 'destroy') objects.destroy(own, thing!)
    else objects.spawn(own, 0, quantise(FIELDS, { value: 0 }))
  })
}

function numberOf({ play }: Stage, name: string): PeerId {
  const place = play.members.indexOf(name)
  if (place < 0) throw new HoldfastError('bad-value', `nobody is called ${name}`)
  return place + 1
}

function thingOf({ states }: Stage, inc: PeerId): objects.Replica | null {
  return [...states[inc - 1]!.replicas.values()][0] ?? null
}

// A member does or hears something, and what it says to that is under way.
function turn(stage: Stage, inc: PeerId, now: Millis, run: (own: objects.Context) => void): void {
  const state = stage.states[inc - 1]!
  const before = standing(stage, inc)
  const said: { to: PeerId; bytes: Uint8Array; number: number }[] = []
  const out: PartOut = {
    send: (to, bytes) => {
      if (!state.subscribers.get(to)?.linked) return 0
      said.push({ to, bytes, number: ++stage.said })
      return stage.said
    },
    emit: () => {},
  }
  run({ objects: state, types: TYPES, now: 0, out })
  PART.flush!(state, 0, out)
  const after = standing(stage, inc)
  if (!same(before, after)) {
    stage.changes.push({ who: stage.play.members[inc - 1]!, at: now, standing: after })
  }
  for (const { to, bytes, number } of said) {
    const heard = hear(bytes, TYPES)
    if (heard) send(stage, inc, to, heard, bytes, now)
    // Nothing is written here, so it does not matter when the sender hears that it has come.
    turn(stage, inc, now, () => PART.delivered!(state, to, number))
  }
}

/** What a message says of an object. */
export interface Heard {
  /** CREATE of one that never changed hands, MIGRATE of one that did, DESTROY of one gone. */
  word: Telling['word']
  /** Of a GRANT, the version that the grantee is to tell of. */
  version: Version
  /** Who owns it; of one that is gone, who says so. Of a GRANT, who owned it so far. */
  owner: PeerId
}

/** Reads a message in the source's words; null for one that has none. */
export function hear(bytes: Uint8Array, types: readonly TypeRules[]): Heard | null {
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
  { word, version, owner }: Heard,
  bytes: Uint8Array,
  sentAt: Millis,
): void {
  const { play, lastAt } = stage
  const name = (inc: PeerId): string => play.members[inc - 1]!
  const message: Telling = {
    id: stage.sent++,
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

// What was sent first arrives first, of what arrives at once.
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
