/** Text of strangers, made safe for a terminal or a sentence. */

// Characters that a terminal obeys, that turn the reading direction, and that begin a line.
const ACTIVE = /[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gu

// Of these a name has none: signs that only join letters, as in many languages, are no danger.
const UNNAMED = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}\u202a-\u202e\u2066-\u2069]/u

/** Whether a text may name something: no terminal obeys it, and it stands in one line. */
export function isName(text: string): boolean {
  return !UNNAMED.test(text)
}

/** A name of somebody else as it may be shown. */
export function named(text: string): string {
  return isName(text) ? text : plain(text)
}

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
