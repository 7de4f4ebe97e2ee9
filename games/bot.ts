/** What the bots of all games are asked for, and what they give: in a process, or in a page. */

import type { Session } from 'holdfast'

/** Calls every so many milliseconds. @returns ends it */
export type Beat = (run: () => void, ms: number) => () => void

/** Which bot, where it plays, and by which clock. */
export interface BotOptions {
  /** From 1: it decides name and skill. */
  index: number
  room: string
  server?: string
  condition?: string
  /** False in a page: it would die together with the player there. */
  serves?: boolean
  signal?: AbortSignal
  beat: Beat
}

/** A bot that plays until its session is lost. */
export interface Bot {
  session: Session
  /** Why it was lost. */
  over: Promise<string>
  /** Takes leave as a player does, and ends. */
  leave(): Promise<void>
  /** What keeps it from playing, in a sentence; empty while it plays. */
  idle(): string
}

/** What `bots.ts` of a game exports. */
export interface Bots {
  /** The name of a bot, by which one knows what it is. @param index  from 1 */
  nameOf(index: number): string
  play(options: BotOptions): Promise<Bot>
}

/** A bot that is nothing but its session and some beats. */
export function botOf(session: Session, beats: readonly (() => void)[]): Bot {
  const rest = (): void => {
    for (const end of beats) end()
  }
  const over = new Promise<string>((resolve) => {
    session.on('status', (status) => {
      if (status !== 'lost') return
      rest()
      resolve(session.reason)
    })
  })
  // Whoever leaves changes nothing any more.
  const leave = (): Promise<void> => {
    rest()
    return session.leave()
  }
  return { session, over, leave, idle: () => '' }
}
