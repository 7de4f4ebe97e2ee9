/**
 * Pieces: what several hands may reach for, and one decides about (seed 001, O1-O59).
 *
 * The primary keeps of each piece its newest recorded state and the generation of that, and three
 * numbers more (O27): who made the last updates, and the generation before the first of those. A
 * member keeps what it was told, and its own updates that have no outcome: what it shows is the
 * first with the second on top. docs/protocols/pieces.md says why that converges.
 */

import type { PeerId } from '../machine.ts'
import type { Fields, Quantised, Schema } from '../wire/schema.ts'

/** Why nothing may be done to a piece in another's hand. */
export const HELD = 'somebody else holds it'
/** Why an update cannot be: there is no such piece any more. */
export const GONE = 'it is gone'
/** Most pieces of a session. */
export const PIECES_MAX = 1_000
/** Most types of pieces in a game. */
export const PIECE_TYPES_MAX = 64
/** Highest number of a piece; none is used twice. */
export const PIECE_ID_MAX: number = 2 ** 32 - 1
/** Most bytes of one piece's fields. */
export const PIECE_BYTES_MAX = 1_024
/** Most players who were refused since a piece was recorded; of one more it is recorded anew. */
export const REFUSED_MAX = 16
/** Most recoveries that are remembered; of more the two oldest are taken for one. */
export const FORKS_MAX = 64
/** Own updates are told apart by so many numbers; at most 64 are under way. */
export const SEQ_MODULUS = 128
/** Generations of one epoch. */
export const GENERATIONS: number = 2 ** 32

/** One piece as the primary keeps it, or as a member was told. */
export interface Row {
  readonly id: number
  readonly type: number
  fields: Quantised
  /** Fields whose values are not known here, as a mask. */
  hidden: number
  /** Of its newest recorded update (O11). */
  gen: number
  /** The player who made that; 0 for the server itself. */
  by: number
  /** Whose updates the newest ones are, without a gap; 0 for the server's (O27). */
  lastClient: number
  /** The generation before the first of those, and who made it. */
  genBefore: number
  byBefore: number
  /** Of whom updates were refused since, the newest last. */
  refused: readonly Refusal[]
  /** Its level: higher is closer to the eye; of two that are equal, higher `zg` is (O34-O37). */
  z: string
  zg: number
  /** The player who holds it; 0 for nobody (O54). */
  heldBy: number
  /** Who let go of it last, and may grasp it again at once (O47, O48). */
  lastReleased: number
}

/** An update of that player could not be applied; what they made not knowing it is stale (O40). */
export interface Refusal {
  readonly by: number
  /** Given for it, that it has its place among those of rows. */
  readonly gen: number
}

/** Of most pieces nobody was refused an update since. */
export const NOBODY: readonly Refusal[] = []

/** What an update does about holding. */
export type Hold = 'keep' | 'grab' | 'release' | 'wrest'

/** What a player wants to do to a piece. Each update gives complete values, never differences. */
export interface Op {
  hold: Hold
  /** Fields with new values. */
  mask: number
  fields: Quantised
  /** A new level, or null. */
  z: string | null
}

/** Why a row was made. */
export type Why = 'recorded' | 'clamped' | 'inapplicable' | 'loose' | 'table'

/** What the rules of a type make of an update: the fields as they are to be. */
export type Decision =
  | { ok: true; fields: Quantised }
  /** Not as things stand; a sentence for the player (O40). */
  | { ok: false; reason: string }

/** A type as this room wants it. */
export interface PieceRules {
  readonly name: string
  readonly schema: Schema<Fields>
  /** Fields that not everybody may see. */
  readonly secret: number
  /** Of those, which a player may not see. A rule that throws hides. */
  hides(row: Row, player: number): number
  /**
   * What becomes of the fields; null if always what is asked for. `row` is as it would be; it may
   * be written to.
   */
  readonly decide: ((row: Row, op: Op, before: Row, by: number) => Decision) | null
  /** Whether who moves it must hold it. */
  readonly mustHold: boolean
}

/** All types, in the order of the game. */
export type PieceTypes = readonly PieceRules[]

/** One of our own updates that has no outcome yet (O29). */
export interface Pending {
  seq: number
  op: Op
  loose: boolean
}

/** Our own updates of one piece on top of what was told, oldest first. */
export type PendingUpdates = Pending[]

/** A recovery went back to an earlier generation: tags between these are of no history (O58). */
export interface Fork {
  after: number
  /** The first that was given since; Infinity before. */
  until: number
}

