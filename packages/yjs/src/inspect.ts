/**
 * What an update would do to a document, before it does it. Members may send any bytes, and Yjs
 * trusts its input: an update with gaps waits inside the document for ever, one that nests some
 * thousands of types overflows the stack when it is deleted, a client id above 32 bits cannot be
 * written again, and a struct that is known in part makes Yjs throw half done. So the server only
 * applies updates that Yjs integrates at once, completely, and in few steps.
 */

import * as Y from 'yjs'
import { DEPTH_MAX, Order, type Run } from './order.ts'
import type { Struct } from './places.ts'

/** The highest client id: Yjs makes them of 32 bits. */
export const CLIENT_MAX: number = 2 ** 32 - 1
/** The highest clock of a client. */
export const CLOCK_MAX: number = 2 ** 40
/** Most names of types at the top of a document: each stays in memory for ever. */
export const ROOTS_MAX = 1_024
/**
 * Most bytes that an item or a deleted range adds to a document beside its own: it splits two
 * structs, and each half has the ids of two neighbors, its length, and a range in the deletions.
 */
const SPLIT_BYTES = 80

/** An update without what the document has. */
export interface Fresh {
  readonly update: Uint8Array
  readonly structs: readonly Struct[]
  readonly deletes: Deletes
  /** Most bytes that it adds to the document as one update, unless it deletes types. */
  readonly growth: number
}

/** What a sound update has. */
export interface Facts {
  /** Clients of whom it has structs that the document lacks. */
  readonly clients: readonly number[]
  /** Whether it changes anything. */
  readonly isNew: boolean
  /** Most bytes that it adds to the document as one update, unless it deletes types. */
  readonly growth: number
  /** Without what the document has. */
  readonly update: Uint8Array
  /** Whether it may delete types, and what is in them: each part of it may grow by its half. */
  readonly isDeep: boolean
}

type Decoded = ReturnType<typeof Y.decodeUpdate>
type Deletes = Decoded['ds']['clients']

const GAPS = 'it builds on changes that are not in the document'

/** Looks at an update. @returns its facts, or why it is not applied */
export function inspect(doc: Y.Doc, update: Uint8Array): Facts | string {
  const fresh = freshOf(doc, update)
  if (typeof fresh === 'string') return fresh
  const { structs, deletes, growth } = fresh
  const runs = new Map<number, Run>()
  for (const struct of structs) {
    const run = runs.get(struct.id.client)
    if (run) run.structs.push(struct)
    else runs.set(struct.id.client, { structs: [struct], places: [], taken: 0 })
  }
  const order = new Order(doc, runs)
  const why = order.settle() ?? checkRoots(doc, structs)
  if (why !== null) return why
  const deleted = deletesOf(doc, order, deletes)
  if (typeof deleted === 'string') return deleted
  const clients = [...runs.keys()]
  const isNew = clients.length > 0 || deleted.isNew
  return { clients, isNew, growth, update: fresh.update, isDeep: order.isKeyed || deleted.isDeep }
}

/**
 * An update without the structs that the document has, encoded as Yjs does: known ones with other
 * content would be taken in part. All members do this alike, so all apply the same.
 *
 * @returns why not, if it is no sound update
 */
export function freshOf(doc: Y.Doc, update: Uint8Array): Fresh | string {
  const given = decoded(update)
  const why = given ? checkRuns(doc, given) : 'it is no update of Yjs'
  if (why !== null) return why
  const fresh = Y.diffUpdate(update, Y.encodeStateVector(doc))
  const { structs, ds } = decoded(fresh)!
  let parts = structs.length
  for (const ranges of ds.clients.values()) parts += ranges.length
  const growth = fresh.length + parts * SPLIT_BYTES
  return { update: fresh, structs: structs as Struct[], deletes: ds.clients, growth }
}

function decoded(update: Uint8Array): Decoded | null {
  try {
    return Y.decodeUpdate(update)
  } catch {
    return null
  }
}

