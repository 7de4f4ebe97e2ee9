/**
 * The list of rooms, in pages (SE-10).
 *
 * All rooms are looked at once a second at most, and only if somebody asks; pages are cut from that
 * look. The fullest room comes first, and of those with as many players the oldest, so rooms that
 * nobody plays in are behind the others however many there are. A cursor is the place of the last
 * room of a page in that order, and holds though that room is gone.
 */

import { type Millis, termsSay } from '../../../holdfast/src/machine.ts'
import * as sessionExpiry from './session-expiry.ts'
import { isByInvitation } from './admission.ts'
import type { Entry, Listed } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Registers, Row } from './register.ts'
import type { Hub, Item, Page, HubOut, RoomChange } from './state.ts'
import type { PeerId } from '../../../holdfast/src/machine.ts'

/** Most rooms of one page. */
export const LIST_MAX = 200
/** So long one look at all rooms counts. */
export const LISTING_MS: Millis = 1_000
/** Most pages of one look that are kept. */
const PAGES_MAX = 256
/** Rooms that cost as much as one part of a list, where each is a message of a stream, */
const ENTRIES_PER_PART = 4
/** and where all are one answer to a request for a page. */
const ROWS_PER_PART = 400

/** What a page costs, in parts. @param as  the way in which it leaves */
export function costOf({ items }: Page, as: 'stream' | 'answer'): number {
  return 1 + items.length / (as === 'stream' ? ENTRIES_PER_PART : ROWS_PER_PART)
}

/**
 * One page of the rooms of a game, or of all games if the name is empty.
 *
 * @param after  the `next` of the page before; anything else is the beginning
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

/** The listed sessions of one game, or of all games if the name is empty, as they are now. */
export function all({ rows, places }: Registers, game: string): Entry[] {
  const ids = game === '' ? rows.keys() : (places.get(`game ${game}`) ?? [])
  return [...ids]
    .map((id) => rows.get(id)!)
    .filter(isListed)
    .map(({ entry }) => entry)
}

// It exists on disk, and its founder wants it to be seen.
function isListed({ pending, entry }: Row): boolean {
  const isHidden = isByInvitation(entry.terms) || termsSay(entry.terms, 'listed', 'no')
  return !pending?.isNew && !isHidden
}

function look(hub: Hub, now: Millis): void {
  const games = new Map<string, Item[]>([['', []]])
  for (const [session, row] of hub.registers.rows) {
    if (!isListed(row)) continue
    const { entry } = row
    const rank = entry.standing === 'unreachable' ? -1 : entry.players
    const { serial } = sessionExpiry.expiryOf(hub, now, session)
    const item = { entry, rank, serial }
    games.get('')!.push(item)
    const own = games.get(entry.game)
    if (own) own.push(item)
    else games.set(entry.game, [item])
  }
  for (const items of games.values()) items.sort(byOrder)
  hub.listing = { madeAt: now, games, pages: new Map() }
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

/** The session began or ended. */
export function notifySession(row: Row, kind: 'founded' | 'ended', out: RoomSink): void {
  const primary = row.members.find(({ inc }) => inc === row.entry.register.primary)
  const any = primary ?? row.members[0]
  if (any) notify(row, kind, any, out)
}

/** Another member may serve by now. @param before  who was primary */
export function notifyMoved(row: Row, before: PeerId, out: RoomSink): void {
  const { primary } = row.entry.register
  const now = row.members.find(({ inc }) => inc === primary)
  if (primary !== before && now) notify(row, 'moved', now, out)
}

/** Players came or went. @param before  the members that were listed */
export function notifyPlayers(row: Row, before: readonly Listed[], out: RoomSink): void {
  const players = (members: readonly Listed[]): Map<number, Listed> =>
    new Map(members.map((member) => [member.player, member]))
  const [then, now] = [players(before), players(row.members)]
  for (const [player, member] of now) if (!then.has(player)) notify(row, 'joined', member, out)
  for (const [player, member] of then) if (!now.has(player)) notify(row, 'left', member, out)
}
