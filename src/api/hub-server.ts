/**
 * A hub on real streams and a real disk: the loop around the machine of `hub/`.
 */

import * as hub from '../hub/hub.ts'
import type { Hub, HubOut } from '../hub/hub.ts'
import type { Loop, Store, Stream, StreamEvents } from '../ports.ts'
import { HoldfastError } from '../machine.ts'
import { restore } from '../register/register.ts'
import { frameRelay } from '../wire/relay.ts'

/** A relayed datagram is dropped when so many bytes wait in its target's stream. */
export const RELAY_BACKLOG_MAX: number = 64 * 1024

/** Takes a relayed datagram on its way to its target; a test may lose or delay it. */
export type Weather = (deliver: Relay) => Relay
type Relay = (connection: number, from: number, datagram: Uint8Array) => void

/** A running hub. */
export interface HubServer {
  readonly hub: Hub
  /** Takes a stream, as `acceptStreams` gives it. */
  accept(stream: Stream): StreamEvents
  /** Ends the loop; streams are the caller's to close. */
  close(): void
}

/** Starts a hub from what its store holds. @throws HoldfastError code `store` if that is not ours */
export function startHub(loop: Loop, store: Store, weather?: Weather): HubServer {
  const boot = new DataView(loop.random(4).buffer as ArrayBuffer).getUint32(0)
  const state = hub.create(loop.now(), boot)
  for (const [key, bytes] of store.entries()) {
    if (!restore(state.directory, loop.now(), bytes)) {
      throw new HoldfastError('store', `the store's record "${key}" is none of ours`)
    }
  }
  const streams = new Map<number, Stream>()
  const deliver: Relay = (connection, from, datagram) => {
    const stream = streams.get(connection)
    if (!stream || stream.backlog() > RELAY_BACKLOG_MAX) return void state.counters.congested++
    stream.send(frameRelay(from, datagram))
  }
  const out: HubOut = {
    relay: weather ? weather(deliver) : deliver,
    send: (connection, bytes) => void streams.get(connection)?.send(bytes),
    // Synchronous: on disk before any later send of the same verb leaves.
    record: ({ session, bytes }) => store.write([[session, bytes]]),
    close: (connection) => {
      streams.get(connection)?.close()
      streams.delete(connection)
      hub.closed(state, connection, out)
    },
  }
  let count = 0
  const alarm = loop.alarm(() => {
    hub.wake(state, loop.now(), out)
    arm()
  })
  let armedAt = Infinity
  const arm = (): void => {
    const due = hub.deadline(state)
    if (due === armedAt) return
    armedAt = due
    if (due === Infinity) alarm.cancel()
    else alarm.set(due)
  }
  arm()
  return {
    hub: state,
    accept: (stream) => {
      const connection = ++count
      streams.set(connection, stream)
      return {
        opened: () => hub.opened(state, connection),
        message: (bytes) => {
          hub.receive(state, loop.now(), connection, bytes, out)
          arm()
        },
        closed: () => {
          streams.delete(connection)
          hub.closed(state, connection, out)
        },
      }
    },
    close: () => alarm.cancel(),
  }
}
