/**
 * Pieces: state that several players may change at once, decided by the primary (O1-O59).
 *
 * For each piece the primary stores the newest recorded state, its generation, and three more
 * numbers (O27): the player who made the last updates, and the generation and player before the
 * first of them. A member stores the published state and shows its own pending updates on top.
 * docs/protocols/pieces.md shows why replicas converge.
 */

import type { PeerId } from '../../machine.ts'
import type { Migration } from '../../wire/fields/converting.ts'
import type { Fields, Quantised, Schema } from '../../wire/fields/schema.ts'

export const HELD = 'somebody else holds it'
export const GONE = 'it is gone'
export const PIECES_MAX = 1_000
export const PIECE_TYPES_MAX = 64
/** Highest id of a piece; ids are never reused. */
export const PIECE_ID_MAX: number = 2 ** 32 - 1
/** Most bytes of one piece's fields. */
export const PIECE_BYTES_MAX = 1_024
/** Most refusals stored with a piece since its last record; one more records the piece again. */
export const REFUSED_MAX = 16
/** Most lost ranges that are remembered; one more merges the two oldest. */
export const FORKS_MAX = 64
/** A member numbers its updates from 1 to below this; at most 64 are pending. */
export const SEQ_MODULUS = 128
/** Generations of one epoch. */
export const GENERATIONS: number = 2 ** 32

/** One piece, as committed at the primary or as published to a member. */
export interface Row {
  readonly id: number
  readonly type: number
  fields: Quantised
  /** Mask of the fields whose values are unknown here. */
  hidden: number
  /** The generation of its newest recorded update (O11). */
  gen: number
  /** The player who made that update; 0 for the primary itself. */
  by: number
  /** The player who made all updates since `genBefore`; 0 for the primary (O27). */
  lastClient: number
  /** The generation before the first of those updates, and the player who made it. */
  genBefore: number
  byBefore: number
  /** Refusals since the last record, the newest last. */
  refused: readonly Refusal[]
  /** Level: higher is on top; of equal levels the higher `zg` is (O34-O37). */
  z: string
  zg: number
  /** The player who holds the piece; 0 for nobody (O54). */
  heldBy: number
  /** The last player to release it, who may regrab it with a stale update (O47, O48). */
  lastReleased: number
}

/** A refusal of a player's update; updates made before the player knew of it are stale (O40). */
export interface Refusal {
  readonly by: number
  /** The refusal's generation, which orders it among those of rows. */
  readonly gen: number
}

/** No refusals since the last record, as in most rows. */
export const NOBODY: readonly Refusal[] = []

/** The effect of an update on who holds the piece; `wrest` takes it by force. */
export type Hold = 'keep' | 'grab' | 'release' | 'wrest'

/** A player's change of a piece. Updates carry complete values, never differences. */
export interface Op {
  hold: Hold
  /** Fields with new values. */
  mask: number
  fields: Quantised
  z: string | null
}

export type Why = 'recorded' | 'clamped' | 'inapplicable' | 'loose' | 'table'

/** The decision of a type's rules on an update: the new fields of the piece. */
export type Decision =
  | { ok: true; fields: Quantised }
  /** The update cannot be applied in the current state; `reason` is for the player (O40). */
  | { ok: false; reason: string }

/** A type of pieces as this layer needs it. */
export interface PieceRules {
  readonly name: string
  readonly schema: Schema<Fields>
  /** Mask of the fields that may be hidden from players. */
  readonly secret: number
  /** Mask of the fields that a player may not see. A rule that throws hides all secret ones. */
  hides(row: Row, player: number): number
  /** Decides on an update that is applied to `row`, which is writable; null accepts all. */
  readonly decide: ((row: Row, op: Op, before: Row, by: number) => Decision) | null
  /** Whether only the player who holds a piece may change it. */
  readonly mustHold: boolean
  /** Converts pieces of other builds to this type; null: field by field. */
  readonly kept: Migration | null
}

export type PieceTypes = readonly PieceRules[]

/** One of our own updates that has no outcome yet (O29). */
export interface Pending {
  seq: number
  op: Op
  regrab: boolean
}

/** A range of generations lost in a recovery; tags within it are stale (O58). */
export interface LostRange {
  after: number
  /** The first generation after the recovery; Infinity until there is one. */
  until: number
}

