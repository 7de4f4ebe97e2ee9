/**
 * Beacons: a page that ends also sends its last messages as an HTTP request, because browsers drop
 * what it sends on its stream then: Firefox always, Chromium on a busy machine now and then.
 *
 * A beacon is replayed as a stream that opens, sends the messages in the body, and closes, so it
 * has the rights and the costs of a stream. Its `attach` would end the page's older stream, which
 * may still deliver earlier messages, so it waits until that stream has ended. Messages after
 * `attach` wait for its answer.
 */

import { fromHub, type ToHub, toHub } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../../holdfast/src/machine.ts'
import type { Loop, Stream, StreamEvents } from '../../../holdfast/src/ports.ts'
import { splitMessages } from '../../../holdfast/src/wire/beacon.ts'
import { decode, type Layout } from '../../../holdfast/src/wire/layout.ts'
import { readFrame } from '../../../holdfast/src/wire/relay.ts'

/** Longest wait of a beacon for the end of its page's stream. */
export const BEHIND_MS: Millis = 1_000

export interface Beacon {
  /** The `attach` that names the sender. */
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
 * Replays a beacon on a new stream and closes it; the answers are ignored.
 *
 * @param accept  takes the stream
 * @param behind  runs a function after the end of the page's older stream
 * @param soon    runs a function after the current turn
 */
export function replayBeacon(
  { messages }: Beacon,
  accept: (stream: Stream) => StreamEvents,
  behind: (run: () => void) => void,
  soon: (run: () => void) => void,
): void {
  let isOpen = true
  const deliver = (some: readonly Uint8Array[]): void => {
    for (const message of some) if (isOpen) events.message(message)
  }
  const end = (): void => {
    if (isOpen) events.closed('the beacon ended')
    isOpen = false
  }
  const finish = (): void => {
    deliver(messages.slice(2))
    end()
  }
  const events = accept({
    send: (bytes) => {
      const kind = read(fromHub, bytes)?.kind
      if (kind === 'attached') soon(finish)
      if (kind === 'refused') soon(end)
      return isOpen
    },
    backlog: () => 0,
    close: () => void (isOpen = false),
  })
  events.opened()
  deliver(messages.slice(0, 1))
  if (isOpen) behind(() => deliver(messages.slice(1, 2)))
}

function read<Value>(layout: Layout<Value>, bytes: Uint8Array): Value | null {
  const frame = readFrame(bytes)
  return frame?.kind === 'message' ? decode(layout, frame.bytes) : null
}

/** Functions that wait for the end of a stream. */
export class AfterClose {
  readonly #loop: Loop
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(loop: Loop) {
    this.#loop = loop
  }

  /** Runs a function when that stream has ended, or after BEHIND_MS. */
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

  /** A stream ended. Its functions run after the current turn, which may be inside the hub. */
  gone(connection: number): void {
    for (const go of this.#waiting.get(connection) ?? []) this.#loop.soon(go)
  }
}
