/**
 * The cost of two hubs that share their rooms through NATS, compared with one hub on a file, and
 * the wait of members when a process dies.
 *
 * Three servers of NATS, two hubs on them and one on a file, all on loopback, as `holdfast serve`
 * runs them. What is compared is measured in turns, in one run. Then a hub is killed, one stands
 * still, and each server of NATS is killed, one of which leads the others.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as pathOf } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { action, HoldfastError, join, type Session } from '../packages/holdfast/src/node.ts'
import { HELD_MS } from '../packages/hub/src/drivers/nats/record-stream.ts'
import { ABSENT_MIN_MS } from '../packages/hub/src/machine/session-expiry.ts'
import { blank, Stranger } from '../test/attack/stranger.ts'
import { noNats } from '../test/conformance/nats.ts'
import { heard, keepAlive } from './hub/holding.ts'
import { relay } from './hub/lanes.ts'
import { endRoom, register } from './hub/registering.ts'
import { WeighedServer } from './hub/weights.ts'
import type { Weight } from './hub/words.ts'
import { churn, GUEST_MS, ROOM_MS } from './hubs/churn.ts'
import { Places, processorMs } from './hubs/places.ts'
import { atLeast, atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'two hubs on NATS beside one on its file, and waits when one dies'

const FULL = {
  turns: 10,
  changes: 100,
  acts: 100,
  rooms: 8_000,
  ms: 3_000,
  churning: 10_000,
  settle: HELD_MS + 5_000,
}
const QUICK = { turns: 2, changes: 20, acts: 20, rooms: 500, ms: 500, churning: 200, settle: 0 }
type Plan = typeof FULL

/** As often as these are at once, rooms are founded and ended. */
const AT_ONCE = [64, 1_000]
const PACKET_BYTES = 1_100
/** A room is founded or joined with so many joins at most. */
const JOINS_MAX = 3
const CHANGE_GOAL = 3
const RELAY_GOAL = 2
const CLOSED_GOAL_MS = 250
const ROOM_GOAL_KB = 4
/** Streams that found many rooms. */
const FOUNDERS = 500
/** How often the memory of a hub is measured: the least counts. */
const LOOKS = 5
const RELAYED_GOAL_MS = 1_000
const HANGING_GOAL_MS = 3_000
/** Founding, joining and takeover: while NATS elects a leader, and while a hub is dead. */
const ELECTION_GOAL_MS = 10_000
const FAILOVER_GOAL_MS = 3_000
/** Virtual time in which rooms come and go. */
const CHURN_MS = 60_000
/** How long members are watched after each death. */
const WATCH_MS = 5_000

/** Measures; `quick` takes little of each, and judges no times. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const lacks = noNats()
  if (lacks !== null) return { tables: [], goals: [], notes: [lacks] }
  const folder = mkdtempSync(pathOf(tmpdir(), 'holdfast-bench-'))
  const places = await Places.start(folder)
  try {
    const plan = quick ? QUICK : FULL
    const tables: Table[] = []
    const goals: Goal[] = []
    for (const measure of [changes, rates, operations, packets, many, churning, deaths]) {
      const found = await measure(places, plan)
      tables.push(found.table)
      goals.push(...found.goals)
    }
    return { tables, goals: goals.map((goal) => (quick ? unjudged(goal) : goal)) }
  } finally {
    await places.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Found {
  readonly table: Table
  readonly goals: readonly Goal[]
}

/** A room is founded: one after the other. */
async function changes({ file, shared }: Places, plan: Plan): Promise<Found> {
  const times: [number[], number[]] = [[], []]
  for (let turn = 0; turn < plan.turns; turn++) {
    for (const [at, { url }] of [file, shared[0]].entries()) {
      times[at]!.push(...(await foundings(url, `one ${turn}`, plan.changes)))
    }
  }
  const [own, nats] = times
  const row = (what: string, all: number[]) => [what, inMs(part(all, 0.5)), inMs(part(all, 0.99))]
  const title = 'a room is founded, one after the other'
  const ratio = part(nats, 0.5) / part(own, 0.5)
  return {
    table: { title, columns: ['', 'p50', 'p99'], rows: [row('file', own), row('NATS', nats)] },
    goals: [atMost('a change on NATS / on the file, p50', ratio, CHANGE_GOAL, 'x')],
  }
}

async function foundings(url: string, name: string, count: number): Promise<number[]> {
  const stranger = new Stranger(url, '127.0.0.1', blank())
  await heard(stranger, 'welcome')
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const start = performance.now()
    stranger.add(`${name} ${n}`)
    await heard(stranger, 'added')
    times.push(performance.now() - start)
    endRoom(stranger)
    await heard(stranger, 'register')
  }
  stranger.end()
  return times
}