/** The decisions that make a piece's history: RULES of pieces.ts, or a test's. */
export interface PiecesRules {
  /** The tag of an update made now (O12). */
  tagOf(pieces: Pieces): number
  /** The update that a player's next one must follow (O22). */
  predecessor(row: Row, player: number): { gen: number; by: number }
  /** Whether the author of an update with that tag lacked that generation (O23). */
  lacks(tag: number, gen: number): boolean
  /** Whether a returned member has seen all updates that its own pending ones follow (O57). */
  isComplete(from: { gen: number } | undefined, pieces: Pieces, wasLost: boolean): boolean
  /** Whether a player may regrab a piece with a stale update (O48). */
  mayRegrab(row: Row, player: number): boolean
  /** The outcome for a player whose update lost; a regrab gets one too (O56). */
  conflict(regrab: boolean, by: number): Uint8Array
  /** The generation of a level set by that update (O36). */
  levelGen(zg: number, gen: number): number
  /** The row after refusing a player's update in that generation (O40, O45). */
  refused(row: Row, player: number, gen: number): Row
  /** Whether a hold of ours ended (O33). */
  isLoss(pieces: Pieces, before: Row, row: Row | null): boolean
  /** Mask of the fields of a row that a player may not see (O53). */
  hides(rules: PieceRules, row: Row, player: number): number
}

export function createState(seed: Uint8Array, rules: PiecesRules) {
  return {
    me: 0 as PeerId,
    player: 0,
    primary: 0 as PeerId,
    epoch: 0,
    committed: { rows: new Map(), gen: 0, nextId: 1, seed, draws: 0, lostRanges: [] } as Committed,
    published: new Map<number, Row>(),
    /** The newest generation processed, over all pieces (O12, O13). */
    processed: 0,
    /** The published lost ranges. */
    lostRanges: [] as LostRange[],
    /** A table that is not complete yet. */
    incomingTable: null as Map<number, Row> | null,
    /** Our own updates of each piece, shown on top of the published state; oldest first. */
    pending: new Map<number, Pending[]>(),
    nextSeq: 1,
    counters: { malformed: 0 },
    rules,
  }
}

export type Pieces = ReturnType<typeof createState>

/** The committed state, which survives a takeover. */
export interface Committed {
  rows: Map<number, Row>
  /** The newest generation in use. */
  gen: number
  nextId: number
  /** The secret seed of the primary's random draws, and the number of draws made. */
  seed: Uint8Array
  draws: number
  lostRanges: LostRange[]
}

/** Why a hold ended although its player did not release it: see `LostHold`. */
export type LossReason = 'taken' | 'away' | 'gone'

export type PieceEvent =
  | { kind: 'piece-came'; id: number }
  | { kind: 'piece-changed'; id: number }
  | { kind: 'piece-went'; id: number }
  /** Our pending updates of the piece are discarded: another player was first (O33). */
  | { kind: 'piece-conflict'; id: number; by: number }
  /** A hold of ours ended although we did not release it; `by` is 0 if nobody took the piece. */
  | { kind: 'piece-lost'; id: number; by: number; why: LossReason }
  /** An update of ours could not be applied (O41). */
  | { kind: 'piece-refused'; id: number; reason: string; heldBy: number }
  /** As primary: these departed players hold pieces. */
  | { kind: 'pieces-held'; players: number[] }
  /** A recovery lost hidden fields of these pieces, because no survivor had seen their values. */
  | { kind: 'pieces-lost'; ids: number[] }

/** The outcome of an update (O39-O46). */
export type Outcome =
  | { kind: 'recorded'; gen: number }
  /** Recorded with adjustments. */
  | { kind: 'clamped'; gen: number }
  | { kind: 'conflict'; by: number }
  | { kind: 'refused'; reason: string }
  /** Invalid: a correct member does not send such an update. */
  | { kind: 'bogus'; reason: string }
  /** Refused, because that player held the piece when the primary decided. */
  | { kind: 'held'; by: number }

/** A writable copy. Every update makes one, so it is written field by field for speed. */
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

/** The newest update before that player's own last ones (O22, O27). */
export function lastFromOthers(row: Row, player: number): { gen: number; by: number } {
  return row.lastClient === player
    ? { gen: row.genBefore, by: row.byBefore }
    : { gen: row.gen, by: row.by }
}

/** The update that a player's next one must follow: the last by others, or their own refusal. */
export function predecessorOf(row: Row, player: number): { gen: number; by: number } {
  const others = lastFromOthers(row, player)
  if (row.refused.length === 0) return others
  return row.refused.find(({ by }) => by === player) ?? others
}

/** The newest generation of a piece, refusals included. */
export function newestOf(row: Row): number {
  return row.refused.length === 0 ? row.gen : row.refused.at(-1)!.gen
}

/** Ends open lost ranges at a generation in use. */
export function closeRanges(lostRanges: readonly LostRange[], gen: number): void {
  for (const range of lostRanges)
    if (range.until === Infinity && gen > range.after) range.until = gen
}

/** Whether a generation was never used, or was lost in a recovery (O58). */
export function isLost(gen: number, newest: number, lostRanges: readonly LostRange[]): boolean {
  return gen > newest || lostRanges.some(({ after, until }) => gen > after && gen < until)
}

/** The next generation (O11). */
export function nextGen(committed: Committed, epoch: number): number {
  return Math.max(committed.gen + 1, epoch * GENERATIONS + 1)
}
