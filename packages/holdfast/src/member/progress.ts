/** What a process on its way in waits for, for whoever shows it. */

import { LATER } from '../hub-protocol/messages.ts'
import type { Millis } from '../machine.ts'
import * as arrival from './arrival.ts'
import { JOIN_MS, type Runtime } from './state.ts'

/** The hub, a room to be opened or found, its server, or what there is in the room. */
export type WaitingFor = 'hub' | 'room' | 'server' | 'state'

/** See the head of this file. */
export interface Waiting {
  readonly waitingFor: WaitingFor
  /** Why that takes long, as a sentence; empty where nobody said. */
  readonly reason: string
  /** Until when at most, on our clock; Infinity where nobody can say. */
  readonly until: Millis
}

/** As it is now. */
export function waitingOf(run: Runtime): Waiting {
  const { hub, greeted, phase, met, unfound, giveUpAt } = run.member
  const until = arrival.deadline(run)
  if (phase === 'in' || phase === 'out') return { waitingFor: 'state', reason: '', until }
  if (hub === 'closed' || !greeted) return { waitingFor: 'hub', reason: met?.what ?? '', until }
  if (phase === 'asking') return { waitingFor: 'server', reason: '', until }
  const opens = unfound.startsWith(LATER) ? giveUpAt - JOIN_MS : until
  return { waitingFor: 'room', reason: unfound, until: opens }
}
