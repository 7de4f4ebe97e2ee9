/**
 * What the table says of every player: tea, points, streaks, cups. The table is the truth of
 * the match; it survives any one machine, and a new server goes on with it.
 *
 * A round ends when somebody has POINTS_TO_WIN. A row of an earlier round counts as a fresh one,
 * so a new round begins for all at one instant without anything being written.
 */

import type { Table, Value } from 'holdfast'

/** Hits that a pot takes before it topples. */
export const TEA_MAX = 3
/** Points that win the round. */
export const POINTS_TO_WIN = 40
/** How long a winner is cheered before the next round, in milliseconds. */
export const CHEER_MS = 8_000
/** How long a toppled pot lies, in milliseconds. */
export const LIE_MS = 2_200
/** How long a pot that was filled cannot be hit, in milliseconds. */
export const SAFE_MS = 1_800
/** Pots in a row from which a pot is on the boil. */
export const BOIL_STREAK = 2
/** Players whose rows are kept. */
export const ROWS_MAX = 64
/** Blows that are kept to be seen. */
export const BLOWS_MAX = 16

/** What can be read of a table: that of an action, or a session's. */
export type Readable = Pick<Table, 'get' | 'keys'>

/** How one player stands. */
export interface Standing {
  player: number
  round: number
  /** 0 for a pot that lies toppled. */
  tea: number
  points: number
  /** Pots toppled since it last toppled itself. */
  streak: number
  /** Best streak of the session. */
  best: number
  /** Rounds won. */
  cups: number
  /** When it was filled last; for a pot that lies, when it toppled. Session time. */
  since: number
  /** Where it was put down. */
  spot: number
}

/** The round that is on, or about to begin. */
export interface Round {
  number: number
  /** When it begins; the time before belongs to the winner of the last. */
  from: number
  /** Who won the last; 0 for nobody. */
  winner: number
}

/** One hit that counted. */
export interface Blow {
  /** From 1, one more for each. */
  number: number
  by: number
  victim: number
  /** Which throw it was. */
  at: number
  points: number
  bounces: number
  /** What the victim has left. */
  tea: number
  /** Where the cube went, as an angle. */
  aim: number
}

/** The round. */
export function round(table: Readable): Round {
  const [number, from, winner] = numbers(table.get('round'), 3) ?? [1, 0, 0]
  return { number: number!, from: from!, winner: winner! }
}

/** Writes the round. */
export function writeRound(table: Table, { number, from, winner }: Round): void {
  table.set('round', `${number} ${from} ${winner}`)
}

/** Whether the last round's winner is being cheered. */
export function isCheering({ from }: Round, now: number): boolean {
  // Longer than a cheer lasts it cannot be: then it is another clock that speaks.
  return now < from && from - now <= CHEER_MS
}

/** How a player stands; null for who has no pot. */
export function standing(table: Readable, player: number, now: number): Standing | null {
  const row = numbers(table.get(rowKey(player)), 8)
  if (!row) return null
  const [inRound, tea, points, streak, best, cups, said, spot] = row as Eight
  // What lies ahead was said by another clock, and is long ago by ours.
  const since = said > now + CHEER_MS ? 0 : said
  const known = { player, round: inRound, tea, points, streak, best, cups, since, spot }
  const on = round(table)
  if (inRound === on.number || isCheering(on, now)) return known
  const fresh = { round: on.number, tea: TEA_MAX, points: 0, streak: 0 }
  // Who lay when the round began stands up with it.
  return { ...known, ...fresh, since: tea === 0 ? Math.max(since, on.from) : since }
}

type Eight = [number, number, number, number, number, number, number, number]

/** Writes how a player stands. */
export function writeStanding(table: Table, row: Standing): void {
  const { player, tea, points, streak, best, cups, since, spot } = row
  const known = table.get(rowKey(player)) !== undefined
  if (!known) forgetOldest(table)
  table.set(
    rowKey(player),
    [row.round, tea, points, streak, best, cups, since, spot].map(Math.round).join(' '),
  )
}

function forgetOldest(table: Table): void {
  const players = table.keys('pot.').map((key) => Number(key.slice('pot.'.length)))
  if (players.length < ROWS_MAX) return
  const oldest = Math.min(...players)
  table.delete(rowKey(oldest))
  table.delete(thrownKey(oldest))
}

function rowKey(player: number): string {
  return `pot.${player}`
}

/** Those of these players who have a pot, best first. */
export function standings(table: Readable, players: readonly number[], now: number): Standing[] {
  return players
    .flatMap((player) => standing(table, player, now) ?? [])
    .sort((a, b) => b.points - a.points || b.cups - a.cups || a.player - b.player)
}

/** The throws of a player that counted, by their times. */
export function counted(table: Readable, player: number): number[] {
  return numbers(table.get(thrownKey(player))) ?? []
}

/** Keeps the newest throws that counted. */
export function writeCounted(table: Table, player: number, throws: readonly number[]): void {
  table.set(thrownKey(player), throws.join(' '))
}

function thrownKey(player: number): string {
  return `thrown.${player}`
}

/** Hits that ever counted in this session. */
export function hitsTotal(table: Readable): number {
  const value = table.get('hits')
  return typeof value === 'number' ? value : 0
}

/** Writes a blow, to be seen by everybody. */
export function writeBlow(table: Table, blow: Blow): void {
  const { number, by, victim, at, points, bounces, tea, aim } = blow
  table.set('hits', number)
  const values = [number, by, victim, at, points, bounces, tea, Math.round(aim * 1000) / 1000]
  table.set(`blow.${number % BLOWS_MAX}`, values.join(' '))
}

/** The blows after this number that are still kept, oldest first. */
export function blowsAfter(table: Readable, known: number): Blow[] {
  const found: Blow[] = []
  for (const key of table.keys('blow.')) {
    const row = numbers(table.get(key), 8)
    if (!row || row[0]! <= known) continue
    const [number, by, victim, at, points, bounces, tea, aim] = row as Eight
    found.push({ number, by, victim, at, points, bounces, tea, aim })
  }
  return found.sort((a, b) => a.number - b.number)
}

// Another build may have written otherwise: what is no list of so many numbers is nothing.
function numbers(value: Value | undefined, count?: number): number[] | null {
  if (typeof value !== 'string' || value === '') return null
  const found = value.split(' ').map(Number)
  const fits = count === undefined || found.length === count
  return fits && found.every(Number.isFinite) ? found : null
}
