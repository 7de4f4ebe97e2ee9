/** What the bots of all games are asked for, and what they give: see bots.ts. */

import type { Session } from 'holdfast'

/** Which bot, and where it plays. */
export interface BotOptions {
  /** From 1. */
  index: number
  room: string
  server?: string
  condition?: string
}

/** A bot that plays until its session is lost; leave the session to end it. */
export interface Bot {
  session: Session
  /** Why it was lost. */
  over: Promise<string>
}

/** Settles when a session is lost, with the reason. @param stop  called before that */
export function lost(session: Session, stop: () => void): Promise<string> {
  return new Promise((resolve) => {
    session.on('status', (status) => {
      if (status !== 'lost') return
      stop()
      resolve(session.reason)
    })
  })
}
