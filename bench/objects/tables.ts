/** What was found, for people, and what was promised of it. */

import { atMost } from '../report.ts'
import type { Goal, Table } from '../report.ts'
import type { Found } from './trial.ts'
import type { Setting, Way } from './words.ts'
import { VISIBLE } from './workload.ts'

/** One contender in one setting. */
export interface Row {
  setting: Setting
  who: 'Colyseus' | 'Holdfast' | 'floor'
  way: Way | 'wss'
  found: Found
}

/** Goals: processor time of Holdfast / Colyseus on plain WebSockets and on TLS. */
const CPU: Record<Setting['sees'], Record<'ws' | 'wss', number>> = {
  all: { ws: 1.5, wss: 1 },
  near: { ws: 0.8, wss: 0.8 },
}
/** Goal: bytes of Holdfast / Colyseus. */
const BYTES = 1 / 5
/** Goals: processor time of Holdfast / the floor. */
const FLOOR: Record<Way, number> = { udp: 2, ws: 2, relay: 1.5 }
/** Above this share of a processor clients may delay the server, so the row is left out. */
const LOAD_MAX = 0.8

/** What a tick takes. */
export function costs(rows: readonly Row[]): Table {
  return {
    title: 'a tick of the server, and a tick at one client',
    columns: [
      ...NAMES,
      ...['CPU ms', 'of it sight', 'hub', 'down B', 'packets', 'up B', 'late ms', 'clients’ load'],
    ],
    rows: rows.filter(isSound).map(({ found, ...row }) => [
      ...named(row),
      rounded(found.cpuMs),
      found.interestMs === 0 ? '-' : rounded(found.interestMs),
      found.cpus.length > 1 ? rounded(found.cpus.at(-1)!) : '-',
      // Bytes of TLS are not counted whole.
      row.way === 'wss' ? '-' : Math.round(found.down.bytes),
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
    rows: rows
      .filter(isSound)
      .flatMap(({ found: { shown, has, missing }, ...row }) =>
        shown.map(({ name, p50, p99 }) => [
          ...named(row),
          name,
          rounded(p50),
          rounded(p99),
          Math.round(has),
          rounded(100 * missing),
        ]),
      ),
  }
}

/** Rows that are left out. */
export function leftOut(rows: readonly Row[]): string[] {
  return rows
    .filter((row) => !isSound(row))
    .map(({ found, ...row }) => {
      const busy = `its clients used ${rounded(found.load)} of their processors`
      const why = found.astray > 0 ? `${found.astray} clients were on another path` : busy
      return `Left out, as ${why}: ${named(row).join(', ')}.`
    })
}

/** The same number visible out of more and more. */
export function growth(rows: readonly Row[]): Table {
  return { ...costs(rows), title: `growth: about ${VISIBLE} visible of more and more objects` }
}

/** The goals of each setting with 1,000 objects or more. */
export function goalsOf(rows: readonly Row[]): Goal[] {
  return rows.flatMap((row) => {
    const { setting, who, way } = row
    const { sees } = setting
    if (who !== 'Holdfast' || way === 'wss' || setting.objects < 1_000 || setting.loss > 0)
      return []
    const beside = (name: Row['who'], by: Row['way']): Row | undefined =>
      rows.find((one) => one.who === name && one.way === by && same(one.setting, setting))
    const [ws, wss] = [beside('Colyseus', 'ws'), beside('Colyseus', 'wss')]
    const ratio = (other: Row | undefined, of: (found: Found) => number): number | null =>
      other && isSound(row) && isSound(other) ? of(row.found) / of(other.found) : null
    const name = named(row).join(', ')
    const cpu = ({ cpuMs }: Found): number => cpuMs
    return [
      atMost(`${name}: CPU / floor`, ratio(beside('floor', way), cpu), FLOOR[way], 'x'),
      ...(way === 'relay'
        ? []
        : [
            atMost(`${name}: CPU / Colyseus on ws`, ratio(ws, cpu), CPU[sees].ws, 'x'),
            atMost(`${name}: CPU / Colyseus on wss`, ratio(wss, cpu), CPU[sees].wss, 'x'),
          ]),
      atMost(
        `${name}: bytes / Colyseus`,
        ratio(ws, ({ down }) => down.bytes),
        BYTES,
        'x',
      ),
      atMost(`${name}: p99 error / Colyseus`, ratio(ws, nearest), 1, 'x'),
    ]
  })
}

/** Whether the clients had processor time to spare, and all were on the path that is measured. */
export function isSound({ found }: Row): boolean {
  return found.load <= LOAD_MAX && found.astray === 0
}

function same(one: Setting, other: Setting): boolean {
  return (['clients', 'objects', 'sees'] as const).every((what) => one[what] === other[what])
}

// Of several ways to draw the best.
function nearest({ shown }: Found): number {
  return Math.min(...shown.map(({ p99 }) => p99))
}

const NAMES = ['clients', 'objects', 'sees', 'who']

function named({ setting, who, way }: Omit<Row, 'found'>): (string | number)[] {
  const { clients, objects, sees, loss } = setting
  const seen = sees === 'all' ? 'all' : `about ${VISIBLE}`
  return [clients, objects, seen, `${who}, ${way}${loss > 0 ? `, ${loss} % loss` : ''}`]
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
