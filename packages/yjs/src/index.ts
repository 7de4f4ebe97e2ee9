/**
 * The entry point for text that merges: Yjs documents as a part of a session.
 *
 *     const Notes = yDoc('notes')
 *     const session = await join({ game: 'office', types: [Notes] })
 *     const { doc, awareness } = session.part(Notes)
 *
 * @module
 */

export { yDoc, type DocumentOptions } from './document.ts'
export type { DocumentEvents, DocumentStatus, SharedDocument } from './shared.ts'
export type { Awareness, AwarenessChange, AwarenessState } from './awareness.ts'
