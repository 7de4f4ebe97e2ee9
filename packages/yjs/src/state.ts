/**
 * The state of a document at every member, as a part of the session: a Yjs document that only holds
 * what is committed, whose client ids have which players, and updates of which some pieces came.
 *
 * | bytes | what |
 * |---|---|
 * | an operation | a piece of an update: `piece`, `of`, its bytes; none asks only for the order |
 * | a change | the same with the player who asked |
 * | a snapshot | the document as one update, the players of client ids, the unfinished updates |
 *
 * An update reaches the document as a whole, however many pieces it has: an editor may repair what
 * looks half done to it, and would send the repair to all.
 */

import * as Y from 'yjs'
import { CUSTOM_BYTES_MAX, CUSTOM_SNAPSHOT_MAX } from '../../holdfast/src/custom/protocol/custom.ts'
import { type Asker, type Performance, refuse } from '../../holdfast/src/part.ts'
import * as chunks from '../../holdfast/src/wire/chunks.ts'
import { blob, decode, encode, list, record, u16, varint } from '../../holdfast/src/wire/layout.ts'
import { type Facts, freshOf, inspect } from './inspect.ts'

/** Most bytes of one piece: an operation and a change have a few more around it. */
export const PIECE_MAX: number = CUSTOM_BYTES_MAX - 64
/** The largest limit of a document, so that it and as many unfinished bytes fit a snapshot. */
export const BYTES_LIMIT = 2_000_000
/** Most client ids whose player is known: each page that edits adds one, for ever. */
const OWNERS_MAX = 16_384
/**
 * Most of them that are of one player. What many clients insert at one place takes Yjs time with
 * their square: half a second for so many, and half a minute for 17,000.
 */
const OWNED_MAX = 4_096
/** A document that is full takes deletions up to so many times its limit: they split structs. */
const DELETIONS = 1.01
/** Most players with an unfinished update. */
const UNFINISHED_MAX = 64

const piecesMost = Math.ceil(BYTES_LIMIT / PIECE_MAX)
const piece = { piece: u16, of: u16, bytes: blob(PIECE_MAX) }
export const operationLayout = record(piece)
const changeLayout = record({ player: varint, ...piece })
const snapshotLayout = record({
  update: blob(CUSTOM_SNAPSHOT_MAX),
  owners: list(record({ client: varint, player: varint }), OWNERS_MAX),
  unfinished: list(
    record({ player: varint, of: u16, pieces: list(blob(PIECE_MAX), piecesMost) }),
    UNFINISHED_MAX,
  ),
})

/** What all members must agree on. */
export interface Limits {
  readonly name: string
  /** Most bytes of the document as one update. */
  readonly bytes: number
}

export interface DocumentState {
  readonly doc: Y.Doc
  /** The player who first used a client id, or last, if that one was gone. */
  readonly owners: Map<number, number>
  /** Updates of which pieces are missing, by player; the one that began first comes first. */
  readonly unfinished: Map<number, chunks.Incoming>
  /** An estimate of its bytes, rather too high; at this member only. */
  bytes: number
  /** The document as one update, until the next change. */
  encoded: Uint8Array | null
  /** Changes that Yjs did not take, which only a hostile server publishes. */
  malformed: number
  /** Takes each update that was applied, and the player who sent it. */
  onUpdate: ((update: Uint8Array, player: number) => void) | null
}

export function create(): DocumentState {
  return {
    ...{ doc: committed(), owners: new Map(), unfinished: new Map() },
    ...{ bytes: 0, encoded: null, malformed: 0, onUpdate: null },
  }
}

function committed(): Y.Doc {
  const doc = new Y.Doc()
  // Yjs would delete formats that it finds superfluous, in some copies and not in others.
  doc.on('beforeObserverCalls', (transaction: Y.Transaction) => (transaction.local = true))
  return doc
}