/** Rooms are founded and ended by many at once. */
async function rates({ file, shared }: Places, { ms, settle }: Plan): Promise<Found> {
  const rows: (string | number)[][] = []
  for (const streams of AT_ONCE) {
    const found: number[] = []
    for (const urls of [[file.url], [shared[0].url], shared.map(({ url }) => url)]) {
      const works = await Promise.all(urls.map((url) => register(url, streams / urls.length)))
      const done = await Promise.all(works.map((work) => work(ms)))
      found.push(done.reduce((sum, one) => sum + one.count / (one.ms / 1_000), 0))
    }
    rows.push([`${streams} at a time`, ...found.map((rate) => Math.round(rate))])
  }
  // The hubs delete later what was replaced: what follows is measured without that.
  await pause(settle)
  const title = 'rooms founded and ended a second'
  const columns = ['', 'one hub, file', 'one hub, NATS', 'two hubs, NATS']
  return { table: { title, columns, rows }, goals: [] }
}

const add = action('add', (table) => {
  table.set('sum', Number(table.get('sum') ?? 0) + 1)
})

/** Members whose packets all go through hubs, or who reach one another. */
function member(servers: readonly string[], room: string, isRelayed = true): Promise<Session> {
  const udp = isRelayed ? { udp: null } : {}
  return join({ game: 'bench', room, types: [add], server: servers, ...udp })
}

/** A relayed operation of the member that is not the primary. */
async function operations({ shared }: Places, plan: Plan): Promise<Found> {
  const [a, b] = shared.map(({ url }) => url) as [string, string]
  const pairs = [
    [await member([a], 'same'), await member([a], 'same')],
    [await member([a], 'apart'), await member([b], 'apart')],
  ] as const
  const times: [number[], number[]] = [[], []]
  for (let turn = 0; turn < plan.turns; turn++) {
    for (const [at, [, second]] of pairs.entries()) {
      for (let n = 0; n < plan.acts; n++) {
        const start = performance.now()
        await second.act(add, null)
        times[at]!.push(performance.now() - start)
      }
    }
  }
  for (const session of pairs.flat()) await session.leave()
  const [same, apart] = times
  const row = (what: string, all: number[]) => [what, inMs(part(all, 0.5)), inMs(part(all, 0.99))]
  const rows = [row('both at one hub', same), row('at two hubs', apart)]
  const ratio = part(apart, 0.5) / part(same, 0.5)
  return {
    table: { title: 'a relayed operation is acknowledged', columns: ['', 'p50', 'p99'], rows },
    goals: [atMost('relayed over two hubs / over one, p50', ratio, RELAY_GOAL, 'x')],
  }
}

/** As many relayed packets as the hubs take, and what they spend on them. */
async function packets({ file, shared }: Places, { ms }: Plan): Promise<Found> {
  const [a, b] = shared
  const rows: (string | number)[][] = []
  for (const [what, first, second] of [
    ['one hub, file', file, file],
    ['one hub, NATS', a, a],
    ['two hubs, NATS', a, b],
  ] as const) {
    const work = await relay(first.url, PACKET_BYTES, second.url)
    const hubs = [...new Set([first, second])]
    const before = hubs.map(({ pid }) => processorMs(pid))
    const { count, ms: elapsed, lost } = await work(ms)
    const spent = hubs.map(({ pid }, at) => (processorMs(pid) - before[at]!) / elapsed)
    const each = spent.map((one) => `${Math.round(one * 100)} %`).join(' and ')
    const rate = count / (elapsed / 1_000)
    const bytes = `${((rate * PACKET_BYTES) / 1e6).toFixed(1)} MB`
    rows.push([what, Math.round(rate), bytes, `${percent(lost / (count + lost))}`, each])
  }
  const columns = ['', 'a second', 'bytes a second', 'dropped', 'processor of each hub']
  const title = `relayed packets of ${PACKET_BYTES} B, as many as are taken`
  return { table: { title, columns, rows }, goals: [] }
}

