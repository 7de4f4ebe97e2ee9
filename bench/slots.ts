/**
 * A world of slots: what a slot costs, what it sends beside the classic protocol, and when others
 * see a move. The game is Mazewar.
 */

import { type Carried, classic, session } from './slots/carried.ts'
import { type Cost, measure } from './slots/cost.ts'
import { atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'a world of slots: its cost, its bytes beside classic Mazewar, its delay'

const EVENTS = 1_000
const NETWORK_MS = 10 + 4
const SLOT_MS = 200

/** Measures; `quick` takes eight players alone on the wire and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const costs = [8, 32, 128].map((players) => measure(players, EVENTS))
  const carried: Carried[] = []
  for (const players of quick ? [8] : [8, 24]) {
    carried.push(classic(players), await session(players, 'mesh'), await session(players, 'star'))
  }
  const goals = [...goalsOfCost(costs.at(-1)!), ...goalsOfWire(carried)]
  return {
    tables: [costTable(costs), wireTable(carried)],
    goals: quick ? goals.map(unjudged) : goals,
    notes: [
      'A slot holds up to 1,000 acts, and of one player no more than eight.',
      'On the wire all move once in 220 ms, in virtual time, rtt 20 ms; headers of 28 bytes',
      'a packet count. A session also keeps its links and its backup alive with these bytes.',
      'A move shows to who made it at once, for the world ahead has it.',
    ],
  }
}

function goalsOfCost({ slotMs, refoldMs, players }: Cost): Goal[] {
  return [
    atMost(`a slot of ${players} players`, slotMs, 1, 'ms'),
    atMost(`the horizon of ${players} players folded again`, refoldMs, 5, 'ms'),
  ]
}

function goalsOfWire(carried: readonly Carried[]): Goal[] {
  const goals: Goal[] = []
  for (const one of carried) {
    if (one.what === 'classic') continue
    const rival = carried.find(
      ({ what, players }) => what === 'classic' && players === one.players,
    )!
    const name = `${one.players} players, ${one.what}`
    const ways = one.what.endsWith('star') ? 2 : 1
    goals.push(
      atMost(`${name}: bytes / classic`, one.bytes / rival.bytes, 0.5, 'x'),
      atMost(`${name}: without the session`, (one.bytes - one.idle) / rival.bytes, 0.5, 'x'),
      atMost(`${name}: others see a move`, one.othersMaxMs, ways * NETWORK_MS + SLOT_MS, 'ms'),
    )
  }
  return goals
}

const round = (value: number): number => Number(value.toPrecision(3))

function costTable(costs: readonly Cost[]): Table {
  return {
    title: 'one member, milliseconds of a processor',
    columns: ['players', 'acts in a slot', 'a slot', 'a slow slot (95 %)', 'the horizon again'],
    rows: costs.map(({ players, events, slotMs, slowMs, refoldMs }) => {
      const acts = Math.min(8, Math.ceil(events / (players - 1))) * (players - 1)
      return [players, acts, round(slotMs), round(slowMs), round(refoldMs)]
    }),
  }
}

function wireTable(carried: readonly Carried[]): Table {
  return {
    title: 'on the wire, a second and a player',
    columns: [
      'players',
      'who',
      'bytes',
      'of it the session',
      'who sends most',
      'packets',
      'others see',
      'at most ms',
    ],
    rows: carried.map(({ players, what, bytes, idle, most, packets, othersMs, othersMaxMs }) => [
      players,
      what,
      round(bytes),
      round(idle),
      round(most),
      round(packets),
      Number.isNaN(othersMs) ? '-' : round(othersMs),
      Number.isNaN(othersMaxMs) ? '-' : round(othersMaxMs),
    ]),
  }
}