/** Decisions on which the line of a piece rests (RULES of rules.ts, or twisted ones). */
export interface PiecesRules {
  /** The tag of an update that is made now (O12). */
  tagOf(pieces: Pieces): number
  /** The update of a piece that a player's goes on from (O22). */
  before(row: Row, player: number): { gen: number; by: number }
  /** Whether an update with that tag lacks one of that generation (O23). */
  lacks(tag: number, gen: number): boolean
  /** Whether who was away has seen all that what it did goes on from (O57). */
  isWhole(from: { gen: number } | undefined, pieces: Pieces, wasLost: boolean): boolean
  /** Whether that player may grasp a piece in passing (O48). */
  mayGrasp(row: Row, player: number): boolean
  /** The outcome for a player whose update lost; a loose grab is answered too (O56). */
  conflict(loose: boolean, by: number): Uint8Array
  /** Which generation a level is of that was set by that update (O36). */
  levelGen(zg: number, gen: number): number
  /** A row whose player is refused something by that generation (O40, O45). */
  refused(row: Row, player: number, gen: number): Row
  /** Whether a hold of ours ended (O33). */
  isLoss(pieces: Pieces, before: Row, row: Row | null): boolean
  /** The fields of a row that a player may not see, a bit each (O53). */
  hides(rules: PieceRules, row: Row, player: number): number
}

/** All of it at one member. */
export interface Pieces {
  me: PeerId
  player: number
  primary: PeerId
  epoch: number
  /** As primary or backup. */
  kept: Kept
  /** As we were told. */
  published: Map<number, Row>
  /** The newest generation that we have processed, of all pieces (O12, O13). */
  processed: number
  /** The recoveries of which we were told. */
  forks: Fork[]
  /** A table that comes in several messages. */
  coming: Map<number, Row> | null
  pending: Map<number, PendingUpdates>
  nextSeq: number
  counters: { malformed: number }
  rules: PiecesRules
}

/** The durable state: what a takeover must not lose. */
export interface Kept {
  rows: Map<number, Row>
  /** The newest generation that was given. */
  gen: number
  nextId: number
  /** By which the server draws lots; secret, and every draw is of another count. */
  seed: Uint8Array
  draws: number
  forks: Fork[]
}

/** Why a hold ended without its player's doing: see `LostHold`. */
export type LossReason = 'taken' | 'away' | 'gone'

/** What the pieces tell the application. */
export type PieceEvent =
  | { kind: 'piece-came'; id: number }
  | { kind: 'piece-changed'; id: number }
  | { kind: 'piece-went'; id: number }
  /** Our own updates of it are void: somebody else was first (O33). */
  | { kind: 'piece-conflict'; id: number; by: number }
  /** We held it, and do not any more, though we did not let go; `by` is 0 where nobody took it. */
  | { kind: 'piece-lost'; id: number; by: number; why: LossReason }
  /** An update of ours could not be applied (O41). */
  | { kind: 'piece-refused'; id: number; reason: string }
  /** As primary: these players hold something and are not here any more. */
  | { kind: 'pieces-held'; players: number[] }
  /** Primary and backup were gone at once, and nobody was shown these fields of these pieces. */
  | { kind: 'pieces-lost'; ids: number[] }

/** What came of an update (O39-O46). */
export type Outcome =
  | { kind: 'recorded'; gen: number }
  /** Done, but not just so. */
  | { kind: 'clamped'; gen: number }
  | { kind: 'conflict'; by: number }
  | { kind: 'refused'; reason: string }
  /** Nothing that we should have sent. */
  | { kind: 'bogus'; reason: string }

/** A copy that may be written to. Field by field: it is made for every update. */
export function copyRow(row: Row): Row {
  return {
    id: row.id,
    type: row.type,
    fields: row.fields.slice(),
    hidden: row.hidden,
    gen: row.gen,
    by: row.by,
    lastClient: row.lastClient,
    genBefore: row.genBefore,
    byBefore: row.byBefore,
    refused: row.refused,
    z: row.z,
    zg: row.zg,
    heldBy: row.heldBy,
    lastReleased: row.lastReleased,
  }
}

/** The newest generation of a piece that is not of that player's own last updates (O22, O27). */
export function lastFromOthers(row: Row, player: number): { gen: number; by: number } {
  return row.lastClient === player
    ? { gen: row.genBefore, by: row.byBefore }
    : { gen: row.gen, by: row.by }
}

/** The generation from which that player's updates may go on: they may have been refused since. */
export function goesOnFrom(row: Row, player: number): { gen: number; by: number } {
  const others = lastFromOthers(row, player)
  if (row.refused.length === 0) return others
  return row.refused.find(({ by }) => by === player) ?? others
}

/** The newest generation that was given for a piece. */
export function newestOf(row: Row): number {
  return row.refused.length === 0 ? row.gen : row.refused.at(-1)!.gen
}

/** That generation was given: no later one is lost by the recoveries before it. */
export function close(forks: readonly Fork[], gen: number): void {
  for (const fork of forks) if (fork.until === Infinity && gen > fork.after) fork.until = gen
}

/** Whether a generation was never given, or is of what a recovery lost (O58). */
export function isLost(gen: number, newest: number, forks: readonly Fork[]): boolean {
  return gen > newest || forks.some(({ after, until }) => gen > after && gen < until)
}

/** The next generation (O11). */
export function nextGen(kept: Kept, epoch: number): number {
  return Math.max(kept.gen + 1, epoch * GENERATIONS + 1)
}
