/** Objects as a game defines them, and their part of a session. */

import * as objects from './protocol/objects.ts'
import { badValue } from '../machine.ts'
import { checkCount, checkName, checkOptions, fieldsOf } from '../api/options.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkSize, type Fields, type Schema, shown } from '../wire/fields/schema.ts'
import { ObjectRegistry } from './registry.ts'
import type { Kind } from '../kind/kind.ts'
import {
  OBJECT_TYPES_MAX,
  type ObjectOptions,
  type ObjectType,
  OWNING_OPTIONS,
  rulesOf,
  ruleText,
} from './types.ts'
import { courseOf } from './motion.ts'
import type { Report } from '../api/reports.ts'

/** Most send ticks of objects a second. */
const RATE_MAX: number = 1_000 / objects.GATHER_MS

const objectsKind: Kind<'object'> = {
  word: 'object',
  channel: objects.OBJECTS_CHANNEL,
  most: OBJECT_TYPES_MAX,
  options: ['objectsPerPlayer', 'updatesPerSecond'],
  text: (definition) => {
    const { name, schema, course, rules } = definition as ObjectType
    return [name, schema.text, ...(course ? [course.text] : []), ruleText(rules)].join(' ')
  },
  keptText: (definition) => {
    const { name, schema, rules } = definition as ObjectType
    return rules.kept ? `${name} ${schema.text} ${rules.timed ? 'timed ' : ''}kept` : ''
  },
  hides: (definition) => {
    const { kept, visibility } = (definition as ObjectType).rules
    return Boolean(kept) && visibility !== null
  },
  terms: ({ objectsPerPlayer }) => termsOf(objectsPerPlayer),
  open: (definitions, host) => {
    const types = definitions as readonly ObjectType[]
    const state = objects.create(1_000 / rateOf(host.options['updatesPerSecond']))
    const rules = types.map(({ rulesFor }) => rulesFor(host.reports.report))
    const { keeper = null } = types.find((type) => type.keeper) ?? {}
    const part = objects.objectsPart(rules, keeper) as Part<never>
    return { part, state, api: new ObjectRegistry(types, rules, state, host) }
  },
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
  const given = options as ObjectOptions<Fields>
  checkName(name)
  checkOptions(name, given, [...OWNING_OPTIONS, 'motion'])
  const schema = fieldsOf(name, fields)
  const whole = schema as unknown as Schema<Fields>
  const course = courseOf(name, fields, given.motion)
  checkSize(`${name}: its state`, whole, objects.STATE_MAX)
  const rulesFor = (report: Report): objects.TypeRules => {
    return rulesOf(name, whole, given, course !== null, report)
  }
  const keeper = given.kept?.keeper ?? null
  return { kind: objectsKind, name, schema, course, rules: rulesFor(() => {}), keeper, rulesFor }
}
