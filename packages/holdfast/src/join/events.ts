/** What a session tells, and what it shows of itself. */

import type { Environment } from '../ports.ts'
import { Listeners } from '../api/emitter.ts'
import type { ObjectHandle } from '../objects/handles.ts'
import { type Reported, Reports } from '../api/reports.ts'
import type { ByteRates } from '../runtime/traffic.ts'
import type { Ballot, Banned } from './moderation.ts'
import type { MemberInfo } from '../kind/kind.ts'

export type { Listen } from '../api/emitter.ts'
export type { JoinProgress } from './progress.ts'
export type { Reported } from '../api/reports.ts'

/** Whether we are in touch. */
export type Status = 'live' | 'reconnecting' | 'lost'
/** How safe what is acknowledged is: held twice, once, at the hub, waiting for it, or late. */
export type Safety = 'backed-up' | 'alone' | 'kept' | 'waiting' | 'slow'

/** Whether the hub answers. */
export type HubReach = 'up' | 'down'

/** What may be listened to, and what the listener gets. */
export interface SessionEvents {
  /** In touch, on the way back, or lost for good. */
  status: Status
  /** How safe what is acknowledged is has changed. */
  safety: Safety
  /** The hub is out of reach, or in reach again. */
  hub: HubReach
  /** All that there was in the room before us has come, after `join` has returned. */
  complete: void
  /** Who serves now. */
  primary: MemberInfo
  /** Who would take over now, if anybody. */
  backup: MemberInfo | null
  /** A player came; not told of those who were here before. */
  join: MemberInfo
  /** A player went, as they were last. */
  leave: MemberInfo
  /** Any change of `members`. */
  members: readonly MemberInfo[]
  /** Any change of `banned`. */
  banned: readonly Banned[]
  /** Any change of `ballots`. */
  ballots: readonly Ballot[]
  /** Somebody asks for an object of ours whose type says `take: 'ask'`; unheard it is refused. */
  asked: Asking
  /** Server and backup were gone at once, and no survivor was shown secret fields of these. */
  lostSecrets: readonly string[]
  /** Server and backup were gone at once, and the others went on with what they had. */
  recovered: Recovery
  /** The room lacks what was stored of it: it went back in time, or is another copy. */
  rolledBack: RolledBack
  /** This member was out of touch, and is back. */
  healed: Healing
  /**
   * A function of the game threw: a listener, a rule, an action. It cost that one call; each is
   * told once, and where nobody listens the place reports it.
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

/** The events of a session that is about to be, and where errors of the game are reported. */
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

/** A member asks for an object of ours. The first answer counts. */
export interface Asking {
  /** Ours. */
  readonly object: ObjectHandle
  /** Who asks. */
  readonly by: MemberInfo
  /** Lets them have it, as it is at this moment. */
  grant(): void
  /** Keeps it: they are told `denied`. */
  refuse(): void
}

/** The server and its backup were gone at once, and the others went on. */
export interface Recovery {
  /** The number of the recovered session’s first view: it rises with each change of primary. */
  readonly epoch: number
  /** Whose copy of the table it is now: nobody who is left had seen more. Null if it went since. */
  readonly witness: MemberInfo | null
  /** The server and the backup that are gone: what they alone knew is lost. */
  readonly gone: readonly { readonly player: number; readonly name: string }[]
  /** Members that did not answer in time: they come back by themselves, if they live. */
  readonly silent: number
}

/**
 * What this player knew to be on the disk of the hub is not in the room any more. It is said once
 * for each such loss; then the room goes on without.
 */
export interface RolledBack {
  /**
   * So much is missing at least: actions, changes of pieces, who came and went. 0 where kept
   * objects alone are older, or where others have done as much in the copy that is there now.
   */
  readonly entries: number
  /**
   * Somebody put an older copy there who runs the hub (`holdfast rooms import`), or who began the
   * room from a file, and the room says so. Else nobody knows how it came.
   */
  readonly imported: boolean
}

/** We were out of touch, and are back. */
export interface Healing {
  /** For how long, in ms. */
  readonly awayMs: number
  /** Whether we are still the same player; if not, we were away for more than a minute. */
  readonly same: boolean
  /** Actions that had no outcome yet, and were asked for again. */
  readonly resent: number
  /** Actions that were recorded and are no more: the others recovered the session without us. */
  readonly lost: number
}

/** Figures of one's own connection, for a display. */
export interface SessionFigures {
  /** Round trip to the primary in ms; 0 for the primary itself; null while unknown. */
  rttMs: number | null
  /** `direct`, `relay`, or `none`. */
  path: 'direct' | 'relay' | 'none'
  /** Rises with each change of primary, by 1 or more. */
  epoch: number
  /** A word of the protocol: `alone` and `backedup` serve, `backup` stands by, `idle` neither. */
  role: string
  /** How often this member was out of touch and came back. */
  returns: number
  /** Bytes of datagrams of the last two seconds, each second, without the carrier's headers. */
  bytesPerSecond: ByteRates
  /** Whether the hub is in reach. */
  hub: boolean
  /**
   * As the server: how often something that others asked for waited or was turned away, for its
   * player asked for more than `operationsPerSecond`.
   */
  pushedBack: number
  /**
   * How often something that came made Holdfast itself throw, which is a bug of ours; the event
   * `error` names each.
   */
  threw: number
  /** Silence in ms after which the peer that our role hangs on is suspected; null for none. */
  suspectMs: number | null
}
