/** Four players at a table in virtual time. */

import type { ActionType, PieceHandle, Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { expect } from 'vitest'
import { Man } from './pieces.ts'
import type { Game } from './seats.ts'
import { ACTS, TYPES } from './things.ts'

/** Four at one table. */
export interface Cluster {
  w: SessionWorld
  all: Session[]
}

/** They come in, and one of them sets up that game. */
export async function table(game: Game, seed = 1, clock = 0): Promise<Cluster> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus', 'Edsger']) {
    all.push(await w.join({ game: 'tabletop', types: TYPES, name }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  expect(await act({ w, all }, 2, ACTS.setUp, { game, clock })).toBe('')
  return { w, all }
}

/** Waits for a promise in virtual time, and until all know. */
export async function done<Value>({ w }: Cluster, promise: Promise<Value>): Promise<Value> {
  let settled = false
  void promise.finally(() => (settled = true)).catch(() => {})
  await w.runUntil(() => settled, 60_000)
  await w.run(60)
  return promise
}

/** Does it. @returns why not; empty if it was done */
export async function act<Args>(
  cluster: Cluster,
  who: number,
  action: ActionType<Args>,
  args: Args,
): Promise<string> {
  const outcome = await done(cluster, cluster.all[who]!.act(action, args))
  return outcome.ok ? '' : outcome.reason
}

/** The man on a square, as that member has it. */
export function manOn(session: Session, square: number): PieceHandle<typeof Man.schema.fields> {
  return session.all(Man).find(({ state }) => state.square === square && !state.aside)!
}
