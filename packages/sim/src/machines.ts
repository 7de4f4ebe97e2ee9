/**
 * Machines and the processes on them: event loop, alarms, clock and store.
 *
 * A process has a life. A crash ends it: events planned for that life do not happen, and its code
 * that is still referenced somewhere (behind a promise, say) finds loops, sockets and stores that
 * do nothing. The store belongs to the machine and survives the process.
 *
 * Clocks of two lives never agree: each starts at a random instant, as a real monotonic clock does,
 * which exposes a protocol that compares two of them.
 */

import * as prng from '../../holdfast/src/faults/prng.ts'
import { assert, type Millis } from '../../holdfast/src/machine.ts'
import type {
  Alarm,
  Loop,
  Store,
  StoreChange,
  StoredRecord,
  StoreOutcome,
} from '../../holdfast/src/ports.ts'
import type { Ground } from './ground.ts'
import * as timeline from './timeline.ts'
import type { Entry } from './timeline.ts'

const NEVER = Number.POSITIVE_INFINITY
/** Datagrams that the operating system buffers for a stalled node. */
export const DATAGRAMS_HELD_MAX = 256
/** A clock starts at a random value up to this. */
const CLOCK_START_MAX: Millis = 1_000_000
/** After a stall alarms run before arrivals: timers first, then input, is the worse order. */
const AHEAD = 2 ** 50

/** A machine that is off. @param address  its IP address, as streams show it */
export function create(ground: Ground, name: string, address: string) {
  return {
    name,
    address,
    /** Rises with each crash. */
    life: 0,
    running: false,
    /** Whether its operating system answers: it refuses datagrams and resets streams. */
    powered: false,
    /** Simulated time until which its loop stalls. */
    stalledUntil: 0,
    held: 0,
    /** The clock showed `shown` at simulated time `since` and runs at `factor`. */
    clock: { shown: 0, since: 0, factor: 1 },
    alarms: new Set<Clockwork>(),
    chance: prng.fork(prng.create(ground.seed), name),
    disk: createDisk(),
  }
}

/** What survives every crash. */
export function createDisk() {
  return {
    records: new Map<string, StoredRecord>(),
    blobs: new Map<string, Uint8Array>(),
    /** The names of the blobs of each record. */
    named: new Map<string, ReadonlySet<string>>(),
    rev: 0,
    /** Called with the key of each record that changes. */
    watchers: new Set<(key: string) => void>(),
  }
}

export type Disk = ReturnType<typeof createDisk>

/** One machine with at most one process. */
export type Machine = ReturnType<typeof create>

export function start(ground: Ground, machine: Machine): void {
  machine.running = true
  machine.powered = true
  machine.chance = prng.fork(prng.create(ground.seed), `${machine.name} ${machine.life}`)
  const shown = prng.below(machine.chance, CLOCK_START_MAX)
  machine.clock = { shown, since: ground.timeline.now, factor: 1 }
}

/** Ends the process, and with `silent` the machine. */
export function stop(machine: Machine, silent: boolean): void {
  machine.running = false
  machine.powered = !silent
  machine.life++
  machine.stalledUntil = 0
  machine.alarms.clear()
}

export function stall(ground: Ground, machine: Machine, ms: Millis): void {
  const { now } = ground.timeline
  if (machine.stalledUntil <= now) machine.held = 0
  machine.stalledUntil = Math.max(machine.stalledUntil, now + ms)
}

/** Postpones an event while the loop stalls. @returns false if it may run now */
export function putOff(ground: Ground, machine: Machine, entry: Entry): boolean {
  if (machine.stalledUntil <= ground.timeline.now) return false
  if (!entry.late && entry.kind === 'datagram' && ++machine.held > DATAGRAMS_HELD_MAX) {
    ground.counters.overflowed++
    return true
  }
  if (!entry.late && entry.kind === 'alarm') entry.order -= AHEAD
  entry.late = true
  entry.at = machine.stalledUntil
  timeline.insert(ground.timeline, entry)
  return true
}

export function setClock(ground: Ground, machine: Machine, factor: number): void {
  machine.clock = { shown: showing(ground, machine), since: ground.timeline.now, factor }
  for (const work of machine.alarms) set(work, work.due)
}

/** The loop of the current life. @param slackMs  alarms fire up to this much late */
export function loopOf(ground: Ground, machine: Machine, slackMs: Millis): Loop {
  const { life } = machine
  return {
    now: () => showing(ground, machine),
    random(count) {
      const bytes = new Uint8Array(count)
      prng.fill(machine.chance, bytes)
      return bytes
    },
    soon: (run) => alarmOf(ground, machine, life, run, 0).set(showing(ground, machine)),
    alarm: (run) => alarmOf(ground, machine, life, run, slackMs),
  }
}

/** Longest time of the disk to perform a write, and to report it. */
const DISK_MS: Millis = 4
/** Longest delay of the news of a change. */
const NEWS_MS: Millis = 50
/** Longest delay of a change whose answer was `unknown`. */
const LATE_MS: Millis = 1_000

/**
 * The machine's store, for the current life; later writes are ignored. Writes are atomic, even if
 * the process is killed during one.
 *
 * @param unsure  the share of changes whose outcome is `unknown`: of four such changes two are
 *   made, one is made later if the record is the same then, and one never
 * @param shared  a disk that other machines have as well; by default the machine's own
 */
