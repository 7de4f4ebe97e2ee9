/** Objects as a game defines them, and their part of a session. */

import { badValue } from '../machine.ts'
import { checkCount } from '../api/options.ts'
import * as objects from './protocol/objects.ts'
import type { Part } from '../kind/protocol/part.ts'
import { type Fields, shown } from '../wire/fields/schema.ts'
import { ObjectRegistry } from './registry.ts'
import type { Host, Kind, Opened } from '../kind/kind.ts'
import {
  compileObject,
  keptTextOf,
  OBJECT_TYPES_MAX,
  type ObjectOptions,
  type ObjectType,
  textOf,
} from './types.ts'

/** Most send ticks of objects a second. */
const RATE_MAX: number = 1_000 / objects.GATHER_MS

export const objectsKind: Kind<'object'> = {
  word: 'object',
  channel: objects.OBJECTS_CHANNEL,
  most: OBJECT_TYPES_MAX,
  options: ['objectsPerPlayer', 'updatesPerSecond'],
  text: (definition) => textOf(definition as ObjectType),
  keptText: (definition) => keptTextOf(definition as ObjectType),
  hides: (definition) => {
    const { kept, visibility } = (definition as ObjectType).rules
    return Boolean(kept) && visibility !== null
  },
  terms: ({ objectsPerPlayer }) => termsOf(objectsPerPlayer),
  open: (definitions, host) => open(definitions as readonly ObjectType[], host),
}

function open(types: readonly ObjectType[], host: Host): Opened {
  const state = objects.create(1_000 / rateOf(host.options['updatesPerSecond']))
  const rules = types.map(({ rulesFor }) => rulesFor(host.reports.report))
  const { keeper = null } = types.find((type) => type.keeper) ?? {}
  const part = objects.objectsPart(rules, keeper) as Part<never>
  return { part, state, face: new ObjectRegistry(types, rules, state, host) }
}

function termsOf(most: unknown): string {
  if (most === undefined) return ''
  return `objects=${checkCount('objectsPerPlayer', most, 0, objects.OBJECTS_MAX)}`
}

function rateOf(rate: unknown = RATE_MAX): number {
  if (typeof rate === 'number' && rate >= 1 && rate <= RATE_MAX) return rate
  throw badValue(`updatesPerSecond is 1 to ${RATE_MAX}: ${shown(rate)}`)
}

/**
 * Defines a type of objects by the fields of its state. Each object has one owner, who alone sets
 * it; everybody receives the newest state, and nobody waits for it.
 *
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, a motion whose
 *   fields do not fit, and a state that may exceed 1,024 bytes, as it is sent in one datagram.
 *   The message lists the bytes of each field
 */
export function object<F extends Fields>(
  name: string,
  fields: F,
  options: ObjectOptions<NoInfer<F>> = {},
): ObjectType<F> {
  return compileObject(objectsKind, name, fields, options as ObjectOptions<F>)
}
