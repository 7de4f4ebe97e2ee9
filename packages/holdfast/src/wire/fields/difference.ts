/**
 * The difference between two builds' types of a game, as a sentence for the refused build.
 *
 * A game's types are lines of text: for each object type its name, its fields in braces and its
 * other options; for each action its name, for each procedure its name and `()`, both followed by
 * the argument fields and ` -> ` the answer, if any.
 */

/** Longest types of a game that are sent to another build, in bytes of UTF-8. */
export const TYPES_MAX: number = 32 * 1024

// The other text comes from the network: its names may have any length.
const SENTENCE_MAX = 300

interface Type {
  fields: Map<string, string>
  rest: string
}

interface Types {
  types: Map<string, Type>
  actions: Map<string, Type>
  procedures: Map<string, Type>
}

const ANSWER = '-> '

/** The first difference between our types and the session's. Accepts any text. */
export function differenceOf(here: string, there: string): string {
  const [ours, theirs] = [takenApart(here), takenApart(there)]
  const first =
    different('type', ours.types, theirs.types) ??
    different('action', ours.actions, theirs.actions) ??
    different('procedure', ours.procedures, theirs.procedures) ??
    'the same types and actions stand in another order'
  return `this build and the session do not fit: ${first}`.slice(0, SENTENCE_MAX)
}

function takenApart(text: string): Types {
  const made: Types = { types: new Map(), actions: new Map(), procedures: new Map() }
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const open = line.indexOf(' { ')
    const close = line.indexOf(' }', open)
    const has = open >= 0 && close >= 0
    const name = has ? line.slice(0, open) : line
    const fields = has
      ? line
          .slice(open + 3, close)
          .split(', ')
          .map(pair)
      : []
    const type = { fields: new Map(fields), rest: has ? line.slice(close + 3) : '' }
    const isType = type.rest !== '' && !type.rest.startsWith(ANSWER)
    if (isType) made.types.set(name, type)
    else if (name.endsWith('()')) made.procedures.set(name.slice(0, -2), type)
    else made.actions.set(name, type)
  }
  return made
}

function pair(field: string): [name: string, text: string] {
  const at = field.indexOf(': ')
  return at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 2)]
}

function different(
  what: 'type' | 'action' | 'procedure',
  ours: ReadonlyMap<string, Type>,
  theirs: ReadonlyMap<string, Type>,
): string | null {
  for (const name of ours.keys()) {
    if (!theirs.has(name)) return `${what} "${name}" is here and not there`
  }
  for (const name of theirs.keys()) {
    if (!ours.has(name)) return `${what} "${name}" is there and not here`
  }
  for (const [name, here] of ours) {
    const found = differentLine(here, theirs.get(name)!)
    if (found !== null) return `${what} "${name}"${found}`
  }
  return null
}

function differentLine(here: Type, there: Type): string | null {
  const field = differentField(here.fields, there.fields)
  if (field !== null || here.rest === there.rest) return field
  const rests = [here.rest, there.rest]
  if (rests.some((rest) => rest !== '' && !rest.startsWith(ANSWER))) {
    return `, besides its fields: ${both(here.rest, there.rest)}`
  }
  const [ours, theirs] = rests.map((rest) => rest.slice(ANSWER.length))
  return `, its answer: ${both(ours, theirs)}`
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
