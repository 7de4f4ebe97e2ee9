/** Rows of those who have something on the table, and of claims to it (absence.ts). */

import type { GameTable } from 'holdfast'
import { numberOf, type Readable } from './records.ts'
import { clearRows } from './seats.ts'

/** Longest name that is kept, in characters. */
const NAME_MAX = 24

/** A claim that waits for the others. */
export interface Claim {
  /** Who is away. */
  readonly player: number
  /** Who wants their place; 0 to free it. */
  readonly by: number
  readonly agreed: readonly number[]
}

/** Lets go of all whom the table keeps, for it is cleared. */
export function letGo(table: GameTable): void {
  for (const player of table.kept()) table.keep(player, false)
  for (const key of table.keys('asked.')) table.cancel(numberOf(table.get(key)))
  clearRows(table, 'name.', 'claim.', 'agreed.', 'asked.')
}

/** A name as it is kept. */
export function shortName(name: string): string {
  return name.slice(0, NAME_MAX)
}

/** The name of a player who has something here and may be away; null if it was never said. */
export function keptName(table: Readable, player: number): string | null {
  const name = table.get(`name.${player}`)
  return typeof name === 'string' ? name : null
}

/** All claims that wait. */
export function claimsOf(table: Readable): Claim[] {
  return table.keys('claim.').map((key) => {
    const player = Number(key.slice('claim.'.length))
    return { player, by: numberOf(table.get(key)), agreed: agreedOf(table, player) }
  })
}

function agreedOf(table: Readable, player: number): number[] {
  const agreed = String(table.get(`agreed.${player}`) ?? '')
  return agreed === '' ? [] : agreed.split(',').map(Number)
}
