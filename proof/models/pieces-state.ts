/** What there is in the world of the pieces' model; plain data. */

import type { Pieces } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import type { PiecesBug } from '../mutants.ts'
import type { Doing } from './pieces-table.ts'

/** How often each thing may be done. */
export type Doings = Partial<Record<Doing, number>>

/** How much may happen in one model; what is not given does not happen. */
export interface Scope {
  /** What the checked hand does, and those who update at the primary itself. */
  does: Doings
  others?: Doings
  /** Cards on the table; 1 if not given. */
  cards?: number
  /** Hands with links of their own; 1 if not given. */
  hands?: number
  /** The first hand was the last to let go of all cards. */
  released?: boolean
  failovers?: number
  /** Actions that take all cards out of hands, each in the name of such a player. */
  takes?: readonly number[]
  /** How often who serves lets go of what a hand without a link holds. */
  frees?: number
  /** Links that break and are made anew. */
  absences?: number
  /** Primary and backup die at once: what some hand was told is the session. */
  recoveries?: number
  /** The backup has what was recorded only later. */
  lags?: boolean
  bug?: PiecesBug
  /** Planted in what surrounds the pieces. */
  around?: 'release-early' | 'numbers-not-replicated'
}

/** An update that is recorded, by its generation. */
export interface Recorded {
  gen: number
  piece: number
  /** `player.seq` of a hand's own update, or `g` and the generation of one of the server. */
  id: string
  /** The player whose own it is; 0 of one of the server. */
  by: number
  tag: number
  /** Who did it, and who holds the piece since. */
  actor: number
  heldBy: number
  /** The update of a hand that the server's answers. */
  re: string
  why: string
  /** It sets the level. */
  raises: boolean
  /** The entry of the log. */
  index: number
}

/** An update that came to nothing. */
export interface Discarded {
  id: string
  player: number
  piece: number
  tag: number
  kind: string
  index: number
}

/** What a machine that serves or stands by has. */
export interface Core {
  pieces: Pieces
  last: Record<string, number>
  outcomes: Record<string, Uint8Array>
  history: Recorded[]
  discarded: Discarded[]
  index: number
}

/** An entry of the log that the backup lacks. */
export interface Logged {
  player: number
  seq: number
  outcome: Uint8Array
  changes: readonly Uint8Array[]
  history: Recorded[]
  discarded: Discarded[]
}

/** What comes down to a hand. */
export type Word =
  | { kind: 'news'; index: number; player: number; seq: number; bytes: Uint8Array; gens: Gens }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  | { kind: 'table'; bytes: Uint8Array }
  | { kind: 'standing'; index: number; seqs: Record<string, number> }
/** Pieces and their generations in news. */
export type Gens = [piece: number, gen: number][]

/** What goes up. */
export type Up = { kind: 'resync' } | { kind: 'operation'; seq: number; body: Uint8Array }

/** What a hand made, as it was. */
export interface Made {
  piece: number
  parent: string
  tag: number
  loose: boolean
}

/** One hand. */
export interface Hand {
  player: number
  pieces: Pieces
  nextSeq: number
  pending: { seq: number; piece: number; inPiece: number; body: Uint8Array }[]
  link: boolean
  /** It was made anew, and the table has not come. */
  waiting: boolean
  up: Up[]
  down: Word[]
  told: { index: number; seqs: Record<string, number>; coming: Uint8Array[] }
  left: Doings
  made: Record<string, Made>
  /** What it was told of each of its updates. */
  fates: Record<string, string>
  /** What it displayed of each piece, in order. */
  seen: Record<string, string[]>
  /** What was wrong with what it was told about its holds; empty while nothing was. */
  amiss: string
}

/** Everything at one instant. */
export interface Scene {
  core: Core
  /** Null where it has all that the primary has. */
  backup: Core | null
  log: Logged[]
  held: { index: number; to: number; word: Word }[]
  hands: Hand[]
  others: Doings
  left: { failovers: number; absences: number; recoveries: number; takes: number[]; frees: number }
  /** Updates that a recovery lost. */
  lost: Recorded[]
}
