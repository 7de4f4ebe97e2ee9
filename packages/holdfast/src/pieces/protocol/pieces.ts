/** @module The operations and types of pieces that other modules use. */

export { removePending as settled, shown, update } from './pending.ts'
export { draft, type PieceDraft } from './drafts.ts'
export { above, below, between, byLevel } from './levels.ts'
export { decodeOutcome, encodeFree, setFields } from './messages.ts'
export { piecesPart, PIECES_CHANNEL } from './part.ts'
export { create, RULES } from './rules.ts'
export * from './state.ts'
