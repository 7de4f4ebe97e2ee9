/**
 * An independent reader and writer of the packets of Mazewar: written from section 20 of
 * docs/STANDARD.md alone. The layouts come from its tables; its prose is in `readPacket`.
 *
 * Bits are text of zeros and ones here: nothing is shared with the code, not even a way to think.
 */

import { Malformed } from './values.ts'

/** What was read: fields by their names, in order. */
export type Read = { [field: string]: number | Read | Read[] | string }

/** What the document says. */
export interface Layouts {
  /** Name and fields by id. */
  packets: Map<number, { kind: string; bits: string }>
  records: Map<string, string>
  /** Name and fields by type. */
  data: Map<number, { kind: string; bits: string }>
  examples: { what: string; bytes: Uint8Array; reads: string | null }[]
}

/** The tables of section 20. */
export function readLayouts(markdown: string): Layouts {
  const rows = (head: string): string[][] => {
    const lines = markdown.split('\n')
    const from = lines.findIndex((line) => line.startsWith(`| ${head} |`))
    if (from < 0) throw new Error(`the document has no table of a ${head}`)
    const to = lines.findIndex((line, index) => index > from && !line.startsWith('|'))
    return lines.slice(from + 2, to).map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`|`$/g, '')),
    )
  }
  const tagged = (head: string): Layouts['data'] =>
    new Map(rows(head).map(([kind, tag, bits]) => [Number(tag), { kind: kind!, bits: bits! }]))
  return {
    packets: tagged('classic packet'),
    records: new Map(rows('classic record').map(([name, bits]) => [name!, bits!])),
    data: tagged('classic data'),
    examples: rows('classic example').map(([what, hex, reads]) => {
      const bytes = new Uint8Array(Buffer.from(hex!.replaceAll(' ', ''), 'hex'))
      return { what: what!, bytes, reads: reads === 'malformed' ? null : reads! }
    }),
  }
}

type Tape = { bits: string; at: number }

function next(tape: Tape, count: number): string {
  if (tape.at + count > tape.bits.length) throw new Malformed(`${count} bits past the end`)
  tape.at += count
  return tape.bits.slice(tape.at - count, tape.at)
}

/** One packet. @param me  the id of the reader, if it has one @throws Malformed */
export function readPacket(layouts: Layouts, bytes: Uint8Array, me: number | null = null): Read {
  if (bytes[0]! >> 4 !== 5) return readAs(layouts, bytes, (bits) => bits)
  const forms = [(bits: string) => bits, (bits: string) => bits.replace('heartbeat:32 ', '')]
  const reads = forms.flatMap((form) => {
    try {
      return [readAs(layouts, bytes, form)]
    } catch (error) {
      if (error instanceof Malformed) return []
      throw error
    }
  })
  const read = reads.find(({ destination }) => destination === me) ?? reads[0]
  if (!read) throw new Malformed('no response, with or without a heartbeat')
  return read
}

