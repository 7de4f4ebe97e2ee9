/** Plain values as text: actions, calls and slots take and answer JSON. */

import { badValue } from '../../machine.ts'

/** Deepest nesting of arrays and objects. */
export const DEPTH_MAX = 64

/** A value as JSON; undefined becomes null. @throws as `checkPlain` */
export function toJson(value: unknown, what = 'a value'): string {
  const given = value ?? null
  checkPlain(given, what)
  return JSON.stringify(given)
}

/**
 * Refuses values that JSON would change: NaN and infinities, functions, symbols, bigints, class
 * instances, cycles. An undefined field is omitted, as in JSON.
 *
 * @throws HoldfastError code `bad-value` that names the place, such as `args.pos[1]`
 */
export function checkPlain(value: unknown, what: string): void {
  const odd = oddIn(value, [])
  if (odd === null) return
  const takes = 'text, finite numbers, true, false, null, arrays and plain objects'
  throw badValue(`${what}${odd.at} cannot be sent: it is ${odd.is}, not ${takes}`)
}

/** A value that cannot be sent, and its place. */
interface Odd {
  readonly at: string
  readonly is: string
}

// The place's name is built while unwinding, so a value that can be sent costs no text.
function oddIn(value: unknown, above: object[]): Odd | null {
  if (value === null || typeof value !== 'object') return oddAlone(value)
  if (above.includes(value)) return { at: '', is: 'a circle' }
  if (above.length >= DEPTH_MAX) return { at: '', is: `more than ${DEPTH_MAX} levels deep` }
  const isList = Array.isArray(value)
  if (!isList && !isPlain(value)) return { at: '', is: nameOf(value) }
  above.push(value)
  const odd = isList ? oddItem(value, above) : oddField(value as Record<string, unknown>, above)
  above.pop()
  return odd
}

function oddAlone(value: unknown): Odd | null {
  switch (typeof value) {
    case 'function':
    case 'symbol':
    case 'bigint':
      return { at: '', is: `a ${typeof value}` }
    case 'number':
      return Number.isFinite(value) ? null : { at: '', is: String(value) }
    case 'undefined':
      return { at: '', is: 'undefined' }
    default:
      return null
  }
}

// By index, because a hole counts as undefined too.
function oddItem(list: readonly unknown[], above: object[]): Odd | null {
  for (let i = 0; i < list.length; i++) {
    const odd = oddIn(list[i], above)
    if (odd !== null) return { at: `[${i}]${odd.at}`, is: odd.is }
  }
  return null
}

function oddField(fields: Readonly<Record<string, unknown>>, above: object[]): Odd | null {
  for (const key of Object.keys(fields)) {
    const field = fields[key]
    if (field === undefined) continue
    const odd = oddIn(field, above)
    if (odd !== null) return { at: `.${key}${odd.at}`, is: odd.is }
  }
  return null
}

function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value)
  // Plain objects of another window or context have another prototype.
  const isRoot = kind !== null && Object.getPrototypeOf(kind) === null
  return (kind === null || isRoot) && !('toJSON' in value)
}

function nameOf(value: object): string {
  const { name } = value.constructor ?? {}
  return name ? `a ${name}` : 'no plain object'
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
