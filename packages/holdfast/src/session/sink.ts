/** The outside of a session: what it tells the layer above, and where its effects go. */

import type { ToHub } from '../hub-protocol/messages.ts'
import type { Millis, Out, PeerId } from '../machine.ts'
import type { Gone, Loss, Change, Member } from '../replication/layouts.ts'
import type { Joined, PeerMessage, Recovered, View } from './messages.ts'
import type { Role } from './table.ts'
import type { PartState } from '../replication/durable.ts'

/** The effects of an operation, as reported by the part on the primary. */
export interface Performed {
  outcome: Uint8Array
  refused?: boolean
  changes: Change[]
  /** Changes to be published to all members once they are safe. */
  news: Change[]
}

/** The parts of a member as its session needs them: their durable state, and their news. */
export interface Parts {
  /** Runs an operation on the primary's state of a part, which it does not change yet. */
  perform(part: number, body: Uint8Array, by: Member): Performed | null
  /** Makes one change of a part's durable state. */
  change(change: Change): void
  /** The durable state of all parts. */
  collect(): PartState[]
  /** The durable state of all parts that was published to us, in the form of `collect`. */
  published(): PartState[]
  /** Replaces the durable state of all parts; false if one is missing or rejects its own. */
  restore(parts: PartState[]): boolean
  /**
   * The same from what was kept, and then the changes behind it: parts that it lacks begin anew,
   * others are left out.
   */
  reopen(parts: readonly PartState[], changes: readonly Change[]): boolean
  /** All that a room keeps of what is in no log; and what of it changed since it was asked last. */
  loose(): PartState[]
  looseChanges(): Change[]
  /** Whether a part needs a player who is away, by its durable or its published state (S-5). */
  keeps(player: number): boolean
  /** The news of a part with only what a player may see; the same bytes if that is all of them. */
  show(part: number, news: Uint8Array, player: number): Uint8Array
  /** News of a part for ourselves, from the primary. */
  news(part: number, from: PeerId, bytes: Uint8Array): void
}

/** Events for the layer above. */
export type SessionEvent =
  | { kind: 'view'; view: View; before: View | null; why: Gone | null }
  | { kind: 'role'; role: Role }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  /** We came back as another player: nobody knows whether these operations were done. */
  | { kind: 'unknown'; seqs: number[] }
  /** The connection to the primary is lost, or is back. */
  | { kind: 'lost'; lost: boolean }
  /** Members that are out of the hub's reach just now; all of them each time. */
  | { kind: 'away'; members: ReadonlySet<PeerId> }
  /** All state up to this point is known: news from now on are new. */
  | { kind: 'caught-up' }
  /** Primary and backup are gone for good: state that only they had is lost. */
  | { kind: 'abandoned' }
  /** We are not a member any more: come back with a new incarnation. */
  | { kind: 'removed'; why: string }
  /** As primary: the backup acks late and no member can replace it; or it is in time again. */
  | { kind: 'slow'; slow: boolean }
  /** As primary: commits may be published again, or not until the hub is heard again. */
  | { kind: 'leased'; leased: boolean }
  /** Primary and backup were gone at once, and the session goes on without what only they knew. */
  | Recovered
  /** The hub was asked about that peer, primary or backup: packets to it shall take the relay. */
  | { kind: 'unheard'; peer: PeerId }
  /** As primary of a room that is kept: the hub does so again; or not, and why. */
  | { kind: 'kept'; why: string }
  /** What was on the disk of the hub is not in the room any more. */
  | ({ kind: 'rolledBack' } & Loss)
  /** As primary: these members must be sent a snapshot of all parts. */
  | { kind: 'welcome'; to: readonly PeerId[] }
  /** As primary: a member asks for the room as a file. */
  | (PeerMessage & { kind: 'askRoom' } & { from: PeerId })
  /** The primary sends us a piece of it. */
  | (PeerMessage & { kind: 'room' })

/** The whole state, entries behind what was kept last, or the whole state for a file. */
export type SheetKind = 'whole' | 'entries' | 'file'

/** The session's sink. It keeps no separate record: the entries of the log are the record. */
export interface SessionOut extends Pick<Out<PeerMessage, never, SessionEvent>, 'send' | 'emit'> {
  /** Sends a message to the hub, in order. */
  hub(message: ToHub): void
  /** A sheet as it is to be kept, with which the log has so many entries. */
  seal(sheet: Uint8Array, index: number, as: SheetKind): Uint8Array
  /** Session time now; our own clock while it is not known. */
  time(): Millis
  /** Answers a process that asked to join, by the number that it was given with its JOIN. */
  answer(asker: number, joined: Joined): void
  /** All parts of this member. */
  readonly parts: Parts
}
