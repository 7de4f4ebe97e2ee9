/** What this member knows when it is its turn to decide: the clock, and where the pots are. */

import type { Session, Vec2 } from 'holdfast'
import type { Court } from './rules/match.ts'
import { Pot } from './rules/things.ts'
import { playerOf, potOf } from './whose.ts'

/** The court of one session; the session is given when it is joined. */
export class SessionCourt implements Court {
  session: Session | null = null

  now(): number {
    return this.session?.now() ?? 0
  }

  placeOf(player: number): Vec2 | null {
    return (this.session && potOf(this.session, player)?.state.pos) ?? null
  }

  others(player: number): Vec2[] {
    const pots = this.session?.all(Pot) ?? []
    return pots.filter((pot) => playerOf(pot) !== player).map(({ state }) => state.pos)
  }
}
