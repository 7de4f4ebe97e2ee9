/** What the objects know of the types of a game, and how an object is told from one to another. */

import type { Millis, PeerId } from '../machine.ts'
import type { Fields, Quantised, Schema } from '../wire/schema.ts'
import type { Version } from './version.ts'

/** Who may take an object from its owner: anybody, whom the owner lets, nobody. */
export type TakePolicy = 'free' | 'ask' | 'fixed'

/** What the objects need to know of one type of the game. */
export interface TypeRules {
  readonly schema: Schema<Fields>
  /** Its states say when they were made. */
  readonly timed: boolean
  readonly take: TakePolicy
  /** What becomes of an ask that its owner leaves without an answer. */
  readonly unanswered: 'refuse' | 'take'
  /** What becomes of it when its owner does not come back. */
  readonly onOwnerLeave: 'destroy' | 'keep'
  /** The primary may move it to who has fewest (B27). */
  readonly balance: boolean
  /** Of two that wait, one of twice the weight goes when it has waited half as long. */
  readonly weight: number
  /** Who sees it; null for everybody. */
  readonly visibility: VisibilityRule | null
  /** The column of the vec2 from which its owner looks around; -1 for none. */
  readonly eyes: number
}

/** Who sees an object of a type. */
export type VisibilityRule =
  /** Whose eyes are within the radius of its place, a vec2 in that column. */
  | { readonly kind: 'near'; readonly column: number; readonly radius: number }
  /** Whom the game lets. */
  | { readonly kind: 'rule'; readonly sees: (fields: Quantised) => Sees }

/** Who sees one state of an object. */
export type Sees = (viewer: PeerId, player: number) => boolean

/** The types of a game, in their order there. */
export type Types = readonly TypeRules[]

/** What somebody says of an object: all of it. */
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
