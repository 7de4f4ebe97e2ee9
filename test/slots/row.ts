/** A small game of slots: players on a row of cells, one a cell, who step and count. */

import { type Session, type SlotsHandle, u8 } from '../../src/index.ts'
import { type SessionWorld, world } from '../../src/proof/world.ts'

export const CELLS = 12

export interface Row {
  /** By player: where it is, and how many of its acts counted. */
  at: Record<number, number>
  count: Record<number, number>
}
export type Step = { to: number }
export type RowHandle = SlotsHandle<Row, Step>

/** Who wants a cell has it if it is free; nobody stands on two. */
export function rule(
  row: Row,
  acts: readonly { by: number; act: Step }[],
  turn: { left: readonly number[] },
): Row {
  if (acts.length === 0 && turn.left.length === 0) return row
  const at = { ...row.at }
  const count = { ...row.count }
  for (const player of turn.left) delete at[player]
  for (const { by, act } of acts) {
    count[by] = (count[by] ?? 0) + 1
    if (!Object.values(at).includes(act.to)) at[by] = act.to
  }
  return { at, count }
}

export const start: Row = { at: {}, count: {} }

export interface Player {
  session: Session
  row: RowHandle
}

export function openRow(session: Session, order: 'highest' | 'fair' = 'highest'): RowHandle {
  return session.slots({ ms: 200, start, rule, order, act: { to: u8 } })
}

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
    const session = await w.join({ game: 'row', name, topology }, { name })
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
