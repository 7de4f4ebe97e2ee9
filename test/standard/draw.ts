/**
 * Bytes by the layouts of the document: the smallest value of a type with one of its limits
 * reached or passed, values drawn at random, and bytes spoilt. Imports nothing of the
 * implementation.
 */

import type { Fields, Standard, Type } from './document.ts'

/** How values are to be made. */
interface Draw {
  standard: Standard
  /** A number from 0 to below most. */
  chance(most: number): number
  /** Length of the text, blob or list with that limit. */
  lengthOf(max: number, isList: boolean): number
}

/** Bytes of a value drawn at random: mostly short, sometimes at a limit that is short. */
export function drawn(standard: Standard, type: Type, chance: (most: number) => number): number[] {
  const bytes: number[] = []
  const lengthOf = (max: number, isList: boolean): number =>
    chance(20) === 0 && max <= 255 && !isList ? max : chance(Math.min(max, isList ? 3 : 12) + 1)
  write({ standard, chance, lengthOf }, type, bytes)
  return bytes
}

/** A limit in a layout: which one it is, counted from the left, and how much it allows. */
export interface Site {
  index: number
  max: number
}

/** All limits in a type. */
export function sitesOf(standard: Standard, type: Type): Site[] {
  const sites: Site[] = []
  write(
    small(standard, (max) => void sites.push({ index: sites.length, max })),
    type,
    [],
  )
  return sites
}

/** A small value in which the limit of one site is reached, or passed by `beyond`. */
export function atLimit(standard: Standard, type: Type, site: Site, beyond: number): number[] {
  const bytes: number[] = []
  let index = 0
  let inside = false
  const draw = small(standard, () => {})
  draw.lengthOf = (max, isList) => {
    // What repeats within the list in question is none of the sites.
    if (inside) return 0
    const found = index++ === site.index
    if (found && isList) inside = true
    return found ? max + beyond : isList ? 1 : 0
  }
  write(draw, type, bytes)
  return bytes
}

function small(standard: Standard, meet: (max: number) => void): Draw {
  return {
    standard,
    chance: (most) => most - 1,
    lengthOf: (max, isList) => {
      meet(max)
      return isList ? 1 : 0
    },
  }
}

function write(draw: Draw, type: Type, bytes: number[]): void {
  switch (type.kind) {
    case 'u8':
    case 'u16':
    case 'u32':
      return raw(draw, Number(type.kind.slice(1)) / 8, bytes)
    case 'varint':
      return varint(draw.chance(3) === 0 ? draw.chance(2 ** 31) * 2 ** 20 : draw.chance(300), bytes)
    case 'f64':
      return void bytes.push(0x40, ...Array.from({ length: 7 }, () => draw.chance(256)))
    case 'flag':
      return void bytes.push(draw.chance(2))
    case 'bytes':
      return raw(draw, type.max, bytes)
    case 'blob':
    case 'text': {
      const length = draw.lengthOf(type.max, false)
      varint(length, bytes)
      for (let n = 0; n < length; n++) bytes.push(97 + draw.chance(26))
      return
    }
    case 'word':
      return void bytes.push(draw.chance(type.words.length))
    case 'maybe':
      return writeMaybe(draw, type.item, bytes)
    case 'list': {
      const length = draw.lengthOf(type.max, true)
      varint(length, bytes)
      for (let n = 0; n < length; n++) write(draw, type.item, bytes)
      return
    }
    case 'all':
      throw new Error('what goes on to the end is not drawn')
    case 'named':
      return writeNamed(draw, type.name, bytes)
    default:
      return type satisfies never
  }
}

function writeMaybe(draw: Draw, item: Type, bytes: number[]): void {
  const given = draw.chance(2)
  bytes.push(given)
  if (given === 1) write(draw, item, bytes)
}

function writeNamed(draw: Draw, name: string, bytes: number[]): void {
  const set = draw.standard.sets.get(name)
  if (!set) return writeFields(draw, draw.standard.records.get(name)!, bytes)
  const tags = [...set.keys()]
  const tag = tags[draw.chance(tags.length)]!
  bytes.push(tag)
  writeFields(draw, set.get(tag)!.fields, bytes)
}

function writeFields(draw: Draw, fields: Fields, bytes: number[]): void {
  for (const [, type] of fields) write(draw, type, bytes)
}

function raw(draw: Draw, count: number, bytes: number[]): void {
  for (let n = 0; n < count; n++) bytes.push(draw.chance(256))
}

function varint(value: number, bytes: number[]): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
}

/** Another byte somewhere, one too few or one too many. */
export function spoil(bytes: Uint8Array, chance: (most: number) => number): Uint8Array {
  const how = chance(8)
  if (how === 0) return bytes.slice(0, chance(bytes.length))
  if (how === 1) return Uint8Array.from([...bytes, chance(256)])
  const spoilt = bytes.slice()
  spoilt[chance(how < 4 ? 1 : bytes.length)] = chance(256)
  return spoilt
}
