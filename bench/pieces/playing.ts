/** Players of one process: each keeps so many moves under way, and sees what the others do. */

import { at } from '../objects/ticks.ts'
import { type Counting, used } from '../objects/used.ts'
import type { Window } from '../objects/words.ts'
import { TICK_MS } from '../objects/workload.ts'
import { clock } from '../processes/clock.ts'
import { bins, PIECES, PLAYERS, type PlayersSaid, put, UNDER_WAY } from './words.ts'

// One more move is under way each so often, until all are: nobody begins with all at once.
const RAMP_MS = 100

/** Where a piece goes, and when it was sent: tenths of a ms of the clock, the low 32 bits. */
export interface Move {
  x: number
  y: number
  sent: number
}

/** One player. */
export interface Player {
  /** From 0, over all processes. */
  readonly at: number
  readonly wire: Counting
  /** Moves a piece. @returns whether it was confirmed, once that is known */
  move(piece: number, move: Move): Promise<boolean>
}

/** What was counted of a process. */
export class Score {
  moves = 0
  others = 0
  readonly told: number[] = bins()
  readonly seen: number[] = bins()
  counts = false

  /** Somebody else's move is seen by a player. */
  saw({ sent }: { sent: number }): void {
    if (this.counts) put(this.seen, since(sent))
  }
}

function stamp(): number {
  return Math.round(clock() * 10) % 2 ** 32
}

function since(sent: number): number {
  return ((stamp() - sent + 2 ** 32) % 2 ** 32) / 10
}

/** Plays until the window is over. @returns what is to be said of it */
export async function play(
  window: Window,
  players: readonly Player[],
  score: Score,
): Promise<PlayersSaid> {
  let over = false
  at(window.at + window.from * TICK_MS, () => (score.counts = true))
  at(window.at + window.to * TICK_MS, () => {
    score.counts = false
    over = true
  })
  for (let under = 0; under < UNDER_WAY; under++) {
    at(window.at + under * RAMP_MS, () => {
      for (const player of players) begin(player, under, score, () => over)
    })
  }
  const wires = players.map(({ wire }) => wire)
  const took = await used(window, wires)
  const { moves, others, told, seen } = score
  return { kind: 'moved', ...took, moves, others, told, seen }
}

// Each has pieces of its own, as at a table where everybody moves their cards.
function begin(player: Player, under: number, score: Score, isOver: () => boolean): void {
  const own = PIECES / PLAYERS
  let n = under
  const next = async (): Promise<void> => {
    while (!isOver()) {
      const piece = player.at * own + (n++ % own)
      const sent = stamp()
      const ok = await player.move(piece, { x: (n * 7) % 1_000, y: (n * 13) % 1_000, sent })
      if (!score.counts) continue
      if (ok) score.moves++
      else score.others++
      put(score.told, since(sent))
    }
  }
  void next()
}
