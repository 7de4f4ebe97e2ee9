/** Text of strangers, where it may come to a terminal or stand in a sentence. */

// What a terminal obeys, what turns the reading direction, and what begins a line.
const ACTIVE = /[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gu

/** The text with escapes, as JSON has them, for all that is not shown as a character. */
export function plain(text: string): string {
  return text.replaceAll(ACTIVE, (sign) =>
    Array.from({ length: sign.length }, (_, at) => escape(sign.charCodeAt(at))).join(''),
  )
}

/** The same of each line. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}

/** A value as JSON in which nothing is left that a terminal obeys: as good to read as before. */
export function plainJson(value: unknown): string {
  return plain(JSON.stringify(value))
}

function escape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
