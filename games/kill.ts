/**
 * The wish to kill whoever serves. Any member may have it, and it is a real death, in the middle
 * of whatever the server was doing.
 */

import { type Field, object, type ObjectType, type Session, u32 } from 'holdfast'

/** Asks one incarnation to die on the spot, as a killed process does; whoever serves obeys. */
export const Kill: ObjectType<{ target: Field<number> }> = object('kill', { target: u32 })

/** Whether this member serves. */
export function serves({ primary, me }: Pick<Session, 'primary' | 'me'>): boolean {
  return primary?.inc === me.inc
}

/** Calls `die` when somebody wishes that while this member serves. */
export function obey(session: Session, die: () => void): void {
  session.on('objects', () => {
    const { inc } = session.me
    if (serves(session) && session.all(Kill).some(({ state }) => state.target === inc)) die()
  })
}
