/**
 * Timers of the table in a simulated run: members wind clocks, which ring once each, and not
 * before their time, whoever dies meanwhile.
 */

import { action, type ActionType } from '../../packages/holdfast/src/actions/actions.ts'
import type { Session } from '../../packages/holdfast/src/join/session.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'

/** A clock rings within so long. */
const RINGS_MS: Millis = 8_000
/** Where nobody serves it rings later, and sessions are served again within this. */
const LATE_MS: Millis = 40_000
/** Most clocks of a run: each is a few keys of the table. */
const CLOCKS_MAX = 60

const early = (name: string): string => `early ${name}`
const due = (name: string): string => `wound ${name}`
const rang = (name: string): string => `rang ${name}`

/** Notes that it rang, and whether that was before its time. */
export const ring: ActionType<string, void> = action('ring', (table, name: string, by): void => {
  table.set(rang(name), Number(table.get(rang(name)) ?? 0) + 1)
  if (by.player !== 0 || table.now < Number(table.get(due(name)))) table.set(early(name), 1)
})

/** Winds one. */
export const wind: ActionType<{ name: string; ms: Millis }, number> = action(
  'wind',
  (table, { name, ms }: { name: string; ms: Millis }) => {
    table.set(due(name), Math.ceil(table.now + ms))
    return table.later(ms, ring, name)
  },
)

/** What a member may do in one turn. */
export function playClocks(session: Session, who: string, chance: Prng): void {
  if (!prng.chance(chance, 0.1)) return
  const wound = session.table.keys('wound ').length
  if (wound >= CLOCKS_MAX) return
  const name = `${who}/${prng.below(chance, 2 ** 31)}`
  session.act(wind, { name, ms: prng.below(chance, RINGS_MS) }).catch(() => {})
}

/** timer.once, timer.due, timer.runs: what is not as it shall be with clocks. */
export function wrongClocks(session: Session): string[] {
  return session.table.keys('wound ').flatMap((key) => {
    const name = key.slice('wound '.length)
    const times = Number(session.table.get(rang(name)) ?? 0)
    if (times > 1) return [`timer.once: ${name} rang ${times} times`]
    if (session.table.get(early(name)) !== undefined) return [`timer.due: ${name} rang too early`]
    const since = session.now() - Number(session.table.get(key))
    return times === 0 && since > LATE_MS ? [`timer.runs: ${name} is ${since} ms late`] : []
  })
}

/** Clocks that have to ring yet. */
export function woundClocks(session: Session): number {
  const wound = session.table.keys('wound ').map((key) => key.slice('wound '.length))
  return wound.filter((name) => session.table.get(rang(name)) === undefined).length
}

/** Whether one rang. */
export function hasRung(session: Session): boolean {
  return session.table.keys('rang ').length > 0
}
