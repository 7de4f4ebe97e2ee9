/** What a member does in each runtime: everything that crosses the network once. */

import { action, join, object, u8 } from 'holdfast'
import type { Session } from 'holdfast'

export const Dot = object('dot', { x: u8 })
export const add = action('add', { by: u8 }, (table, { by }) => {
  const sum = Number(table.get('sum') ?? 0) + by
  table.set('sum', sum)
  return sum
})
export const OPTIONS = { game: 'runtimes', types: [Dot, add] }

/** Joins, shows a dot, adds two, waits for the other's dot, and leaves. @returns what it saw */
export async function play(server: string, name: string): Promise<object> {
  let session: Session
  try {
    session = await join({ ...OPTIONS, name, server, serves: false })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { name, code, message }
  }
  session.create(Dot, { x: 7 })
  const sum = await session.act(add, { by: 2 })
  const other = await seen(session)
  await session.leave()
  return { name, sum, other }
}

function seen(session: Session): Promise<number> {
  const dots = session.all(Dot)
  return new Promise((found) => {
    const look = (): void => {
      const other = dots.find(({ state }) => state.x !== 7)
      if (other) found(other.state.x)
    }
    dots.subscribe(look)
    look()
  })
}
