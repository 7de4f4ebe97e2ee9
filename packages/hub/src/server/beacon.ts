/**
 * Beacons: what a page says as it ends comes as a request too, for browsers drop what such a page
 * sends on its stream: Firefox always, Chromium on a busy machine now and then.
 *
 * A beacon is a stream that opens, says what is in the body, and closes: so it may do no more than
 * a stream, and costs as much. Its `attach` would end an older stream of the same page, which may
 * still bring what the page said before: so it waits for the end of that one. What is behind its
 * `attach` waits until that is answered.
 */

import { fromHub, type ToHub, toHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Loop, Stream, StreamEvents } from '../../../holdfast/src/ports.ts'
import { splitMessages } from '../../../holdfast/src/wire/beacon.ts'
import { decode, type Layout } from '../../../holdfast/src/wire/layout.ts'
import { readFrame } from '../../../holdfast/src/wire/relay.ts'

/** A beacon waits so long at most for the end of the stream of its page. */
export const BEHIND_MS: Millis = 1_000

/** What a page said as it ended. */
export interface Beacon {
  /** As whom. */
  from: ToHub & { kind: 'attach' }
  /** All messages, with `hello` and `attach` in front. */
  messages: readonly Uint8Array[]
}

/** Reads a body; null if it does not begin with `hello` and `attach`. */
export function readBeacon(body: Uint8Array): Beacon | null {
  const messages = splitMessages(body) ?? []
  const [hello, from] = messages.slice(0, 2).map((message) => read(toHub, message))
  return hello?.kind === 'hello' && from?.kind === 'attach' ? { from, messages } : null
}

/**
 * Says it on a stream of its own, and closes that; the answers are of no use to anybody.
 *
 * @param accept  takes the stream
 * @param behind  runs a function behind the end of the older stream of that page
 * @param soon    runs a function behind what runs now
 */
export function replayBeacon(
  { messages }: Beacon,
  accept: (stream: Stream) => StreamEvents,
  behind: (run: () => void) => void,
  soon: (run: () => void) => void,
): void {
  let isOpen = true
  const say = (some: readonly Uint8Array[]): void => {
    for (const message of some) if (isOpen) events.message(message)
  }
  const end = (): void => {
    if (isOpen) events.closed('a beacon has said all')
    isOpen = false
  }
  const goOn = (): void => {
    say(messages.slice(2))
    end()
  }
  const events = accept({
    send: (bytes) => {
      const kind = read(fromHub, bytes)?.kind
      if (kind === 'attached') soon(goOn)
      if (kind === 'refused') soon(end)
      return isOpen
    },
    backlog: () => 0,
    close: () => void (isOpen = false),
  })
  events.opened()
  say(messages.slice(0, 1))
  if (isOpen) behind(() => say(messages.slice(1, 2)))
}

function read<Value>(layout: Layout<Value>, bytes: Uint8Array): Value | null {
  const frame = readFrame(bytes)
  return frame?.kind === 'message' ? decode(layout, frame.bytes) : null
}

/** What waits for the end of streams. */
export class AfterClose {
  readonly #loop: Loop
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(loop: Loop) {
    this.#loop = loop
  }

  /** Runs a function when that stream is gone, or after BEHIND_MS. */
  add(connection: number, run: () => void): void {
    const waiting = this.#waiting.get(connection) ?? new Set()
    this.#waiting.set(connection, waiting)
    const go = (): void => {
      if (!waiting.delete(go)) return
      alarm.cancel()
      if (waiting.size === 0) this.#waiting.delete(connection)
      run()
    }
    const alarm = this.#loop.alarm(go)
    alarm.set(this.#loop.now() + BEHIND_MS)
    waiting.add(go)
  }

  /** That stream is gone: behind what runs now, for the hub may be in the middle of something. */
  gone(connection: number): void {
    for (const go of this.#waiting.get(connection) ?? []) this.#loop.soon(go)
  }
}
