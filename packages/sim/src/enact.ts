/**
 * One object that changes hands, enacted by the shipped part of a few members in a mesh: who does
 * what and when is given, and when each message arrives; what it leads to is not (B31-B48).
 *
 * A link keeps its order and nothing else does (B12). `firstForm` is how the source first did it:
 * the host tells everybody of the new owner, a MIGRATE creates nothing, nothing has a counter, and
 * nothing is remembered of what is gone.
 */

import { HoldfastError, type Millis, type PeerId } from '../../holdfast/src/machine.ts'
import type { PartView } from '../../holdfast/src/kind/protocol/part.ts'
import type { Objects, Replica } from '../../holdfast/src/objects/protocol/objects.ts'
import { clone } from './clone.ts'
import { fresh, type Input, step, thing, typesOf } from './objects-peer.ts'
import { hear, type Heard } from './objects-words.ts'
import { objectsRules } from './objects-twists.ts'

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
  readonly types: ReturnType<typeof typesOf>
  readonly states: Objects[]
  readonly arrivals: Arrival[]
  readonly changes: Change[]
  /** Under way, in no order. */
  under: { message: Telling; bytes: Uint8Array; at: Millis }[]
  /** By link: when its newest message arrives. */
  readonly lastAt: Map<string, Millis>
  sent: number
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
  const none = fresh(objectsRules(firstForm ? 'host-sends-migrate' : null))
  const stage: Stage = {
    play,
    types: typesOf(0),
    states: members.map(() => clone(none)),
    arrivals: [],
    changes: [],
    under: [],
    lastAt: new Map(),
    sent: 0,
  }
  const incs = members.map((_, i) => i + 1)
  const here = incs.map((inc) => ({ inc, player: inc }))
  const view: PartView = {
    session: 'a',
    me: 0,
    primary: 1,
    epoch: 1,
    mesh: true,
    members: here,
    left: false,
  }
  for (const me of incs) {
    give(stage, me, { kind: 'view', view: { ...view, me } }, 0)
    for (const peer of incs) if (peer !== me) give(stage, me, { kind: 'linked', peer }, 0)
  }
  return stage
}

function act(stage: Stage, deed: Deed): void {
  const inc = numberOf(stage, deed.who)
  const own = thing(stage.states[inc - 1]!)
  const owns = own !== null && !own.dead && own.owner === inc
  const can = { create: !own, destroy: owns, grant: inc === 1 && own !== null && !own.dead }
  if (!can[deed.does]) {
    throw new HoldfastError('bad-value', `${deed.who} cannot ${deed.does} at ${deed.at} ms`)
  }
  const input: Input =
    deed.does === 'grant' ? { kind: 'grant', to: numberOf(stage, deed.to) } : { kind: deed.does }
  give(stage, inc, input, deed.at)
}

function numberOf({ play }: Stage, name: string): PeerId {
  const place = play.members.indexOf(name)
  if (place < 0) throw new HoldfastError('bad-value', `nobody is called ${name}`)
  return place + 1
}

function give(stage: Stage, inc: PeerId, input: Input, now: Millis): void {
  const before = standing(stage, inc)
  const { state, effects } = step(stage.states[inc - 1]!, input, stage.types, 0)
  stage.states[inc - 1] = state
  const after = standing(stage, inc)
  if (!same(before, after)) {
    stage.changes.push({ who: stage.play.members[inc - 1]!, at: now, standing: after })
  }
  for (const { to, bytes, told } of effects.messages) {
    const heard = hear(bytes, stage.types)
    if (heard.word !== 'other') send(stage, inc, to, { ...heard, word: heard.word }, bytes, now)
    // Nothing is written here, so it does not matter when the sender hears that it has come.
    if (told) give(stage, inc, { kind: 'delivered', peer: to }, now)
  }
}

type Told = Heard & { word: Telling['word'] }

function send(
  stage: Stage,
  from: PeerId,
  to: PeerId,
  { word, version, owner }: Told,
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
  give(stage, to, { kind: 'message', from: numberOf(stage, message.from), bytes }, at)
  stage.arrivals.push({ message, at, before, after: standing(stage, to) })
}

function standing({ states, play }: Stage, inc: PeerId): Standing {
  const own: Replica | null = thing(states[inc - 1]!)
  if (!own) return { kind: 'unknown' }
  const { count } = own.version
  if (own.dead) return { kind: 'gone', count }
  return { kind: 'owned', owner: play.members[own.owner - 1]!, count }
}

function same(a: Standing, b: Standing): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function agree(all: readonly (readonly [string, Standing])[]): boolean {
  const views = all.map(([, end]) => (end.kind === 'owned' ? `${end.owner} ${end.count}` : 'gone'))
  return new Set(views).size <= 1
}