/** Many rooms that nobody changes, at hubs that do nothing else, and others founded beside them. */
async function many(places: Places, plan: Plan): Promise<Found> {
  const store = places.cluster.servers.join()
  const hubs = [await WeighedServer.start(store), await WeighedServer.start(store)] as const
  const weights = (): Promise<Weight[]> => Promise.all(hubs.map((hub) => hub.weight(LOOKS)))
  const [a] = hubs
  const founders = Array.from({ length: FOUNDERS }, () => new Stranger(a.url, '127.0.0.1', blank()))
  keepAlive(founders)
  await Promise.all(founders.map((founder) => heard(founder, 'welcome')))
  // The first work makes a hub larger for good: compiled code and buffers.
  const warm = await register(a.url, AT_ONCE[0]!)
  await warm(plan.ms)
  await pause(plan.settle)
  const [before, earlier] = [await weights(), await places.cluster.state('holdfast-records')]
  const begun = performance.now()
  await Promise.all(founders.map((founder, at) => foundRooms(founder, at, plan.rooms / FOUNDERS)))
  const after = await weights()
  if (founders.some(({ isOver }) => isOver)) throw new Error('the hub dropped a stream')
  const each = (part: 'rss' | 'heap'): number[] =>
    after.map((weight, at) => (weight[part] - before[at]![part]) / plan.rooms / 1_024)
  const [sizes, heaps] = [each('rss'), each('heap')]
  const size = (at: number): string =>
    `${sizes[at]!.toFixed(1)} kB (heap: ${heaps[at]!.toFixed(1)} kB)`
  const later = await places.cluster.state('holdfast-records')
  const bytes = (later.bytes - earlier.bytes) / plan.rooms
  const start = performance.now()
  const third = await places.another()
  const started = performance.now() - start
  await third.kill('SIGTERM')
  const used = hubs.map(({ pid }) => processorMs(pid))
  await pause(plan.ms)
  const idle = hubs.map(({ pid }, at) => (processorMs(pid) - used[at]!) / plan.ms)
  const work = await register(a.url, AT_ONCE[0]!)
  const { count, ms } = await work(plan.ms)
  if (performance.now() - begun > ABSENT_MIN_MS) {
    throw new Error(
      `it took ${inMs(performance.now() - begun)}, and rooms without members had ended`,
    )
  }
  for (const founder of founders) founder.end()
  await Promise.all(hubs.map((hub) => hub.end()))
  const rows = [
    ['memory of a room at its hub', size(0)],
    ['memory of a room at the other hub', size(1)],
    ['bytes of a room in NATS, at each server', `${Math.round(bytes)} B`],
    ['a hub starts', inMs(started)],
    ['processor of each hub, in rest', idle.map(percent).join(' and ')],
    ['others founded and ended a second beside them', Math.round(count / (ms / 1_000))],
  ]
  return {
    table: { title: `${plan.rooms} rooms that nobody changes`, columns: ['', ''], rows },
    goals: [atMost('memory of a room at its hub', sizes[0]!, ROOM_GOAL_KB, 'kB')],
  }
}

async function foundRooms(founder: Stranger, at: number, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    founder.add(`idle ${at} ${n}`)
    await heard(founder, 'added')
    founder.attach()
    await heard(founder, 'attached')
  }
}

/** Rooms that come and go, in virtual time: what they ask of NATS, whose rate is measured above. */
async function churning(_places: Places, { churning: rooms }: Plan): Promise<Found> {
  const { founded, joined, refused, changes: all, bytes } = churn(rooms, CHURN_MS)
  const perSecond = (count: number): number => Math.round(count / (CHURN_MS / 1_000))
  const rows = [
    ['rooms founded a second', perSecond(founded)],
    ['guests who joined by the other hub, a second', perSecond(joined)],
    ['changes of records a second', perSecond(all)],
    ['bytes written a second', `${(perSecond(bytes) / 1_000).toFixed(1)} kB`],
  ]
  const lasts = `${ROOM_MS / 1_000} s and guests of ${GUEST_MS / 1_000} s`
  const roomsDue = (rooms * CHURN_MS) / ROOM_MS
  // A guest comes when another leaves, and into each new room.
  const guestsDue = (rooms * CHURN_MS) / GUEST_MS + roomsDue
  return {
    table: { title: `${rooms} rooms of ${lasts}, simulated`, columns: ['', ''], rows },
    goals: [
      atMost('requests refused, while rooms come and go', refused, 0, ''),
      atLeast('rooms founded / due', founded / roomsDue, 0.9, 'x'),
      atLeast('guests who joined / due', joined / guestsDue, 0.9, 'x'),
    ],
  }
}

