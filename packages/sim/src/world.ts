/**
 * A simulation in virtual time: machines, the network between them, and faults of both.
 *
 *     const world = createWorld({ seed: 7, conditions: 'rtt=40,loss=5%' })
 *     world.node('a', (node) => startMember(node))     // runs now and at each restart
 *     world.at(1_000, () => world.crash('a'))
 *     await world.run(5_000)
 *
 * Nodes get the ports that drivers offer (ports.ts), so the shipped code runs in them. The same
 * seed and calls give the same run, to the last line of the transcript; nothing here reads a real
 * clock or draws other random numbers.
 *
 * Code with promises needs `run`, which lets pending promises continue after each event before time
 * moves; code without may use `runSync`, which is faster.
 */

import * as conditions from '../../holdfast/src/faults/conditions.ts'
import type { Conditions } from '../../holdfast/src/faults/conditions.ts'
import { assert, badValue, HoldfastError, type Millis } from '../../holdfast/src/machine.ts'
import type { Accept, Connect, Loop, OpenDatagrams, Store } from '../../holdfast/src/ports.ts'
import * as datagrams from './datagrams.ts'
import { type Fault, type Schedule, sentenceOf } from './faults.ts'
import * as ground from './ground.ts'
import * as machines from './machines.ts'
import type { Machine } from './machines.ts'
import * as paths from './paths.ts'
import * as streams from './streams.ts'
import * as timeline from './timeline.ts'

/** The options of a simulation. */
export interface WorldOptions {
  /** A safe integer or a string. */
  seed: number | string
  /** Conditions of all paths; by default no loss and no delay. */
  conditions?: Partial<Conditions> | string
  /** Alarms fire up to this much late, uniformly distributed; default 0. */
  slackMs?: Millis
  /** The share of changes of stores whose outcome is `unknown`, from 0 to 1; default 0. */
  unsure?: number
  /** Names of nodes that have one disk together. */
  sharing?: readonly string[]
  /** Lines of the transcript to keep; default LINES_MAX, 0 for none. */
  linesMax?: number
  /**
   * The IP address of a node, as acceptors of its streams see it: nodes with the same one are
   * behind one router. By default each has its own.
   */
  addressOf?: (name: string) => string
  /** Describes the content of bytes, for the transcript. */
  describe?: (bytes: Uint8Array) => string
}

/** The ports of one life of a node. After a crash they do nothing. */
export interface SimNode {
  /** Its name in the world. */
  readonly name: string
  /** The address of its first socket: `sim:` and its name. */
  readonly address: string
  /** Its timers, random numbers and clock. */
  readonly loop: Loop
  /** Opens a socket of the simulated network. */
  readonly openDatagrams: OpenDatagrams
  /** Opens a stream to a URL at which a node listens. */
  readonly connect: Connect
  /** Accepts streams at a URL. @returns stops accepting @throws HoldfastError 'port-taken' */
  listen(url: string, accept: Accept): () => void
  /** The node's store; written records survive every crash. */
  readonly store: Store
  /** Whether this life still runs. */
  alive(): boolean
  /** Writes a line into the transcript. */
  note(what: string): void
}

/** How a node crashes. */
export interface CrashOptions {
  /** The whole machine dies: no peer is notified, nothing answers. */
  silent?: boolean
}

