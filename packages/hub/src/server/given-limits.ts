/** The limits and trusted proxies that the operator configures. */

import type { Rate } from '../../../holdfast/src/bucket.ts'
import { defaults, type Limits, TABLE, type Who } from '../machine/limits.ts'
import { SESSIONS_MAX } from '../machine/register.ts'
import { badValue } from '../../../holdfast/src/machine.ts'
import { shown } from '../../../holdfast/src/wire/fields/fields.ts'
import { nearest } from '../../../holdfast/src/api/options.ts'

/**
 * Limits that differ from the defaults, by who and what, as `{ address: { streams: 64 } }`. A limit
 * that refills is `{ max, perSecond }`. docs/commands.md lists all of them.
 */
export type HubLimits = { readonly [W in Who]?: Partial<Readonly<Limits[W]>> }

/**
 * All limits: the given ones, else the defaults.
 *
 * @param what  the option's name for errors: `limits`
 * @throws HoldfastError `bad-value` that names the limit and the value
 */
export function readLimits(what: string, given: unknown): Limits {
  const made = defaults()
  for (const [who, own] of entriesOf(what, given, Object.keys(TABLE))) {
    const rows: Record<string, Rate | number> = made[who as Who]
    const names = Object.keys(rows)
    if (names.length === 0) throw badValue(`${what}: ${who} has no limits yet`)
    for (const [name, limit] of entriesOf(`${what}: ${who}`, own, names)) {
      rows[name] = readLimit(`${what}: ${who}.${name}`, limit, typeof rows[name] === 'object')
    }
  }
  if (made.hub.rooms <= SESSIONS_MAX) return made
  throw badValue(`${what}: hub.rooms is at most ${SESSIONS_MAX}: ${made.hub.rooms}`)
}

function entriesOf(what: string, given: unknown, known: readonly string[]): [string, unknown][] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badValue(`${what} is an object, such as { ${known[0]}: … }: ${shown(given)}`)
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = nearest(name, known)
    const cure = meant === null ? `there are ${known.join(', ')}` : `did you mean "${meant}"?`
    throw badValue(`${what} has no "${name}": ${cure}`)
  }
  return Object.entries(given)
}

function readLimit(what: string, given: unknown, isRate: boolean): Rate | number {
  if (!isRate) return positive(what, given)
  const own = new Map(entriesOf(what, given, ['max', 'perSecond']))
  const [max, perSecond] = ['max', 'perSecond'].map((one) =>
    positive(`${what}.${one}`, own.get(one)),
  )
  return { max: max!, perSecond: perSecond! }
}

function positive(what: string, given: unknown): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return given
  throw badValue(`${what} is a whole number above 0: ${shown(given)}`)
}
