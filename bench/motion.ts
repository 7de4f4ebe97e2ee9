/**
 * How near to the truth others are shown, and how smoothly.
 *
 * A thing flies along a path; 10 or 20 times a second its place and velocity leave, quantised as
 * a game would, and come 60 to 100 ms later, but for 2 % that never come. At 60 frames a second
 * each method shows it. The error is the distance between what is shown and where the thing is at
 * that moment; the jerk is the root mean square of the second difference of what is shown, over
 * that of the truth. All is virtual: a seed gives the same figures on any machine.
 *
 * Where things bounce, the walls are the edge of the field's range, as where the range is the
 * arena; ours knows that from the type. The same path between walls that no type tells of stands
 * below, reported without goal: what nobody can foresee is not there to be extrapolated.
 */

import { FACTOR, METHODS, OURS, type Range, SOURCE } from './motion/methods.ts'
import { BOX, type PathName } from './motion/paths.ts'
import { race, type Score } from './motion/race.ts'
import * as motion from '../packages/holdfast/src/motion/motion.ts'
import { atMost, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'what is shown of others against the truth, beside the usual methods'

const RATES = [10, 20] as const
const ERROR_GOAL = 0.8
const JERK_GOAL = 1
const OPEN: Range = { min: -Infinity, max: Infinity }

interface Course {
  title: string
  path: PathName
  range: Range
  judged: boolean
}

const COURSES: readonly Course[] = [
  { title: 'straight', path: 'straight', range: OPEN, judged: true },
  { title: 'turning', path: 'turning', range: OPEN, judged: true },
  { title: 'bouncing', path: 'bouncing', range: { min: 0, max: BOX }, judged: true },
  { title: 'bouncing off the unknown', path: 'bouncing', range: OPEN, judged: false },
]

/** One method on one course at one rate. */
interface Figures {
  rms: number
  p99: number
  jerk: number
}

/** Measures; `quick` flies three minutes of each instead of half an hour, and judges nothing. */
export function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const tables: Table[] = []
  const goals: Goal[] = []
  const notes: string[] = []
  for (const course of COURSES) {
    const rows: (string | number)[][] = []
    const worst = { rms: 0, jerk: 0 }
    for (const rate of RATES) {
      const found = figuresOf(course, rate, quick)
      const source = found.get(SOURCE)!
      for (const [name, one] of found) rows.push([rate, name, ...cells(one, source)])
      const ours = found.get(OURS)!
      worst.rms = Math.max(worst.rms, ours.rms / source.rms)
      worst.jerk = Math.max(worst.jerk, ours.jerk / source.jerk)
    }
    const columns = ['Hz', 'method', 'RMS', 'p99', 'jerk', 'RMS / source', 'jerk / source']
    tables.push({ title: `${course.title}: error in units, jerk in truth's`, columns, rows })
    if (!course.judged) notes.push(unforeseen(worst))
    else goals.push(...goalsOf(course.title, worst))
  }
  notes.push(cost())
  return Promise.resolve({ tables, goals: quick ? goals.map(unjudged) : goals, notes })
}

function goalsOf(title: string, { rms, jerk }: { rms: number; jerk: number }): Goal[] {
  return [
    atMost(`${title}: error of ours / source, worst rate`, rms, ERROR_GOAL, 'x'),
    atMost(`${title}: jerk of ours / source, worst rate`, jerk, JERK_GOAL, 'x'),
  ]
}

function unforeseen({ rms, jerk }: { rms: number; jerk: number }): string {
  const [error, bend] = [rms, jerk].map((ratio) => ratio.toFixed(2))
  return (
    `Off walls that no type tells of ours has ${error} x the error and ${bend} x the jerk. F is ` +
    `${FACTOR} for the source too, which was not tuned; extrapolation is part of what ours gains.`
  )
}

function figuresOf(course: Course, rate: number, quick: boolean): Map<string, Figures> {
  const flights = quick ? 3 : 30
  const scores = Array.from({ length: flights }, (_, at) =>
    race(course.path, rate, 100 + at, 60, course.range),
  )
  const found = new Map<string, Figures>()
  for (const name of Object.keys(METHODS)) {
    found.set(name, summed(scores.map((one) => one.get(name)!)))
  }
  return found
}

function summed(scores: readonly Score[]): Figures {
  const errors = Float64Array.from(scores.flatMap((one) => one.errors)).sort()
  const sum = (field: 'jerk' | 'truthJerk'): number =>
    scores.reduce((total, one) => total + one[field], 0)
  return {
    rms: Math.sqrt(errors.reduce((total, one) => total + one * one, 0) / errors.length),
    p99: errors[Math.floor(0.99 * errors.length)]!,
    jerk: Math.sqrt(sum('jerk') / sum('truthJerk')),
  }
}

function cells(one: Figures, source: Figures): number[] {
  const all = [one.rms, one.p99, one.jerk, one.rms / source.rms, one.jerk / source.jerk]
  return all.map((cell) => Number(cell.toPrecision(3)))
}

// What a frame of one object costs.
function cost(): string {
  const moving = motion.create([{ kind: 'plane', ...OPEN }])
  moving.came.velocity.set([3, 4])
  for (const at of [0, 50, 100]) {
    motion.addSample(moving, at, at, FACTOR, Infinity)
    motion.look(moving, at, FACTOR)
  }
  const looks = 1_000_000
  const start = performance.now()
  for (let n = 0; n < looks; n++) motion.look(moving, 100 + n * 1e-4, FACTOR)
  const nanoseconds = ((performance.now() - start) * 1e6) / looks
  return `One look at one object takes ${Math.round(nanoseconds)} ns.`
}