/** A simulation. Unknown node names throw 'not-found'. */
export interface World {
  /** Virtual time, in ms from 0. */
  now(): Millis
  /** Counts of events, traffic and faults. */
  readonly counters: Readonly<ground.Counters>
  /** The node of that name in its current life; a new one is created and booted. */
  node(name: string, boot?: (node: SimNode) => void): SimNode
  /** Names of all nodes, in order of creation. */
  names(): string[]
  /** Whether that node is up. */
  isRunning(name: string): boolean
  /** Lets that much time pass; promises continue after each event. */
  run(ms: Millis): Promise<void>
  /** Like `run`, until the claim holds. @returns whether it did within that time */
  runUntil(holds: () => boolean, maxMs: Millis): Promise<boolean>
  /** Like `run`, for code without promises. */
  runSync(ms: Millis): void
  /** Like `runUntil`, for code without promises. */
  runUntilSync(holds: () => boolean, maxMs: Millis): boolean
  /** Calls `act` at an instant of simulated time. */
  at(instant: Millis, act: () => void): void
  /** Ends a node's life at once; ignored if it is down. */
  crash(name: string, options?: CrashOptions): void
  /** Boots the node again; ignored if it runs. */
  restart(name: string): SimNode
  /** Cuts the groups from each other; nodes in no group form one more. @returns heals it */
  partition(groups: readonly (readonly string[])[]): () => void
  /** Drops messages from `from` to `to`. @returns heals it */
  deafen(from: string, to: string): () => void
  /** Heals all partitions and deafness. */
  heal(): void
  /** Stalls the node's loop; afterwards everything runs late, alarms first. */
  stall(name: string, ms: Millis): void
  /** Reports to the node that nobody listens at an address, as anyone on the path may forge. */
  refuse(name: string, address: string): void
  /** Sets the speed of the node's clock; 1 is normal. */
  slowClock(name: string, factor: number): void
  /** Sets the conditions from one node to the other; `*` is any. The newest for a pair apply. */
  conditions(from: string, to: string, conditions: Partial<Conditions> | string): void
  /** Worsens the conditions of all paths. @returns undoes that */
  weather(conditions: Partial<Conditions>): () => void
  /** Runs a schedule, starting now. */
  follow(steps: Readonly<Schedule>): void
  /** The last lines of the transcript: time in ms, who, what. */
  transcript(): readonly string[]
}

/** Default length of a transcript, in lines. */
export const LINES_MAX = 20_000
/** Maximum `slackMs`. */
export const SLACK_MAX: Millis = 10_000
/** Most events at one instant; more mean that code keeps setting alarms for the past. */
const AT_ONCE_MAX = 1_000_000
/** Turns of the promise queue after each event; a longer chain continues after the next event. */
const TURNS = 11

/** Creates a simulation without nodes, at time 0. @throws HoldfastError 'bad-value' */
export function createWorld(options: WorldOptions): World {
  const { seed, slackMs = 0, linesMax = LINES_MAX, describe = null } = options
  if (!(slackMs >= 0 && slackMs <= SLACK_MAX)) {
    throw badValue(`slackMs must be from 0 to ${SLACK_MAX}: ${slackMs}`)
  }
  const scene = begun(options, ground.create(seed, linesMax, describe), slackMs)
  return { ...timeOf(scene), ...nodesOf(scene), ...faultsOf(scene) }
}

function begun(options: WorldOptions, base: ground.Ground, slackMs: Millis) {
  const network = paths.create(read(options.conditions ?? {}))
  const nodes = new Map<string, Machine>()
  return {
    ground: base,
    paths: network,
    machines: nodes,
    sockets: datagrams.create(base, network, nodes),
    streams: streams.create(base, network),
    boots: new Map<string, (node: SimNode) => void>(),
    /** The ports of each node's current or last life. */
    present: new Map<string, SimNode>(),
    slackMs,
    unsure: options.unsure ?? 0,
    sharing: new Set(options.sharing ?? []),
    shared: machines.createDisk(),
    addressOf: options.addressOf ?? null,
    /** Events at the current instant. */
    atOnce: 0,
    lastAt: -1,
  }
}

function addressOf({ addressOf: given, machines: { size } }: Scene, name: string): string {
  return given?.(name) ?? `10.0.${(size >> 8) & 0xff}.${size & 0xff}`
}

type Scene = ReturnType<typeof begun>

function timeOf(scene: Scene) {
  const { ground: base } = scene
  const { timeline: line } = base
  const runUntil = (holds: () => boolean, maxMs: Millis): Promise<boolean> => {
    return inTurns(() => {
      const end = endOf(line.now, maxMs)
      return () => {
        while (!holds()) {
          const ran = step(scene, end)
          if (ran === 'nothing') return false
          if (ran === 'event') return null
        }
        return true
      }
    })
  }
  const runUntilSync = (holds: () => boolean, maxMs: Millis): boolean => {
    const end = endOf(line.now, maxMs)
    while (!holds()) if (step(scene, end) === 'nothing') return false
    return true
  }
  const never = (): boolean => false
  return {
    now: () => line.now,
    counters: base.counters,
    run: async (ms) => void (await runUntil(never, ms)),
    runUntil,
    runSync: (ms) => void runUntilSync(never, ms),
    runUntilSync,
    at: (instant, act) => void timeline.add(line, instant, act),
    transcript: () => ground.transcript(base),
  } satisfies Partial<World>
}

