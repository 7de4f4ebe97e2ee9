/** Texts that several people change: where a caret goes, and how two changes become one. */

/** What an edit replaced in a text: from `start` to `end`. */
interface Span {
  readonly start: number
  readonly end: number
  readonly inserted: string
}

function spanOf(before: string, after: string): Span {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let kept = 0
  while (kept < shorter - start && before.at(-1 - kept) === after.at(-1 - kept)) kept++
  return { start, end: before.length - kept, inserted: after.slice(start, after.length - kept) }
}

/**
 * Applies to one text what this user changed in it and what another changed. Where both changed the
 * same part, both insertions stay, the other's first: typed text is never lost.
 */
export function merge(base: string, own: string, other: string): string {
  const [mine, theirs] = [spanOf(base, own), spanOf(base, other)]
  const shift = other.length - base.length
  const isSameGap = mine.start === mine.end && theirs.start === theirs.end
  if (mine.end < theirs.start || (mine.end === theirs.start && !isSameGap)) {
    return other.slice(0, mine.start) + mine.inserted + other.slice(mine.end)
  }
  const start = theirs.end <= mine.start ? mine.start + shift : Math.min(mine.start, theirs.start)
  const between = theirs.end <= mine.start ? '' : theirs.inserted
  const end = Math.max(mine.end, theirs.end) + shift
  return other.slice(0, start) + between + mine.inserted + other.slice(end)
}

/** Where a caret is after a text changed elsewhere: the text before or behind it stays there. */
export function moved(before: string, after: string, caret: number): number {
  let start = 0
  while (start < caret && before[start] === after[start]) start++
  if (start === caret) return caret
  // The change began before the caret, so the text behind it stays.
  return Math.max(start, after.length - (before.length - caret))
}