/** The longest waits of members, founders and joiners while processes die, and of a takeover. */
async function deaths(places: Places): Promise<Found> {
  const { shared, cluster } = places
  const [a, b] = shared
  const urls = [a.url, b.url]
  const relayed = [await member(urls, 'relayed'), await member(urls.toReversed(), 'relayed')]
  const direct = [await member(urls, 'direct', false), await member(urls, 'direct', false)]
  const rows: (string | number)[][] = []
  const waits = new Map<string, number[]>()
  const watch = async (what: string, act: () => Promise<void> | void, at: string) => {
    const takeover = await trio(urls, what)
    const founding = longestJoin((n) => member([at], `${what} ${n}`))
    const joining = longestJoin(() => member([at], 'direct', false))
    const all = [waitOf(relayed[1]!), waitOf(direct[1]!), founding, joining]
    await act()
    const found = await Promise.all([...all, takeover()])
    waits.set(what, found)
    rows.push([what, ...found.map(inMs)])
  }
  for (const server of cluster.servers.keys()) {
    await watch(`server ${server + 1} of NATS killed`, () => cluster.kill(server), b.url)
    cluster.start(server)
    await pause(WATCH_MS)
  }
  const stop = (): void => void process.kill(a.pid, 'SIGSTOP')
  await watch('the hub stands still', stop, b.url)
  process.kill(a.pid, 'SIGCONT')
  await pause(WATCH_MS)
  // The members went on at the other hub.
  const closed = async (): Promise<void> => void (await shared[1].kill('SIGTERM'))
  await watch('the hub is closed', closed, a.url)
  await places.restart()
  const killed = async (): Promise<void> => void (await a.kill('SIGKILL'))
  await watch('the hub is killed', killed, b.url)
  for (const session of [...relayed, ...direct]) await session.leave()
  const [hanging, dead] = [waits.get('the hub stands still')!, waits.get('the hub is killed')!]
  const gone = waits.get('the hub is closed')!
  const entries = ['founding', 'joining', 'takeover'].flatMap((what, at) => {
    const longest = (isServer: boolean): number => {
      const found = [...waits].filter(([event]) => event.includes('NATS') === isServer)
      return Math.max(...found.map(([, all]) => all[2 + at]!))
    }
    return [
      atMost(`${what}, a server of NATS is killed`, longest(true), ELECTION_GOAL_MS, 'ms'),
      atMost(`${what}, a hub dies, hangs or is closed`, longest(false), FAILOVER_GOAL_MS, 'ms'),
    ]
  })
  const title =
    'longest wait for an operation, until a room is founded or joined, and of a takeover'
  return {
    table: { title, columns: ['', 'relayed', 'direct', 'founding', 'joining', 'takeover'], rows },
    goals: [
      atMost('relayed, the hub is closed', gone[0]!, CLOSED_GOAL_MS, 'ms'),
      atMost('relayed, the hub is killed', dead[0]!, RELAYED_GOAL_MS, 'ms'),
      atMost('relayed, the hub stands still', hanging[0]!, HANGING_GOAL_MS, 'ms'),
      ...entries,
    ],
  }
}

async function waitOf(session: Session): Promise<number> {
  const until = performance.now() + WATCH_MS
  let longest = 0
  do {
    const start = performance.now()
    await session.act(add, null)
    longest = Math.max(longest, performance.now() - start)
    await pause(5)
  } while (performance.now() < until)
  return longest
}

// A join gives up after 15 s, and servers of NATS that have just started may elect for longer.
async function comesIn(enter: () => Promise<Session>): Promise<Session> {
  for (let tries = 1; ; tries++) {
    try {
      return await enter()
    } catch (error) {
      const isLate = error instanceof HoldfastError && error.code === 'timeout'
      if (!isLate || tries === JOINS_MAX) throw error
    }
  }
}

/** @param enter  founds or joins a room; called with how often that was done */
async function longestJoin(enter: (n: number) => Promise<Session>): Promise<number> {
  const until = performance.now() + WATCH_MS
  let longest = 0
  for (let n = 0; performance.now() < until; n++) {
    const start = performance.now()
    const session = await comesIn(() => enter(n))
    longest = Math.max(longest, performance.now() - start)
    await session.leave()
  }
  return longest
}

/**
 * Three members of a room.
 *
 * @returns kills the primary; returns how long another one waits for its next operation
 */
async function trio(urls: readonly string[], room: string): Promise<() => Promise<number>> {
  const [first, second, third] = [
    await member(urls, room, false),
    await member(urls, room, false),
    await member(urls, room, false),
  ]
  await third.act(add, null)
  const until = performance.now() + WATCH_MS
  while (first.safety !== 'backed-up') {
    if (performance.now() > until) throw new Error(`the room "${room}" has no backup`)
    await pause(5)
  }
  return async () => {
    const start = performance.now()
    first.debug.crash()
    await third.act(add, null)
    const waited = performance.now() - start
    for (const session of [second, third]) await session.leave()
    return waited
  }
}

function part(all: readonly number[], share: number): number {
  const sorted = all.toSorted((x, y) => x - y)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

const inMs = (ms: number): string => `${ms.toFixed(ms < 100 ? 2 : 0)} ms`
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
