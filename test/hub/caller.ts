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
import { frameMessage, type HubFrame, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

/** Where the streams of a test come from. */
export const WHENCE = { remote: '192.0.2.7' }

/** A process at the hub, which has said hello: what it hears, and whether the hub closed it. */
export class Caller implements Stream {
  readonly heard: FromHub[] = []
  readonly datagrams: HubFrame[] = []
  isClosed = false
  readonly #events: StreamEvents

  constructor(server: HubServer) {
    this.#events = server.accept(this, WHENCE)
    this.#events.opened()
    this.say({ kind: 'hello', version: HUB_VERSION })
  }

  say(message: ToHub): void {
    this.sends(frameMessage(encode(toHub, message)))
  }

  sends(bytes: Uint8Array): void {
    this.#events.message(bytes)
  }

  ends(): void {
    this.#events.closed('it ended')
  }

  send(bytes: Uint8Array): boolean {
    const frame = readFrame(bytes)
    if (frame?.kind === 'message') this.heard.push(decode(fromHub, frame.bytes)!)
    else if (frame) this.datagrams.push({ ...frame, bytes: frame.bytes.slice() })
    return true
  }

  backlog(): number {
    return 0
  }

  close(): void {
    this.isClosed = true
  }
}
