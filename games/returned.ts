/** What was ours in another window comes back to us, too late to be of use. */

import { HoldfastError, type ObjectHandle, type ObjectType } from 'holdfast'
import type { Session, StateOf } from 'holdfast'

type FieldsOf<Type> = Type extends ObjectType<infer F> ? F : never

/** Ends what is ours and not known to us: it is of a life before, and was given back. */
export function sweep<Type extends ObjectType<FieldsOf<Type>>>(
  session: Session,
  type: Type,
  known: (id: string) => boolean,
): void {
  for (const handle of session.all(type)) {
    if (handle.mine && !handle.away && !known(handle.id)) end(handle)
  }
}

// Lists still tell of changes after a session was left, which changes nothing any more.
function end(handle: { destroy(): void }): void {
  try {
    handle.destroy()
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'left') throw error
  }
}

/** The one object of a type that this window has; none until it is made. */
export class Sole<Type extends ObjectType<FieldsOf<Type>>> {
  handle: ObjectHandle<FieldsOf<Type>> | null = null
  readonly #session: Session
  readonly #type: Type
  #isMaking = false

  constructor(session: Session, type: Type) {
    this.#session = session
    this.#type = type
    session.all(type).subscribe(() => {
      // The list tells of a new object before its maker has the handle.
      if (!this.#isMaking) sweep(session, type, (id) => id === this.handle?.id)
    })
  }

  /** Makes it, unless it is there; and again if it ended while we were away for long. */
  make(state: Partial<StateOf<FieldsOf<Type>>>): void {
    if (this.handle) return
    this.#isMaking = true
    const made = this.#session.create(this.#type, state)
    this.handle = made
    this.#isMaking = false
    made.on('gone', ({ reason }) => {
      if (this.handle !== made || reason === 'full' || this.#session.status === 'lost') return
      const { state: last } = made
      this.handle = null
      this.make(last as Partial<StateOf<FieldsOf<Type>>>)
    })
  }
}