// Each client once, its structs without gaps; nothing that Yjs could not write again.
function checkRuns(doc: Y.Doc, { structs, ds }: Decoded): string | null {
  const ends = new Map<number, number>()
  let client = -1
  for (const struct of structs) {
    const why = checkStruct(struct)
    if (why !== null) return why
    const { id } = struct
    const end = ends.get(id.client)
    if (end !== undefined && id.client !== client) return 'it has a client twice'
    ;({ client } = id)
    const fits = end === undefined ? id.clock <= Y.getState(doc.store, client) : id.clock === end
    if (!fits) return GAPS
    ends.set(client, id.clock + struct.length)
  }
  return checkDeletes(ds.clients)
}

function checkDeletes(clients: Deletes): string | null {
  for (const [client, ranges] of clients) {
    let end = 0
    for (const { clock, len } of ranges) {
      if (!isId({ client, clock }) || !isCount(len, CLOCK_MAX)) return 'it has a number too large'
      // As Yjs sorts them: others would be looked through over and over.
      if (clock < end) return 'its deletions are not in order'
      end = clock + len
    }
  }
  return null
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= most
}

function isId({ client, clock }: { client: number; clock: number }): boolean {
  return isCount(client, CLIENT_MAX) && isCount(clock, CLOCK_MAX)
}

function checkStruct(struct: Decoded['structs'][number]): string | null {
  const { id, length } = struct
  if (!isCount(id.client, CLIENT_MAX)) return `it has a client id above ${CLIENT_MAX}`
  if (!isCount(length, CLOCK_MAX) || length === 0 || !isCount(id.clock + length, CLOCK_MAX))
    return 'it has a struct of no length, or with a clock above the limit'
  if (struct instanceof Y.GC) return null
  if (!(struct instanceof Y.Item)) return GAPS
  const { origin, rightOrigin, parent, content } = struct
  for (const one of [origin, rightOrigin, parent]) {
    if (one instanceof Y.ID && !isId(one)) return 'it has a number too large'
  }
  if (content instanceof Y.ContentDoc) return 'it has a document within the document'
  if (isShallow(valuesOf(content), DEPTH_MAX)) return null
  return `it has a value that is nested more than ${DEPTH_MAX} deep`
}

function valuesOf(content: Y.Item['content']): unknown {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr
  if (content instanceof Y.ContentEmbed) return content.embed
  return content instanceof Y.ContentFormat ? content.value : null
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true
  // A key `__proto__` hides its value there.
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  return isPlain && levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1))
}

function checkRoots({ share }: Y.Doc, structs: readonly Struct[]): string | null {
  const names = new Set<string>()
  for (const struct of structs) {
    const name: unknown = struct instanceof Y.Item ? struct.parent : null
    if (typeof name === 'string' && !share.has(name)) names.add(name)
  }
  const count = share.size + names.size
  return names.size === 0 || count <= ROOTS_MAX ? null : `it has more than ${ROOTS_MAX} names`
}

// Whether an update deletes anything that is not deleted yet; or why it is not applied.
function deletesOf(
  doc: Y.Doc,
  order: Order,
  clients: Deletes,
): { isNew: boolean; isDeep: boolean } | string {
  const all = { isNew: false, isDeep: false }
  for (const [client, ranges] of clients) {
    const structs = doc.store.clients.get(client) ?? []
    for (const { clock, len } of ranges) {
      if (len === 0 || clock + len > order.stateOf(client)) return GAPS
      const state = Y.getState(doc.store, client)
      // What is new with the update, and deleted by it at once.
      if (clock + len > state) all.isNew = true
      if (clock >= state) continue
      for (let at = Y.findIndexSS(structs, clock); at < structs.length; at++) {
        const struct = structs[at]!
        if (struct.id.clock >= clock + len) break
        if (struct.deleted) continue
        all.isNew = true
        all.isDeep ||= struct instanceof Y.Item && struct.content instanceof Y.ContentType
      }
    }
  }
  return all
}
