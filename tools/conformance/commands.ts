/** The commands that documents name: a figure is worth no more than the command that makes it. */

/** One command as a document names it. */
export interface Command {
  /** Of package.json. */
  readonly script: string
  /** Which bench or soak; null where it has none. */
  readonly name: string | null
}

const NAMED = /npm run (?:-s )?(bench|soak) --\s+([a-z][\w-]*)`?((?:, `[a-z][\w-]*`)*)/g
const BARE = /(?<!npm run )\b(bench|soak) --\s+([a-z][\w-]*)/g
const SCRIPT = /npm run (?:-s )?([a-z][\w:-]*)/g

/** All of them; a list such as `npm run bench -- link`, `motion` names each. */
export function commandsOf(text: string): Command[] {
  const found: Command[] = []
  for (const [, script = ''] of text.matchAll(SCRIPT)) found.push({ script, name: null })
  for (const [, script = '', first = '', more = ''] of text.matchAll(NAMED)) {
    const names = [first, ...(more.match(/[\w-]+/g) ?? [])]
    found.push(...names.map((name) => ({ script, name })))
  }
  for (const [, script = '', name = ''] of text.matchAll(BARE)) found.push({ script, name })
  return found
}

/** Sections called Figures that do not begin with the command of a bench, by their first words. */
export function figuresWithoutCommand(text: string): string[] {
  return text
    .split(/^#+ Figures\n+/m)
    .slice(1)
    .filter((section) => !section.startsWith('`npm run bench -- '))
    .map((section) => section.slice(0, 40))
}
