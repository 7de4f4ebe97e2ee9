/** The pieces as a part of a member. */

import * as changes from './changes.ts'
import type { Millis, PeerId } from '../../machine.ts'
import type { Part, PartOut, PartView } from '../../kind/protocol/part.ts'
import { converted, placeOf, type Theirs, typesOf } from '../../wire/fields/converting.ts'
import { loseAll, receiveNews, receiveTable } from './pending.ts'
import { perform } from './decide.ts'
import { encodeNews, encodeTable, type Entry, readNews, type TablePart } from './messages.ts'
import {
  createState,
  type PieceEvent,
  type PieceRules,
  type Pieces,
  type PieceTypes,
  type Row,
} from './state.ts'

export const PIECES_CHANNEL = 7
// A message of a table ends beyond this size, in bytes.
const TABLE_BYTES: number = 24 * 1024

export function piecesPart(types: PieceTypes): Part<Pieces> {
  return {
    channel: PIECES_CHANNEL,
    receive: (state, _now, from, bytes, out) => receive(state, types, from, bytes, out),
    view,
    reset,
    perform: (state, _now, body, by, player) => perform(state, types, body, by, player),
    apply: (state, change) => changes.apply(state.committed, types, change),
    snapshot: ({ committed }) => changes.snapshot(committed, types),
    published: (state) => changes.published(state, types),
    restore: (state, bytes) => {
      const committed = changes.restored(types, bytes, state.committed.seed)
      if (committed) state.committed = committed
      return committed !== null
    },
    keptAs: 'piece',
    reread: (lines, bytes, behind) => reread(types, lines, bytes, behind),
    welcome: (state) => welcome(state, types),
    show: shower(types),
  }
}

function receive(
  state: Pieces,
  types: PieceTypes,
  from: PeerId,
  bytes: Uint8Array,
  out: PartOut<PieceEvent>,
): void {
  const decoded = from === state.primary ? readNews(bytes, types) : null
  if (!decoded) state.counters.malformed++
  else if (Array.isArray(decoded)) receiveNews(state, decoded, out)
  else receiveTable(state, decoded, out)
}

function view(state: Pieces, _now: Millis, seen: PartView, out: PartOut<PieceEvent>): void {
  const player = seen.members.find(({ inc }) => inc === seen.me)?.player ?? 0
  const { player: before } = state
  if (player !== 0 && player !== before) loseAll(state, before, 'away', out)
  Object.assign(state, { me: seen.me, player, primary: seen.primary, epoch: seen.epoch })
  if (seen.me !== seen.primary) return
  const here = new Set(seen.members.map((member) => member.player))
  const rows = [...state.committed.rows.values()]
  const gone = new Set(rows.map(({ heldBy }) => heldBy).filter((by) => by !== 0 && !here.has(by)))
  if (gone.size > 0) out.emit({ kind: 'pieces-held', players: [...gone] })
  const lost = rows.filter(({ hidden }) => hidden !== 0)
  if (lost.length > 0) out.emit({ kind: 'pieces-lost', ids: lost.map(({ id }) => id) })
}

function reset(state: Pieces, out: PartOut<PieceEvent>): void {
  const { published, pending, committed } = state
  loseAll(state, state.player, 'gone', out)
  const { rules, nextSeq, counters } = state
  Object.assign(state, { ...createState(committed.seed, rules), nextSeq, counters })
  for (const id of pending.keys()) out.emit({ kind: 'piece-conflict', id, by: 0 })
  for (const id of published.keys()) out.emit({ kind: 'piece-went', id })
}

// Reads pieces stored by another build with that build's types, and converts them to ours. If one
// does not fit, the stored bytes stay unchanged for the other build.
function reread(
  types: PieceTypes,
  lines: string,
  bytes: Uint8Array,
  behind: readonly Uint8Array[],
): Uint8Array | string {
  const theirs = typesOf(lines)
  if (!theirs) return 'its types of pieces are in no form that this build reads'
  const rules = theirs.map((one): PieceRules => {
    return { ...one, hides: () => one.secret, decide: null, mustHold: false, kept: null }
  })
  const committed = changes.restored(rules, bytes, new Uint8Array(0))
  if (!committed) return 'its pieces cannot be read by its types'
  for (const change of behind) changes.apply(committed, rules, change)
  try {
    for (const row of committed.rows.values()) committed.rows.set(row.id, ours(types, theirs, row))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return changes.snapshot(committed, types)
}

function ours(types: PieceTypes, theirs: readonly Theirs[], row: Row): Row {
  const from = theirs[row.type]!
  const type = placeOf(types, from)
  return { ...row, type, ...converted(types[type]!, from, row) }
}

function welcome({ committed }: Pieces, types: PieceTypes): Uint8Array[] {
  if (types.length === 0) return []
  const parts: Row[][] = [[]]
  let size = 0
  for (const row of committed.rows.values()) {
    if (size > TABLE_BYTES) {
      parts.push([])
      size = 0
    }
    parts.at(-1)!.push(row)
    size += types[row.type]!.schema.bytesMax + 64 + 16 * row.refused.length
  }
  return parts.map((rows, at) => {
    const [first, last] = [at === 0, at === parts.length - 1]
    return encodeTable(types, {
      first,
      last,
      gen: committed.gen,
      lostRanges: committed.lostRanges,
      rows,
    })
  })
}

// Removes the fields that a member may not see (O53). News is decoded once, and encoded once for
// all players who see the same fields.
function shower(
  types: PieceTypes,
): (state: Pieces, news: Uint8Array, player: number) => Uint8Array {
  const hasSecrets = types.some(({ secret }) => secret !== 0)
  const last: Publication = { news: new Uint8Array(0), decoded: null, rows: [], shown: new Map() }
  return (state, news, player) => {
    if (!hasSecrets) return news
    if (news !== last.news) read(last, types, news)
    const { rules } = state
    const hidden = last.rows.map((row) => {
      return (row.hidden | rules.hides(types[row.type]!, row, player)) >>> 0
    })
    if (last.rows.every((row, at) => row.hidden === hidden[at])) return news
    const key = hidden.join()
    const known = last.shown.get(key)
    if (known) return known
    const made = hiding(last, types, hidden)
    last.shown.set(key, made)
    return made
  }
}

// The last news, decoded.
interface Publication {
  news: Uint8Array
  decoded: Entry[] | TablePart | null
  /** The rows whose types have secrets. */
  rows: Row[]
  /** The encoded news, by the hidden fields of those rows. */
  shown: Map<string, Uint8Array>
}

function read(last: Publication, types: PieceTypes, news: Uint8Array): void {
  const decoded = readNews(news, types)
  const all = !decoded
    ? []
    : Array.isArray(decoded)
      ? decoded.flatMap(({ row }) => row ?? [])
      : decoded.rows
  const rows = all.filter(({ type }) => types[type]!.secret !== 0)
  Object.assign(last, { news, decoded, rows, shown: new Map() })
}

function hiding(
  { decoded, rows }: Publication,
  types: PieceTypes,
  hidden: readonly number[],
): Uint8Array {
  const seen = new Map(rows.map((row, at) => [row, { ...row, hidden: hidden[at]! }]))
  const shown = (row: Row): Row => seen.get(row) ?? row
  if (!Array.isArray(decoded))
    return encodeTable(types, { ...decoded!, rows: decoded!.rows.map(shown) })
  return encodeNews(
    types,
    decoded.map((entry) => ({ ...entry, row: entry.row && shown(entry.row) })),
  )
}
