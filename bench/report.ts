/**
 * What a bench or a soak hands back, and how it is shown: its tables, its goals, and as the last
 * line of the output one JSON object that a script can read.
 */

import { cpus, totalmem, type } from 'node:os'

/** Figures for people. Every row has one cell for each column. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

/** One number that was promised, and what became of it. */
export interface Goal {
  readonly name: string
  /** Null if it was not measured. */
  readonly value: number | null
  readonly unit: string
  /** Such as `<= 60`. */
  readonly goal: string
  /** Null if it is not judged in this run, as with `--quick`. */
  readonly met: boolean | null
}

/** What one run brings. */
export interface BenchReport {
  readonly tables: readonly Table[]
  readonly goals: readonly Goal[]
  /** Sentences that a reader of the figures should know. */
  readonly notes?: readonly string[]
}

/** A goal that is met by this value or less. */
export function atMost(name: string, value: number | null, limit: number, unit: string): Goal {
  return { name, value, unit, goal: `<= ${limit}`, met: value === null ? null : value <= limit }
}

/** A goal that is met by this value or more. */
export function atLeast(name: string, value: number | null, limit: number, unit: string): Goal {
  return { name, value, unit, goal: `>= ${limit}`, met: value === null ? null : value >= limit }
}

/** Goal and notes of many seeded runs, in each of which claims were judged. */
export function ofClaims(
  runs: readonly { seed: number; what: string; faults: readonly string[] }[],
): Pick<BenchReport, 'goals' | 'notes'> {
  const bad = runs.filter(({ faults }) => faults.length > 0)
  const count = bad.reduce((sum, { faults }) => sum + faults.length, 0)
  return {
    goals: [atMost('claims that did not hold', count, 0, 'claims')],
    notes: bad.slice(0, 20).map((one) => `seed ${one.seed}, ${one.what}: ${one.faults[0]}`),
  }
}

/** The value that this share of the list does not exceed, such as 0.5 for the median. */
export function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? NaN
}

/** The same goal, reported without a verdict. */
export function unjudged(goal: Goal): Goal {
  return { ...goal, met: null }
}

/** Where the figures were taken: processors, memory, system, Node. */
export function machine(): string {
  const all = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const model = all[0]?.model.trim() ?? 'unknown processor'
  return `${all.length} x ${model}, ${gigabytes} GB, ${type()}, Node ${process.versions.node}`
}

/** The report as text; its last line is the JSON object. */
export function show(name: string, report: BenchReport): string {
  const goals: Table = {
    title: 'goals',
    columns: ['name', 'value', 'unit', 'goal', 'met'],
    rows: report.goals.map((goal) => [
      goal.name,
      goal.value === null ? '-' : rounded(goal.value),
      goal.unit,
      goal.goal,
      goal.met === null ? 'not judged' : goal.met ? 'yes' : 'NO',
    ]),
  }
  const tables = report.goals.length > 0 ? [...report.tables, goals] : report.tables
  const last = JSON.stringify({ bench: name, machine: machine(), goals: report.goals })
  return [...tables.map(drawn), ...(report.notes ?? []), last].join('\n')
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

function drawn(table: Table): string {
  const lines = [table.columns, ...table.rows].map((row) => row.map(String))
  const widths = table.columns.map((_, i) => Math.max(...lines.map((row) => row[i]?.length ?? 0)))
  const numeric = table.columns.map((_, i) => table.rows.every((row) => typeof row[i] === 'number'))
  const text = lines.map((row) =>
    row
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
  return [table.title, ...text, ''].join('\n')
}