function nodesOf(scene: Scene) {
  return {
    node(name, boot) {
      const known = scene.present.get(name)
      if (known && !boot) return known
      if (known) throw badValue(`there is a node already: ${name}`)
      if (!/^[^\s:*|]+$/.test(name)) {
        throw badValue(`a node's name has no space and none of : * | "${name}"`)
      }
      scene.machines.set(name, machines.create(scene.ground, name, addressOf(scene, name)))
      if (boot) scene.boots.set(name, boot)
      return begin(scene, name)
    },
    names: () => [...scene.machines.keys()],
    isRunning: (name) => machineOf(scene, name).running,
    crash: (name, { silent = false } = {}) => crash(scene, name, silent),
    restart: (name) => restart(scene, name),
  } satisfies Partial<World>
}

type Faults = Pick<World, 'partition' | 'deafen' | 'stall' | 'slowClock' | 'weather'>

function faultsOf(scene: Scene) {
  const { ground: base, paths: network } = scene
  const faults = {
    partition: (groups) => partition(scene, groups),
    deafen: (from, to) => {
      for (const name of [from, to]) machineOf(scene, name)
      return cut(network, { kind: 'deafness', from, to })
    },
    heal: () => network.cuts.clear(),
    stall: (name, ms) => machines.stall(base, machineOf(scene, name), ms),
    refuse: (name, address) => datagrams.refuse(scene.sockets, machineOf(scene, name), address),
    slowClock(name, factor) {
      if (!(factor > 0 && factor <= 100)) {
        throw badValue(`a clock's factor must be above 0 to 100: ${factor}`)
      }
      machines.setClock(base, machineOf(scene, name), factor)
    },
    conditions(from, to, wire) {
      for (const name of [from, to]) if (name !== paths.ANYONE) machineOf(scene, name)
      paths.setConditions(network, from, to, read(wire))
    },
    weather: (wire) => paths.addOverlay(network, conditions.verify(wire)),
    follow(steps) {
      const { timeline: line } = base
      const start = line.now
      for (const { at, fault } of steps) {
        timeline.add(line, start + at, () => befall(scene, faults, fault))
      }
    },
  } satisfies Partial<World>
  return faults
}

/** Runs the next event until `end`. Promises continue only after an event that ran. */
function step(scene: Scene, end: Millis): 'event' | 'stale' | 'nothing' {
  const { timeline: line, counters } = scene.ground
  const entry = timeline.take(line, end)
  if (!entry) {
    line.now = Math.max(line.now, end)
    return 'nothing'
  }
  const { owner, life } = entry
  if (owner) {
    if (life !== timeline.ANY_LIFE && life !== owner.life) return 'stale'
    if (machines.putOff(scene.ground, owner as Machine, entry)) return 'stale'
  }
  counters.events++
  countAtOnce(scene, entry)
  entry.run(entry)
  return 'event'
}

function countAtOnce(scene: Scene, entry: timeline.Entry): void {
  const { now } = scene.ground.timeline
  scene.atOnce = now === scene.lastAt ? scene.atOnce + 1 : 0
  scene.lastAt = now
  if (scene.atOnce < AT_ONCE_MAX) return
  const who = entry.owner ? ` of ${(entry.owner as Machine).name}` : ''
  assert(false, `${AT_ONCE_MAX} events at ${now} ms, the last an ${entry.kind}${who}`)
}

// Calls the step that `begin` returns after every TURNS turns of the promise queue, until it has a
// result. Waiting by `await` would cost half as much again.
function inTurns(begin: () => () => boolean | null): Promise<boolean> {
  const turn = Promise.resolve()
  return new Promise((resolve, reject) => {
    const go = begin()
    let left = TURNS
    const next = (): void => {
      left -= 1
      if (left === 0) {
        try {
          const result = go()
          if (result !== null) return resolve(result)
        } catch (error) {
          return reject(error as Error)
        }
        left = TURNS
      }
      void turn.then(next)
    }
    void turn.then(next)
  })
}

function endOf(now: Millis, ms: Millis): Millis {
  if (!(ms >= 0)) throw badValue(`a world runs for 0 ms or more: ${ms}`)
  return now + ms
}

