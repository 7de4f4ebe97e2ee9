/**
 * A custom part: the author's state and bytes, and the protocol that all durable parts share.
 *
 * The primary asks the author which changes an operation makes. Each change is applied at primary
 * and backup when it is in the log, and at every member when it is published; so there are two
 * copies, and the author writes one `apply`. Changes are counted: a member ignores changes that it
 * has applied already, and after a gap it waits for a snapshot. Members can also send messages,
 * which are not stored.
 */

import * as buckets from '../../bucket.ts'
import * as chunks from '../../wire/chunks.ts'
import type { Bucket, Rate } from '../../bucket.ts'
import type { Millis, PeerId } from '../../machine.ts'
import type { Effected, Part, PartOut, PartView } from '../../kind/protocol/part.ts'
import {
  decode,
  encode,
  blob,
  list,
  maybe,
  message,
  record,
  text,
  u16,
  varint,
} from '../../wire/layout.ts'

/** Most bytes of an operation, of one change and of an answer. */
export const CUSTOM_BYTES_MAX: number = 16 * 1024 - 64
export const CUSTOM_CHANGES_MAX = 256
/** Most bytes of the changes of one operation together. */
export const CUSTOM_CHANGES_BYTES_MAX: number = 40 * 1024
/** Most bytes of a snapshot. */
export const CUSTOM_SNAPSHOT_MAX: number = 4 * 1024 * 1024
/** Most bytes of a message from member to member. */
export const CUSTOM_SAID_MAX: number = 8 * 1024
/** Longest sentence of a refusal, in bytes of UTF-8. */
export const CUSTOM_REASON_MAX = 1_000
/** Most bytes of one piece of a snapshot. */
export const CUSTOM_PIECE_MAX: number = 32 * 1024

const bytes = blob(CUSTOM_BYTES_MAX)
const memberMessage = blob(CUSTOM_SAID_MAX)
const inc = varint

export const customMessage = message({
  /** A piece of a snapshot, for a member that is brought up to date. */
  state: [1, record({ piece: u16, of: u16, bytes: blob(CUSTOM_PIECE_MAX) })],
  /** Changes of one operation; `before` is how many were applied before them. */
  changes: [2, record({ before: varint, changes: list(bytes, CUSTOM_CHANGES_MAX) })],
  /** To a member, or with 0 to all others: sent directly, or relayed by the primary. */
  say: [3, record({ to: inc, bytes: memberMessage })],
  /** A message of that member, relayed by the primary. */
  said: [4, record({ from: inc, bytes: memberMessage })],
})

export const customAnswer = message({
  done: [1, record({ answer: bytes })],
  refused: [2, record({ reason: text(CUSTOM_REASON_MAX) })],
  failed: [3, record({ reason: text(CUSTOM_REASON_MAX) })],
})

/** The state with the number of its changes; no bytes if the author’s code failed. */
export const customSnapshot = record({
  made: varint,
  state: maybe(blob(CUSTOM_SNAPSHOT_MAX)),
})

/** The rate of a member's messages, in units of 256 bytes, rounded up. */
export const MESSAGE_RATE: Rate = { max: 400, perSecond: 200 }

// Most pieces of a snapshot, with the bytes around its state.
const PIECES_MAX = Math.ceil(CUSTOM_SNAPSHOT_MAX / CUSTOM_PIECE_MAX) + 1

/** The member that asks for an operation, and when, by session time; NaN while unknown. */
export interface Asker {
  /** The number of the player. */
  readonly player: number
  /** The number of the incarnation. */
  readonly inc: PeerId
  /** Session time in ms, the same for the whole operation. */
  readonly now: Millis
  /** Whether a player is here, as the primary knows: for `perform`, whose changes are logged. */
  isHere(player: number): boolean
}

export type Decision =
  | { kind: 'done'; changes: Uint8Array[]; answer: Uint8Array }
  | { kind: 'refused' | 'failed'; reason: string }

/** The author’s functions. None of them throws. */
export interface Author {
  create(): unknown
  perform(state: unknown, operation: Uint8Array, by: Asker): Decision
  apply(state: unknown, change: Uint8Array): void
  /** Null if there is no snapshot. */
  snapshot(state: unknown): Uint8Array | null
  /** Null for bytes that are no state. */
  restore(bytes: Uint8Array): unknown
}

