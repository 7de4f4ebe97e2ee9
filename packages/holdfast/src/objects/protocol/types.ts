/** What the objects know of the types of a game, and of an object as members send it. */

import type { Millis, PeerId } from '../../machine.ts'
import type { Migration } from '../../wire/converting.ts'
import type { Fields, Quantised, Schema } from '../../wire/schema.ts'
import type { Version } from './stamp.ts'

/** Who may take an object from its owner: anybody, whoever the owner agrees to, or nobody. */
export type TakePolicy = 'free' | 'ask' | 'fixed'

/** What the objects need to know of one type of the game. */
export interface TypeRules {
  readonly schema: Schema<Fields>
  /** States of the type carry when they were made. */
  readonly timed: boolean
  readonly take: TakePolicy
  /** How an ask ends that the owner does not answer. */
  readonly unanswered: 'refuse' | 'take'
  /** How an object ends whose owner does not come back. */
  readonly onOwnerLeave: 'destroy' | 'keep'
  /** The primary may move objects of the type to the member with fewest (B27). */
  readonly balance: boolean
  /** Of two that wait, one of twice the weight goes when it has waited half as long. */
  readonly weight: number
  /** Who sees objects of the type; null for everybody. */
  readonly visibility: VisibilityRule | null
  /** The room keeps them beyond its members; not given or null: it does not. */
  readonly kept?: { readonly name: string; readonly migration: Migration | null } | null
  /** The column of the vec2 from which an object's owner looks around; -1 for none. */
  readonly eyes: number
}

/** Who sees an object of a type. */
export type VisibilityRule =
  /** Members with eyes within the radius of the object's place, a vec2 in that column, see it. */
  | { readonly kind: 'near'; readonly column: number; readonly radius: number }
  /** Members whom the game's function lets see the object. */
  | { readonly kind: 'rule'; readonly sees: (fields: Quantised) => Sees }

/** Whether a viewer sees one state of an object. */
export type Sees = (viewer: PeerId, player: number) => boolean

/** The types of a game, in their order there. */
export type Types = readonly TypeRules[]

/** An entry: all of an object, as a member sent it. */
export interface Said {
  key: number
  creator: PeerId
  count: number
  version: Version
  owner: PeerId
  type: number
  dead: boolean
  oseq: number
  former: number
  fields: Quantised
  madeAt: Millis
}
