/** Names of games, rooms and players, as they are given. */

import { badValue, NAME_MAX } from '../machine.ts'
import { shown } from '../wire/fields.ts'
import { isName, plainJson } from '../wire/plain.ts'

/** Returns the name. @throws HoldfastError code `bad-value` */
export function checkName(what: string, name: unknown): string {
  if (typeof name !== 'string') throw badValue(`${what} is text: ${shown(name)}`)
  const bytes = new TextEncoder().encode(name).length
  if (!isName(name)) throw badValue(`${what} has no control characters: ${plainJson(name)}`)
  if (bytes > 0 && bytes <= NAME_MAX) return name
  throw badValue(`${what} has 1 to ${NAME_MAX} bytes: ${bytes}`)
}
