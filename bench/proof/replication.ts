/**
 * One small model, twice: for our checker and, in Promela, for Spin. A primary numbers entries and
 * sends them to followers over links in order that lose some; who has them acks; what is lost is
 * sent again. Both have the same variables and the same atomic steps, so they meet the same states.
 */

import type { Action, Model } from '../../src/sim/checker.ts'

const FOLLOWERS = 3
const ENTRIES = 4
const LOSSES = 2
/** Words under way on one link. */
const ROOM = 3

interface Replication {
  issued: number
  losses: number
  /** By follower: entries under way, what it has, acks under way, what the primary knows. */
  down: number[][]
  have: number[]
  up: number[][]
  known: number[]
}

type Step = Action<Replication>

/** For our checker. */
export function replication(): Model<Replication> {
  const each = <Value>(value: () => Value): Value[] => Array.from({ length: FOLLOWERS }, value)
  return {
    name: 'replication',
    init: () => ({
      issued: 0,
      losses: LOSSES,
      down: each(() => []),
      have: each(() => 0),
      up: each(() => []),
      known: each(() => 0),
    }),
    *actions(state) {
      if (state.issued < ENTRIES && state.down.every(({ length }) => length < ROOM)) yield issue
      for (let at = 0; at < FOLLOWERS; at++) yield* ofFollower(state, at)
    },
    always: {
      'known is had': ({ known, have }) =>
        known.every((count, at) => count <= have[at]!) || 'the primary knows what is not so',
    },
  }
}

const issue: Step = {
  label: 'issue',
  next: (state) => {
    state.issued++
    for (const link of state.down) link.push(state.issued)
  },
}

function* ofFollower({ down, up, known, issued, losses }: Replication, at: number): Iterable<Step> {
  if (down[at]!.length > 0 && up[at]!.length < ROOM) {
    yield { label: `${at} gets`, next: (state) => arrive(state, at) }
  }
  if (up[at]!.length > 0) {
    yield {
      label: `an ack of ${at}`,
      next: (state) => void (state.known[at] = Math.max(state.known[at]!, state.up[at]!.shift()!)),
    }
  }
  if (losses > 0 && down[at]!.length > 0) {
    yield {
      label: `lost to ${at}`,
      environment: true,
      next: (state) => {
        state.losses--
        state.down[at]!.shift()
      },
    }
  }
  if (known[at]! < issued && down[at]!.length + up[at]!.length === 0) {
    yield {
      label: `again to ${at}`,
      next: (state) => void state.down[at]!.push(state.known[at]! + 1),
    }
  }
}

function arrive({ down, have, up }: Replication, at: number): void {
  const entry = down[at]!.shift()!
  if (entry === have[at]! + 1) have[at] = entry
  up[at]!.push(have[at]!)
}

/** For Spin. Cells of a queue that are free are 0, so equal queues are equal bytes. */
export function promela(): string {
  const cells = FOLLOWERS * ROOM
  const steps = Array.from({ length: FOLLOWERS }, (_, at) => stepsOf(at)).join('\n')
  const room = Array.from({ length: FOLLOWERS }, (_, at) => `downs[${at}] < ${ROOM}`).join(' && ')
  return `
byte issued, losses = ${LOSSES};
byte down[${cells}], downs[${FOLLOWERS}], up[${cells}], ups[${FOLLOWERS}];
byte have[${FOLLOWERS}], known[${FOLLOWERS}];
hidden byte entry;

active proctype world() {
end:
  do
  :: d_step { issued < ${ENTRIES} && ${room} -> issued++;
${Array.from({ length: FOLLOWERS }, (_, at) => push('down', 'downs', at, 'issued')).join('\n')} }
${steps}
  od
}
`
}

function push(queue: string, size: string, at: number, value: string): string {
  return `     ${queue}[${at * ROOM} + ${size}[${at}]] = ${value}; ${size}[${at}]++;`
}

// The rest moves up, and a free cell is 0.
function shift(queue: string, size: string, at: number): string {
  const cells = Array.from({ length: ROOM }, (_, i) => `${queue}[${at * ROOM + i}]`)
  const moves = cells.map((cell, i) => `${cell} = ${cells[i + 1] ?? 0}`)
  return `${moves.join('; ')}; ${size}[${at}]--`
}

function stepsOf(at: number): string {
  const claim = `assert(known[${at}] <= have[${at}])`
  return `
  :: d_step { downs[${at}] > 0 && ups[${at}] < ${ROOM} ->
       entry = down[${at * ROOM}]; ${shift('down', 'downs', at)};
       if :: entry == have[${at}] + 1 -> have[${at}] = entry :: else -> skip fi;
${push('up', 'ups', at, `have[${at}]`)} ${claim} }
  :: d_step { ups[${at}] > 0 ->
       if :: up[${at * ROOM}] > known[${at}] -> known[${at}] = up[${at * ROOM}] :: else -> skip fi;
       ${shift('up', 'ups', at)}; ${claim} }
  :: d_step { losses > 0 && downs[${at}] > 0 -> losses--; ${shift('down', 'downs', at)} }
  :: d_step { known[${at}] < issued && downs[${at}] + ups[${at}] == 0 ->
${push('down', 'downs', at, `known[${at}] + 1`)} }`
}
