/** What was found, for people, and what was promised of it. */

import { atMost } from '../report.ts'
import type { Goal, Table } from '../report.ts'
import type { Found } from './trial.ts'
import type { Setting } from './words.ts'
import { VISIBLE } from './workload.ts'

/** One contender in one setting. */
export interface Row {
  setting: Setting
  who: string
  found: Found
}

/** Of Colyseus's processor time and bytes, by what a client sees. */
const CPU: Record<Setting['sees'], number> = { all: 1 / 2, near: 1 / 6 }
const BYTES = 1 / 5

/** What a tick takes. */
export function costs(rows: readonly Row[]): Table {
  return {
    title: 'a tick of the server, and a tick at one client',
    columns: [
      ...NAMES,
      ...['CPU ms', 'of it sight', 'hub', 'down B', 'packets', 'up B', 'late ms', 'clients’ load'],
    ],
    rows: rows.map(({ setting, who, found }) => [
      ...named(setting, who),
      rounded(found.cpuMs),
      found.interestMs === 0 ? '-' : rounded(found.interestMs),
      found.cpus.length > 1 ? rounded(found.cpus.at(-1)!) : '-',
      Math.round(found.down.bytes),
      rounded(found.down.packets),
      Math.round(found.up.bytes),
      rounded(found.lateMs),
      rounded(found.load),
    ]),
  }
}

/** How near what is shown is to the truth. */
export function errors(rows: readonly Row[]): Table {
  return {
    title: 'from what is shown to the truth, in units (speeds are 2 to 8 a second)',
    columns: [...NAMES, 'shown', 'p50', 'p99', 'has', 'missing %'],
    rows: rows.flatMap(({ setting, who, found: { shown, has, missing } }) =>
      shown.map(({ name, p50, p99 }) => [
        ...named(setting, who),
        name,
        rounded(p50),
        rounded(p99),
        Math.round(has),
        rounded(100 * missing),
      ]),
    ),
  }
}

/** The same number visible out of more and more. */
export function growth(rows: readonly Row[]): Table {
  return { ...costs(rows), title: `growth: about ${VISIBLE} visible of more and more objects` }
}

/** What was promised of the largest settings. */
export function goalsOf(rows: readonly Row[]): Goal[] {
  return rows.flatMap(({ setting, who, found }) => {
    const beside = rows.find((row) => row.who === 'Colyseus' && same(row.setting, setting))
    if (!beside || beside.who === who || setting.clients < 200 || setting.objects < 1000) return []
    const { sees, loss } = setting
    const seen = sees === 'all' ? 'all visible' : `${VISIBLE} visible`
    const name = `${seen}, ${who.slice(-3).trim()}${loss > 0 ? `, ${loss} % loss` : ''}`
    const error = nearest(found) / nearest(beside.found)
    return [
      atMost(`${name}: CPU / Colyseus`, found.cpuMs / beside.found.cpuMs, CPU[sees], 'x'),
      atMost(`${name}: bytes / Colyseus`, found.down.bytes / beside.found.down.bytes, BYTES, 'x'),
      atMost(`${name}: p99 error / Colyseus`, error, 1, 'x'),
    ]
  })
}

function same(one: Setting, other: Setting): boolean {
  return ['clients', 'objects', 'sees'].every(
    (what) => one[what as keyof Setting] === other[what as keyof Setting],
  )
}

// Of several ways to draw the best.
function nearest({ shown }: Found): number {
  return Math.min(...shown.map(({ p99 }) => p99))
}

const NAMES = ['clients', 'objects', 'sees', 'who']

function named({ clients, objects, sees, loss }: Setting, who: string): (string | number)[] {
  const seen = sees === 'all' ? 'all' : `about ${VISIBLE}`
  return [clients, objects, seen, loss > 0 ? `${who}, ${loss} % loss` : who]
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
