/**
 * Whole sessions in virtual time: the shipped hub and the shipped Session on the simulator's
 * machines, so that anything may be killed, cut or stalled, and run again from the seed.
 *
 *     const w = world({ seed: 7, conditions: 'loss=10%,jitter=80' })
 *     const a = await w.join({ game: 'duel' })
 *     w.kill(a)
 *     await w.run(5_000)
 */

import type { Environment } from '../../holdfast/src/ports.ts'
import { HubServer } from '../../hub/src/server/hub-server.ts'
import { joinIn, type JoinOptions } from '../../holdfast/src/join/join.ts'
import type { InternalSession } from '../../holdfast/src/join/session-impl.ts'
import type { Millis } from '../../holdfast/src/machine.ts'
import { toyCiphers, toyCurves } from './toy-ciphers.ts'
import { createWorld, type SimNode, type World, type WorldOptions } from './world.ts'
import type { Claims } from '../../holdfast/src/hub-protocol/tickets.ts'
import type { TicketReader } from '../../hub/src/server/hub-server.ts'
import { fromHex, toHex } from '../../holdfast/src/wire/bytes.ts'

// Tickets of the simulator, which nobody signs: whoever runs in it may write one.

/** Writes one. */
export function toyTicket(claims: Omit<Claims, 'key'>): string {
  const said = new TextEncoder().encode(JSON.stringify(claims))
  return `toy.${toHex(said)}.toy`
}

/** Takes them. @param closed  games whose rooms nobody enters without one */
export function toyTickets(closed: readonly string[] = []): TicketReader {
  return {
    closed: new Set(closed),
    read: (ticket) => {
      const [kind, said = ''] = ticket.split('.')
      if (kind !== 'toy') return Promise.reject(new Error('the ticket is no toy'))
      const bytes = fromHex(said, said.length / 2)!
      const claims = JSON.parse(new TextDecoder().decode(bytes)) as Claims
      return Promise.resolve({ ...claims, key: null })
    },
  }
}

// How a session reports what was thrown inside of it.
const OURS = 'holdfast, at '
/** Where the hub of a world listens. */
export const HUB_URL = 'ws://hub/hub'

/** How one process of a world is made. */
export interface Place {
  /** Its name in transcripts; made up if not given. */
  name?: string
  /** A browser has no datagrams of its own: all goes through the hub. */
  kind?: 'node' | 'browser'
}

/** A world with a hub in it. */
export interface SessionWorld extends Omit<World, 'node'> {
  /** The world under it: machines, network and virtual time. */
  readonly sim: World
  /** What members reported that nobody listened to, as `where: error`. */
  readonly reported: readonly string[]
  /** The hub of the moment; null while it is down. */
  hub(): HubServer | null
  /** Joins from a process of its own. */
  join(options: JoinOptions, place?: Place): Promise<InternalSession>
  /** The machine a session runs on. */
  nodeOf(session: object): string
  /** Kills a session's process: no goodbye, no last word. */
  kill(session: object, options?: { silent?: boolean }): void
  /** Kills the hub’s process; what its store has stays. */
  killHub(): void
  /** Boots it again on that store. */
  restartHub(): void
}

/** Options of a world with a hub. */
export interface WorldOfSessions extends WorldOptions {
  /** Games whose rooms nobody enters without a ticket. */
  closed?: readonly string[]
}

/** A world with a hub and nobody else, at time 0. */
export function world({ closed = [], ...options }: WorldOfSessions): SessionWorld {
  const sim = createWorld(options)
  let hub: HubServer | null = null
  const nodes = new WeakMap<object, string>()
  const reported: string[] = []
  const report = (error: unknown, where: string): void => {
    reported.push(`${where}: ${String(error)}`)
  }
  let count = 0
  sim.node('hub', (node) => {
    const started = new HubServer(node.loop, node.store, {
      ...{ curves: toyCurves, tickets: toyTickets(closed), wall: () => sim.now() },
    })
    hub = started
    node.listen(HUB_URL, (stream, opening) => started.accept(stream, opening))
  })
  return {
    ...sim,
    sim,
    reported,
    hub: () => (sim.isRunning('hub') ? hub : null),
    join: async (wish, place = {}) => {
      const name = place.name ?? `m${++count}`
      const node = sim.node(name)
      const environment = environmentOf(node, place.kind ?? 'node', report)
      const joining = joinIn(environment, { ...wish, server: HUB_URL })
      const session = await driven(sim, joining)
      nodes.set(session, name)
      return session
    },
    nodeOf: (session) => nodes.get(session) ?? '',
    kill: (session, how) => sim.crash(nodes.get(session)!, how),
    killHub: () => sim.crash('hub'),
    restartHub: () => void sim.restart('hub'),
  }
}

/** A simulated machine as a place to run in. */
export function environmentOf(
  node: SimNode,
  kind: 'node' | 'browser',
  report: Environment['report'] = () => {},
): Environment {
  return {
    kind,
    loop: node.loop,
    crypto: () => ({ ciphers: toyCiphers, curves: toyCurves }),
    connect: node.connect,
    carriers: kind === 'node' ? [node.openDatagrams] : [],
    defaultServer: HUB_URL,
    report: (error, where) => {
      // A bug of ours, which the boundary of a member caught, is no less one in here.
      if (where.startsWith(OURS)) throw error
      report(error, where)
    },
    onEnd: () => () => {},
    onFreeze: () => () => {},
  }
}

/** Longer than any room is shut, and a join then waits. */
const DRIVE_MAX_MS: Millis = 120_000

// Time passes while somebody waits for a promise.
async function driven<Value>(sim: World, promise: Promise<Value>): Promise<Value> {
  let settled = false
  const watched = promise.finally(() => (settled = true))
  watched.catch(() => {})
  if (!(await sim.runUntil(() => settled, DRIVE_MAX_MS))) throw new Error('time is over')
  return watched
}
