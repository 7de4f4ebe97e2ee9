/** Plain values as text: actions, calls and slots take and answer JSON. */

import { HoldfastError } from '../machine.ts'

/** Deepest nesting of arrays and objects. */
export const DEPTH_MAX = 64

/**
 * A value as JSON; undefined becomes null.
 *
 * @param what  its name in a sentence
 * @throws HoldfastError code `bad-value` that names what JSON does not have, as `checkPlain`
 */
export function toJson(value: unknown, what = 'a value'): string {
  const given = value ?? null
  checkPlain(given, what)
  return JSON.stringify(given)
}

/**
 * Refuses values that JSON would change: NaN and infinities, functions, symbols, bigints, instances
 * of classes, circles. A field that is undefined is left out, as in JSON.
 *
 * @throws HoldfastError code `bad-value` that names the place, such as `args.pos[1]`
 */
export function checkPlain(value: unknown, what: string): void {
  // Making names of places costs more than the check itself, so they are made only for an error.
  if (!isSent(value, 0)) name(value, what, [])
}

// A circle is infinitely deep.
function isSent(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return value - value === 0
  if (typeof value !== 'object' || depth >= DEPTH_MAX) return false
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isSent(value[i], depth + 1)) return false
    return true
  }
  if (!isPlain(value)) return false
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const field = fields[key]
    if (field !== undefined && !isSent(field, depth + 1)) return false
  }
  return true
}

function name(value: unknown, what: string, above: readonly object[]): void {
  if (typeof value !== 'object' || value === null) {
    if (!isSent(value, 0)) throw no(what, nameOf(value))
    return
  }
  if (above.includes(value)) throw no(what, 'a circle')
  if (above.length >= DEPTH_MAX) throw no(what, `more than ${DEPTH_MAX} levels deep`)
  const within = [...above, value]
  if (Array.isArray(value)) {
    return Array.from(value).forEach((each, i) => name(each, `${what}[${i}]`, within))
  }
  if (!isPlain(value)) throw no(what, nameOf(value))
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) name(field, `${what}.${key}`, within)
  }
}

function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value)
  // An object of another window or context is plain too.
  const isRoot = kind !== null && Object.getPrototypeOf(kind) === null
  return (kind === null || isRoot) && !('toJSON' in value)
}

function nameOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const { name } = value.constructor ?? {}
    return name ? `a ${name}` : 'no plain object'
  }
  return ['function', 'symbol', 'bigint'].includes(typeof value)
    ? `a ${typeof value}`
    : String(value)
}

function no(what: string, found: string): HoldfastError {
  const takes = 'text, finite numbers, true, false, null, arrays and plain objects'
  return new HoldfastError('bad-value', `${what} cannot be sent: it is ${found}, not ${takes}`)
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
