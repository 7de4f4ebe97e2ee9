/** A page of a game of one's own, whose hub is on its own server, at a path. */

import { join } from 'holdfast'

// Relative to the page, so that it is also found where a proxy has all of this under a path.
const server = new URL('./rt/hub', location.href).href
const room = new URLSearchParams(location.search).get('room') ?? 'main'
const who = document.querySelector('#who')!

try {
  const session = await join({ game: 'duel', room, server })
  const show = (): void => {
    const names = session.members.map(({ name, player }) => `${name} ${player}`)
    who.textContent = `Here: ${names.join(', ')}`
  }
  session.on('members', show)
  show()
} catch (error) {
  who.textContent = error instanceof Error ? error.message : String(error)
}
