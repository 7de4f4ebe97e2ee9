/**
 * What a terminal shows, cell by cell, and the fewest words that change what it showed before.
 * Plain data; colours are 24 bits.
 */

/** A grid of cells, line by line. */
export interface TerminalBuffer {
  readonly columns: number
  readonly lines: number
  readonly signs: string[]
  readonly inks: number[]
  readonly grounds: number[]
}

/** A part of a buffer. */
export interface Area {
  readonly left: number
  readonly top: number
  readonly columns: number
  readonly lines: number
}

/** Switches to a screen of our own, without a cursor, and clears it. */
export const ENTER = '\u001b[?1049h\u001b[?25l\u001b[0m\u001b[2J'
/** Gives back the screen as it was. */
export const EXIT = '\u001b[0m\u001b[?25h\u001b[?1049l'

// Terminals that know these show all of it at once; the others pass over them.
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'

/** An empty buffer. */
export function createBuffer(columns: number, lines: number, ground: number): TerminalBuffer {
  const size = columns * lines
  return {
    columns,
    lines,
    signs: Array.from<string>({ length: size }).fill(' '),
    inks: Array.from<number>({ length: size }).fill(0),
    grounds: Array.from<number>({ length: size }).fill(ground),
  }
}

/** A sign in a cell; what is beside the buffer is not drawn. @param ground  null leaves what is */
export function put(
  buffer: TerminalBuffer,
  x: number,
  y: number,
  sign: string,
  ink: number,
  ground: number | null = null,
): void {
  if (x < 0 || y < 0 || x >= buffer.columns || y >= buffer.lines) return
  const i = y * buffer.columns + x
  buffer.signs[i] = sign
  buffer.inks[i] = ink
  if (ground !== null) buffer.grounds[i] = ground
}

/** A line of text; what does not fit into that many cells is cut off. */
export function write(
  buffer: TerminalBuffer,
  x: number,
  y: number,
  text: string,
  ink: number,
  more: { ground?: number; width?: number } = {},
): void {
  const signs = Array.from(text).slice(0, more.width)
  for (const [i, sign] of signs.entries()) {
    // What a player calls themselves must not speak to the terminal, nor be wider than a cell.
    put(buffer, x + i, y, isPlain(sign) ? sign : '?', ink, more.ground ?? null)
  }
}

/** Whether a sign takes one cell of every terminal, and says nothing to it. */
export function isPlain(sign: string): boolean {
  const code = sign.codePointAt(0) ?? 0
  return (
    (code >= 0x20 && code < 0x7f) ||
    (code >= 0xa1 && code < 0x300 && code !== 0xad) ||
    (code >= 0x370 && code < 0x483) ||
    (code >= 0x48a && code < 0x530) ||
    (code >= 0x2010 && code < 0x2027) ||
    (code >= 0x2190 && code < 0x21b8) ||
    (code >= 0x2500 && code < 0x25fd)
  )
}

/** The words that make a terminal show this, which showed that; null for one that shows nothing. */
export function update(shown: TerminalBuffer | null, wanted: TerminalBuffer): string {
  const old = shown?.columns === wanted.columns && shown.lines === wanted.lines ? shown : null
  let words = ''
  let [ink, ground, at] = [-1, -1, -1]
  for (let i = 0; i < wanted.signs.length; i++) {
    if (old && isSame(old, wanted, i)) continue
    if (at !== i || i % wanted.columns === 0) words += placeOf(wanted, i)
    const sign = wanted.signs[i]!
    if (wanted.inks[i] !== ink && sign !== ' ') {
      ink = wanted.inks[i]!
      words += `\u001b[38;2;${rgb(ink)}m`
    }
    if (wanted.grounds[i] !== ground) {
      ground = wanted.grounds[i]!
      words += `\u001b[48;2;${rgb(ground)}m`
    }
    words += sign
    at = i + 1
  }
  return words === '' ? '' : `${BEGIN}${words}${END}`
}

function isSame(old: TerminalBuffer, wanted: TerminalBuffer, i: number): boolean {
  if (old.signs[i] !== wanted.signs[i] || old.grounds[i] !== wanted.grounds[i]) return false
  return wanted.signs[i] === ' ' || old.inks[i] === wanted.inks[i]
}

function placeOf({ columns }: TerminalBuffer, i: number): string {
  return `\u001b[${Math.floor(i / columns) + 1};${(i % columns) + 1}H`
}

function rgb(colour: number): string {
  return `${colour >> 16};${(colour >> 8) & 255};${colour & 255}`
}
