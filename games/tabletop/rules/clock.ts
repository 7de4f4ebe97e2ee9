/**
 * The clock of a game, if it is played with one: on the board each side has so much time for all of
 * its moves, in Crazy Eights each turn has. It runs in session time, by a timer of the table, so
 * it goes on whoever serves; time-up.ts says what becomes of who has none left.
 *
 *     clock          milliseconds of a side or a turn; no such row without a clock
 *     clock.left.X   what side X has left, as of its last move
 *     clock.runs     whose time runs (a side, or a player's number)
 *     clock.due      when that is used up, in session time
 *     clock.timer    the timer that is due then
 */

import type { GameTable } from 'holdfast'
import { numberOf, type Readable } from './records.ts'
import { clearRows, type Game } from './seats.ts'

/** Least and most time that a clock gives, in milliseconds. */
export const CLOCK_MS: readonly [least: number, most: number] = [5_000, 3_600_000]

/** The clocks that a game is offered with, in milliseconds; 0 for none. */
export const CLOCKS: Readonly<Record<Game, readonly number[]>> = {
  free: [0],
  draughts: [0, 180_000, 600_000],
  chess: [0, 300_000, 900_000],
  eights: [0, 20_000, 60_000],
}

/** The action that runs when time is up. */
export const TIME_UP = 'time-up'

/** Sets the clock of a game that begins; 0 for none. @throws RangeError */
export function setClock(table: GameTable, ms: unknown): void {
  stopClock(table)
  clearRows(table, 'clock')
  if (ms === 0 || ms === undefined) return
  const [least, most] = CLOCK_MS
  if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < least || ms > most) {
    throw new RangeError(`A clock gives ${least / 1000} to ${most / 1000} seconds.`)
  }
  table.set('clock', ms)
}

/** A new game or round with the same clock: all have their whole time. */
export function windClock(table: GameTable): void {
  stopClock(table)
  clearRows(table, 'clock.')
}

/** Time runs for somebody from now on; what was left to whoever moved is kept. */
export function runClock(table: GameTable, who: string): void {
  stopClock(table)
  const whole = numberOf(table.get('clock'))
  if (whole === 0) return
  const left = keptFor(table, who) ?? whole
  const due = Math.ceil(table.now + left)
  table.set('clock.runs', who)
  table.set('clock.due', due)
  table.set('clock.timer', table.later(left, TIME_UP))
}

/** The time that runs for one player runs for another, who plays in their place. */
export function handClock(table: GameTable, before: number, player: number): void {
  if (table.get('clock.runs') === String(before)) table.set('clock.runs', String(player))
}

/** Time runs for nobody. */
export function stopClock(table: GameTable): void {
  const who = table.get('clock.runs')
  if (typeof who !== 'string') return
  table.set(
    `clock.left.${who}`,
    Math.max(1, numberOf(table.get('clock.due')) - Math.floor(table.now)),
  )
  table.cancel(numberOf(table.get('clock.timer')))
  clearRows(table, 'clock.runs', 'clock.due', 'clock.timer')
}

/** Ends the game: time runs for nobody any more. @param winner  0 for nobody */
export function end(table: GameTable, winner: number, text: string): void {
  stopClock(table)
  table.set('end', `${winner} ${text}`)
}

/** Whether the time that runs is used up. */
export function isTimeUp(table: GameTable): boolean {
  const due = table.get('clock.due')
  return typeof due === 'number' && table.now >= due
}

/** Milliseconds that somebody has left; null without a clock. @param now  session time */
export function leftOf(table: Readable, who: string, now: number): number | null {
  const whole = numberOf(table.get('clock'))
  if (whole === 0) return null
  if (table.get('clock.runs') !== who) return keptFor(table, who) ?? whole
  return Math.max(0, numberOf(table.get('clock.due')) - now)
}

function keptFor(table: Readable, who: string): number | null {
  const kept = table.get(`clock.left.${who}`)
  return typeof kept === 'number' ? kept : null
}

/** As a clock shows it: 2:05, or the seconds with a tenth when few are left. */
export function clockText(ms: number): string {
  if (ms < 10_000) return (Math.ceil(ms / 100) / 10).toFixed(1)
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
