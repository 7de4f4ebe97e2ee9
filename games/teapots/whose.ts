/** Whose is what: pots and their players, and the colours by which one knows them. */

import type { Session } from 'holdfast'
import { glazeOf } from './rules/glazes.ts'
import { Pot } from './rules/things.ts'
import type { PotHandle } from './views.ts'

/** What belongs to nobody who has a pot. */
const PLAIN = '#bda98c'

/** The pot that a player glides about with; one that waits for its player is none. */
export function potOf(session: Session, player: number): PotHandle | undefined {
  return session.all(Pot).find(({ owner, away }) => !away && owner?.player === player)
}

/** Whose pot it is: of one that waits, whom it waits for. */
export function playerOf({ owner, away, state }: PotHandle): number {
  return away ? state.player : (owner?.player ?? 0)
}

/** The CSS colour of a player; that of nobody for who has no pot, or is away. */
export function colourOf(session: Session, player: number | undefined): string {
  const pot = player === undefined ? undefined : potOf(session, player)
  return pot ? glazeOf(pot.state.glaze).colour : PLAIN
}

/** As server: what waits for its player lies still. */
export function lull(session: Session): void {
  for (const pot of session.all(Pot)) {
    const { vel, spin } = pot.state
    const still = vel[0] === 0 && vel[1] === 0 && spin === 0
    if (pot.away && pot.mine && !still) pot.set({ vel: [0, 0], spin: 0 })
  }
}
