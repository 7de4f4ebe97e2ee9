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

/** The present numbers of a hub, and its counts since it was opened. */
export interface HubFigures {
  /** Sessions in the register. */
  sessions: number
  /** Streams that are open. */
  streams: number
  /** Members that speak on one of them. */
  members: number
  /** False while the disk takes nothing: what exists goes on, nothing new is registered. */
  diskOk: boolean
  /** Rooms that are kept, also those that somebody is in, and how many bytes they are. */
  kept: Readonly<{ rooms: number; bytes: number }>
  /** How much the hub as a whole takes at once, by the code of the limit, as `hub.streams`. */
  ceilings: Readonly<Record<string, number>>
  /** Counts of what the hub did and refused; each only grows. */
  hub: Readonly<Hub['counters']>
  /** How often each limit was met, by its code, such as `address.streams`; each only grows. */
  refused: Readonly<Record<string, number>>
  /** Counts of streams by how their opening ended; each only grows. */
  door: Readonly<StreamServerCounters>
}

/** One session, as a lobby lists it. */
export interface ListedSession {
  /** Its id, another for each founding of a room. */
  session: string
  /** What `join` was given as `game`. */
  game: string
  /** What `join` was given as `room`. */
  room: string
  /** Players who are in it, as its server said last. */
  players: number
  /** Players for whom there is room. */
  playersMax: number
  /** `unreachable`: its primary does not answer, nor anybody else that could serve it. */
  standing: 'open' | 'full' | 'unreachable'
  /** How often its roles changed. */
  epoch: number
}

/** An entry of the register, as a lobby lists it. */
export function listedSession({ register, ...entry }: Entry): ListedSession {
  const { session, game, room, players, playersMax, standing } = entry
  return { session, game, room, players, playersMax, standing, epoch: register.epoch }
}

/** The ceilings of a hub among its limits. */
export function ceilingsOf(limits: Limits): HubFigures['ceilings'] {
  const ceilings: Record<string, number> = {}
  for (const { who, what, limit } of rowsOf(limits)) {
    if (who === 'hub' && typeof limit === 'number') ceilings[`hub.${what}`] = limit
  }
  return ceilings
}

/** All figures in Prometheus' text format, each name beginning with `holdfast_`. */
export function figuresText(figures: HubFigures): string {
  const { sessions, streams, members, diskOk, kept, ceilings, hub, door, refused } = figures
  return [
    countsText('holdfast_hub_total', 'What the hub did', hub),
    countsText('holdfast_streams_total', 'What happened at the door', door),
    metricText('holdfast_refused_total', 'counter', 'Limits that were met', byLimit(refused)),
    metricText('holdfast_ceiling', 'gauge', 'Most that the hub takes at once', byLimit(ceilings)),
    gaugeText('holdfast_disk_ok', 'Whether the disk takes what is written', diskOk ? 1 : 0),
    gaugeText('holdfast_sessions', 'Sessions in the register', sessions),
    gaugeText('holdfast_streams', 'Open streams', streams),
    gaugeText('holdfast_members', 'Attached members', members),
    gaugeText('holdfast_kept_rooms', 'Rooms that are kept', kept.rooms),
    gaugeText('holdfast_kept_bytes', 'Bytes that are kept of rooms', kept.bytes),
  ].join('')
}

function byLimit(values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([limit, value]) => ({ labels: { limit }, value }))
}
