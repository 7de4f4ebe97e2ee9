/**
 * Objects of one server at many clients, beside Colyseus: the same positions in the same run.
 *
 * One process serves, others hold the clients, on processors of their own where the system can do
 * that. Of the clients a few draw 60 times a second and say how far they are from the truth; the
 * others take what comes and decode no more of it than the protocol needs.
 *
 * Bytes are those at the client's socket, plus 40 for each TCP segment (1,460 bytes of a message
 * fill one, each two are acked by an empty one) or 28 for each UDP datagram. The processor time of
 * the hub counts as the server's. Colyseus runs on plain WebSockets and on TLS: what Holdfast sends
 * is always sealed. A row whose clients were too busy to say how busy the server was is left out.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certificate, makeCertificate } from '../test/conformance/certificate.ts'
import { costs, errors, goalsOf, growth, isSound, leftOut, type Row } from './objects/tables.ts'
import { colyseus, floor, holdfast, type Length } from './objects/trial.ts'
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
const WAYS: readonly Way[] = ['udp', 'ws', 'relay']

/** Measures; `quick` takes 50 clients alone, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const stopped = (): void => void endAll().then(() => process.exit(130))
  process.once('SIGINT', stopped)
  try {
    const tls = makeCertificate(folder, 'IP:127.0.0.1')
    // Clients, which start later, trust it.
    process.env['NODE_EXTRA_CA_CERTS'] = tls.cert
    const rows: Row[] = []
    for (const setting of settings(quick)) {
      rows.push(...(await besides(setting, quick ? QUICK : FULL, tls, quick ? 0 : LOSS)))
    }
    const more = quick ? [] : await grown()
    const goals = goalsOf(rows)
    return {
      tables: [costs(rows), errors(rows), ...(quick ? [] : [growth(more)])],
      goals: quick ? goals.map(unjudged) : goals,
      notes: [...notes(), ...leftOut([...rows, ...more])],
    }
  } finally {
    process.off('SIGINT', stopped)
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

function of(clients: number, objects: number, sees: Setting['sees']): Setting {
  return { seed: 1, clients, objects, sees, loss: 0 }
}

// Of 100 objects all are near.
function settings(quick: boolean): Setting[] {
  if (quick) return [of(50, 100, 'all'), of(50, 1000, 'near')]
  const sizes = [50, 100, 200].flatMap((clients) => [
    of(clients, 1000, 'all'),
    of(clients, 1000, 'near'),
  ])
  return [of(50, 100, 'all'), ...sizes]
}

// One after the other, so that each has the machine; the same beats, the same positions.
async function besides(
  setting: Setting,
  length: Length,
  tls: Certificate,
  loss: number,
): Promise<Row[]> {
  const rows: Row[] = [
    { setting, who: 'Colyseus', way: 'ws', found: await colyseus(setting, length, null) },
    { setting, who: 'Colyseus', way: 'wss', found: await colyseus(setting, length, tls) },
  ]
  const add = async (way: Way, on: Setting): Promise<void> => {
    const found = await holdfast(on, length, way)
    const row: Row = { setting: on, who: 'Holdfast', way, found }
    rows.push(row)
    if (on.loss > 0 || !isSound(row)) return
    rows.push({ setting, who: 'floor', way, found: await floor(on, length, way, found) })
  }
  for (const way of WAYS) await add(way, setting)
  if (loss > 0 && setting.clients === 100) await add('udp', { ...setting, loss })
  return rows
}

async function grown(): Promise<Row[]> {
  const rows: Row[] = []
  for (const objects of [1000, 2000, 4000]) {
    const setting = of(50, objects, 'near')
    const beside = await colyseus(setting, FULL, null)
    rows.push({ setting, who: 'Colyseus', way: 'ws', found: beside })
    const found = await holdfast(setting, FULL, 'udp')
    rows.push({ setting, who: 'Holdfast', way: 'udp', found })
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
