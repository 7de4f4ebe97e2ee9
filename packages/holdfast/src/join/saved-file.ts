/** A room in a file: `session.export` and `join({ from })`. */

import { badValue, type ErrorCode, HoldfastError, type Millis } from '../machine.ts'
import { readSaved, type Saved, savedIn } from '../hub-protocol/saved-room.ts'
import * as member from '../member/member.ts'
import { holds } from '../member/room-export.ts'
import type { MemberEvent } from '../member/state.ts'
import type { Alarm } from '../ports.ts'
import type { MemberLoop } from '../runtime/member-loop.ts'
import { shown } from '../wire/fields/fields.ts'

/** Wait without a new piece before the room is requested again. */
const AGAIN_MS: Millis = 2_000
/** Most requests before giving up. */
const TRIES_MAX = 15

interface Waiting {
  resolve(file: Uint8Array): void
  reject(error: HoldfastError): void
}

/** Pending exports of the room; one is requested at a time. */
export class Exports {
  #waiting: Waiting[] = []
  #request = 0
  #tries = 0
  #alarm: Alarm | null = null

  /** @throws HoldfastError `left`, `not-ready`, `forbidden`, `full`, `timeout`, `store` */
  async make(memberLoop: MemberLoop | null): Promise<Uint8Array> {
    if (!memberLoop) throw refused('left', 'the session was left')
    if (memberLoop.do((_now, run) => holds(run))) {
      const file = memberLoop.do((now, run) => member.save(run, now))!
      if ('code' in file) throw refused(file.code, file.why)
      return file
    }
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ resolve, reject }) > 1) return
      this.#tries = 0
      this.#ask(memberLoop)
    })
  }

  // The primary may have changed, or have refused because it had just sent a file.
  #ask(memberLoop: MemberLoop): void {
    if (this.#waiting.length === 0) return
    if (++this.#tries > TRIES_MAX) return this.#fail('timeout', 'whoever serves does not answer')
    this.#alarm ??= memberLoop.loop.alarm(() => this.#ask(memberLoop))
    this.#alarm.set(memberLoop.loop.now() + AGAIN_MS)
    memberLoop.do((now, run) => member.askRoom(run, now, ++this.#request))
  }

  /** A piece, the whole file, or the reason for its absence arrived. */
  came(event: MemberEvent & { kind: 'file' }, memberLoop: MemberLoop | null): void {
    if ('unsaved' in event) return this.#fail(event.unsaved.code, event.unsaved.why)
    const { bytes } = event
    if (this.#waiting.length === 0) return
    if (!bytes) return this.#alarm?.set(memberLoop!.loop.now() + AGAIN_MS)
    if ('why' in readSaved(bytes)) return this.#fail('store', 'the primary sent no valid room')
    for (const waiting of this.#end()) waiting.resolve(bytes)
  }

  end(why: string): void {
    this.#fail('left', why)
  }

  #fail(code: ErrorCode, why: string): void {
    for (const waiting of this.#end()) waiting.reject(refused(code, why))
  }

  #end(): Waiting[] {
    this.#alarm?.cancel()
    return this.#waiting.splice(0)
  }
}

function refused(code: ErrorCode, why: string): HoldfastError {
  return new HoldfastError(code, `cannot export: ${why}`)
}

/** The room that `join` was given; null for none. @throws HoldfastError `bad-value` */
export function savedOf(from: unknown, game: string): Saved | null {
  if (from === undefined) return null
  const saved = savedIn('from', from)
  if (saved.game === game) return saved
  throw badValue(`from is a room of ${shown(saved.game)}, and this is ${shown(game)}`)
}
