/** The state of a seeded run and its trace. */

import type { Millis, PeerId } from '../packages/holdfast/src/machine.ts'
import type { Role } from '../packages/holdfast/src/session/role-table.ts'
import type { Client } from './clients.ts'
import type { Drawing } from './seeds.ts'
import type { SessionBug } from './mutants.ts'
import type { SessionWorld } from '../packages/sim/src/session-world.ts'

/** What the checks of a run have observed. */
export interface Observations {
  wrong: Set<string>
  reached: Record<string, number>
  /** Who served, by session and epoch. */
  primaries: Map<string, PeerId>
  roles: Map<Client, Role>
  backups: Map<string, PeerId>
  /** Who served when the last outage of the hub began. */
  outage: string | null
  /** Who owned each version of each object of each session. */
  owners: Map<string, PeerId>
  /** When, after peace, all had their streams to the hub again. */
  calmAt: Millis
  /** When everything was looked at last. */
  lookedAt: Millis
}

/** The state of a run under way. */
export interface Trial {
  drawing: Drawing
  /** A bug in the rules of all members. */
  bug: SessionBug | null
  world: SessionWorld
  clients: Client[]
  /** The newest client of each machine, by the machine's name. */
  newest: Map<string, Client>
  observed: Observations
  story: string[]
}

/** Counts that something happened. */
export function count({ observed }: Trial, what: string): void {
  observed.reached[what] = (observed.reached[what] ?? 0) + 1
}

/** Writes a line of the story. */
export function trace({ world: w, story }: Trial, who: string, what: string): void {
  story.push(`${(w.now() / 1_000).toFixed(3).padStart(7)} s  ${who.padEnd(5)} ${what}`)
}
