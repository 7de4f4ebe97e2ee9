/** A stream at a whole hub with its loop, by hand. */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Stream, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import type { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

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
