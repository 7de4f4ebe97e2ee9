/** What is known of a seeded run while it goes on, and what is written down of it. */

import type { Millis, PeerId } from '../packages/holdfast/src/machine.ts'
import type { Role } from '../packages/holdfast/src/session/role-table.ts'
import type { Life } from './lives.ts'
import type { Drawing } from './seeds.ts'
import type { SessionBug } from './twists.ts'
import type { SessionWorld } from '../packages/sim/src/session-world.ts'

/** What is written down during a run. */
export interface Account {
  wrong: Set<string>
  reached: Record<string, number>
  /** Who served, by session and epoch. */
  primaries: Map<string, PeerId>
  roles: Map<Life, Role>
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
  /** A bug planted in all members. */
  plant: SessionBug | null
  world: SessionWorld
  lives: Life[]
  /** The newest life of each machine, by the machine's name. */
  newest: Map<string, Life>
  account: Account
  story: string[]
}

/** Counts that something happened. */
export function count({ account }: Trial, what: string): void {
  account.reached[what] = (account.reached[what] ?? 0) + 1
}

/** Writes a line of the story. */
export function tell({ world: w, story }: Trial, who: string, what: string): void {
  story.push(`${(w.now() / 1_000).toFixed(3).padStart(7)} s  ${who.padEnd(5)} ${what}`)
}
