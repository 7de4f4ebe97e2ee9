/** Invitations that a member makes, one after the other: the hub answers the newest of a stream. */

import { INVITATION, INVITED_MAX, SECRET_BYTES } from '../directory/inviting.ts'
import { badValue, HoldfastError, RIGHTS } from '../machine.ts'
import { invite } from '../member/member.ts'
import { isSealed } from '../member/room-key.ts'
import type { Runner } from '../runtime/member/runner.ts'
import { checkFlag, checkOptions } from '../runtime/options.ts'
import { digest } from '../wire/digest.ts'
import { shown } from '../wire/fields.ts'
import { toHex } from '../wire/hex.ts'
import { type Outcome, refused } from './outcomes.ts'
import { withKey } from './ticket-text.ts'

/** What an invitation is for. */
export interface InviteOptions {
  /** How many players come in by it: 1 to 256. Default 1. */
  uses?: number
  /** Only to watch. Default false. */
  watch?: boolean
}

/** What came of an invitation: its text, for `ticket` of `join`; or `refused`, or `lost`. */
export type InviteOutcome = Outcome<string, 'refused' | 'lost'>

// The key that opens the room when nobody is in it any more; null where it needs none.
function keyHere({ member: { session, wish } }: Runner): Uint8Array | null {
  return session.keeps && isSealed(session.terms) ? wish.roomKey : null
}

interface Waiting {
  readonly text: string
  readonly resolve: (outcome: InviteOutcome) => void
}

/** See the head of this file. */
export class Invites {
  readonly #waiting = new Map<number, Waiting>()
  #last: Promise<unknown> = Promise.resolve()

  /** Makes one. It rejects with a HoldfastError: `bad-value`, `left`. */
  async make(runner: () => Runner | null, options: InviteOptions): Promise<InviteOutcome> {
    checkOptions('invite', options, ['uses', 'watch'])
    const { uses = 1, watch = false } = options
    checkFlag('watch', watch)
    if (!Number.isInteger(uses) || uses < 1 || uses > INVITED_MAX) {
      throw badValue(`uses is 1 to ${INVITED_MAX}: ${shown(uses)}`)
    }
    const rights = watch ? RIGHTS.watch : RIGHTS.play
    const made = this.#last.then(() => this.#ask(runner(), uses, rights))
    this.#last = made.catch(() => {})
    return made
  }

  #ask(runner: Runner | null, uses: number, rights: number): Promise<InviteOutcome> {
    if (!runner) throw new HoldfastError('left', 'cannot invite: the session was left')
    const secret = runner.loop.random(SECRET_BYTES)
    return new Promise((resolve) => {
      const wish = { digest: digest(secret), uses, rights }
      const request = runner.do((now, run) => invite(run, now, wish))
      const key = rights === RIGHTS.play ? keyHere(runner) : null
      const text = withKey(`${INVITATION}${toHex(secret)}`, key && toHex(key))
      if (request) this.#waiting.set(request, { text, resolve })
      else resolve(refused('lost', 'the hub is out of reach just now: nobody is invited'))
    })
  }

  /** The hub has answered. @param why  not; empty if it is made */
  answered(request: number, why: string): void {
    const waiting = this.#waiting.get(request)
    this.#waiting.delete(request)
    waiting?.resolve(why === '' ? { ok: true, value: waiting.text } : refused('refused', why))
  }

  /** Nobody will answer: the stream to the hub is gone, or the session over. */
  lose(why: string): void {
    for (const { resolve } of this.#waiting.values()) resolve(refused('lost', why))
    this.#waiting.clear()
  }
}
