/** Strangers' text, made safe for a terminal or a sentence. */

// Characters that control a terminal, change the text direction or begin a line.
const ACTIVE = /[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}]/gu

// Characters that no name contains. Joiners, which many languages need, are harmless.
const UNNAMED = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}\u202a-\u202e\u2066-\u2069]/u

/** Whether a text may be a name: one line without terminal controls. */
export function isName(text: string): boolean {
  return !UNNAMED.test(text)
}

/** A stranger's name, safe to show. */
export function named(text: string): string {
  return isName(text) ? text : plain(text)
}

/** The text with JSON escapes for its active characters. */
export function plain(text: string): string {
  return text.replaceAll(ACTIVE, (sign) =>
    Array.from({ length: sign.length }, (_, at) => escape(sign.charCodeAt(at))).join(''),
  )
}

/** The same for each line. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}

/** A value as JSON without terminal controls; it parses to the same value. */
export function plainJson(value: unknown): string {
  return plain(JSON.stringify(value))
}

/** As many whole characters of a text as fit into that many bytes of UTF-8. */
export function clipped(text: string, bytesMax: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytesMax)).read)
}

function escape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
