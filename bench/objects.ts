/**
 * Objects of one server at many clients, beside Colyseus: the same positions in the same run.
 *
 * One process serves, two hold the clients, on processors of their own where the system can do
 * that. Of the clients a few draw 60 times a second and say how far they are from the truth; the
 * others take what comes and decode no more of it than the protocol needs.
 *
 * Bytes are those at the client's socket, plus 40 for each TCP segment (1,460 bytes of a message
 * fill one, each two are acked by an empty one) or 28 for each UDP datagram.
 */

import { loadavg } from 'node:os'
import { colyseus, type Found, holdfast, type Length } from './objects/trial.ts'
import type { Setting } from './objects/words.ts'
import { HZ, VISIBLE } from './objects/workload.ts'
import { endAll, mayPin } from './processes/children.ts'
import { installPeers, version } from './processes/peers.ts'
import type { BenchReport, Table } from './report.ts'

/** For the list of benches. */
export const about = 'objects of one server at many clients, beside Colyseus'

const QUICK: Length = { warmTicks: 2 * HZ, ticks: 6 * HZ }
const FULL: Length = { warmTicks: 3 * HZ, ticks: 15 * HZ }

type Row = [setting: Setting, who: string, found: Found]

/** Measures; `quick` takes 200 clients and 1,000 objects alone, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const stopped = (): void => void endAll().then(() => process.exit(130))
  process.once('SIGINT', stopped)
  try {
    const rows: Row[] = []
    const length = quick ? QUICK : FULL
    for (const setting of settings(quick)) {
      rows.push([setting, 'Colyseus', await colyseus(setting, length)])
      for (const way of ['udp', 'ws'] as const) {
        rows.push([setting, `Holdfast, ${way}`, await holdfast(setting, length, way)])
      }
    }
    return { tables: [costs(rows), errors(rows)], goals: [], notes: notes() }
  } finally {
    process.off('SIGINT', stopped)
    await endAll()
  }
}

function settings(quick: boolean): Setting[] {
  const of = (clients: number, objects: number, sees: Setting['sees']): Setting => ({
    seed: 1,
    clients,
    objects,
    sees,
    loss: 0,
  })
  const most = [of(200, 1000, 'all'), of(200, 1000, 'near')]
  if (quick) return most
  return [
    of(50, 100, 'all'),
    of(200, 100, 'all'),
    of(50, 1000, 'all'),
    of(50, 1000, 'near'),
    ...most,
  ]
}

function costs(rows: readonly Row[]): Table {
  return {
    title: 'a tick of the server, and a tick at one client',
    columns: [
      'clients',
      'objects',
      'sees',
      'who',
      'CPU ms',
      'down B',
      'packets',
      'up B',
      'late ms',
    ],
    rows: rows.map(([setting, who, { cpuMs, down, up, lateMs }]) => [
      ...named(setting),
      who,
      rounded(cpuMs),
      Math.round(down.bytes),
      rounded(down.packets),
      Math.round(up.bytes),
      rounded(lateMs),
    ]),
  }
}

function errors(rows: readonly Row[]): Table {
  return {
    title: 'from what is shown to the truth, in units (speeds are 2 to 8 a second)',
    columns: ['clients', 'objects', 'sees', 'who', 'shown', 'p50', 'p99', 'missing %'],
    rows: rows.flatMap(([setting, who, { shown, missing }]) =>
      shown.map(({ name, p50, p99 }) => [
        ...named(setting),
        who,
        name,
        rounded(p50),
        rounded(p99),
        rounded(100 * missing),
      ]),
    ),
  }
}

function named({ clients, objects, sees }: Setting): [number, number, string] {
  return [clients, objects, sees === 'all' ? 'all' : `about ${VISIBLE}`]
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

function notes(): string[] {
  const peers = ['@colyseus/core', '@colyseus/ws-transport', '@colyseus/schema', '@colyseus/sdk']
  return [
    `Peers: ${peers.map(version).join(', ')}.`,
    'Colyseus: fields are float32, the patch leaves with the tick. Where a part is seen, each',
    'client has a StateView that is looked over every 5 ticks; its cost is in the figures, for an',
    'application must pay it. Of its ways to draw the nearest to the truth counts.',
    mayPin()
      ? 'Servers and clients had processors of their own.'
      : 'taskset is missing: not pinned.',
    `The load of the machine over the last minute was ${loadavg()[0]!.toFixed(1)}.`,
  ]
}
