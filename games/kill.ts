/**
 * The wish to kill whoever serves, for a demonstration. Any member may have it, and where it is
 * obeyed it is a real death, in the middle of whatever the server was doing. Whether it obeys each
 * victim decides for itself: a page if its own hub says so, a Node process by a flag.
 */

import { type Field, object, type ObjectType, type Session, u32 } from 'holdfast'

/** How long a wish to kill the server stands, in milliseconds. */
export const WISH_MS = 3_000

/** Asks one incarnation to die on the spot, as a killed process does. */
export const Kill: ObjectType<{ target: Field<number> }> = object('kill', { target: u32 })

/** Whether this member serves. */
export function serves({ primary, me }: Pick<Session, 'primary' | 'me'>): boolean {
  return primary?.inc === me.inc
}

/** Calls `die` when somebody wishes that while this member serves. */
export function obey(session: Session, die: () => void): void {
  const { subscribe, snapshot } = session.all(Kill)
  subscribe(() => {
    const { inc } = session.me
    if (serves(session) && snapshot().some(({ state }) => state.target === inc)) die()
  })
}

/** Wishes that whoever serves may die. @param ignored  called if they still serve after a while */
export function wish(session: Session, ignored: () => void): void {
  const { primary } = session
  if (!primary) return
  const made = session.create(Kill, { target: primary.inc })
  setTimeout(() => {
    if (session.status === 'lost') return
    if (made.alive) made.destroy()
    if (session.primary?.inc === primary.inc) ignored()
  }, WISH_MS)
}
