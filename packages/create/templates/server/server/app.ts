/** The app's own routes: a login, which gives a ticket for a room. */

import { createHash, timingSafeEqual } from 'node:crypto'
import express from 'express'
import { mintTicket, newTicketKey } from 'holdfast/hub'
import { chat } from '../src/chat.ts'

/** Everybody's, for this example: ask your database or identity provider instead. */
export const { PASSWORD = 'demo' } = process.env

// Login and hub are one process, and a ticket is used at once: the keys need not outlive it. A
// player who is in comes back without a ticket, also after a restart.
const keys = await newTicketKey()

/** Rules of the hub: rooms of this game admit by ticket only. */
export const rules = { games: [chat.game], tickets: [{ key: keys.key, games: [chat.game] }] }

/** The app, for Vite while you develop, and for `server/main.ts`. */
export const app = express()

app.post('/api/login', express.json({ limit: '1kb' }), async (request, response) => {
  const { password, room } = (request.body ?? {}) as Record<string, unknown>
  if (typeof password !== 'string' || typeof room !== 'string' || !/^[\w-]{1,32}$/.test(room)) {
    return void response.status(400).json({ error: 'A room has 1 to 32 letters, digits, _ or -.' })
  }
  if (!isEqual(password, PASSWORD)) {
    return void response.status(401).json({ error: 'That is not the password.' })
  }
  // Here is the place to decide who may enter which room.
  response.json({ ticket: await mintTicket(keys.secret, { game: chat.game, room, seconds: 60 }) })
})

// Takes the same time for every wrong password.
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
