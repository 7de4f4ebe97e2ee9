/** The definitions of one game, sorted by kind and name: their given order does not matter. */

import { badValue, HoldfastError } from '../machine.ts'
import { byUtf8, shown } from '../wire/fields/schema.ts'
import type { Definition, Kind } from './kind.ts'

/** The definitions of a game by kind, kinds by channel, definitions by name. */
export interface Definitions {
  readonly kinds: ReadonlyMap<Kind, readonly Definition[]>
  /** The text on which two builds must agree, a line for each definition. */
  readonly text: string
  /** The text by which a stored room is read when it is opened again. */
  readonly kept: string
}

/** Sorts them. @throws HoldfastError code `bad-value` for a name used twice */
export function sortDefinitions(given: unknown): Definitions {
  const names = new Set<string>()
  const all = new Map<Kind, Definition[]>()
  for (const definition of checked(given)) {
    const { kind, name } = definition
    if (names.has(name)) throw badValue(`two types of this game are called "${name}"`)
    names.add(name)
    const some = all.get(kind)
    if (some) some.push(definition)
    else all.set(kind, [definition])
  }
  const kinds = [...all].toSorted(([one], [other]) => one.channel - other.channel)
  for (const [i, [kind, some]] of kinds.entries()) {
    const { word, most, channel } = kind
    const before = kinds[i - 1]?.[0]
    if (some.length > most) {
      throw badValue(`a game has ${most} types of ${word}s at most: ${some.length}`)
    }
    if (before?.channel === channel) {
      throw badValue(`two kinds of parts have the channel ${channel}: ${before.word} and ${word}`)
    }
    some.sort((one, other) => byUtf8(one.name, other.name))
  }
  const each = (textOf: (kind: Kind, definition: Definition) => string): string[] => {
    return kinds.flatMap(([kind, some]) => some.map((one) => textOf(kind, one)))
  }
  const kept = each((kind, one) => kind.keptText?.(one) ?? '').filter((line) => line !== '')
  const text = each((kind, one) => kind.text(one)).join('\n')
  return { kinds: new Map(kinds), text, kept: kept.join('\n') }
}

/**
 * The position of a type among the given ones. They match by kind, name and fields, for a module
 * that hot reload runs again makes an equal type.
 *
 * @throws HoldfastError code `not-found`
 */
export function placeOf<Type extends Definition>(given: readonly Type[], type: Type): number {
  const place = given.indexOf(type)
  if (place >= 0) return place
  const namesake = given.findIndex(({ name }) => name === type.name)
  if (namesake < 0) throw notGiven(type)
  if (textOf(given[namesake]!) === textOf(type)) return namesake
  throw notGiven(type, 'with these fields: it has changed since, so reload the page')
}

function textOf(definition: Definition): string {
  return definition.kind.text(definition)
}

/** The error for a definition that `join` was not given. @param how  in which way it was not */
function notGiven({ kind, name }: Definition, how: string = ''): HoldfastError {
  const said = `the ${kind.word} "${name}" was not given to join${how && ` ${how}`}`
  return new HoldfastError('not-found', said)
}

/** The kind that equals that of a definition by another copy of the library. @throws `not-found` */
export function givenKind(kinds: Definitions['kinds'], type: Definition): Kind {
  for (const [kind, given] of kinds) {
    if (kind.word !== type.kind.word || kind.channel !== type.kind.channel) continue
    placeOf(given, type)
    return kind
  }
  throw notGiven(type)
}

/** The kind of a definition; null for any other value. */
export function kindOf(definition: unknown): Kind | null {
  const kind = (definition as { kind?: unknown } | null | undefined)?.kind
  const isKind = typeof kind === 'object' && kind !== null && 'open' in kind
  return isKind ? (kind as Kind) : null
}

function checked(given: unknown): readonly Definition[] {
  if (!Array.isArray(given)) throw badValue(`types is a list: ${shown(given)}`)
  for (const [i, type] of (given as unknown[]).entries()) {
    if (kindOf(type)) continue
    const makers = 'object(), piece(), action(), procedure(), slots() or definePart()'
    throw badValue(`types[${i}] is made by ${makers}: ${shown(type)}`)
  }
  return given as readonly Definition[]
}
