/**
 * Reads docs/STANDARD.md as a table of contents for machines: types, limits, layouts, examples.
 *
 * Every table whose first row of headings is known here is taken; all else is for people. What
 * is written wrongly throws, so that a slip in the document cannot hide as a missing check.
 */

/** How a value stands in bytes, as section 1 of the document writes it. */
export type Type =
  | { kind: 'u8' | 'u16' | 'u32' | 'varint' | 'f64' | 'flag' }
  | { kind: 'bytes' | 'blob' | 'text'; max: number }
  | { kind: 'word'; words: string[] }
  | { kind: 'list'; item: Type; max: number }
  | { kind: 'all'; item: Type }
  | { kind: 'maybe'; item: Type }
  | { kind: 'named'; name: string }

/** Named fields, in order. */
export type Fields = [name: string, type: Type][]

/** Messages told apart by a tag. */
export type MessageSet = Map<number, { kind: string; fields: Fields }>

/** One line of a table of examples. */
export interface Example {
  what: string
  bytes: Uint8Array
  /** What it reads as, or null for malformed. */
  reads: string | null
  line: string
}

/** A type of a game: the text of its schema, and whether it has motion. */
export interface TypeText {
  schema: string
  moves: boolean
}

/** What the document says, for machines. */
export interface Standard {
  limits: Map<string, number>
  records: Map<string, Fields>
  sets: Map<string, MessageSet>
  /** The messages of each channel that is one of ours. */
  channels: Map<number, string>
  /** The kinds of fields, each by the first word of its text. */
  fields: Set<string>
  examples: Example[]
  /** The types of the game: those of the examples, if no other is given. */
  types: readonly TypeText[]
  /** The schema texts of its types of pieces, likewise. */
  pieceTypes: readonly string[]
}

const PLAIN = ['u8', 'u16', 'u32', 'varint', 'f64', 'flag'] as const

/** Reads the whole document. @throws Error that shows what it cannot read */
export function readStandard(markdown: string): Standard {
  const standard: Standard = {
    limits: new Map(),
    records: new Map(),
    sets: new Map(),
    channels: new Map(),
    fields: new Set(),
    examples: [],
    types: [],
    pieceTypes: [],
  }
  const tables = tablesOf(markdown)
  // Limits first, for types name them.
  for (const [head, ...rows] of tables) {
    if (head![0] !== 'limit' && head![0] !== 'version') continue
    for (const [name, value] of rows) put(standard.limits, name!, count(value!))
  }
  for (const [head, ...rows] of tables) {
    const [first, second, third] = head!
    if (first === 'record' && second === 'fields') {
      for (const [name, fields] of rows) put(standard.records, name!, readFields(standard, fields!))
    } else if (second === 'tag' && third === 'fields') {
      put(standard.sets, first!, readSet(standard, rows))
    } else if (first === 'channel' && second === 'reliable messages') {
      for (const row of rows) readChannel(standard, row)
    } else if (first === 'field') {
      for (const [names] of rows) for (const name of firstWords(names!)) standard.fields.add(name)
    } else if (first === 'example') {
      standard.examples.push(...rows.map(readExample))
    } else if (first === 'type of the examples') {
      standard.types = rows.map(([, schema, motion]) => {
        return { schema: bare(schema!), moves: motion !== 'none' }
      })
    } else if (first === 'type of pieces in the examples') {
      standard.pieceTypes = rows.map(([, schema]) => bare(schema!))
    }
  }
  return standard
}

/** Reads a type such as `list(text(NAME_MAX),4)`. @throws Error */
export function readType(standard: Standard, text: string): Type {
  const plain = PLAIN.find((kind) => kind === text)
  if (plain) return { kind: plain }
  if (/^[A-Z][A-Za-z]*$/.test(text)) return { kind: 'named', name: text }
  const [, kind, inside] = /^([a-z]+)\((.*)\)$/.exec(text) ?? []
  switch (kind) {
    case 'bytes':
    case 'blob':
    case 'text':
      return { kind, max: most(standard, inside!) }
    case 'word':
      return { kind, words: inside!.split('/') }
    case 'maybe':
    case 'all':
      return { kind, item: readType(standard, inside!) }
    case 'list': {
      const comma = inside!.lastIndexOf(',')
      const item = readType(standard, inside!.slice(0, comma))
      return { kind, item, max: most(standard, inside!.slice(comma + 1)) }
    }
    default:
      throw new Error(`the document has no type ${text}`)
  }
}

/** A limit of the document. */
export function limit(standard: Standard, name: string): number {
  const value = standard.limits.get(name)
  if (value === undefined) throw new Error(`the document has no limit ${name}`)
  return value
}

// Of each text between backticks.
function firstWords(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)[^`]*`/g)].map(([, word]) => word!)
}

function readFields(standard: Standard, cell: string): Fields {
  if (cell === 'nothing') return []
  return bare(cell)
    .split(' ')
    .map((field) => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon), readType(standard, field.slice(colon + 1))]
    })
}

function readSet(standard: Standard, rows: string[][]): MessageSet {
  const set: MessageSet = new Map()
  for (const [kind, tag, fields] of rows) {
    put(set, Number(tag), { kind: kind!, fields: readFields(standard, fields!) })
  }
  return set
}

function readChannel(standard: Standard, [channel, messages]: string[]): void {
  const [, set] = /: (\w+) \(section/.exec(messages!) ?? []
  if (set === undefined) throw new Error(`channel ${channel} has no messages: ${messages}`)
  // Those of a game's own parts are a range.
  if (/^\d+$/.test(channel!)) put(standard.channels, Number(channel), set)
}

function readExample([what, hex, reads]: string[]): Example {
  const digits = hex === 'empty' ? '' : bare(hex!).replaceAll(' ', '')
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error(`this is no hex: ${hex}`)
  const malformed = reads!.startsWith('malformed')
  return {
    what: what!.replaceAll('`', ''),
    bytes: new Uint8Array(Buffer.from(digits, 'hex')),
    reads: malformed ? null : bare(reads!),
    line: `${what} ${hex}`,
  }
}

/** All tables: rows of cells, the headings first. */
function tablesOf(markdown: string): string[][][] {
  const tables: string[][][] = []
  let rows: string[][] = []
  for (const line of [...markdown.split('\n'), '']) {
    if (line.startsWith('|'))
      rows.push(
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
    else if (rows.length > 0) {
      const [head, , ...rest] = rows
      tables.push([head!, ...rest])
      rows = []
    }
  }
  return tables
}

function bare(cell: string): string {
  const [, inside] = /^`([^`]*)`$/.exec(cell) ?? []
  if (inside === undefined) throw new Error(`this should stand between backticks: ${cell}`)
  return inside
}

function most(standard: Standard, text: string): number {
  return standard.limits.get(text) ?? count(text)
}

function count(text: string): number {
  const value = Number(text.replaceAll(',', ''))
  if (!Number.isSafeInteger(value)) throw new Error(`the document has no number ${text}`)
  return value
}

function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (map.has(key)) throw new Error(`the document says ${String(key)} twice`)
  map.set(key, value)
}
