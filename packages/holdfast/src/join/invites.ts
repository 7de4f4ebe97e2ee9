/** Invitations of a member, one at a time: the hub answers only a stream's newest request. */

import { INVITATION, INVITED_MAX, SECRET_BYTES, withKey } from '../hub-protocol/tickets.ts'
import { HoldfastError, type Millis, RIGHTS } from '../machine.ts'
import { invite } from '../member/member.ts'
import { isSealed } from '../member/room-key.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
import { checkCount, checkFlag, checkOptions } from '../api/options.ts'
import { digest } from '../wire/digest.ts'
import { toHex } from '../wire/bytes.ts'
import { type Outcome, refused } from '../kind/outcomes.ts'

// How long an invitation waits until this member is attached to the hub.
const ATTACH_MS: Millis = 5_000

/** Options of `invite`. */
export interface InviteOptions {
  /** How many players may join with it: 1 to 256. Default 1. */
  uses?: number
  /** Whether they only watch. Default false. */
  watch?: boolean
}

/** The outcome of an invitation: its text, for `ticket` of `join`; or `refused`, or `lost`. */
export type InviteOutcome = Outcome<string, 'refused' | 'lost'>

// The key of the stored room; null if it is not sealed.
function keyHere({ member: { session, options } }: MemberLoop): Uint8Array | null {
  return session.keeps && isSealed(session.terms) ? options.roomKey : null
}

interface Waiting {
  readonly text: string
  readonly resolve: (outcome: InviteOutcome) => void
}

export class Invites {
  readonly #waiting = new Map<number, Waiting>()
  #last: Promise<unknown> = Promise.resolve()
  #attached: () => void = () => {}

  /** Makes an invitation. Rejects with a HoldfastError: `bad-value`, `left`. */
  async make(memberLoop: () => MemberLoop | null, options: InviteOptions): Promise<InviteOutcome> {
    checkOptions('invite', options, ['uses', 'watch'])
    const { uses = 1, watch = false } = options
    checkFlag('watch', watch)
    checkCount('uses', uses, 1, INVITED_MAX)
    const rights = watch ? RIGHTS.watch : RIGHTS.play
    const made = this.#last.then(() => this.#ask(memberLoop, uses, rights))
    this.#last = made.catch(() => {})
    return made
  }

  async #ask(
    memberLoop: () => MemberLoop | null,
    uses: number,
    rights: number,
  ): Promise<InviteOutcome> {
    if (memberLoop()?.member.hub !== 'attached') await this.#attachment(memberLoop())
    const asked = memberLoop()
    if (!asked) throw new HoldfastError('left', 'cannot invite: the session was left')
    const secret = asked.loop.random(SECRET_BYTES)
    return new Promise((resolve) => {
      const invitation = { digest: digest(secret), uses, rights }
      const request = asked.do((now, run) => invite(run, now, invitation))
      const key = rights === RIGHTS.play ? keyHere(asked) : null
      const text = withKey(`${INVITATION}${toHex(secret)}`, key && toHex(key))
      if (request) this.#waiting.set(request, { text, resolve })
      else resolve(refused('lost', 'the hub is out of reach just now: nobody is invited'))
    })
  }

  // Right after `join`, or after a restart of the hub, the member is attached in a moment.
  async #attachment(memberLoop: MemberLoop | null): Promise<void> {
    if (!memberLoop) return
    await new Promise<void>((resolve) => {
      const alarm = memberLoop.loop.alarm(resolve)
      alarm.set(memberLoop.loop.now() + ATTACH_MS)
      this.#attached = () => {
        alarm.cancel()
        resolve()
      }
    })
    this.#attached = () => {}
  }

  /** The member is attached to the hub. */
  attached(): void {
    this.#attached()
  }

  end(why: string): void {
    this.lose(why)
    this.#attached()
  }

  /** The hub answered. @param why  the reason of a refusal; empty for success */
  answered(request: number, why: string): void {
    const waiting = this.#waiting.get(request)
    this.#waiting.delete(request)
    waiting?.resolve(why === '' ? { ok: true, value: waiting.text } : refused('refused', why))
  }

  /** The stream to the hub closed, so pending answers are lost. */
  lose(why: string): void {
    for (const { resolve } of this.#waiting.values()) resolve(refused('lost', why))
    this.#waiting.clear()
  }
}
