/** A hub on streams and a store: the loop around the machine of `hub/`. */

import * as hub from '../hub/hub.ts'
import type { Hub, HubOut } from '../hub/hub.ts'
import { HoldfastError, type Millis } from '../machine.ts'
import type { Alarm, Loop, Store, Stream, StreamEvents } from '../ports.ts'
import { restore } from '../register/register.ts'
import { frameRelay } from '../wire/relay.ts'

/** A relayed datagram is dropped when so many bytes wait in its target's stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024

/** Takes a relayed datagram on its way to its target; a test may lose or delay it. */
export type Weather = (deliver: Relay) => Relay
type Relay = (connection: number, from: number, datagram: Uint8Array) => void

/** A running hub. */
export class HubServer {
  readonly hub: Hub
  readonly #loop: Loop
  readonly #streams = new Map<number, Stream>()
  readonly #out: HubOut
  readonly #alarm: Alarm
  #count = 0
  #armedAt: Millis = Infinity

  /** Starts from what the store holds. @throws HoldfastError code `store` if that is not ours */
  constructor(loop: Loop, store: Store, weather: Weather = (deliver) => deliver) {
    this.#loop = loop
    const chance = loop.random(4)
    const boot = new DataView(chance.buffer, chance.byteOffset, 4).getUint32(0)
    this.hub = hub.create(loop.now(), boot)
    for (const [key, bytes] of store.entries()) {
      if (restore(this.hub.directory, loop.now(), bytes)) continue
      throw new HoldfastError('store', `the store's record "${key}" is none of ours`)
    }
    this.#alarm = loop.alarm(() => this.#wake())
    this.#out = {
      send: (connection, bytes) => void this.#streams.get(connection)?.send(bytes),
      relay: weather((...datagram) => this.#relay(...datagram)),
      // Synchronous: on disk before any later send of the same verb leaves.
      record: ({ session, bytes }) => store.write([[session, bytes]]),
      close: (connection) => this.#close(connection),
    }
    this.#arm()
  }

  /** Takes a stream, as `acceptStreams` gives it. */
  accept(stream: Stream): StreamEvents {
    const connection = ++this.#count
    this.#streams.set(connection, stream)
    return {
      opened: () => {
        hub.opened(this.hub, this.#loop.now(), connection)
        this.#arm()
      },
      message: (bytes) => {
        hub.receive(this.hub, this.#loop.now(), connection, bytes, this.#out)
        this.#arm()
      },
      closed: () => this.#forget(connection),
    }
  }

  /** Ends the loop; streams are the caller's to close. */
  close(): void {
    this.#alarm.cancel()
  }

  #relay(connection: number, from: number, datagram: Uint8Array): void {
    const stream = this.#streams.get(connection)
    if (!stream || stream.backlog() > RELAY_BACKLOG_MAX) this.hub.counters.congested++
    else stream.send(frameRelay(from, datagram))
  }

  #close(connection: number): void {
    this.#streams.get(connection)?.close()
    this.#forget(connection)
  }

  #forget(connection: number): void {
    this.#streams.delete(connection)
    hub.closed(this.hub, this.#loop.now(), connection, this.#out)
  }

  #wake(): void {
    this.#armedAt = Infinity
    hub.wake(this.hub, this.#loop.now(), this.#out)
    this.#arm()
  }

  #arm(): void {
    const due = hub.deadline(this.hub)
    if (due >= this.#armedAt) return
    this.#armedAt = due
    this.#alarm.set(due)
  }
}
