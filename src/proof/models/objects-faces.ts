/** What steps and claims ask of a member in the objects' model, read once of each of its states. */

import type { PeerId } from '../../machine.ts'
import { BARRIER, leads, type Objects, type Replica } from '../../objects/objects.ts'
import { thing } from '../objects-peer.ts'
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

const COUNTS = 1 << 16

/** Reads a state. */
export function faceOf(state: Objects): Face {
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

function beliefsOf({ subscribers }: Objects, { slot }: Replica): Face['beliefs'] {
  const open = [...subscribers].filter(([, { barrier }]) => barrier[slot] === BARRIER.open)
  return open.map(([peer, { acked }]) => ({ peer, acked: acked[slot]! }))
}

function waitsOf(state: Objects): string {
  const [waits] = state.requests.values()
  if (waits) return `${state.me} waits for what came of its ${waits.what}`
  if (!leads(state)) return ''
  const [asked] = state.asked.values()
  if (asked) return `${state.me} waits for what ${asked.owner} says to ${asked.by}`
  const [first] = state.pending
  return first ? `${state.me} has not decided on a ${first.what}` : ''
}
