/** The events of a session, and its figures. */

import type { Environment } from '../ports.ts'
import { Listeners } from '../api/emitter.ts'
import type { ObjectHandle } from '../objects/handles.ts'
import { type Reported, Reports } from '../api/reports.ts'
import type { ByteRates } from '../runtime/member-loop.ts'
import type { Ballot, Banned } from './moderation.ts'
import type { MemberInfo } from '../kind/kind.ts'

export type { Listen } from '../api/emitter.ts'
export type { JoinProgress } from './progress.ts'
export type { Reported } from '../api/reports.ts'

/** Whether this member is connected to its session. */
export type Status = 'live' | 'reconnecting' | 'lost'
/** How safe acknowledged changes are: on two members, on one, at the hub, waiting, or slow. */
export type Safety = 'backed-up' | 'alone' | 'kept' | 'waiting' | 'slow'

/** Whether the hub answers; `waiting` if it does, but waits for its store. */
export type HubReach = 'up' | 'waiting' | 'down'

/** The events by name, each with the value that listeners get. */
export interface SessionEvents {
  /** Connected, reconnecting, or lost for good. */
  status: Status
  /** The safety of acknowledged changes changed. */
  safety: Safety
  /** The hub became unreachable or waits for its store, or is back. */
  hub: HubReach
  /** All state from before this member has arrived, after `join` returned without it. */
  complete: void
  /** The new primary. */
  primary: MemberInfo
  /** The member that would take over now, or null. */
  backup: MemberInfo | null
  /** A player joined; not emitted for players who were here before this member. */
  join: MemberInfo
  /** A player left, with its last state. */
  leave: MemberInfo
  /** Any change of `members`. */
  members: readonly MemberInfo[]
  /** Any change of `banned`. */
  banned: readonly Banned[]
  /** Any change of `ballots`. */
  ballots: readonly Ballot[]
  /** A member requests our object of a type with `take: 'ask'`; refused without a listener. */
  asked: Asking
  /** Primary and backup failed at once, and no survivor knows the secret fields of these types. */
  lostSecrets: readonly string[]
  /** Primary and backup failed at once, and the others recovered the session. */
  recovered: Recovery
  /** The room lacks changes that were stored: it is an older copy, or another room. */
  rolledBack: RolledBack
  /** This member reconnected. */
  healed: Healing
  /**
   * A function of the game threw: a listener, a rule, an action. Only that call failed. Or a STUN
   * or TURN server refuses this member (`where` is `webrtc`). Each error is emitted once; without a
   * listener the page or process reports it.
   */
  error: Reported
}

const NAMES: readonly (keyof SessionEvents)[] = [
  ...([
    'status',
    'safety',
    'hub',
    'complete',
    'primary',
    'backup',
    'join',
    'leave',
    'members',
    'banned',
    'ballots',
  ] as const),
  ...(['asked', 'lostSecrets'] as const),
  ...(['recovered', 'rolledBack', 'healed', 'error'] as const),
]

/** Creates the events of a session, and its error reports. */
export function openEvents({ loop, report }: Pick<Environment, 'loop' | 'report'>): {
  events: Listeners<SessionEvents>
  reports: Reports
} {
  const reports = new Reports({
    soon: (run) => loop.soon(run),
    notify: (reported) => {
      if (!events.hasListeners('error')) return false
      events.emit('error', reported)
      return true
    },
    reportUncaught: ({ error, where }) => report(error, where),
  })
  const events: Listeners<SessionEvents> = new Listeners('a session', NAMES, reports)
  return { events, reports }
}

/** A member's request for one of our objects. The first answer counts. */
export interface Asking {
  /** Our object. */
  readonly object: ObjectHandle
  /** The member that requests it. */
  readonly by: MemberInfo
  /** Gives that member the object in its current state. */
  grant(): void
  /** Keeps the object: the member's outcome is `denied`. */
  refuse(): void
}

/** A recovery after primary and backup failed at once. */
export interface Recovery {
  /** The epoch of the recovered session’s first view: it rises with each change of primary. */
  readonly epoch: number
  /** The most advanced survivor, whose copy of the table is used. Null if it left since. */
  readonly witness: MemberInfo | null
  /** The failed primary and backup: what only they knew is lost. */
  readonly gone: readonly { readonly player: number; readonly name: string }[]
  /** Members that did not answer in time; they rejoin if they are alive. */
  readonly silent: number
}

/**
 * The room lost changes that this player knew to be on the hub's disk. Reported once for each loss;
 * the room goes on without them.
 */
export interface RolledBack {
  /**
   * Least number of missing log entries: actions, changes of pieces, joins and leaves. 0 if only
   * stored objects are older, or if the current copy has as many other entries.
   */
  readonly entries: number
  /**
   * Whether the hub's operator imported the room (`holdfast rooms import`), or it started from a
   * file. If false, the cause is unknown.
   */
  readonly imported: boolean
}

/** A reconnection of this member. */
export interface Healing {
  /** How long it was disconnected, in ms. */
  readonly awayMs: number
  /** Whether this is still the same player; if not, it was away for over a minute. */
  readonly same: boolean
  /** Actions without an outcome that were sent again. */
  readonly resent: number
  /** Committed actions that are lost: the others recovered the session without this member. */
  readonly lost: number
}

/** Figures of this member's connection, for a display. */
export interface SessionFigures {
  /** Round trip to the primary in ms; 0 for the primary itself; null while unknown. */
  rttMs: number | null
  /** `direct`, `relay`, or `none`. */
  path: 'direct' | 'relay' | 'none'
  /** Rises with each change of primary, by 1 or more. */
  epoch: number
  /** The protocol's role: `alone` and `backedup` are primary, `backup` backup, `idle` neither. */
  role: string
  /** How often this member was disconnected and came back. */
  returns: number
  /** Bytes of datagrams per second over the last two seconds, without the carrier's headers. */
  bytesPerSecond: ByteRates
  /** Whether the hub is reachable. */
  hub: boolean
  /**
   * On the primary: how often a request waited or was rejected because its player exceeded
   * `operationsPerSecond`.
   */
  pushedBack: number
  /**
   * How often an input made Holdfast itself throw: a bug in Holdfast, reported by the event
   * `error`.
   */
  threw: number
  /** Silence in ms after which we suspect the peer that our role depends on; null for none. */
  suspectMs: number | null
}
