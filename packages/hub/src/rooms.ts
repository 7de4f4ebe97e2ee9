/** The operator's view of a hub's rooms: their state, events, files and closing. */

import { NOT_ADMITTED, REASON_MAX } from '../../holdfast/src/hub-protocol/messages.ts'
import * as archive from './machine/archive.ts'
import * as register from './machine/register.ts'
import type { RoomChange } from './machine/state.ts'
import { savedIn, writeSaved } from '../../holdfast/src/hub-protocol/saved-room.ts'
import type { ImportRefusal } from './machine/room-files.ts'
import { drop } from './machine/persistence.ts'
import { badValue, HoldfastError, type PeerId } from '../../holdfast/src/machine.ts'
import type { HubServer } from './server/hub-server.ts'
import { checkOptions, checkNameOf } from '../../holdfast/src/api/options.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { toHex } from '../../holdfast/src/wire/bytes.ts'
import { isName } from '../../holdfast/src/wire/text/plain.ts'

/** A player in a room, as the hub knows it. */
export interface RoomPlayer {
  /** The number of the player in its session. */
  readonly player: number
  /** Its public key, in hexadecimal. */
  readonly key: string
}

/** A change of a room. */
export interface RoomEvent extends RoomPlayer {
  /** The game. */
  readonly game: string
  /** The room of that game. */
  readonly room: string
  /** The session in the room. */
  readonly session: string
}

/** Events of a hub's rooms, with the player for `joined` and `left`, else the primary. */
export interface HubEvents {
  /** A session began. */
  founded: RoomEvent
  /** A player joined. */
  joined: RoomEvent
  /** A player left. */
  left: RoomEvent
  /** Another member became primary. */
  moved: RoomEvent
  /** The session ended: the room is empty. */
  ended: RoomEvent
}

export const HUB_EVENTS = ['founded', 'joined', 'left', 'moved', 'ended'] as const

/** The current state of a room. */
export interface RoomView {
  /** The session in the room. */
  readonly session: string
  /** Its players. */
  readonly players: readonly RoomPlayer[]
  /** The primary; null while the hub does not know it. */
  readonly primary: RoomPlayer | null
  /** Whether it is open or full, or its primary does not answer. */
  readonly standing: 'open' | 'full' | 'unreachable'
}

/** How a room is closed. */
export interface CloseOptions {
  /** The reason shown to its players. */
  why: string
  /** How long it cannot be founded again, in seconds: 0 to 86,400. Default 60. */
  seconds?: number
}

const SECONDS_MAX = 86_400

/** A stored room. */
export interface KeptRoom {
  /** The game. */
  readonly game: string
  /** The room of that game. */
  readonly room: string
  /** Its session, the same each time it is reopened. */
  readonly session: string
  /** Bytes on disk. */
  readonly bytes: number
  /** When it was last written, in milliseconds since 1970. */
  readonly at: number
  /** When it expires, in milliseconds since 1970; null while it is in use. */
  readonly until: number | null
}

export function storedRooms({ hub }: HubServer): KeptRoom[] {
  return Array.from(hub.archive.rooms).flatMap(([session, one]) => {
    const stored = archive.latestOf(one)
    const known = one.unloaded ?? (stored && { ...stored.session.entry, ...stored })
    if (!known || known.until === -Infinity) return []
    const { game, room, bytes, at, until } = known
    return [{ game, room, session, bytes, at, until: until === 0 ? null : until }]
  })
}

export function dropRoom(server: HubServer, game: string, room: string): boolean {
  const stored = archive.roomAt(server.hub.archive, register.placeOf(placeOf(game, room)))
  return stored !== null && drop(server.turn, stored)
}

export async function exportStored(
  server: HubServer,
  game: string,
  room: string,
): Promise<Uint8Array | null> {
  const saved = await server.exportRoom(placeOf(game, room))
  return saved && writeSaved(saved)
}

/** Where to store an imported room. Default: its former name. */
export interface ImportOptions {
  /** The name of the room, in the same game. */
  room?: string
}

/**
 * Stores a saved room. @throws HoldfastError `bad-value`, `no-such-game`, `exists`, `full`, `store`
 */
export async function importStored(
  server: HubServer,
  bytes: unknown,
  options: ImportOptions = {},
): Promise<KeptRoom> {
  checkOptions('importRoom', options, ['room'])
  const saved = savedIn('the file', bytes)
  const { games } = server.hub
  if (games && !games.has(saved.game)) {
    throw new HoldfastError('no-such-game', `this hub has no game ${shown(saved.game)}`)
  }
  const as = placeOf(saved.game, options.room ?? saved.room)
  const unfit = await server.restoreRoom(saved, as)
  if (unfit instanceof HoldfastError) throw unfit
  if (unfit !== null) throw importError(unfit, as, saved.session)
  return storedRooms(server).find(({ session }) => session === saved.session)!
}

function importError(
  unfit: ImportRefusal,
  as: { game: string; room: string },
  session: string,
): HoldfastError {
  const place = `${as.game}/${as.room}`
  if (unfit === 'too large') {
    return new HoldfastError('full', `${place} is larger than this hub stores of a room`)
  }
  if (unfit === 'full') return new HoldfastError('full', 'this hub stores no more rooms')
  const why = 'it is in use or stored, or its session is stored under another name'
  return new HoldfastError('exists', `${place} (session ${session}) is here already: ${why}`)
}

export function eventOf({ game, room, session, player, key }: RoomChange): RoomEvent {
  return { game, room, session, player, key: toHex(key) }
}

export function roomIn({ hub }: HubServer, game: string, room: string): RoomView | null {
  const place = placeOf(game, room)
  const row = register.inRoom(hub.registers, place)
  if (!row || row.pending?.isNew) return null
  const { session, register: now, standing } = row.entry
  const players = new Map(row.members.map((member) => [member.player, member]))
  const shownAs = ({ player, key }: { player: number; key: Uint8Array }): RoomPlayer => {
    return { player, key: toHex(key) }
  }
  const find = (inc: PeerId) => row.members.find((member) => member.inc === inc)
  const primary = find(now.primary)
  return {
    session,
    players: [...players.values()].map(shownAs),
    primary: primary ? shownAs(primary) : null,
    standing,
  }
}

export function closeRoom(
  server: HubServer,
  game: string,
  room: string,
  options: CloseOptions,
): boolean {
  checkOptions('closeRoom', options, ['why', 'seconds'])
  const { why, seconds = 60 } = options
  const most = REASON_MAX - NOT_ADMITTED.length
  const bytes = typeof why === 'string' ? new TextEncoder().encode(why).length : 0
  if (bytes < 1 || bytes > most || !isName(why)) {
    throw badValue(`why is a line of 1 to ${most} bytes: ${shown(why)}`)
  }
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > SECONDS_MAX) {
    throw badValue(`seconds is 0 to ${SECONDS_MAX}: ${shown(seconds)}`)
  }
  return server.closeRoom(placeOf(game, room), why, seconds * 1_000) > 0
}

function placeOf(game: string, room: string): { game: string; room: string } {
  return { game: checkNameOf('game', game), room: checkNameOf('room', room) }
}
