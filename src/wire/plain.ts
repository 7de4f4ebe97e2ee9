/** Text of strangers, made safe for a terminal or a sentence. */

// Characters that a terminal obeys, that turn the reading direction, and that begin a line.
const ACTIVE = /[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gu

/** The text with JSON escapes for all that is not shown as a character. */
export function plain(text: string): string {
  return text.replaceAll(ACTIVE, (sign) =>
    Array.from({ length: sign.length }, (_, at) => escape(sign.charCodeAt(at))).join(''),
  )
}

/** The same for each line. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}

/** A value as JSON without characters that a terminal obeys: it parses to the same value. */
export function plainJson(value: unknown): string {
  return plain(JSON.stringify(value))
}

function escape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
