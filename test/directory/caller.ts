/** A stream at a whole hub with its loop, by hand. */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../src/hub-protocol/messages.ts'
import type { Stream, StreamEvents } from '../../src/ports.ts'
import type { HubServer } from '../../src/runtime/hub/hub-server.ts'
import { decode, encode } from '../../src/wire/layout.ts'
import { frameMessage, readFrame } from '../../src/wire/relay.ts'

/** Where the streams of a test come from. */
export const WHENCE = { remote: '192.0.2.7' }

/** A process at the hub, which has said hello: what it hears, and whether the hub closed it. */
export class Caller implements Stream {
  readonly heard: FromHub[] = []
  isClosed = false
  readonly #events: StreamEvents

  constructor(server: HubServer) {
    this.#events = server.accept(this, WHENCE)
    this.#events.opened()
    this.say({ kind: 'hello', version: HUB_VERSION })
  }

  say(message: ToHub): void {
    this.#events.message(frameMessage(encode(toHub, message)))
  }

  ends(): void {
    this.#events.closed('it ended')
  }

  send(bytes: Uint8Array): boolean {
    const frame = readFrame(bytes)
    if (frame?.kind === 'message') this.heard.push(decode(fromHub, frame.bytes)!)
    return true
  }

  backlog(): number {
    return 0
  }

  close(): void {
    this.isClosed = true
  }
}
