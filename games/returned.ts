/** What was ours in another window comes back to us, too late to be of use. */

import type { ObjectType, Session } from 'holdfast'

type FieldsOf<Type> = Type extends ObjectType<infer F> ? F : never

/** Ends what is ours and not known to us: it is of a life before, and was given back. */
export function sweep<Type extends ObjectType<FieldsOf<Type>>>(
  session: Session,
  type: Type,
  known: (id: string) => boolean,
): void {
  for (const handle of session.all(type)) {
    if (handle.mine && !handle.away && !known(handle.id)) handle.destroy()
  }
}
