/**
 * Checks of user input. Each throws a HoldfastError `bad-value` that names option, value and cure.
 */

import { badValue, HoldfastError, NAME_MAX } from '../machine.ts'
import { isName, plainJson } from '../wire/text/plain.ts'
import { type Fields, schema, type Schema, shown } from '../wire/fields/schema.ts'

/** Longest name of a type, an action or a procedure. */
export const TYPE_NAME_MAX = 32

/** Refuses unknown options. @param what  the function that takes them, such as `join` */
export function checkOptions(what: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badValue(`${what} takes its options as an object: ${shown(given)}`)
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = nearest(name, known)
    const cure = meant !== null ? `did you mean "${meant}"?` : `it takes ${known.join(', ')}`
    throw badValue(`${what} takes no option "${name}": ${cure}`)
  }
}

/** The known name that an unknown one is close to; null for none. */
export function nearest(name: string, known: readonly string[]): string | null {
  return known.find((other) => distance(name, other) <= 2) ?? null
}

export function checkWord(what: string, value: unknown, words: readonly string[]): void {
  if (typeof value === 'string' && words.includes(value)) return
  throw badValue(`${what} is one of ${words.join(', ')}: ${shown(value)}`)
}

export function checkFlag(what: string, flag: unknown): boolean {
  if (typeof flag === 'boolean') return flag
  throw badValue(`${what} is true or false: ${shown(flag)}`)
}

export function checkCount(what: string, value: unknown, least: number, most: number): number {
  const count = Number.isInteger(value) ? (value as number) : NaN
  if (count >= least && count <= most) return count
  throw badValue(`${what} is ${least} to ${most}: ${shown(value)}`)
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw badValue(`${what} is a function: ${shown(value)}`)
}

const LATE = ['AsyncFunction', 'GeneratorFunction', 'AsyncGeneratorFunction']

/** Refuses a function that does not return at once. */
export function checkSync(what: string, value: unknown): void {
  checkFunction(what, value)
  const kind = (value as { constructor?: { name?: unknown } }).constructor?.name
  if (typeof kind === 'string' && LATE.includes(kind)) {
    throw badValue(`${what} answers at once: it may be neither async nor a generator`)
  }
}

export function fieldsOf<F extends Fields>(type: string, fields: F): Schema<F> {
  if (typeof fields !== 'object' || fields === null) {
    throw badValue(`${type}: its fields are an object, such as { hue: u8 }: ${shown(fields)}`)
  }
  try {
    return schema(fields)
  } catch (error) {
    if (error instanceof HoldfastError) throw badValue(`${type}: ${error.message}`)
    throw error
  }
}

// The edit distance: letters to insert, remove or change.
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same)
    }
    row = next
  }
  return row[other.length]!
}

export function checkName(name: unknown): void {
  if (typeof name !== 'string') throw badValue(`the name of a type is text: ${shown(name)}`)
  if (name.length > 0 && name.length <= TYPE_NAME_MAX) return
  const has = `${shown(name)} has ${name.length}`
  throw badValue(`the name of a type has 1 to ${TYPE_NAME_MAX} characters: ${has}`)
}

/** Refuses a value that is no server of Node. */
export function checkServer(what: string, server: unknown): void {
  const known = server as { listen?: unknown; address?: unknown; once?: unknown } | null | undefined
  const isOne = [known?.listen, known?.address, known?.once].every((one) => {
    return typeof one === 'function'
  })
  // Frameworks return objects that resemble servers, or null where there is none.
  if (isOne && typeof server === 'object') return
  throw badValue(
    `${what} is one of Node's http or https, such as http.createServer(app): ${shown(server)}`,
  )
}

export function checkPath(path: string): string {
  if (typeof path === 'string' && /^\/[\w.~!$&'()*+,;=:@%/-]+$/.test(path) && !path.endsWith('/'))
    return path
  throw badValue(`path is that of a URL, such as /hub or /rt/hub: ${shown(path)}`)
}

export function checkTexts(what: string, given: readonly string[]): readonly string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given
  throw badValue(`${what} is a list of texts: ${shown(given)}`)
}

export function checkNameOf(what: string, name: unknown): string {
  if (typeof name !== 'string')
    throw badValue(`${what} is a text of 1 to ${NAME_MAX} bytes: ${shown(name)}`)
  const bytes = new TextEncoder().encode(name).length
  if (!isName(name)) throw badValue(`${what} has no control characters: ${plainJson(name)}`)
  if (bytes > 0 && bytes <= NAME_MAX) return name
  throw badValue(`${what} has 1 to ${NAME_MAX} bytes: ${bytes}`)
}
