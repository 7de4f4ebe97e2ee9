/**
 * This bench measures what a sealed link costs on each transport beside the bare one: goodput,
 * round trips, packets.
 *
 * Two processes on loopback have all lines open, bare ones and links of ours. They use one at a
 * time for goodput; for round trips those of one transport, a message of each in turns. So what
 * else the machine does befalls both. The relay is a hub in a process of its own, without limits;
 * beside it a plain `ws` server hands on what comes.
 *
 * Goodput counts the messages that reach the other end. Nobody resends those that a lossy transport
 * loses.
 */

import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { KEY_PACKETS_MAX, SEALED_TEXT_MAX } from '../packages/holdfast/src/seal/limits.ts'
import { headBytes } from '../packages/holdfast/src/seal/messages.ts'
import { TAG_BYTES } from '../packages/holdfast/src/ports.ts'
import { blank, Stranger } from '../test/attack/stranger.ts'
import { type HubProcess, startHubIn } from '../test/conformance/hub-process.ts'
import { unbound } from './hub/bystander.ts'
import { fill, found, heard as answered } from './hub/holding.ts'
import { end, endAll, heard, start } from './processes/children.ts'
import { atLeast, atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'
import { Counting, type Taken } from './transports/packets.ts'
import {
  type Asked,
  type Count,
  FAR_MS,
  type LineName,
  type Said,
  type Servers,
  type Trips,
} from './transports/words.ts'

/** For the list of benches. */
export const about = 'sealed links over UDP, WebRTC, WebSocket and relay, beside each one bare'

/** A line, and others that are compared with it. */
type Group = readonly [LineName, ...LineName[]]
/** A bare transport, and what is ours on it. */
const GROUPS: readonly Group[] = [
  ['dgram', 'UDP', 'sealed UDP'],
  ['channel', 'sealed WebRTC'],
  ['ws', 'sealed WebSocket'],
  ['forwarded ws', 'sealed relay'],
]
/** By a hub that is far away, and directly. */
const FAR: Group = ['sealed relay far away', 'sealed UDP', 'sealed WebRTC']

const FLOOD_BYTES = 1_100
/** Messages of that size, so many a second on each line. */
const LOADS = [
  { bytes: 100, perSecond: 60 },
  { bytes: 1_100, perSecond: 500 },
] as const
/** The last messages of a flood have so long to arrive. */
const DRAIN_MS = 300
const WARM_MS = 300
const OPEN_MS = 30_000
const PING_MS = 2_000

const GOODPUT_GOAL = 0.7
const LATE_GOAL = 2
const FAR_GOAL = 0.4

interface Flood {
  perSecond: number
  /** Processor time of both ends, in microseconds a message. */
  cpu: number
}

/** Measures; `quick` takes fewer and shorter turns, and judges only the packets. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  let place: Place | null = null
  try {
    place = await Place.open(folder)
    const floods = new Map<LineName, Flood[]>()
    const trips = LOADS.map(() => new Map<LineName, Trips[]>())
    const far = new Map<LineName, Trips[]>()
    for (let round = 0; round < (quick ? 1 : 7); round++) {
      for (const name of GROUPS.flat()) {
        add(floods, name, await place.flood(name, quick ? 500 : 1_000))
      }
      for (const [at, load] of LOADS.entries()) {
        for (const group of GROUPS) {
          await place.trips(group, load, quick ? 700 : 3_000, trips[at]!)
        }
      }
      await place.trips(FAR, LOADS[0], quick ? 700 : 3_000, far)
    }
    const packets = await packetsOf()
    const goals = [...goalsOf(floods, trips, far)]
    return {
      tables: [
        floodTable(floods),
        ...LOADS.map(({ bytes, perSecond }, at) => {
          return tripTable(`${bytes} B, ${perSecond} a second on each line`, trips[at]!, GROUPS)
        }),
        tripTable(`${LOADS[0].bytes} B, the hub ${FAR_MS} ms away, there and back`, far, [FAR]),
        packetTable(packets),
      ],
      goals: [
        ...(quick ? goals.map(unjudged) : goals),
        atMost(
          'UDP packets a full packet of the link over WebRTC',
          packets.full.each,
          1,
          'packets',
        ),
      ],
      notes: [
        'UDP is a link on the bare driver; what sealing adds is between it and sealed UDP.',
        'A relayed message goes by two streams, as does a forwarded one.',
        'While others use the processors, both lines of a pair wait alike: p99 says little then.',
        `The longest text of a link that goes in one UDP packet over WebRTC: ${packets.text} B.`,
      ],
    }
  } finally {
    await place?.close()
    await endAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

function add<Value>(to: Map<LineName, Value[]>, name: LineName, value: Value): void {
  to.set(name, [...(to.get(name) ?? []), value])
}

/** The two ends, and the servers between. */
class Place {
  readonly #a: ChildProcess
  readonly #b: ChildProcess
  readonly #hub: HubProcess
  readonly #founder: Stranger
  readonly #pinging: NodeJS.Timeout

  private constructor(
    [a, b]: readonly [ChildProcess, ChildProcess],
    hub: HubProcess,
    founder: Stranger,
  ) {
    this.#a = a
    this.#b = b
    this.#hub = hub
    this.#founder = founder
    this.#pinging = setInterval(() => founder.say({ kind: 'ping', count: 1 }), PING_MS)
  }

  static async open(folder: string): Promise<Place> {
    const limits = join(folder, 'limits.json')
    writeFileSync(limits, JSON.stringify(unbound()))
    const hub = await startHubIn(folder, ['--limits', limits])
    try {
      const founder = new Stranger(hub.url, '127.0.0.1', blank())
      await answered(founder, 'welcome')
      await found(founder, 'transports')
      await fill(founder, 5)
      const script = new URL('./transports/end.js', import.meta.url)
      const ends = [start(script, ['a']), start(script, ['b'])] as const
      const place = new Place(ends, hub, founder)
      await place.#meet()
      return place
    } catch (error) {
      await hub.kill('SIGKILL')
      throw error
    }
  }

  async #meet(): Promise<void> {
    const echo = start(new URL('./latency/echo.js', import.meta.url), [])
    const isPort = (said: { port: number }): said is { port: number } => said.port > 0
    const { port: forwarder } = await heard(echo, isPort, 'the forwarder', OPEN_MS)
    const { session } = this.#founder
    const hub = new URL('/hub', this.#hub.url.replace('http', 'ws')).href
    const servers: Servers = { forwarder, hub, session }
    const ends = [this.#a, this.#b] as const
    const opened = ends.map((end, at) => {
      end.on('message', (said: Said) => {
        if (said.kind === 'word') ends[1 - at]!.send(said)
      })
      return heard(end, isOpened, 'the lines', OPEN_MS)
    })
    for (const end of ends) end.send({ kind: 'open', servers } satisfies Asked)
    await Promise.all(opened)
  }

  /** Messages that come in that time while `a` sends as many as it can. */
  async flood(line: LineName, ms: number): Promise<Flood> {
    this.#a.send({ kind: 'flood', line, bytes: FLOOD_BYTES } satisfies Asked)
    await pause(WARM_MS)
    const before = await this.#counts()
    await pause(ms)
    const after = await this.#counts()
    this.#a.send({ kind: 'flood', line: null, bytes: 0 } satisfies Asked)
    await pause(DRAIN_MS)
    const messages = after[1].messages - before[1].messages
    if (messages === 0) throw new Error(`nothing came by ${line}`)
    const cpu = after[0].cpu + after[1].cpu - before[0].cpu - before[1].cpu
    const seconds = (after[1].at - before[1].at) / 1_000
    return { perSecond: messages / seconds, cpu: cpu / messages }
  }

  #counts(): Promise<[Count, Count]> {
    return Promise.all([this.#count(this.#a), this.#count(this.#b)])
  }

  #count(end: ChildProcess): Promise<Count> {
    const count = heard(end, isCount, 'a count', OPEN_MS)
    end.send({ kind: 'count' } satisfies Asked)
    return count
  }

  /** Round trips from `a` on these lines in turns. */
  async trips(
    lines: readonly LineName[],
    load: (typeof LOADS)[number],
    ms: number,
    into: Map<LineName, Trips[]>,
  ): Promise<void> {
    const found = heard(this.#a, isTrips, 'round trips', OPEN_MS)
    this.#a.send({ kind: 'trips', lines, ms, ...load } satisfies Asked)
    const { trips } = await found
    for (const line of lines) add(into, line, trips[line]!)
  }

  async close(): Promise<void> {
    clearInterval(this.#pinging)
    this.#founder.end()
    await Promise.all([this.#a, this.#b].map(end))
    await this.#hub.kill('SIGKILL')
  }
}

const isOpened = (said: Said): said is Said & { kind: 'opened' } => said.kind === 'opened'
const isCount = (said: Said): said is Said & { kind: 'count' } => said.kind === 'count'
const isTrips = (said: Said): said is Said & { kind: 'trips' } => said.kind === 'trips'

interface Packets {
  full: Taken
  fullBytes: number
  longest: Taken
  longestBytes: number
  /** The longest text in one packet, whatever its number. */
  text: number
}

async function packetsOf(): Promise<Packets> {
  const counting = await Counting.open()
  try {
    // With the longest head, which all packets of a link but its first 65,536 have.
    const beside = headBytes(KEY_PACKETS_MAX) + TAG_BYTES
    const fullBytes = SEALED_TEXT_MAX + beside
    const full = await counting.count(fullBytes, 500)
    const longestBytes = await counting.longest()
    const longest = await counting.count(longestBytes, 500)
    return { full, fullBytes, longest, longestBytes, text: longestBytes - beside }
  } finally {
    counting.close()
  }
}

function packetTable({ full, fullBytes, longest, longestBytes, text }: Packets): Table {
  const row = (what: string, textBytes: number, bytes: number, taken: Taken): string[] => {
    const payloads = taken.sizes.join(' + ')
    return [what, String(textBytes), String(bytes), taken.each.toFixed(3), payloads]
  }
  return {
    title: 'a packet of the link over WebRTC, one after another',
    columns: ['packet', 'text, B', 'sealed, B', 'UDP packets', 'their payloads, B'],
    rows: [
      row('full', SEALED_TEXT_MAX, fullBytes, full),
      row('longest in one', text, longestBytes, longest),
    ],
  }
}

function floodTable(floods: ReadonlyMap<LineName, readonly Flood[]>): Table {
  const rows = GROUPS.flatMap(([bare, ...ours]) => {
    return [bare, ...ours].map((name) => {
      const all = floods.get(name)!
      const rates = all.map(({ perSecond }) => perSecond)
      const spent = all.map(({ cpu }) => cpu)
      const middle = quantile(rates, 0.5)
      const beside = name === bare ? '' : `${ratioOf(floods, name, bare).toFixed(2)}x`
      const counts = [middle, Math.min(...rates), Math.max(...rates)].map(Math.round)
      const megabytes = (middle * FLOOD_BYTES) / 1e6
      return [name, ...counts, ...[megabytes, quantile(spent, 0.5)].map(tenths), beside]
    })
  })
  return {
    title: `goodput one way, messages of ${FLOOD_BYTES} B as fast as they go, medians of the turns`,
    columns: ['line', 'a second', 'min', 'max', 'MB/s', 'CPU us, both ends', 'of the bare one'],
    rows,
  }
}

const tenths = (value: number): number => Number(value.toFixed(1))

function tripTable(
  title: string,
  trips: ReadonlyMap<LineName, readonly Trips[]>,
  groups: readonly Group[],
): Table {
  const rows = groups.flatMap(([first, ...others]) => {
    return [first, ...others].map((name) => {
      const ms = msOf(trips, name)
      const at = (share: number): number => Number(quantile(ms, share).toFixed(2))
      const lost = trips.get(name)!.reduce((sum, one) => sum + one.lost, 0)
      const beside = name === first ? '' : besideOf(trips, 0.5, name, first).toPrecision(3)
      return [name, ms.length, lost, at(0.5), at(0.99), at(1), beside]
    })
  })
  const columns = ['line', 'round trips', 'lost', 'p50', 'p99', 'max', 'p50, of the first']
  return { title: `round trips in ms: ${title}`, columns, rows }
}

function besideOf(
  trips: ReadonlyMap<LineName, readonly Trips[]>,
  share: number,
  name: LineName,
  first: LineName,
): number {
  return quantile(msOf(trips, name), share) / quantile(msOf(trips, first), share)
}

function msOf(trips: ReadonlyMap<LineName, readonly Trips[]>, name: LineName): number[] {
  return trips.get(name)!.flatMap(({ ms }) => ms)
}

/** The middle of the ratios, each of two turns that followed one another. */
function ratioOf(
  floods: ReadonlyMap<LineName, readonly Flood[]>,
  ours: LineName,
  bare: LineName,
): number {
  const beside = floods.get(bare)!
  const ratios = floods.get(ours)!.map((one, at) => one.perSecond / beside[at]!.perSecond)
  return quantile(ratios, 0.5)
}

function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? NaN
}

function goalsOf(
  floods: ReadonlyMap<LineName, readonly Flood[]>,
  trips: readonly ReadonlyMap<LineName, readonly Trips[]>[],
  far: ReadonlyMap<LineName, readonly Trips[]>,
): Goal[] {
  const pairs = GROUPS.flatMap(([bare, ...ours]) => ours.map((one) => [bare, one] as const))
  const [relayed, ...direct] = FAR
  return [
    ...pairs.map(([bare, ours]) => {
      return atLeast(`goodput: ${ours} / ${bare}`, ratioOf(floods, ours, bare), GOODPUT_GOAL, 'x')
    }),
    ...LOADS.flatMap(({ bytes, perSecond }, at) => {
      return pairs.map(([bare, ours]) => {
        const what = `p99, ${bytes} B at ${perSecond}/s: ${ours} / ${bare}`
        return atMost(what, besideOf(trips[at]!, 0.99, ours, bare), LATE_GOAL, 'x')
      })
    }),
    ...direct.map((name) => {
      const what = `p50: ${name} / by a hub ${FAR_MS} ms away`
      return atMost(what, besideOf(far, 0.5, name, relayed), FAR_GOAL, 'x')
    }),
  ]
}