/** One copy of the state, and how many changes were applied to it. */
export interface Copy {
  made: number
  state: unknown
}

export type CustomEvent =
  | { kind: 'custom-changed' }
  | { kind: 'custom-received'; from: PeerId; bytes: Uint8Array }
  | { kind: 'custom-due' }

type Events = PartOut<CustomEvent>

export function create(author: Author) {
  return {
    me: 0,
    primary: 0,
    mesh: false,
    /** The player of each member here. */
    here: new Map<PeerId, number>(),
    /** When the face’s next timer is due, by our clock. */
    dueAt: Infinity as Millis,
    /** Session time minus our clock. */
    offset: NaN,
    /** The durable copy, at primary and backup. */
    committed: fresh(author),
    /** The copy that was published to this member. */
    published: fresh(author),
    /** A snapshot that is not complete yet. */
    incoming: null as chunks.Incoming | null,
    /** The token bucket of each member's messages. */
    rates: new Map<PeerId, Bucket>(),
    counters: { malformed: 0, refused: 0, gaps: 0, again: 0, dropped: 0 },
  }
}

export type Custom = ReturnType<typeof create>

function fresh(author: Author): Copy {
  return { made: 0, state: author.create() }
}

export function customPart(channel: number, author: Author): Part<Custom> {
  return {
    channel,
    receive: (part, now, from, bytes, out) => {
      receive({ part, author, now, out: out as Events }, from, bytes)
    },
    view,
    clock: (part, offset) => void (part.offset = offset),
    perform: (part, now, body, inc, player) => {
      const isHere = (one: number): boolean => [...part.here.values()].includes(one)
      const by: Asker = { player, inc, now: now + part.offset, isHere }
      const decision = author.perform(part.committed.state, body.slice(), by)
      if (decision.kind === 'refused') part.counters.refused++
      return effects(part, decision)
    },
    apply: ({ committed }, change) => applyChange(committed, author, change),
    snapshot: ({ committed }) => snapshot(committed, author),
    published: ({ published }) => snapshot(published, author),
    restore: (part, bytes) => {
      const copy = restored(part, author, bytes)
      if (copy) part.committed = copy
      return copy !== null
    },
    welcome: ({ committed }) => {
      const pieces = [...chunks.cut(snapshot(committed, author), CUSTOM_PIECE_MAX)]
      return pieces.map((piece) => encode(customMessage, { kind: 'state', ...piece }))
    },
    deadline: ({ dueAt }) => dueAt,
    wake: (part, now, out) => {
      if (part.dueAt > now) return
      part.dueAt = Infinity
      ;(out as Events).emit({ kind: 'custom-due' })
    },
    reset: (part, out) => {
      Object.assign(part, { committed: fresh(author), published: fresh(author), incoming: null })
      part.rates.clear()
      ;(out as Events).emit({ kind: 'custom-changed' })
    },
  }
}

function effects({ committed }: Custom, judged: Decision): Effected {
  if (judged.kind !== 'done') {
    return { outcome: encode(customAnswer, judged), refused: true, changes: [], news: null }
  }
  const { changes, answer } = judged
  const outcome = encode(customAnswer, { kind: 'done', answer })
  if (changes.length === 0) return { outcome, changes, news: null }
  const news = encode(customMessage, { kind: 'changes', before: committed.made, changes })
  return { outcome, changes, news }
}

function applyChange(copy: Copy, author: Author, change: Uint8Array): void {
  copy.made++
  author.apply(copy.state, change.slice())
}

function snapshot({ made, state }: Copy, author: Author): Uint8Array {
  return encode(customSnapshot, { made, state: author.snapshot(state) })
}

function restored({ counters }: Custom, author: Author, bytes: Uint8Array): Copy | null {
  const decoded = decode(customSnapshot, bytes)
  const state = decoded?.state ? (author.restore(decoded.state) ?? null) : null
  if (decoded && state !== null) return { made: decoded.made, state }
  counters.refused++
  return null
}

function view(part: Custom, _now: Millis, seen: PartView): void {
  const { me, primary, mesh } = seen
  const here = new Map(seen.members.map((one) => [one.inc, one.player]))
  for (const inc of part.rates.keys()) if (!here.has(inc)) part.rates.delete(inc)
  // Snapshots on their way from another primary end here.
  if (primary !== part.primary) part.incoming = null
  Object.assign(part, { me, primary, mesh, here })
}

