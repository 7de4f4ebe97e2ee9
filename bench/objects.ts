/**
 * Objects of one server at many clients, beside Colyseus: the same positions in the same run.
 *
 * One process serves, others hold the clients, on processors of their own where the system can do
 * that. Of the clients a few draw 60 times a second and say how far they are from the truth; the
 * others take what comes and decode no more of it than the protocol needs.
 *
 * Bytes are those at the client's socket, plus 40 for each TCP segment (1,460 bytes of a message
 * fill one, each two are acked by an empty one) or 28 for each UDP datagram. Where members talk
 * through the hub its processor time counts as the server's.
 */

import { costs, errors, goalsOf, growth, type Row } from './objects/tables.ts'
import { colyseus, holdfast, type Length } from './objects/trial.ts'
import type { Setting, Way } from './objects/words.ts'
import { HZ } from './objects/workload.ts'
import { endAll, mayPin } from './processes/children.ts'
import { installPeers, version } from './processes/peers.ts'
import { unjudged } from './report.ts'
import type { BenchReport } from './report.ts'

/** For the list of benches. */
export const about = 'objects of one server at many clients, beside Colyseus'

const QUICK: Length = { warmTicks: 2 * HZ, ticks: 4 * HZ }
const FULL: Length = { warmTicks: 3 * HZ, ticks: 12 * HZ }
const LOSS = 2

/** Measures; `quick` takes 50 clients alone, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const stopped = (): void => void endAll().then(() => process.exit(130))
  process.once('SIGINT', stopped)
  try {
    const rows: Row[] = []
    for (const setting of settings(quick)) {
      rows.push(...(await besides(setting, quick ? QUICK : FULL, quick ? 0 : LOSS)))
    }
    const more = quick ? [] : await grown()
    const goals = goalsOf(rows)
    return {
      tables: [costs(rows), errors(rows), ...(quick ? [] : [growth(more)])],
      goals: quick ? goals.map(unjudged) : goals,
      notes: notes(),
    }
  } finally {
    process.off('SIGINT', stopped)
    await endAll()
  }
}

function of(clients: number, objects: number, sees: Setting['sees']): Setting {
  return { seed: 1, clients, objects, sees, loss: 0 }
}

// Of 100 objects all are near.
function settings(quick: boolean): Setting[] {
  if (quick) return [of(50, 100, 'all'), of(50, 1000, 'near')]
  const few = [of(50, 100, 'all'), of(200, 100, 'all')]
  const some = [of(50, 1000, 'all'), of(50, 1000, 'near')]
  return [...few, ...some, of(200, 1000, 'all'), of(200, 1000, 'near')]
}

// One after the other, so that each has the machine; the same beats, the same positions.
async function besides(setting: Setting, length: Length, loss: number): Promise<Row[]> {
  const rows: Row[] = [{ setting, who: 'Colyseus', found: await colyseus(setting, length) }]
  const add = async (way: Way, on: Setting): Promise<void> => {
    rows.push({ setting: on, who: `Holdfast, ${way}`, found: await holdfast(on, length, way) })
  }
  await add('udp', setting)
  await add('ws', setting)
  const most = setting.clients === 200 && setting.objects === 1000
  if (loss > 0 && most) await add('udp', { ...setting, loss })
  return rows
}

async function grown(): Promise<Row[]> {
  const rows: Row[] = []
  for (const objects of [1000, 2000, 4000]) {
    const setting = of(50, objects, 'near')
    rows.push({ setting, who: 'Colyseus', found: await colyseus(setting, FULL) })
    rows.push({ setting, who: 'Holdfast, udp', found: await holdfast(setting, FULL, 'udp') })
  }
  return rows
}

function notes(): string[] {
  const peers = ['@colyseus/core', '@colyseus/ws-transport', '@colyseus/schema', '@colyseus/sdk']
  return [
    `Peers: ${peers.map(version).join(', ')}.`,
    'Colyseus: fields are float32, the patch leaves with the tick. Where a part is seen, each',
    'client has a StateView that is looked over every 5 ticks; its cost is in the figures, for an',
    'application must pay it. Of its ways to draw the nearest to the truth counts.',
    'Holdfast: places of 0.01 units, velocities, dead reckoning within 0.1 units; where a part is',
    'seen, `near` and eyes that each client sets every 5 ticks. `view` is what is drawn.',
    mayPin()
      ? 'Servers and clients had processors of their own.'
      : 'taskset is missing: not pinned.',
  ]
}
