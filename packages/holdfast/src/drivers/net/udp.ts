/**
 * Datagrams over UDP, for Node.
 *
 * One socket serves all peers. Addresses are literal, so the socket's lookup answers at once, and
 * sends have no callback: both save a turn of the loop for each datagram.
 *
 * Node queues datagrams that the kernel cannot take at once, and keeps a reference to their bytes.
 * So a datagram is copied into a ring of slots; when the ring has gone round while Node still has a
 * queue, datagrams are dropped until it has drained. None goes stale, and no waiting slot is
 * overwritten.
 */

import dgram from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { badValue, HoldfastError } from '../../machine.ts'
import { DATAGRAM_MAX, type DatagramEvents, type Datagrams } from '../../ports.ts'
import type { UdpOptions } from '../../ports.ts'
import { UNCOUNTED } from './relay.ts'
import { Watches } from './udp-watch.ts'

/** Most datagrams that wait for the kernel. */
const RING_SLOTS = 64
/** Buffer size requested of the kernel for each direction, in bytes; it may grant less. */
const SOCKET_BUFFER_BYTES: number = 4 * 1024 * 1024
/** Most addresses whose parsed form is remembered. */
const TARGETS_MAX = 4096
/** An address is watched after so many sends; strangers who get one answer are not. */
const WATCHED_AFTER = 4

export interface UdpPlace {
  host: string
  port: number
  family: 4 | 6
}

/**
 * Parses `udp:127.0.0.1:4000` or `udp:[::1]:4000`: an IP literal without a zone and a port from 1
 * to 65535 without leading zeros. Null for anything else.
 */
export function parseUdpAddress(address: string): UdpPlace | null {
  const parts = /^udp:(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15})):([1-9][0-9]{0,4})$/.exec(address)
  if (parts === null) return null
  const port = Number(parts[3])
  const host = parts[1] ?? parts[2]!
  const family = parts[1] === undefined ? 4 : 6
  if (port > 0xffff || !(family === 4 ? isIPv4(host) : isIPv6(host))) return null
  return { host, port, family }
}

function udpAddress(host: string, port: number): string {
  return host.includes(':') ? `udp:[${host}]:${port}` : `udp:${host}:${port}`
}

/**
 * Returns a function that opens a UDP socket, whose events it takes.
 *
 * @throws HoldfastError `bad-value` for a host that is no literal or a port out of range; the
 *   promise rejects with `port-taken`, `port-denied`, or `unreachable` when the host is not ours
 */
export function openUdp(
  options: UdpOptions = {},
): (events: DatagramEvents) => Promise<UdpDatagrams> {
  const { host = '127.0.0.1', port = 0, watch = true } = options
  const family = isIPv4(host) ? 4 : isIPv6(host) ? 6 : 0
  if (family === 0) {
    throw badValue(`UDP needs an IP address such as 127.0.0.1: '${host}'`)
  }
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    throw badValue(`a UDP port is a number from 0 to 65535: ${port}`)
  }
  return async (events) => {
    const socket = await bind(host, port, family)
    grow(socket)
    return new UdpDatagrams(socket, family, events, watch)
  }
}

function bind(host: string, port: number, family: 4 | 6): Promise<dgram.Socket> {
  const socket = dgram.createSocket({
    type: family === 4 ? 'udp4' : 'udp6',
    // Mapped IPv4 addresses would give one peer two names.
    ipv6Only: family === 6,
    lookup: (name, _options, done) => done(null, name, family),
  })
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      socket.close()
      reject(refusal(error, `UDP port ${port} on ${host}`))
    }
    socket.once('error', failed)
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

function refusal(error: NodeJS.ErrnoException, place: string): HoldfastError {
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new HoldfastError(
        'port-taken',
        `${place} is taken by another program; choose another, or 0 for any free one`,
      )
    case 'EACCES':
      return new HoldfastError(
        'port-denied',
        `${place} is not allowed to us; choose one above 1023`,
      )
    case 'EADDRNOTAVAIL':
      return new HoldfastError('unreachable', `${place}: this machine has no such address`)
    default:
      return new HoldfastError('unreachable', `${place} could not be opened: ${error.message}`)
  }
}