interface Context {
  readonly part: Custom
  readonly author: Author
  readonly now: Millis
  readonly out: Events
}

function receive(ctx: Context, from: PeerId, bytes: Uint8Array): void {
  const { part, out } = ctx
  const message = decode(customMessage, bytes)
  if (!message) return void part.counters.malformed++
  if (message.kind === 'say') return receiveSay(ctx, from, message)
  // All other messages are valid only from the primary.
  if (from !== part.primary) return void part.counters.dropped++
  if (message.kind === 'state') receiveState(ctx, message)
  else if (message.kind === 'changes') receiveChanges(ctx, message)
  else if (message.kind === 'said') deliver(part, message.from, message.bytes, out)
  else message satisfies never
}

function receiveState({ part, author, out }: Context, piece: chunks.Piece): void {
  if (piece.of > PIECES_MAX) return void part.counters.malformed++
  part.incoming = chunks.take(part.incoming, piece)
  const bytes = part.incoming && chunks.whole(part.incoming)
  if (!bytes) return
  part.incoming = null
  const copy = restored(part, author, bytes)
  if (!copy) return
  part.published = copy
  out.emit({ kind: 'custom-changed' })
}

function receiveChanges(
  { part: { published, counters }, author, out }: Context,
  { before, changes }: { before: number; changes: Uint8Array[] },
): void {
  if (before > published.made) return void counters.gaps++
  if (before < published.made) return void counters.again++
  for (const change of changes) applyChange(published, author, change)
  out.emit({ kind: 'custom-changed' })
}

/** Sends a message to a member, or (0) to all others. @returns false above the rate */
export function sendMessage(
  part: Custom,
  now: Millis,
  to: PeerId,
  bytes: Uint8Array,
  out: PartOut,
): boolean {
  if (!isWithinRate(part, now, part.me, bytes)) return false
  if (part.me === part.primary) relay(part, part.me, to, bytes, out as Events)
  else if (to === part.me) deliver(part, part.me, bytes, out as Events)
  else if (!part.mesh) out.send(part.primary, encode(customMessage, { kind: 'say', to, bytes }))
  else
    for (const one of to === 0 ? others(part, part.me) : [to]) sendDirectly(part, one, bytes, out)
  return true
}

// Without a direct link, the primary passes the message on.
function sendDirectly({ primary }: Custom, to: PeerId, bytes: Uint8Array, out: PartOut): void {
  const message = encode(customMessage, { kind: 'say', to, bytes })
  if (out.send(to, message) === 0) out.send(primary, message)
}

function receiveSay(
  { part, now, out }: Context,
  from: PeerId,
  { to, bytes }: { to: PeerId; bytes: Uint8Array },
): void {
  const { me, primary, here, counters } = part
  if (!here.has(from)) return void counters.dropped++
  if (to === me) return deliver(part, from, bytes, out)
  // The message is for others: only the primary passes it on, within the rates.
  const passes = me === primary && isWithinRate(part, now, from, bytes)
  if (!passes || out.charge?.(from, 'operation') === false) return void counters.dropped++
  relay(part, from, to, bytes, out)
}

function relay(part: Custom, from: PeerId, to: PeerId, bytes: Uint8Array, out: Events): void {
  const message = encode(customMessage, { kind: 'said', from, bytes })
  for (const one of to === 0 ? others(part, from) : [to]) {
    if (one === part.me) deliver(part, from, bytes, out)
    else if (part.here.has(one)) out.send(one, message)
  }
}

function others({ here }: Custom, than: PeerId): PeerId[] {
  return [...here.keys()].filter((inc) => inc !== than)
}

function isWithinRate(part: Custom, now: Millis, from: PeerId, bytes: Uint8Array): boolean {
  const bucket = part.rates.get(from) ?? buckets.create(now, MESSAGE_RATE)
  part.rates.set(from, bucket)
  return buckets.take(bucket, MESSAGE_RATE, now, 1 + Math.floor(bytes.length / 256))
}

function deliver(part: Custom, from: PeerId, bytes: Uint8Array, out: Events): void {
  if (part.here.has(from)) out.emit({ kind: 'custom-received', from, bytes: bytes.slice() })
  else part.counters.dropped++
}
