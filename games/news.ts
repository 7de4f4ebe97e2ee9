/**
 * What the games say: every state of a session as a sentence that a player understands. It claims
 * no more than is known: "nothing was lost" is said of what had been acknowledged, and that is
 * what the backup held.
 */

import { HoldfastError } from 'holdfast'
import type { Kin, Way } from './token.ts'
import type { ErrorCode, Healing, MemberInfo, Recovery, Safety, Status } from 'holdfast'

/** What the sentences need to know of a member. */
export type Somebody = Pick<MemberInfo, 'name' | 'kind' | 'player'>

/** A member as the owner of what runs: "Ada's window", "Bot 2's process". */
export function seatOf({ name, kind }: Somebody): string {
  const whose = /[sxz]$/i.test(name) ? `${name}’` : `${name}’s`
  return `${whose} ${kind === 'node' ? 'process' : 'window'}`
}

/**
 * Somebody else serves now.
 *
 * @param before  who served until now; null if that is not known
 * @param stays  whether who served is still here
 * @param mine  whether the new server is this window
 */
export function succession(
  before: Somebody | null,
  now: Somebody,
  stays: boolean,
  mine: boolean,
): string {
  const who = mine ? 'You are' : `${now.name} is`
  if (!before) return `${who} the server now.`
  if (stays)
    return `${seatOf(before)} is no longer the server. ${who} the server now; nothing was lost.`
  return `${seatOf(before)} was the server and is gone. ${who} the server now; nothing was lost.`
}

/** Somebody was asked to die, and lives. */
export function disobeyed(victim: Somebody): string {
  return `${seatOf(victim)} does not die when it is asked to.`
}

/**
 * Nobody orders what we do, although the hub is in reach: who could is gone.
 *
 * @param backup  whether there was one
 */
export function waiting(backup: boolean): string {
  const who = backup ? 'The server and its backup do' : 'The server does'
  return `${who} not answer. If that stays so, those who are left go on in some 15 seconds.`
}

/** A room lasts as long as somebody is in it who can serve. */
const ENDED =
  'The room that you were in has ended, with all that was in it: a room lasts as long as ' +
  'somebody is there. This is a new one'

/** A tab was loaded anew or opened by a personal link. */
export function welcome(way: Exclude<Way, 'new'>): string {
  switch (way) {
    case 'back':
      return 'Here you are again: the same player as before.'
    case 'ended':
      return `${ENDED}, and you are a new player.`
    case 'forgotten':
      return (
        'This room does not know you any more, and you are a new player: who is away for a ' +
        'minute is forgotten.'
      )
    case 'unknown':
      return 'What this tab knew of you is of no use here: you are a new player.'
    default:
      return way satisfies never
  }
}

/** The connection changed. Empty when there is nothing to say. */
export function connection(now: Status, reason: string): string {
  if (now === 'reconnecting') return 'Connection lost: reconnecting…'
  if (now === 'lost') return `The session is lost: ${reason || 'nobody could be reached'}.`
  return ''
}

/** We were out of touch, and are back. @param kin  whether the session is the one that it was */
export function healing({ awayMs, same, resent, lost }: Healing, kin: Kin): string {
  const away = awayMs < 2_000 ? '' : ` after ${Math.round(awayMs / 1000)} seconds`
  const who = same ? 'You are the same player as before.' : STRANGERS[kin]
  const asked = resent === 0 ? '' : ` ${moves(resent)} asked for again.`
  const gone = lost === 0 ? '' : ` ${moves(lost)} lost: the others went on without us.`
  return `Back again${away}. ${who}${asked}${gone}`
}

const STRANGERS: Readonly<Record<Kin, string>> = {
  same: 'That was too long for the room, which forgot you: you are a new player now.',
  other: `${ENDED}: you are a new player now.`,
  unknown: 'The room does not know who you were: you are a new player now.',
}

function moves(count: number): string {
  return count === 1 ? 'One of your moves was' : `${count} of your moves were`
}

/** Server and backup were gone at once, and the others went on with what they knew. */
export function recovery({ gone, witness, silent }: Recovery): string {
  const names = gone.map(({ name }) => name).join(' and ') || 'The server and its backup'
  const whose = witness ? `${witness.name}’s copy` : 'a copy'
  const rest = silent === 0 ? '' : ` ${silent} did not answer and may come back.`
  return (
    `${names} went${gone.length === 1 ? '' : ' at once'}. The game goes on with ${whose}, the ` +
    `newest of those left; what nobody else had seen is lost.${rest}`
  )
}

/** A short word for each state of the connection. */
export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  live: 'Live',
  reconnecting: 'Reconnecting',
  lost: 'Lost',
}

/** A short word and an explanation for each degree of safety. */
export const SAFETY_WORDS: Readonly<Record<Safety, readonly [word: string, meaning: string]>> = {
  'backed-up': [
    'Backed up',
    'Server and backup both have everything that was acknowledged: either may die.',
  ],
  alone: [
    'Alone',
    'Only the server has what happened here: if it goes now, what nobody else saw is lost.',
  ],
  kept: [
    'Kept',
    'The hub keeps everything that was acknowledged: whoever opens the room later goes on with it.',
  ],
  waiting: ['Waiting', 'Changes wait until somebody else has them: the backup, or the hub.'],
  slow: ['Slow', 'The backup is behind: changes take long to be safe.'],
}

/** What a player can do about a failed join. */
export function advice(code: ErrorCode | 'unknown'): string {
  switch (code) {
    case 'full':
      return 'Every seat is taken. Try again when somebody has left, or start another room.'
    case 'unreachable':
      return 'The hub does not answer. Try again once it runs.'
    case 'forbidden':
      return 'The hub says why below. Ask somebody there for an invitation, or choose another room.'
    case 'banned':
      return 'Who runs this room put you out. Choose another room.'
    case 'timeout':
      return 'Nobody in that room let us in. Its players may just have gone; try again.'
    case 'schema':
      return (
        'The players there run another build of this game. Reload the page, or update the ' +
        'program that you play with; or choose another room.'
      )
    case 'version':
      return 'Hub and game are of two versions. Reload the page, or update what you play with.'
    case 'bad-value':
      return 'Something in the address or the name is not allowed.'
    default:
      return 'Try again; if it stays so, start another room.'
  }
}

/** Why a bot could not come in. */
export function absence(error: unknown): string {
  const code = error instanceof HoldfastError ? error.code : 'unknown'
  if (code === 'full') return 'No more bots come: they leave the last seat to people.'
  return `No bot could come. ${advice(code)}`
}

const NAMES = `Ada Grace Alan Edsger Barbara Donald Radia Leslie Hedy Emmy Mary Niklaus Joan
  Tony Annie Dennis Jean Ken Katherine Tim Frances Linus Karen Vint Sophie Blaise`.split(/\s+/)

/** A friendly name. @param chance from 0 up to but not including 1 */
export function pickName(chance: number): string {
  return NAMES[Math.floor(chance * NAMES.length)] ?? 'Ada'
}

const ROOMS = `amber birch cedar clover coral dune ember fern flint harbour heather island juniper
  lagoon maple meadow moss orchard pebble quartz reef river saffron spruce thistle willow`.split(
  /\s+/,
)

/** A name for a new room. @param chance from 0 up to but not including 1 */
export function pickRoom(chance: number): string {
  const place = Math.floor(chance * ROOMS.length * 90)
  return `${ROOMS[place % ROOMS.length]}-${10 + Math.floor(place / ROOMS.length)}`
}
