/**
 * A member whose state was changed by half (boundary.ts), and cannot be trusted.
 *
 * Who serves, or asks to, gives up as if it had been killed: its backup may have another state, and
 * nothing of the step that threw has left. Anybody else comes back as the same player, and is sent
 * everything anew; who has to do so again and again gives up too.
 */

import type { Millis } from '../machine.ts'
import { isTrueOf } from '../session/table.ts'
import * as entry from './entry.ts'
import type { Runtime } from './state.ts'

/** A member whose state broke so often within BREAKS_MS gives up. */
export const BREAKS_MAX = 3
/** See BREAKS_MAX. */
export const BREAKS_MS: Millis = 60_000

/** Leaves a state that broke. @returns whether there was one */
export function settle(run: Runtime): boolean {
  const { member, now } = run
  const { broken, phase, session } = member
  if (broken === '' || phase === 'out') return false
  const { role } = session.server
  const isServer = (['leads', 'serves', 'asks'] as const).some((trait) => isTrueOf(role, trait))
  member.breaks = [...member.breaks.filter((at) => now - at < BREAKS_MS), now]
  if (!isServer && phase === 'in' && !session.leaving && member.breaks.length < BREAKS_MAX) {
    member.broken = ''
    session.steps = 0
    entry.comeBack(run)
    return true
  }
  const again = isServer ? 'this member served' : 'it happened again and again'
  entry.breakDown(run, `an error in Holdfast ${broken}; ${again}, and gave up`)
  return true
}
