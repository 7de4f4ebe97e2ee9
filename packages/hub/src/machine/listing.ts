/**
 * The list of rooms, in pages (SE-10).
 *
 * A snapshot of all rooms is made at most once a second, on request, and pages are cut from it.
 * Fuller rooms come first, then older ones, so empty rooms come last however many there are. A
 * cursor is the position of a page's last room in that order, and outlives that room.
 */

import { type Millis, termsSay, type PeerId } from '../../../holdfast/src/machine.ts'
import * as sessionExpiry from './session-expiry.ts'
import { isByInvitation } from './admission.ts'
import type { Entry, Listed } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Registers, Row } from './register.ts'
import type { Hub, Item, Page, HubOut, RoomChange } from './state.ts'

/** Most rooms of one page. */
export const LIST_MAX = 200
/** How long a snapshot of the list is valid. */
export const LISTING_MS: Millis = 1_000
/** Most cached pages of one snapshot. */
const PAGES_MAX = 256
/** Rooms per unit of cost on a stream, where each room is a message. */
const ENTRIES_PER_PART = 4
/** Rooms per unit of cost where a page is one HTTP answer. */
const ROWS_PER_PART = 400

/** The cost of a page, in parts. @param as  how it is sent */
export function costOf({ items }: Page, as: 'stream' | 'answer'): number {
  return 1 + items.length / (as === 'stream' ? ENTRIES_PER_PART : ROWS_PER_PART)
}

/**
 * One page of the rooms of a game, or of all games if the name is empty.
 *
 * @param after  `next` of the previous page; anything else starts at the beginning
 */
export function page(hub: Hub, now: Millis, game: string, after: string): Page {
  if (now - hub.listing.madeAt >= LISTING_MS) look(hub, now)
  const { listing } = hub
  const key = `${game.length} ${game} ${after}`
  const known = listing.pages.get(key)
  if (known) return known
  const items = listing.games.get(game) ?? []
  const from = startOf(items, after)
  const shown = items.slice(from, from + LIST_MAX)
  const isLast = from + LIST_MAX >= items.length
  const made = { items: shown, next: isLast ? '' : cursorOf(shown.at(-1)!) }
  if (listing.pages.size < PAGES_MAX) listing.pages.set(key, made)
  return made
}

/** The sessions of one game that are listed now, or of all games if the name is empty. */
export function all({ rows, places }: Registers, game: string): Entry[] {
  const ids = game === '' ? rows.keys() : (places.get(`game ${game}`) ?? [])
  return [...ids]
    .map((id) => rows.get(id)!)
    .filter(isListed)
    .map(({ entry }) => entry)
}

// It is persisted, and its founder did not hide it.
function isListed({ pending, entry }: Row): boolean {
  return !pending?.isNew && !isHidden(entry)
}

function isHidden({ terms }: Entry): boolean {
  return isByInvitation(terms) || termsSay(terms, 'listed', 'no')
}

function look(hub: Hub, now: Millis): void {
  const games = new Map<string, Item[]>([['', []]])
  for (const [session, row] of hub.registers.rows) {
    if (!isListed(row)) continue
    const { entry } = row
    const { serial } = sessionExpiry.expiryOf(hub, now, session)
    add(games, { entry, rank: rankOf(entry), serial })
  }
  for (const { entry, serial } of hub.elsewhere.values()) {
    if (!isHidden(entry)) add(games, { entry, rank: rankOf(entry), serial })
  }
  for (const items of games.values()) items.sort(byOrder)
  hub.listing = { madeAt: now, games, pages: new Map() }
}

function rankOf({ standing, players }: Entry): number {
  return standing === 'unreachable' ? -1 : players
}

function add(games: Map<string, Item[]>, item: Item): void {
  games.get('')!.push(item)
  const own = games.get(item.entry.game)
  if (own) own.push(item)
  else games.set(item.entry.game, [item])
}

function byOrder(a: Item, b: Item): number {
  return b.rank - a.rank || a.serial - b.serial
}

function cursorOf({ rank, serial }: Item): string {
  return `${rank}.${serial}`
}

function startOf(items: readonly Item[], after: string): number {
  const [, rank, serial] = /^(-?\d{1,9})\.(\d{1,12})$/.exec(after) ?? []
  if (serial === undefined) return 0
  const place = { rank: Number(rank), serial: Number(serial) }
  const from = items.findIndex((item) => byOrder(item, place as Item) > 0)
  return from < 0 ? items.length : from
}

type RoomSink = Pick<HubOut, 'roomChanged'>

function notify(row: Row, kind: RoomChange['kind'], { player, key }: Listed, out: RoomSink): void {
  const { session, game, room } = row.entry
  out.roomChanged({ kind, session, game, room, player, key })
}

export function notifySession(row: Row, kind: 'founded' | 'ended', out: RoomSink): void {
  const primary = row.members.find(({ inc }) => inc === row.entry.register.primary)
  const any = primary ?? row.members[0]
  if (any) notify(row, kind, any, out)
}

/** Notifies if another member became primary. @param before  the previous primary */
export function notifyMoved(row: Row, before: PeerId, out: RoomSink): void {
  const { primary } = row.entry.register
  const now = row.members.find(({ inc }) => inc === primary)
  if (primary !== before && now) notify(row, 'moved', now, out)
}

/** Notifies of players who joined or left. @param before  the members listed before */
export function notifyPlayers(row: Row, before: readonly Listed[], out: RoomSink): void {
  const players = (members: readonly Listed[]): Map<number, Listed> =>
    new Map(members.map((member) => [member.player, member]))
  const [then, now] = [players(before), players(row.members)]
  for (const [player, member] of now) if (!then.has(player)) notify(row, 'joined', member, out)
  for (const [player, member] of then) if (!now.has(player)) notify(row, 'left', member, out)
}
