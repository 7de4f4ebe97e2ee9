/** The stages of the way of an update, and the line that a chart draws of each. */

import type { Session } from 'holdfast'

/** As a session measures them. */
export type Ages = ReturnType<Session['debug']['ages']>
/** One stage of the way of an update. */
export type StageName = keyof Ages

/** The stages in the order of the way, with their words and colours. */
export const STAGE_WORDS: readonly [name: StageName, word: string, colour: string][] = [
  ['clientSend', 'sent by its owner', '#7cc4ff'],
  ['serverReceive', 'came to the server', '#6fd3a1'],
  ['serverSend', 'sent on by the server', '#e6c35c'],
  ['clientReceive', 'came here', '#f0925a'],
  ['shown', 'shown', '#f26d7d'],
]

/** What is shown, in seconds. */
export const SPAN = 15

/** A line of one stage: seconds before now, and how old data was then, in ms. */
export type Line = [seconds: number[], ages: number[]]

/** The lines of all stages. @param now  session time in ms */
export function linesOf(ages: Ages, now: number): Line[] {
  const from = now - SPAN * 1000
  return STAGE_WORDS.map(([name]) => {
    const recent = ages[name].recent.filter(({ at }) => at > from && at <= now)
    // In order, for packets may come out of it.
    const sorted = recent.toSorted((a, b) => a.at - b.at)
    const unique = sorted.filter(({ at }, i) => i === 0 || at > sorted[i - 1]!.at)
    return [unique.map(({ at }) => (at - now) / 1000), unique.map(({ age }) => age)]
  })
}
