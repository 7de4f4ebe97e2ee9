/**
 * In which of their types two builds of a game differ, as a sentence for whoever is refused.
 *
 * The types of a game are a text of lines: for each type of objects its name, its fields in braces
 * and what else belongs to it, for each action its name, for each procedure that and `()`.
 */

/** Longest types of a game that are told to another build, in bytes of UTF-8. */
export const TYPES_MAX: number = 32 * 1024

// The other text comes from the network: its names may be of any length.
const SENTENCE_MAX = 300

/** A type of objects, taken apart. */
interface Type {
  fields: Map<string, string>
  rest: string
}

/** The types of a game, taken apart. */
interface Types {
  types: Map<string, Type>
  actions: Map<string, ''>
  procedures: Map<string, ''>
}

/** The first difference between our types and those of the session. It takes any text. */
export function differenceOf(here: string, there: string): string {
  const [ours, theirs] = [takenApart(here), takenApart(there)]
  const first =
    missing('type', ours.types, theirs.types) ??
    differentType(ours.types, theirs.types) ??
    missing('action', ours.actions, theirs.actions) ??
    missing('procedure', ours.procedures, theirs.procedures) ??
    'the same types and actions stand in another order'
  return `this build and the session do not fit: ${first}`.slice(0, SENTENCE_MAX)
}

function takenApart(text: string): Types {
  const made: Types = { types: new Map(), actions: new Map(), procedures: new Map() }
  for (const line of text.split('\n')) {
    const open = line.indexOf(' { ')
    const close = line.indexOf(' }', open)
    if (open >= 0 && close >= 0) {
      const fields = new Map(
        line
          .slice(open + 3, close)
          .split(', ')
          .map(pair),
      )
      made.types.set(line.slice(0, open), { fields, rest: line.slice(close + 3) })
    } else if (line.endsWith('()')) {
      made.procedures.set(line.slice(0, -2), '')
    } else if (line !== '') {
      made.actions.set(line, '')
    }
  }
  return made
}

function pair(field: string): [name: string, text: string] {
  const at = field.indexOf(': ')
  return at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 2)]
}

function missing(
  what: 'type' | 'action' | 'procedure',
  ours: ReadonlyMap<string, unknown>,
  theirs: ReadonlyMap<string, unknown>,
): string | null {
  for (const name of ours.keys()) {
    if (!theirs.has(name)) return `${what} "${name}" is here and not there`
  }
  for (const name of theirs.keys()) {
    if (!ours.has(name)) return `${what} "${name}" is there and not here`
  }
  return null
}

function differentType(
  ours: ReadonlyMap<string, Type>,
  theirs: ReadonlyMap<string, Type>,
): string | null {
  for (const [name, here] of ours) {
    const there = theirs.get(name)
    if (!there) continue
    const field = differentField(here.fields, there.fields)
    if (field !== null) return `type "${name}"${field}`
    if (here.rest !== there.rest) {
      return `type "${name}", besides its fields: ${both(here.rest, there.rest)}`
    }
  }
  return null
}

function differentField(
  ours: ReadonlyMap<string, string>,
  theirs: ReadonlyMap<string, string>,
): string | null {
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [here, there] = [ours.get(name), theirs.get(name)]
    if (here !== there) return `, field "${name}": ${both(here, there)}`
  }
  const names = [...theirs.keys()]
  const moved = [...ours.keys()].find((name, at) => name !== names[at])
  return moved === undefined ? null : `: field "${moved}" stands in another place`
}

function both(here: string | undefined, there: string | undefined): string {
  return `${here || 'none'} here, ${there || 'none'} there`
}
