/** What the hub knows, what it does outside of itself, and how it says things. */

import type { Bucket } from '../bucket.ts'
import type { Millis, PeerId } from '../machine.ts'
import { type FromHub, fromHub, REASON_MAX, type ToHub } from './messages.ts'
import * as register from './register.ts'
import { encode } from '../wire/layout.ts'
import { frameMessage } from '../wire/relay.ts'

/** One stream. */
export interface Connection {
  /** It said hello in a version that we speak. */
  greeted: boolean
  session: string
  /** Of the member it speaks for, or 0. */
  inc: PeerId
  /** The session whose primary it asked last: that one may reply. */
  asked: string
  /** Sessions that it created. */
  created: number
  allowance: Bucket
  /** For relayed datagrams, in bytes. */
  relay: Bucket
}

/** All the hub knows. */
export interface Hub {
  /** The only games that there may be sessions of; null for any. */
  games: ReadonlySet<string> | null
  directory: register.Directory
  /** Differs after each start. */
  boot: number
  connections: Map<number, Connection>
  /** Streams that have not said hello, and since when; oldest first. */
  mute: Map<number, Millis>
  /** For each session its attached members' streams. */
  attached: Map<string, Map<PeerId, number>>
  /** Members that were removed a moment ago, by `removedKey`; oldest first. */
  removed: Map<string, Removed>
  /** Who asked for the change that the disk is to take, by session. */
  asked: Map<string, Asked>
  /** What waits until the disk has answered, by session: of each stream the newest of a kind. */
  waiting: Map<string, Waiting[]>
  /** Counts sessions that were created since the start. */
  created: number
  counters: HubCounters
}

/** A stream that says something: when, and where answers go. */
export interface Call {
  hub: Hub
  now: Millis
  /** The number of the stream. */
  connection: number
  from: Connection
  out: HubOut
}

/** A member that is not in the newest list: for a while it still hears what others say to it. */
export interface Removed {
  connection: number
  session: string
  inc: PeerId
  until: Millis
}

/** How a removed member is found. */
export function removedKey(session: string, inc: PeerId): string {
  return `${inc} ${session}`
}

/** Whom the answer to a change goes to. */
export interface Asked {
  connection: number
  request: number
  kind: 'add' | 'change'
}

/** A message that waits for the disk. */
export interface Waiting {
  connection: number
  message: ToHub
}

/** What the hub counts, for its metrics. */
export interface HubCounters {
  relayed: number
  relayedBytes: number
  /** Relayed datagrams whose target is not attached. */
  astray: number
  /** Relayed datagrams dropped because their target's stream is behind. */
  congested: number
  malformed: number
  /** Replies, lists of members and answers by whom they are not for. */
  forged: number
  /** Streams that were closed for saying too much, or no hello. */
  flooding: number
  mute: number
  changes: number
  /** Compare-and-sets that failed. */
  conflicts: number
  /** Takeovers that were not made because the primary answered. */
  vetoes: number
  /** Sessions and changes that were refused because the disk did not take them. */
  unkept: number
  /** Streams that were closed because what they said broke something in here. */
  thrown: number
}

/** What the hub does outside of itself. */
export interface HubOut {
  send(connection: number, bytes: Uint8Array): void
  /** Hands on a datagram, unreliably: what cannot leave at once is dropped. */
  relay(connection: number, from: PeerId, datagram: Uint8Array): void
  /** The record of this session must be written: `record`, then `kept` or `unkept`. */
  record(session: string): void
  close(connection: number, why: string): void
}

/** A hub that has read its disk. @param boot a random number of 32 bits */
export function create(now: Millis, boot: number, games: ReadonlySet<string> | null = null): Hub {
  return {
    games,
    directory: register.create(now),
    boot,
    connections: new Map(),
    mute: new Map(),
    attached: new Map(),
    removed: new Map(),
    asked: new Map(),
    waiting: new Map(),
    created: 0,
    counters: {
      relayed: 0,
      relayedBytes: 0,
      astray: 0,
      congested: 0,
      malformed: 0,
      forged: 0,
      flooding: 0,
      mute: 0,
      changes: 0,
      conflicts: 0,
      vetoes: 0,
      unkept: 0,
      thrown: 0,
    },
  }
}

/** The sink of the directory's verbs. */
export function directoryOut(hub: Hub, out: HubOut): register.DirectoryOut {
  return {
    record: (session) => out.record(session),
    send: (to, question) => {
      const stream = hub.attached.get(question.session)?.get(to)
      if (stream !== undefined) say(stream, question, out)
    },
    emit: () => {},
  }
}

/** Tells all attached members of a session. */
export function tell(hub: Hub, session: string, news: FromHub, out: HubOut, but: PeerId = 0): void {
  for (const [inc, connection] of hub.attached.get(session) ?? []) {
    if (inc !== but) say(connection, news, out)
  }
}

/** Says no, and why. */
export function refuse(connection: number, request: number, why: string, out: HubOut): void {
  say(connection, { kind: 'refused', request, why: cut(why) }, out)
}

/** Says it on one stream. */
export function say(connection: number, message: FromHub, out: HubOut): void {
  out.send(connection, frameMessage(encode(fromHub, message)))
}

// A reason may carry a sentence of the store, which names a file.
function cut(why: string): string {
  const bytes = new TextEncoder().encode(why)
  if (bytes.length <= REASON_MAX) return why
  // What cannot be read at the cut becomes one character of three bytes.
  return new TextDecoder().decode(bytes.subarray(0, REASON_MAX - 3))
}