/** Requests large buffers, and smaller ones where the system refuses. */
function grow(socket: dgram.Socket): void {
  for (const side of ['setRecvBufferSize', 'setSendBufferSize'] as const) {
    for (let size = SOCKET_BUFFER_BYTES; size >= 64 * 1024; size /= 2) {
      try {
        socket[side](size)
        break
      } catch {
        // Some systems refuse a size above their limit, others clip it silently.
      }
    }
  }
}

type Target = UdpPlace & { sends: number }

export class UdpDatagrams implements Datagrams {
  readonly addresses: readonly string[]
  readonly counters = {
    ...UNCOUNTED,
    /** Empty ones, with which others probe our port: dropped. */
    probes: 0,
    errors: 0,
  }
  readonly #socket: dgram.Socket
  readonly #events: DatagramEvents
  readonly #family: 4 | 6
  readonly #targets = new Map<string, Target | null>()
  readonly #watches: Watches | null
  readonly #ring: Buffer = Buffer.alloc(RING_SLOTS * DATAGRAM_MAX)
  #slot = 0
  #open = true
  #lastHost = ''
  #lastPort = 0
  #lastFrom = ''

  constructor(socket: dgram.Socket, family: 4 | 6, events: DatagramEvents, watch: boolean) {
    this.#socket = socket
    this.#family = family
    this.#events = events
    const refused = (address: string): void => {
      if (this.#open) events.refused(address)
    }
    this.#watches = watch ? new Watches(refused) : null
    const { address, port } = socket.address()
    this.addresses = ownHosts(address).map((host) => udpAddress(host, port))
    socket.on('message', (bytes, source) => this.#receive(bytes, source.address, source.port))
    socket.on('error', () => {
      this.counters.errors += 1
    })
  }

  reaches(address: string): boolean {
    return this.#target(address) !== null
  }

  send(to: string, bytes: Uint8Array): void {
    const target = this.#target(to)
    if (target === null || !this.#open) {
      this.counters.unreachable += 1
    } else if (bytes.length > DATAGRAM_MAX) {
      this.counters.oversize += 1
    } else if (this.#slot === 0 && this.#socket.getSendQueueCount() > 0) {
      this.counters.congested += 1
    } else {
      const at = this.#slot * DATAGRAM_MAX
      this.#slot = (this.#slot + 1) % RING_SLOTS
      this.#ring.set(bytes, at)
      this.#socket.send(this.#ring, at, bytes.length, target.port, target.host)
      this.counters.sent += 1
      target.sends += 1
      if (target.sends > WATCHED_AFTER) this.#watches?.probe(to, target)
    }
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#watches?.close()
    this.#socket.close()
  }

  #target(address: string): Target | null {
    const known = this.#targets.get(address)
    if (known !== undefined) return known
    const parsed = parseUdpAddress(address)
    const target = parsed?.family === this.#family ? { ...parsed, sends: 0 } : null
    if (this.#targets.size >= TARGETS_MAX) this.#targets.clear()
    this.#targets.set(address, target)
    return target
  }

  #receive(bytes: Buffer, host: string, port: number): void {
    if (!this.#open) return
    this.counters.received += 1
    if (bytes.length === 0 || bytes.length > DATAGRAM_MAX) {
      this.counters[bytes.length === 0 ? 'probes' : 'oversize'] += 1
      return
    }
    if (port !== this.#lastPort || host !== this.#lastHost) {
      this.#lastHost = host
      this.#lastPort = port
      this.#lastFrom = udpAddress(host, port)
    }
    // A plain array: `slice` of a Buffer does not copy, unlike that of any other Uint8Array.
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#events.datagram(this.#lastFrom, plain)
  }
}

/**
 * The IP addresses that a listener at `host` has: those of this machine for `0.0.0.0` and `::`, of
 * that family, else the one. Those that reach other machines come first, the loopback last.
 */
export function ownHosts(host: string): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [host]
  const family = host === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => entry.family === family && !entry.address.startsWith('fe80:'))
    .sort((a, b) => Number(a.internal) - Number(b.internal))
  return all.map(({ address }) => address)
}