function begin(scene: Scene, name: string): SimNode {
  const { ground: base } = scene
  const machine = scene.machines.get(name)!
  machines.start(base, machine)
  ground.note(base, name, machine.life === 0 ? 'starts' : `starts again, life ${machine.life + 1}`)
  const node = portsOf(scene, machine)
  scene.present.set(name, node)
  scene.boots.get(name)?.(node)
  return node
}

function portsOf(scene: Scene, machine: Machine): SimNode {
  const { name, life } = machine
  const shared = scene.sharing.has(name) ? scene.shared : null
  return {
    name,
    address: `sim:${name}`,
    loop: machines.loopOf(scene.ground, machine, scene.slackMs),
    openDatagrams: (events) =>
      Promise.resolve(datagrams.open(scene.sockets, machine, life, events)),
    connect: (url, events) => streams.connect(scene.streams, machine, life, url, events),
    listen: (url, accept) => streams.listen(scene.streams, machine, life, url, accept),
    store: machines.storeOf(scene.ground, machine, scene.unsure, shared),
    alive: () => machine.life === life,
    note: (what) => ground.note(scene.ground, name, what),
  }
}

function crash(scene: Scene, name: string, silent: boolean): void {
  const machine = machineOf(scene, name)
  if (!machine.running) return
  ground.note(scene.ground, name, silent ? 'its machine dies' : 'crashes')
  datagrams.closeAll(scene.sockets, machine)
  // The life ends first, so that closing streams runs no code of the dead process.
  machines.stop(machine, silent)
  streams.closeAll(scene.streams, machine, silent)
}

function restart(scene: Scene, name: string): SimNode {
  return machineOf(scene, name).running ? scene.present.get(name)! : begin(scene, name)
}

function partition(scene: Scene, groups: readonly (readonly string[])[]): () => void {
  const sides = new Map<string, number>()
  for (const [side, group] of groups.entries()) {
    for (const name of group) sides.set(machineOf(scene, name).name, side)
  }
  return cut(scene.paths, { kind: 'partition', sides })
}

function cut(network: paths.Paths, made: paths.Cut): () => void {
  network.cuts.add(made)
  return () => void network.cuts.delete(made)
}

/** Applies a fault and schedules its end. A crash of a node that is down does not count. */
function befall(scene: Scene, faults: Faults, fault: Fault): void {
  const { ground: base } = scene
  const { timeline: line, counters } = base
  if ('node' in fault) {
    const { running } = machineOf(scene, fault.node)
    if (running === (fault.kind === 'restart')) return
  }
  counters.faults[fault.kind]++
  ground.note(base, 'world', sentenceOf(fault))
  const end = strike(scene, faults, fault)
  if (!end || !('ms' in fault)) return
  timeline.add(line, line.now + fault.ms, () => {
    ground.note(base, 'world', `ends: ${sentenceOf(fault)}`)
    end()
  })
}

/** Applies a fault. @returns a function that ends it; null if it has no end to schedule */
function strike(scene: Scene, faults: Faults, fault: Fault): (() => void) | null {
  switch (fault.kind) {
    case 'loss':
    case 'duplication':
    case 'jitter':
    case 'reordering':
      return faults.weather(fault.conditions)
    case 'partition':
      return faults.partition(fault.groups)
    case 'deafness':
      return faults.deafen(fault.from, fault.to)
    case 'crash':
      crash(scene, fault.node, fault.silent)
      return null
    case 'restart':
      restart(scene, fault.node)
      return null
    case 'stall':
      faults.stall(fault.node, fault.ms)
      return null
    case 'slow-clock': {
      const { life } = machineOf(scene, fault.node)
      faults.slowClock(fault.node, fault.factor)
      return () => {
        if (machineOf(scene, fault.node).life === life) faults.slowClock(fault.node, 1)
      }
    }
    case 'outage':
      crash(scene, fault.node, false)
      return () => void restart(scene, fault.node)
    default:
      return fault satisfies never
  }
}

function machineOf(scene: Scene, name: string): Machine {
  const machine = scene.machines.get(name)
  if (machine) return machine
  const known = [...scene.machines.keys()].join(', ') || 'none'
  throw new HoldfastError('not-found', `no node is called ${name}; there are ${known}`)
}

function read(wire: Partial<Conditions> | string): Conditions {
  return typeof wire === 'string' ? conditions.parse(wire) : conditions.verify(wire)
}
