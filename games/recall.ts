/** Words that a browser remembers from one visit to the next, such as a name. */

/** What was remembered; null for nothing. */
export function recall(word: string): string | null {
  try {
    return localStorage.getItem(keyOf(word))
  } catch {
    return null
  }
}

/** Remembers it. */
export function remember(word: string, text: string): void {
  try {
    localStorage.setItem(keyOf(word), text)
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

function keyOf(word: string): string {
  return `holdfast.${word}`
}
