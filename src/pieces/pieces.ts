/** @module What other rooms use of the pieces. */

export { settled, shown, update } from './pending.ts'
export { draft, type PieceDraft } from './drafts.ts'
export { above, below, between, byLevel } from './levels.ts'
export { decodeOutcome, encodeFree } from './messages.ts'
export { piecesPart, PIECES_CHANNEL } from './part.ts'
export { create, RULES } from './rules.ts'
export * from './state.ts'
