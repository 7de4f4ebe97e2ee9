/**
 * Beacons: what a page says as it ends comes as a request too, for browsers drop what such a page
 * sends on its stream: Firefox always, Chromium on a busy machine now and then.
 *
 * A beacon is a stream that opens, says what is in the body, and closes: so it may do no more than
 * a stream, and costs as much. What is behind its `attach` waits until that is answered.
 */

import { fromHub, toHub } from '../../directory/messages.ts'
import type { Stream, StreamEvents } from '../../ports.ts'
import { splitMessages } from '../../wire/beacon.ts'
import { decode, type Layout } from '../../wire/layout.ts'
import { readFrame } from '../../wire/relay.ts'

/** The messages of a body; null if it does not begin with `hello` and `attach`. */
export function readBeacon(body: Uint8Array): Uint8Array[] | null {
  const messages = splitMessages(body)
  const kinds = messages?.slice(0, 2).map((message) => kindOf(toHub, message))
  return kinds?.[0] === 'hello' && kinds[1] === 'attach' ? messages : null
}

/**
 * Says these messages on a stream of their own, and closes it; the answers are of no use to anybody.
 *
 * @param accept  takes the stream  @param soon  runs a function after what runs now
 */
export function sayBeacon(
  messages: readonly Uint8Array[],
  accept: (stream: Stream) => StreamEvents,
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
      const kind = kindOf(fromHub, bytes)
      if (kind === 'attached') soon(goOn)
      if (kind === 'refused') soon(end)
      return isOpen
    },
    backlog: () => 0,
    close: () => void (isOpen = false),
  })
  events.opened()
  say(messages.slice(0, 2))
}

function kindOf(layout: Layout<{ kind: string }>, bytes: Uint8Array): string | null {
  const frame = readFrame(bytes)
  return frame?.kind === 'message' ? (decode(layout, frame.bytes)?.kind ?? null) : null
}
