/**
 * One small model, twice: for our checker and, in Promela, for Spin. A primary numbers entries and
 * sends them to followers over links in order that lose some; who has them acks; what is lost is
 * sent again. Both have the same variables and the same atomic steps, so they meet the same states.
 */

import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'

const FOLLOWERS = 3
const ENTRIES = 4
const LOSSES = 2
/** Words under way on one link. */
const ROOM = 3

/**
 * Where things stand in a state, as in Promela: for each follower the entries under way and how
 * many, what it has, the acks under way and how many, what the primary knows. Free cells are 0.
 */
const CELLS = FOLLOWERS * ROOM
const ISSUED = 0
const LEFT = 1
const DOWN = 2
const DOWNS = DOWN + CELLS
const UP = DOWNS + FOLLOWERS
const UPS = UP + CELLS
const HAVE = UPS + FOLLOWERS
const KNOWN = HAVE + FOLLOWERS
const SIZE = KNOWN + FOLLOWERS

type Replication = Int32Array
type Step = Action<Replication>

/** For our checker. */
export function replication(): Model<Replication> {
  const steps = Array.from({ length: FOLLOWERS }, (_, at) => followerSteps(at))
  return {
    name: 'replication',
    init: () => {
      const state = new Int32Array(SIZE)
      state[LEFT] = LOSSES
      return state
    },
    actions: (state) => {
      const possible: Step[] = []
      if (state[ISSUED]! < ENTRIES && mayIssue(state)) possible.push(issue)
      for (let at = 0; at < FOLLOWERS; at++) ofFollower(state, at, steps[at]!, possible)
      return possible
    },
    always: {
      'known is had': (state) => {
        for (let at = 0; at < FOLLOWERS; at++) {
          if (state[KNOWN + at]! > state[HAVE + at]!) return 'the primary knows what is not so'
        }
        return true
      },
    },
    flat: SIZE,
  }
}

const issue: Step = {
  label: 'issue',
  next: (state) => {
    const entry = ++state[ISSUED]!
    for (let at = 0; at < FOLLOWERS; at++) put(state, DOWN, DOWNS, at, entry)
  },
}

function mayIssue(state: Replication): boolean {
  for (let at = 0; at < FOLLOWERS; at++) if (state[DOWNS + at] === ROOM) return false
  return true
}

function followerSteps(at: number): Record<'gets' | 'acks' | 'loses' | 'again', Step> {
  return {
    gets: { label: `${at} gets`, next: (state) => arrive(state, at) },
    acks: {
      label: `an ack of ${at}`,
      next: (state) => {
        state[KNOWN + at] = Math.max(state[KNOWN + at]!, take(state, UP, UPS, at))
      },
    },
    loses: {
      label: `lost to ${at}`,
      environment: true,
      next: (state) => {
        state[LEFT]!--
        take(state, DOWN, DOWNS, at)
      },
    },
    again: {
      label: `again to ${at}`,
      next: (state) => put(state, DOWN, DOWNS, at, state[KNOWN + at]! + 1),
    },
  }
}

function ofFollower(
  state: Replication,
  at: number,
  { gets, acks, loses, again }: ReturnType<typeof followerSteps>,
  possible: Step[],
): void {
  const [downs, ups] = [state[DOWNS + at]!, state[UPS + at]!]
  if (downs > 0 && ups < ROOM) possible.push(gets)
  if (ups > 0) possible.push(acks)
  if (downs > 0 && state[LEFT]! > 0) possible.push(loses)
  if (downs + ups === 0 && state[KNOWN + at]! < state[ISSUED]!) possible.push(again)
}

function arrive(state: Replication, at: number): void {
  const entry = take(state, DOWN, DOWNS, at)
  if (entry === state[HAVE + at]! + 1) state[HAVE + at] = entry
  put(state, UP, UPS, at, state[HAVE + at]!)
}

function put(state: Replication, queue: number, size: number, at: number, value: number): void {
  state[queue + at * ROOM + state[size + at]!++] = value
}

// The rest moves up, and a free cell is 0.
function take(state: Replication, queue: number, size: number, at: number): number {
  const first = queue + at * ROOM
  const taken = state[first]!
  for (let i = 0; i < ROOM - 1; i++) state[first + i] = state[first + i + 1]!
  state[first + ROOM - 1] = 0
  state[size + at]!--
  return taken
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