export function perform(
  state: Readonly<DocumentState>,
  operation: Uint8Array,
  by: Asker,
  limits: Limits,
): Performance {
  const given = decode(operationLayout, operation)
  if (!given || given.piece >= given.of)
    return refused(limits, 'the bytes are no piece of an update')
  const { piece: place, of, bytes } = given
  // Its answer comes after everything that was committed before.
  if (bytes.length === 0) return {}
  if (of > Math.ceil(limits.bytes / PIECE_MAX)) return tooLarge(limits, of * PIECE_MAX)
  const change = encode(changeLayout, { player: by.player, ...given })
  const before = state.unfinished.get(by.player)
  const isNext = place === 0 || (before?.of === of && before.pieces.length === place)
  if (!isNext) return refused(limits, 'a piece is missing before this one')
  if (place < of - 1) return { changes: [change] }
  const update = of === 1 ? bytes : chunks.whole({ of, pieces: [...before!.pieces, bytes] })!
  const facts = inspect(state.doc, update)
  if (typeof facts === 'string') return refused(limits, facts)
  checkOwners(state, facts, by, limits)
  checkSize(state, facts, facts.update, limits)
  return of > 1 || facts.isNew ? { changes: [change] } : {}
}

function refused({ name }: Limits, why: string): never {
  refuse(`an update of the document "${name}" is refused: ${why}`)
}

function tooLarge(limits: Limits, bytes: number): never {
  refuse(`${limitOf(limits)} it would have ${bytes}`)
}

function limitOf({ name, bytes }: Limits): string {
  return `the document "${name}" has at most ${bytes} bytes:`
}

/** Whether a refusal says that the document would be too large. */
export function isTooLarge(limits: Limits, reason: string): boolean {
  return reason.startsWith(limitOf(limits))
}

// Two who write as one client get different documents, and Yjs does not notice. A player who is
// gone has nothing left to send, so another may bring what that one wrote.
function checkOwners(state: DocumentState, facts: Facts, by: Asker, limits: Limits): void {
  for (const client of facts.clients) {
    const owner = state.owners.get(client) ?? by.player
    if (owner === by.player || !by.isHere(owner)) continue
    refused(limits, `client ${client} is of player ${owner}, who is here`)
  }
  const fresh = facts.clients.filter((client) => !state.owners.has(client)).length
  if (fresh === 0) return
  const owned = [...state.owners.values()].filter((owner) => owner === by.player).length
  if (owned + fresh <= OWNED_MAX) return
  refused(limits, `player ${by.player} has ${OWNED_MAX} clients at most: ${owned + fresh}`)
}

// Measured only when the estimate is above the limit. Deletions split structs, so a document may
// grow by them; those that make a full one smaller are always taken.
function checkSize(state: DocumentState, facts: Facts, update: Uint8Array, limits: Limits): void {
  const { growth, isDeep, isNew } = facts
  const most = facts.clients.length > 0 ? limits.bytes : limits.bytes * DELETIONS
  const isSurelyBelow = (): boolean => state.bytes * (isDeep ? 1.5 : 1) + growth <= most
  if (!isNew || isSurelyBelow()) return
  const before = encoded(state)
  state.bytes = before.length
  if (isSurelyBelow()) return
  const trial = committed()
  Y.applyUpdate(trial, before)
  Y.applyUpdate(trial, update)
  const { length } = Y.encodeStateAsUpdate(trial)
  const isSmaller = facts.clients.length === 0 && length <= before.length
  if (length > most && !isSmaller) tooLarge(limits, length)
}

export function apply(state: DocumentState, bytes: Uint8Array, limits: Limits): void {
  const change = decode(changeLayout, bytes)
  if (!change) return void state.malformed++
  const { unfinished } = state
  const { player } = change
  const known = unfinished.get(player) ?? null
  // One that begins again goes behind the others.
  if (change.piece === 0) unfinished.delete(player)
  const incoming = chunks.take(known, change)
  const update = incoming && chunks.whole(incoming)
  if (update) {
    unfinished.delete(player)
    integrate(state, update, player)
  } else if (incoming) {
    unfinished.set(player, incoming)
    dropLargest(unfinished, limits.bytes)
  }
}

