/** Documents as a part of a session. */

import { definePart, type PartType } from '../../holdfast/src/part.ts'
import { checkCount, checkOptions } from '../../holdfast/src/api/options.ts'
import { DocumentApi, type SharedDocument } from './shared.ts'
import { apply, BYTES_LIMIT, create, type Limits, perform, restore, snapshot } from './state.ts'

/** The channel of documents, among those of parts. */
const CHANNEL = 255
/** Most documents of a game. */
const DOCUMENTS_MAX = 64
const BYTES_LEAST = 1_000
const BYTES = 500_000

/** Options of a document, the same in all builds that play together. */
export interface DocumentOptions {
  /** Most bytes of the document as one update: 1,000 to 2,000,000. Default 500,000. */
  readonly bytes?: number
}

const documents = definePart({
  channel: CHANNEL,
  most: DOCUMENTS_MAX,
  // Version 13 of Yjs, whose first format of updates it is.
  text: ({ bytes }: Limits) => `yjs 13 ${bytes}`,
  keptText: () => 'yjs 13',
  create,
  perform,
  apply,
  snapshot,
  restore,
  face: (host, limits): DocumentApi => new DocumentApi(host, limits),
  receive: (face, from, message) => face.receive(from, message),
})

/**
 * Makes the definition of a Yjs document, for `types` of `join`. A game has at most 64.
 *
 *     const Notes = yDoc('notes')
 *     const session = await join({ game: 'office', types: [Notes] })
 *     const { doc, awareness } = session.part(Notes)
 *
 * @throws HoldfastError `bad-value`
 */
export function yDoc<const Name extends string>(
  name: Name,
  options: DocumentOptions = {},
): PartType<Name, SharedDocument> {
  checkOptions('yDoc', options, ['bytes'])
  const { bytes = BYTES } = options
  checkCount(`bytes of the document "${name}"`, bytes, BYTES_LEAST, BYTES_LIMIT)
  return documents(name, { name, bytes }) as PartType<Name, SharedDocument>
}
