/** Figures of a hub: plain data for programs, text for Prometheus. */

import type { StreamServerCounters } from '../../../holdfast/src/drivers/net/server/stream-counters.ts'
import type { Hub } from '../machine/hub.ts'
import { type Limits, rowsOf } from '../machine/limits.ts'
import type { Entry } from '../../../holdfast/src/hub-protocol/messages.ts'
import {
  countsText,
  gaugeText,
  metricText,
  type Sample,
} from '../../../holdfast/src/api/prometheus.ts'

/** Current numbers of a hub, and counts since it was opened. */
export interface HubFigures {
  /** Sessions in the register. */
  sessions: number
  /** Open streams. */
  streams: number
  /** Attached members. */
  members: number
  /** Pairs of members whose packets the hub relayed in the last whole ten seconds. */
  relayedPairs: number
  /** False while writes fail: sessions continue, but no new one is registered. */
  diskOk: boolean
  /** Stored rooms, including those in use, and their bytes. */
  kept: Readonly<{ rooms: number; bytes: number }>
  /** The hub's ceilings by the code of the limit, such as `hub.streams`. */
  ceilings: Readonly<Record<string, number>>
  /** Counts of what the hub did and refused; they only grow. */
  hub: Readonly<Hub['counters']>
  /** How often each limit was exceeded, by its code, such as `address.streams`; only grows. */
  refused: Readonly<Record<string, number>>
  /** Counts of streams by the result of their opening; they only grow. */
  door: Readonly<StreamServerCounters>
}

/** One session, as a lobby lists it. */
export interface ListedSession {
  /** Its id, different for each founding of a room. */
  session: string
  /** The `game` of `join`. */
  game: string
  /** The `room` of `join`. */
  room: string
  /** Number of players, as its primary last reported. */
  players: number
  /** Maximum number of players. */
  playersMax: number
  /** `unreachable`: its primary does not answer, nor does any member that could take over. */
  standing: 'open' | 'full' | 'unreachable'
  /** Raised by each change of its roles. */
  epoch: number
}

/** An entry of the register, as a lobby lists it. */
export function listedSession({ register, ...entry }: Entry): ListedSession {
  const { session, game, room, players, playersMax, standing } = entry
  return { session, game, room, players, playersMax, standing, epoch: register.epoch }
}

/** The limits of the hub as a whole that are ceilings. */
export function ceilingsOf(limits: Limits): HubFigures['ceilings'] {
  const ceilings: Record<string, number> = {}
  for (const { who, what, limit } of rowsOf(limits)) {
    if (who === 'hub' && typeof limit === 'number') ceilings[`hub.${what}`] = limit
  }
  return ceilings
}

/** All figures in Prometheus' text format, with names that begin with `holdfast_`. */
export function figuresText(figures: HubFigures): string {
  const { sessions, streams, members, diskOk, kept, ceilings, hub, door, refused } = figures
  return [
    countsText('holdfast_hub_total', 'Events at the hub', hub),
    countsText('holdfast_streams_total', 'Streams by result of their opening', door),
    metricText('holdfast_refused_total', 'counter', 'Requests over a limit', byLimit(refused)),
    metricText('holdfast_ceiling', 'gauge', 'Ceilings of the hub', byLimit(ceilings)),
    gaugeText('holdfast_disk_ok', 'Whether writes to the store succeed', diskOk ? 1 : 0),
    gaugeText('holdfast_sessions', 'Sessions in the register', sessions),
    gaugeText('holdfast_streams', 'Open streams', streams),
    gaugeText('holdfast_members', 'Attached members', members),
    gaugeText(
      'holdfast_relayed_pairs',
      'Pairs of members that need the relay',
      figures.relayedPairs,
    ),
    gaugeText('holdfast_kept_rooms', 'Stored rooms', kept.rooms),
    gaugeText('holdfast_kept_bytes', 'Bytes of stored rooms', kept.bytes),
  ].join('')
}

function byLimit(values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([limit, value]) => ({ labels: { limit }, value }))
}