function readAs(layouts: Layouts, bytes: Uint8Array, form: (bits: string) => string): Read {
  const tape = { bits: [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join(''), at: 0 }
  const id = parseInt(next(tape, 4), 2)
  const length = parseInt(next(tape, 12), 2)
  if (length !== bytes.length - 2) throw new Malformed(`a length of ${length}`)
  const packet = layouts.packets.get(id)
  if (!packet) throw new Malformed(`no packet has the id ${id}`)
  const read: Read = { packet: packet.kind, ...readFields(layouts, form(packet.bits), tape) }
  if (tape.at < tape.bits.length) throw new Malformed('bits behind the last')
  if (packet.kind === 'name' && (read['name'] as Read[]).length > 32)
    throw new Malformed('a long name')
  for (const data of [read['data'], ...datasOf(read)]) {
    if ((data as Read | undefined)?.['step'] === 3) throw new Malformed('a step of 3')
  }
  const { data, absolute } = read as { data?: Read; absolute?: Read }
  if (packet.kind === 'event' && data?.['step'] && data['facing'] !== absolute?.['facing']) {
    throw new Malformed('a step to where it does not face')
  }
  return read
}

function datasOf(read: Read): Read[] {
  return ((read['uncommitted'] as Read[] | undefined) ?? []).map(({ data }) => data as Read)
}

function readFields(layouts: Layouts, layout: string, tape: Tape): Read {
  const read: Read = {}
  for (const field of layout.split(' ')) {
    const [name = '', type = ''] = field.split(':')
    const value = readField(layouts, type, tape, read)
    if (name !== 'pad') read[name] = value
  }
  return read
}

function readField(
  layouts: Layouts,
  type: string,
  tape: Tape,
  before: Read,
): number | Read | Read[] {
  const [, record = '', count] = /^([A-Z][a-z]+)(?:[[(](\w+)[\])])?$/.exec(type) ?? []
  if (record === '') return number(type, tape)
  if (record === 'Data') {
    const data = layouts.data.get(before['type'] as number)
    if (!data) throw new Malformed(`no event has that type`)
    return readFields(layouts, data.bits, tape)
  }
  const bits = layouts.records.get(record)!
  if (count === undefined) return readFields(layouts, bits, tape)
  const list: Read[] = []
  const more = (): boolean =>
    count === 'rest' ? tape.at < tape.bits.length : list.length < (before[count] as number)
  while (more()) list.push(readFields(layouts, bits, tape))
  return list
}

function number(type: string, tape: Tape): number {
  const signed = type.startsWith('i')
  const width = Number(type.replace('i', ''))
  const value = parseInt(next(tape, width), 2)
  return signed && value >= 2 ** (width - 1) ? value - 2 ** width : value
}

/** As the examples of the document write it. */
export function inWords(read: Read): string {
  return Object.entries(read)
    .map(([name, value]) => {
      if (typeof value === 'string') return value
      if (Array.isArray(value)) return `${name}=[${value.map(inWords).join('; ')}]`
      return typeof value === 'object' ? inWords(value) : `${name}=${value}`
    })
    .join(' ')
}

/** A packet drawn at random, and its bytes; pads are zero. @param chance from 0 to below that */
export function drawPacket(
  layouts: Layouts,
  chance: (most: number) => number,
): { read: Read; bytes: Uint8Array } {
  const id = chance(layouts.packets.size)
  const { kind, bits } = layouts.packets.get(id)!
  const draws: Draws = { layouts, chance, facing: null }
  const [read, body] = drawFields(draws, bits, kind === 'event')
  const text =
    id.toString(2).padStart(4, '0') + (body.length / 8).toString(2).padStart(12, '0') + body
  const bytes = text.match(/.{8}/g)!.map((byte) => parseInt(byte, 2))
  return { read: { packet: kind, ...read }, bytes: Uint8Array.from(bytes) }
}

interface Draws {
  layouts: Layouts
  chance: (most: number) => number
  /** Of the absolute state of an event: who steps faces there. */
  facing: number | null
}

function drawFields(draws: Draws, layout: string, faces: boolean): [Read, string] {
  const read: Read = {}
  let bits = ''
  for (const field of layout.split(' ')) {
    const [name = '', type = ''] = field.split(':')
    const [value, text] = drawField(draws, name, type, read, faces)
    bits += text
    if (name !== 'pad') read[name] = value
    if (faces && name === 'absolute') draws.facing = (value as Read)['facing'] as number
  }
  return [read, bits]
}

function drawField(
  draws: Draws,
  name: string,
  type: string,
  before: Read,
  faces: boolean,
): [number | Read | Read[], string] {
  const { layouts, chance } = draws
  const [, record = '', count] = /^([A-Z][a-z]+)(?:[[(](\w+)[\])])?$/.exec(type) ?? []
  if (record === '') return drawNumber(draws, name, type, before)
  if (record === 'Data')
    return drawFields(draws, layouts.data.get(before['type'] as number)!.bits, faces)
  const layout = layouts.records.get(record)!
  if (count === undefined) return drawFields(draws, layout, false)
  const many = count === 'rest' ? chance(6) : (before[count] as number)
  const list = Array.from({ length: many }, () => drawFields(draws, layout, false))
  return [list.map(([read]) => read), list.map(([, bits]) => bits).join('')]
}

const EDGES = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]

function drawNumber(draws: Draws, name: string, type: string, before: Read): [number, string] {
  const { chance, facing, layouts } = draws
  const width = Number(type.replace('i', ''))
  let value = chance(4) === 0 ? EDGES[chance(EDGES.length)]! % 2 ** width : chance(2 ** width)
  if (name === 'pad') value = 0
  if (name === 'type') value = chance(layouts.data.size)
  if (name === 'step') {
    const steps = facing === null || facing === before['facing'] ? 3 : 1
    value = chance(steps)
  }
  const bits = value.toString(2).padStart(width, '0')
  return [type.startsWith('i') && value >= 2 ** (width - 1) ? value - 2 ** width : value, bits]
}
