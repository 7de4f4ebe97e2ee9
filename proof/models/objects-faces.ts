/**
 * What steps and claims ask of a member in the objects' model, read once of each of its states.
 * What is asked in every scene stands in one list of numbers, those of one state side by side: a
 * claim about millions of scenes waits for memory and for nothing else.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import {
  BARRIER,
  leads,
  type Objects,
  type Replica,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { thing } from './objects-peer.ts'
import { membersOf } from './objects-worlds.ts'

/** All that is asked. */
export interface Face {
  readonly state: Objects
  readonly me: PeerId
  readonly epoch: number
  readonly primary: PeerId
  /** Who is here, as it knows, a bit for each. */
  readonly here: number
  /** The object as it knows it. */
  readonly own: Replica | null
  readonly owns: boolean
  readonly leads: boolean
  /** The version that it knows, as a number that is higher for a newer one. */
  readonly rank: number
  /** What its fields are. */
  readonly fields: string
  /** Whether the object is there, whose, and what its fields are. */
  readonly standing: string
  /** What it believes that others have: of each the oseq. */
  readonly beliefs: readonly { readonly peer: PeerId; readonly acked: number }[]
  /** Some request of its own or of others that has not ended, and how; or nothing. */
  readonly waits: string
}

/** By number of a state. */
export interface Faces {
  readonly all: Face[]
  /** From the number * TRAITS, by the places of `trait`. */
  traits: Int32Array
  /** Contents of fields, by number. */
  readonly fields: string[]
}

const COUNTS = 1 << 16

/** As many numbers are of one state: a line of the cache. */
export const TRAITS = 16
/** What each is; of the acked the first is that of nobody, and -1 where nothing is believed. */
export const trait = { is: 0, rank: 1, oseq: 2, fields: 3, acked: 4 } as const
/** Bits of the first. */
export const is = { there: 1, alive: 2, owns: 4, leads: 8, believes: 16 } as const

/** Nobody yet. */
export function create(): Faces {
  return { all: [], traits: new Int32Array(TRAITS), fields: [] }
}

/** The next state is this. */
export function add(faces: Faces, state: Objects): void {
  const face = faceOf(state)
  const at = (faces.all.push(face) - 1) * TRAITS
  if (at === faces.traits.length) {
    const grown = new Int32Array(at * 2)
    grown.set(faces.traits)
    faces.traits = grown
  }
  const { traits } = faces
  const { own, owns, leads: leading, rank, fields, beliefs } = face
  traits[at + trait.is] =
    (own ? is.there : 0) |
    (own && !own.dead ? is.alive : 0) |
    (owns ? is.owns : 0) |
    (leading ? is.leads : 0) |
    (beliefs.length > 0 ? is.believes : 0)
  traits[at + trait.rank] = rank
  traits[at + trait.oseq] = own?.oseq ?? 0
  traits[at + trait.fields] = numberOf(faces, fields)
  traits.fill(-1, at + trait.acked, at + TRAITS)
  for (const { peer, acked } of beliefs) traits[at + trait.acked + peer] = acked
}

/** Whether that is so of a state. */
export function isIt({ traits }: Faces, number: number, bit: number): boolean {
  return (traits[number * TRAITS]! & bit) !== 0
}

function numberOf({ fields: all }: Faces, fields: string): number {
  const known = all.indexOf(fields)
  return known < 0 ? all.push(fields) - 1 : known
}

function faceOf(state: Objects): Face {
  const own = thing(state)
  const { me, epoch, primary } = state
  const owns = own !== null && !own.dead && own.owner === me
  return {
    ...{ state, me, epoch, primary, own, owns },
    here: membersOf(state.here.keys()),
    leads: leads(state),
    rank: own ? own.version.epoch * COUNTS + own.version.count : -1,
    fields: own ? own.fields.join() : '',
    standing: standingOf(own),
    beliefs: own && !own.dead ? beliefsOf(state, own) : [],
    waits: waitsOf(state),
  }
}

/** A version of that rank. */
export function versionOf({ rank }: Face): string {
  return `${Math.floor(rank / COUNTS)}.${rank % COUNTS}`
}

function standingOf(replica: Replica | null): string {
  if (!replica || replica.dead) return 'gone'
  if (replica.hidden) return 'hidden'
  const { version, owner, fields } = replica
  return `${version.epoch}.${version.count} of ${owner} ${fields.join()}`
}

function beliefsOf({ subscribers }: Objects, { index: slot }: Replica): Face['beliefs'] {
  const open = [...subscribers].filter(([, { barrier }]) => barrier[slot] === BARRIER.open)
  return open.map(([peer, { acked }]) => ({ peer, acked: acked[slot]! }))
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
