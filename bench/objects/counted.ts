/**
 * A place for a member to run in whose datagrams and streams are counted as they go over the wire:
 * a datagram whole, with its envelope; a message of a stream with the head of its frame. Headers
 * below that are counted as packets: each datagram one, a message one for each 1,460 bytes, and an
 * ack for each two of these.
 */

import type { UdpDatagrams } from '../../packages/holdfast/src/drivers/net/udp.ts'
import { connectWith } from '../../packages/holdfast/src/drivers/net/websocket.ts'
import { openStreams } from '../../packages/holdfast/src/drivers/net/streams.ts'
import { nodeEnvironment } from '../../packages/holdfast/src/drivers/node.ts'
import type { Connect, Environment, OpenDatagrams } from '../../packages/holdfast/src/ports.ts'
import { WebSocket } from 'ws'
import { blankWire, type Way, type Wire } from './words.ts'

const SEGMENT = 1460
const MASK = 4
/** Bytes of a TCP and of a UDP header, each with that of IP. */
export const HEADERS = { tcp: 40, udp: 28 } as const

/** Counts both directions, headers of IP and what is above it included. */
export class Counted {
  readonly environment: Environment
  readonly down = blankWire()
  readonly up = blankWire()

  /** @param localAddress  from which it opens streams */
  constructor(way: Way, kind: Environment['kind'], localAddress = '127.0.0.1') {
    const own = nodeEnvironment(way === 'udp' ? {} : null)
    const connect = this.#stream(
      connectWith((url) => new WebSocket(url, { perMessageDeflate: false, localAddress })),
    )
    this.environment = {
      ...own,
      kind,
      carriers: {
        udp: own.carriers.map((open) => this.#datagrams(open)),
        ws: [openStreams(connect)],
        relay: [],
      }[way],
      connect,
    }
  }

  #datagrams(open: OpenDatagrams): OpenDatagrams {
    return async (events) => {
      const { down, up } = this
      const count = (wire: Wire, bytes: number): void => {
        wire.bytes += bytes + HEADERS.udp
        wire.packets++
        wire.messages++
        wire.payload += bytes
      }
      const carrier = await open({
        refused: (address) => events.refused(address),
        datagram: (from, bytes) => {
          count(down, bytes.length)
          events.datagram(from, bytes)
        },
      })
      // Empty datagrams by which others see that we are there are told to nobody.
      const { counters } = carrier as UdpDatagrams
      let probes = 0
      Object.defineProperty(this, 'down', {
        get: () => {
          while (probes < counters.probes) {
            probes++
            count(down, 0)
          }
          return down
        },
      })
      return {
        addresses: carrier.addresses,
        reaches: (address) => carrier.reaches(address),
        close: () => carrier.close(),
        send: (to, bytes) => {
          count(up, bytes.length)
          carrier.send(to, bytes)
        },
      }
    }
  }

  #stream(connect: Connect): Connect {
    const count = (wire: Wire, acks: Wire, length: number, mask: number): void => {
      const bytes = length + mask + (length <= 125 ? 2 : length <= 65_535 ? 4 : 10)
      const segments = Math.ceil(bytes / SEGMENT)
      wire.bytes += bytes + segments * HEADERS.tcp
      wire.packets += segments
      wire.messages++
      wire.payload += length
      acks.bytes += Math.ceil(segments / 2) * HEADERS.tcp
      acks.packets += Math.ceil(segments / 2)
    }
    const { down, up } = this
    return (url, events) => {
      const stream = connect(url, {
        ...events,
        message: (bytes) => {
          count(down, up, bytes.length, 0)
          events.message(bytes)
        },
      })
      return {
        backlog: () => stream.backlog(),
        close: () => stream.close(),
        send: (bytes) => {
          count(up, down, bytes.length, MASK)
          return stream.send(bytes)
        },
      }
    }
  }
}