export function storeOf(
  ground: Ground,
  machine: Machine,
  unsure: number,
  shared: Disk | null = null,
): Store {
  const { life } = machine
  const disk = shared ?? machine.disk
  const { records, blobs, named } = disk
  const chance = prng.fork(prng.create(ground.seed), `${machine.name} ${life} disk`)
  let open = true
  const soon = (run: () => void, most = DISK_MS): void => {
    const at = showing(ground, machine) + prng.next(chance) * most
    alarmOf(ground, machine, life, () => open && run(), 0).set(at)
  }
  const copyOf = ({ value, rev }: StoredRecord): StoredRecord => ({ value: value.slice(), rev })
  const lives = (): boolean => open && life === machine.life
  // Each time with what the record is by then.
  const watch: Store['watch'] = (changed) => {
    disk.watchers.add((key) => {
      const tell = (): void => {
        const found = records.get(key)
        changed(key, found ? copyOf(found) : null)
      }
      if (lives()) soon(tell, NEWS_MS)
    })
  }
  return {
    ...(shared && { isShared: true, watch }),
    entries: () => [...records].sort(byKey).map(([key, found]) => [key, copyOf(found)] as const),
    get(key, done) {
      const read = (): void => {
        const found = records.get(key)
        done(found ? copyOf(found) : null)
      }
      if (lives()) soon(read)
    },
    blobs(key, names, done) {
      const own = [...names]
      const find = (name: string): Uint8Array | null => {
        return named.get(key)?.has(name) ? blobs.get(name)!.slice() : null
      }
      if (lives()) soon(() => done(own.map(find)))
    },
    cas(change, done) {
      if (!lives()) return
      const perform = performing(disk, change)
      soon(() => {
        const isUnsure = unsure > 0 && prng.chance(chance, unsure)
        const isLost = isUnsure && prng.chance(chance, 0.5)
        const outcome = isLost ? 'unknown' : perform()
        if (isLost && prng.chance(chance, 0.5)) soon(perform, LATE_MS)
        soon(() => done(isUnsure ? 'unknown' : outcome))
      })
    },
    check: (done) => lives() && soon(() => done(null)),
    close: () => void (open = false),
  }
}

// The change as it is now: the caller may use the bytes again.
function performing(
  disk: Disk,
  { key, rev, value: given, blobs, from = '' }: StoreChange,
): () => StoreOutcome {
  const value = given?.slice() ?? null
  const puts = blobs.map(([name, bytes]) => [name, bytes?.slice() ?? null] as const)
  return () => {
    if (rev !== (disk.records.get(key)?.rev ?? 0)) return 'conflict'
    const names = new Set(disk.named.get(rev > 0 ? key : from))
    for (const [name, bytes] of puts) {
      if (bytes) disk.blobs.set(name, bytes)
      else disk.blobs.delete(name)
      if (bytes) names.add(name)
      else names.delete(name)
    }
    if (value) disk.named.set(key, names)
    else disk.named.delete(key)
    if (value) disk.records.set(key, { value, rev: ++disk.rev })
    else disk.records.delete(key)
    for (const changed of disk.watchers) changed(key)
    return { rev: value ? disk.rev : 0 }
  }
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

/** The current reading of the machine's clock. */
function showing(ground: Ground, { clock }: Machine): Millis {
  return clock.shown + (ground.timeline.now - clock.since) * clock.factor
}

export interface Clockwork {
  readonly ground: Ground
  readonly machine: Machine
  readonly life: number
  readonly run: () => void
  readonly slackMs: Millis
  /** When the alarm is due, by the machine's clock; Infinity while it is not set. */
  due: Millis
  /** The alarm's valid entry, retained over a cancel; all others in the timeline are stale. */
  entry: Entry | null
}

function alarmOf(
  ground: Ground,
  machine: Machine,
  life: number,
  run: () => void,
  slackMs: Millis,
): Alarm {
  const work: Clockwork = { ground, machine, life, run, slackMs, due: NEVER, entry: null }
  return { set: (at) => set(work, at), cancel: () => cancel(work) }
}

function set(work: Clockwork, at: Millis): void {
  const { machine, life } = work
  if (life !== machine.life) return
  assert(!Number.isNaN(at), 'an alarm is set to an instant')
  if (at === NEVER) return cancel(work)
  work.due = at
  machine.alarms.add(work)
  const instant = instantOf(work)
  // An early entry puts itself back, so moving a deadline later costs nothing.
  if (!work.entry || work.entry.at > instant) plan(work, instant)
}

function cancel(work: Clockwork): void {
  work.due = NEVER
  work.machine.alarms.delete(work)
}

/** The simulated time at which the machine's clock will show at least the due instant. */
function instantOf({ ground, machine, due }: Clockwork): Millis {
  const { shown, since, factor } = machine.clock
  let instant = since + (due - shown) / factor
  // Rounding may leave the clock just short, and the owner would set the alarm again forever.
  while (shown + (instant - since) * factor < due) {
    instant += 1e-9 + instant * 2 * Number.EPSILON
  }
  return Math.max(instant, ground.timeline.now)
}

function plan(work: Clockwork, instant: Millis): void {
  const { ground, machine, life, slackMs } = work
  const slack = slackMs > 0 ? prng.next(ground.chance) * slackMs : 0
  const ring = (entry: Entry): void => goOff(work, entry)
  work.entry = timeline.add(ground.timeline, instant + slack, ring, machine, life, 'alarm')
}

function goOff(work: Clockwork, entry: Entry): void {
  if (entry !== work.entry) return
  work.entry = null
  if (work.due === NEVER) return
  const instant = instantOf(work)
  if (instant > work.ground.timeline.now) return plan(work, instant)
  cancel(work)
  work.run()
}
