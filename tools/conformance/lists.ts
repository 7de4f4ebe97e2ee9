/**
 * The numbered requirements: what the sources ask for, promise, admit or reject, restated.
 *
 * A list is a text in tools/requirements, named by its letter. A line of it reads
 * `- T37 F: what is asked. {a note} [why there is no test]`. A note says where the test shows less
 * than the sentence, or where what is built is otherwise. A reason that many share is said once,
 * as `[word]: reason`, and named by its word.
 */

/** Feature, promise, admitted weakness, gap that we found, rejected alternative. */
export type Kind = 'F' | 'P' | 'W' | 'W*' | 'R'

/** How many numbers each list has. */
export const COUNTS: Readonly<Record<string, number>> = { B: 57, O: 59, T: 81, S: 32, M: 60 }

/** One numbered requirement. */
export interface Requirement {
  /** Such as `T37`. */
  readonly number: string
  readonly kind: Kind
  readonly what: string
  /** What a reader of the row has to know besides its tests; null if nothing. */
  readonly note: string | null
  /** Why no test proves it; null if one has to. */
  readonly reason: string | null
}

/** All requirements under one letter. */
export interface List {
  readonly letter: string
  readonly title: string
  readonly about: string
  readonly requirements: readonly Requirement[]
}

const LINE = /^- ([A-Z]\d+) (F|P|W\*?|R): (.+?)(?: \{(.+)\})?(?: \[(.+)\])?$/
const SHARED = /^\[([a-z]+)\]: (.+)$/

/** Reads a list. @throws Error where a line makes no sense, a number is missing or a word unused */
export function readList(letter: string, text: string): List {
  const lines = text.split('\n').filter((line) => line !== '')
  const shared = new Map<string, string>()
  const unused = new Set<string>()
  const requirements: Requirement[] = []
  const about: string[] = []
  let title = ''
  for (const line of lines) {
    const [, word, why] = SHARED.exec(line) ?? []
    const [, number, kind, what, note = null, reason] = LINE.exec(line) ?? []
    if (word && why) {
      shared.set(word, why)
      unused.add(word)
    } else if (number && kind && what) {
      const said = reason === undefined ? null : (shared.get(reason) ?? reason)
      unused.delete(reason ?? '')
      requirements.push({ number, kind: kind as Kind, what, note, reason: said })
    } else if (line.startsWith('# ')) title = line.slice(2)
    else if (line.startsWith('- ')) throw new Error(`list ${letter}: not a requirement: ${line}`)
    else about.push(line)
  }
  expectAll(letter, requirements)
  const [idle] = unused
  if (idle !== undefined) throw new Error(`list ${letter}: the reason [${idle}] is used by nothing`)
  return { letter, title, about: about.join('\n'), requirements }
}

function expectAll(letter: string, requirements: readonly Requirement[]): void {
  const expected = Array.from(
    { length: COUNTS[letter] ?? 0 },
    (_, index) => `${letter}${index + 1}`,
  )
  const found = requirements.map(({ number }) => number)
  const first = expected.findIndex((number, index) => found[index] !== number)
  if (first < 0 && found.length === expected.length) return
  throw new Error(
    `list ${letter}: wants ${expected[first] ?? 'no more'} at ${found[first] ?? 'its end'}`,
  )
}
