/** One trial: the primary's process is killed, and the survivors tell when they are served. */

import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../processes/clock.ts'
import type { Cluster } from './cluster.ts'

const OVER_MS = 10_000

/** Where the time of one trial went, in ms after the kill. */
export interface Pause {
  /** How long the backup's detector waited just then; not an instant. */
  bound: number
  /** The backup suspected. */
  suspected: number
  /** The register had named it. */
  took: number
  /** The last survivor heard of it. */
  led: number
  /** The last survivor had an operation acknowledged by it. */
  served: number
}

/**
 * Kills the primary of a steady cluster, or has it stand still. The one who replaces it is hired by
 * the caller.
 */
export async function trial(
  cluster: Cluster,
  how: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL',
): Promise<Pause> {
  const backup = await cluster.steady()
  cluster.forget()
  // The kill shall not keep step with anybody's heartbeat.
  await pause(Math.random() * 10)
  const primary = cluster.handOf(backup.primary)
  const killed = cluster.dismiss(primary, how)
  const survivors = cluster.hands
  const until = killed + OVER_MS
  const of = (kind: 'led' | 'served'): number[] =>
    survivors.flatMap(({ told }) =>
      told.flatMap((said) => (said.kind === kind && said.epoch > backup.epoch ? [said.at] : [])),
    )
  while (of('served').length < survivors.length) {
    await pause(20)
    if (clock() > until) throw new Error(lateness(cluster, OVER_MS))
  }
  // A primary that stood still does not come back: the next trial has the session to itself.
  primary.child.kill('SIGKILL')
  const { told } = cluster.handOf(backup.inc)
  const role = (name: string): number =>
    told.flatMap((said) =>
      said.kind === 'role' && said.role === name && said.at > killed ? [said.at] : [],
    )[0] ?? NaN
  return {
    bound: backup.suspectMs ?? NaN,
    suspected: role('taking') - killed,
    took: role('alone') - killed,
    led: Math.max(...of('led')) - killed,
    served: Math.max(...of('served')) - killed,
  }
}

function lateness(cluster: Cluster, ms: number): string {
  const told = JSON.stringify(cluster.hands.map((hand) => hand.told))
  return `somebody was not served within ${ms} ms: ${told}`
}
