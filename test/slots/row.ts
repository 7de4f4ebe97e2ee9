/** A small game of slots: players on a row of cells, one a cell, who step and count. */

import type { Session, SlotsHandle } from '../../packages/holdfast/src/index.ts'
import { type Row, ROWS, type Step } from '../../proof/rows.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

export type RowHandle = SlotsHandle<Row, Step>

export interface Player {
  session: Session
  row: RowHandle
}

/** What such a session is of. */
export const TYPES = [ROWS.highest]

export const openRow = (session: Session): RowHandle => session.part(ROWS.highest)

export interface Scene {
  w: SessionWorld
  players: Player[]
}

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony']

/** So many players in one session with one row, all live. */
export async function scene(
  seed: number,
  count: number,
  topology: 'star' | 'mesh',
  conditions = 'rtt=20',
): Promise<Scene> {
  const w = world({ seed, conditions })
  const players: Player[] = []
  for (const name of NAMES.slice(0, count)) {
    const session = await w.join({ game: 'row', name, topology, types: TYPES }, { name })
    players.push({ session, row: openRow(session) })
  }
  await w.runUntil(() => players.every(({ row }) => row.status === 'live'), 20_000)
  await w.runUntil(() => players.every(({ session }) => session.safety === 'backed-up'), 20_000)
  await w.run(1_000)
  return { w, players }
}

/** Whether all see the same. */
export function agree(players: readonly Player[]): boolean {
  const texts = players.map(({ row }) => JSON.stringify(row.state))
  return texts.every((text) => text === texts[0])
}
