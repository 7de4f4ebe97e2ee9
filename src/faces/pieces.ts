/** @module What a user has of pieces. */

export type { Grip, LostHold, PieceCall, PieceEvents, PieceHandle } from './piece-handles.ts'
export type { PieceOutcome, PiecePatch } from './piece-handles.ts'
export { reject, secret } from './piece-types.ts'
export type { Face, PieceOptions, PieceType, Rejection, Secret, Sees } from './piece-types.ts'
export type { GameTable, TablePiece, Timed } from './table.ts'
