/** Figures of a hub: plain data for programs, text for Prometheus. */

import type { StreamServerCounters } from '../../drivers/net/stream-counters.ts'
import type { Hub } from '../../directory/hub.ts'
import { countsText, gaugeText } from '../prometheus.ts'

/** How much there is now, and what has happened since the hub was opened. */
export interface HubFigures {
  /** Sessions in the register. */
  sessions: number
  /** Streams that are open. */
  streams: number
  /** Members that speak on one of them. */
  members: number
  /** False while the disk takes nothing: what is there goes on, nothing new is registered. */
  diskOk: boolean
  /** Counts of what the hub did and refused; each only grows. */
  hub: Readonly<Hub['counters']>
  /** Counts of what happened to streams at the door, by reason; each only grows. */
  door: Readonly<StreamServerCounters>
}

/** One session, as a lobby lists it. */
export interface ListedSession {
  session: string
  game: string
  room: string
  players: number
  playersMax: number
  /** `unreachable`: nobody who serves it answers. */
  standing: 'open' | 'full' | 'unreachable'
  /** How often its roles changed. */
  epoch: number
}

/** All of it in Prometheus' text format, each name beginning with `holdfast_`. */
export function figuresText(figures: HubFigures): string {
  const { sessions, streams, members, diskOk, hub, door } = figures
  return [
    countsText('holdfast_hub_total', 'What the hub did', hub),
    countsText('holdfast_streams_total', 'What happened at the door', door),
    gaugeText('holdfast_disk_ok', 'Whether the disk takes what is written', diskOk ? 1 : 0),
    gaugeText('holdfast_sessions', 'Sessions in the register', sessions),
    gaugeText('holdfast_streams', 'Open streams', streams),
    gaugeText('holdfast_members', 'Attached members', members),
  ].join('')
}
