/** What stands on a command line. A word that looks like a number comes as one. */

/** An option that was given once. */
export type Word = string | number

/** How `--origin` is given, wherever it is. */
export const ORIGIN_HELP = 'with commas or several times, * for all; behind a proxy: its own'

/** The words of an option that may be given several times, each with commas. */
export function listOf(given: Word | readonly Word[] | undefined): string[] {
  return [given ?? []]
    .flat()
    .flatMap((words) => String(words).split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