// Of those with most pieces the first goes: many small ones are not worth the work of one.
function dropLargest(unfinished: DocumentState['unfinished'], most: number): void {
  let count = 0
  for (const { pieces } of unfinished.values()) count += pieces.length
  while (unfinished.size > 1) {
    if (count * PIECE_MAX <= most && unfinished.size <= UNFINISHED_MAX) return
    let [largest] = unfinished
    for (const one of unfinished)
      if (one[1].pieces.length > largest![1].pieces.length) largest = one
    unfinished.delete(largest![0])
    count -= largest![1].pieces.length
  }
}

function integrate(state: DocumentState, update: Uint8Array, player: number): void {
  const { doc, owners } = state
  const fresh = freshOf(doc, update)
  if (typeof fresh === 'string') return void state.malformed++
  state.encoded = null
  state.bytes += fresh.growth
  try {
    Y.applyUpdate(doc, fresh.update)
  } catch {
    state.malformed++
    return
  }
  for (const client of new Set(fresh.structs.map(({ id }) => id.client)))
    own(owners, client, player)
  state.onUpdate?.(fresh.update, player)
}

// Those that wrote last are kept: refusing more of them would let a few shut out all others.
function own(owners: DocumentState['owners'], client: number, player: number): void {
  owners.delete(client)
  owners.set(client, player)
  if (owners.size <= OWNERS_MAX) return
  for (const oldest of owners.keys()) return void owners.delete(oldest)
}

/** The document as one update. */
export function encoded(state: Readonly<DocumentState>): Uint8Array {
  const own = state as DocumentState
  own.encoded ??= Y.encodeStateAsUpdate(own.doc)
  return own.encoded
}

export function snapshot(state: Readonly<DocumentState>): Uint8Array {
  const update = encoded(state)
  const owners = [...state.owners].map(([client, player]) => ({ client, player }))
  const unfinished = [...state.unfinished].map(([player, { of, pieces }]) => ({
    ...{ player, of, pieces },
  }))
  return encode(snapshotLayout, { update, owners, unfinished })
}

export function restore(bytes: Uint8Array): DocumentState | null {
  const given = decode(snapshotLayout, bytes)
  if (!given) return null
  const state = create()
  try {
    Y.applyUpdate(state.doc, given.update)
  } catch {
    return null
  }
  const { pendingStructs, pendingDs } = state.doc.store
  if (pendingStructs || pendingDs) return null
  for (const { client, player } of given.owners) state.owners.set(client, player)
  for (const { player, of, pieces } of given.unfinished)
    state.unfinished.set(player, { of, pieces })
  state.bytes = given.update.length
  return state
}

/** What a document has and the committed one lacks, as one update; null for nothing. */
export function missing(
  { doc: committed }: Readonly<DocumentState>,
  doc: Y.Doc,
): Uint8Array | null {
  const update = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(committed))
  const facts = inspect(committed, update)
  // What cannot be applied is for the primary to say.
  return typeof facts !== 'string' && !facts.isNew ? null : update
}

/**
 * Of what a document has and the committed one lacks, what builds on nothing of clients that
 * others will bring; null for nothing.
 */
export function missingWithout(
  state: Readonly<DocumentState>,
  doc: Y.Doc,
  isOthers: (client: number) => boolean,
): Uint8Array | null {
  const known = Y.encodeStateVector(state.doc)
  const clocks = Y.decodeStateVector(known)
  const wanted = Y.decodeStateVector(Y.encodeStateVector(doc))
  for (const client of wanted.keys()) {
    if (!isOthers(client)) wanted.set(client, clocks.get(client) ?? 0)
  }
  const trial = committed()
  Y.applyUpdate(trial, encoded(state))
  Y.applyUpdate(trial, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(wanted)))
  trial.store.pendingStructs = null
  trial.store.pendingDs = null
  const update = Y.encodeStateAsUpdate(trial, known)
  const facts = inspect(state.doc, update)
  return typeof facts !== 'string' && facts.isNew ? update : null
}
