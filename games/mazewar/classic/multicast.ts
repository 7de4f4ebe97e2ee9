/**
 * Datagrams to all members of a group on a LAN, and to one of them, for Node: UDP multicast over
 * IPv4.
 *
 * The carrier has two sockets. It sends from a socket of its own, whose port no other process has:
 * so several processes on one machine can be distinguished, and an answer reaches the right one.
 * The other socket is bound to the group, like those of other processes, and only receives. Our own
 * datagrams come back there too, and are dropped.
 *
 * A packet does not leave the LAN: it may take one step (TTL 1).
 */

import dgram from 'node:dgram'
import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { HoldfastError } from 'holdfast'

/** Largest datagram, in bytes. */
export const DATAGRAM_MAX = 1232

/** The group, and the interface. */
export interface MulticastOptions {
  /** A multicast address: 224.0.0.0 to 239.255.255.255. */
  group: string
  /** The port of the group; members of a group have the same. */
  port: number
  /**
   * Name or IPv4 address of our interface; by default the first that leads to others, else
   * loopback.
   */
  via?: string
}

/** Counts of datagrams. */
export interface MulticastCounters {
  /** To the group or a member. */
  sent: number
  /** Of others, handed on. */
  received: number
  /** Our own datagrams, which came back from the group. */
  echoes: number
  /** Empty, or larger than DATAGRAM_MAX, sent or received: dropped. */
  oversize: number
  /** Sends that the system refused, as while a link is down, or to an invalid address. */
  failed: number
}

/** The events of a carrier. */
export interface MulticastEvents {
  /** The bytes are valid only during the call. `from` is an address to answer to. */
  datagram(from: string, bytes: Uint8Array): void
}

/** Datagrams to a group and to its members. */
export interface Multicast {
  /** Where others reach us alone, such as `udp:192.168.0.7:4000`. */
  readonly addresses: readonly string[]
  /** Send here to reach all members but ourselves. */
  readonly group: string
  /** Whether it is an address that one can send to. */
  reaches(address: string): boolean
  /** Sends at most DATAGRAM_MAX bytes, which are not kept. Never throws. */
  send(to: string, bytes: Uint8Array): void
  /** Nothing is sent or told from then on. */
  close(): void
  /** Since it was opened. */
  readonly counters: Readonly<MulticastCounters>
}

/**
 * Joins a group when it is called with the events.
 *
 * @throws HoldfastError `bad-value` for an invalid group or port; the promise rejects with
 *   `unreachable` when there is no such interface, `port-taken` or `denied`
 */
export function openMulticast(
  options: MulticastOptions,
): (events: MulticastEvents) => Promise<Multicast> {
  const { group, port, via } = options
  const first = isIPv4(group) ? Number(group.split('.')[0]) : 0
  if (first < 224 || first > 239) {
    throw new HoldfastError(
      'bad-value',
      `a group is an IPv4 address from 224.0.0.0 to 239.255.255.255: '${group}'`,
    )
  }
  if (!Number.isInteger(port) || port < 1 || port > 0xffff) {
    throw new HoldfastError('bad-value', `a group's port is a number from 1 to 65535: ${port}`)
  }
  return async (events) => {
    const host = addressVia(via)
    const own = await bind(host, 0, false)
    const all = await bind(group, port, true).catch((reason: unknown) => {
      own.close()
      throw reason
    })
    try {
      all.addMembership(group, host)
      own.setMulticastInterface(host)
      own.setMulticastTTL(1)
      own.setMulticastLoopback(true)
    } catch (error) {
      own.close()
      all.close()
      throw new HoldfastError(
        'unreachable',
        `the group ${group} cannot be joined through ${host}: ${String(error)}`,
      )
    }
    return new MulticastSockets(own, all, addressOf(group, port), events)
  }
}

/** The address that a name means, or the default one. */
function addressVia(via: string | undefined): string {
  if (via !== undefined && isIPv4(via)) return via
  const named = Object.entries(networkInterfaces()).flatMap(([name, list]) =>
    (list ?? []).map((entry) => ({ name, ...entry })),
  )
  const known = named.filter(({ family }) => family === 'IPv4')
  const found =
    via === undefined
      ? (known.find(({ internal }) => !internal) ?? known[0])
      : known.find(({ name }) => name === via)
  if (found) return found.address
  const names = [...new Set(known.map(({ name }) => name))].join(', ')
  throw new HoldfastError(
    'unreachable',
    via === undefined
      ? 'this machine has no IPv4 address to reach a LAN from'
      : `this machine has no interface '${via}' with an IPv4 address; it has ${names || 'none'}`,
  )
}

function bind(address: string, port: number, shared: boolean): Promise<dgram.Socket> {
  const socket = dgram.createSocket({ type: 'udp4', reuseAddr: shared })
  // Windows cannot bind to a group: there the socket is bound to all addresses, and receives more.
  const host = shared && process.platform === 'win32' ? '0.0.0.0' : address
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      socket.close()
      reject(refusal(error, port === 0 ? `UDP on ${address}` : `UDP port ${port} of ${address}`))
    }
    socket.once('error', failed)
    socket.bind({ address: host, port, exclusive: !shared }, () => {
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

function refusal({ code, message }: NodeJS.ErrnoException, place: string): HoldfastError {
  if (code === 'EADDRINUSE') {
    return new HoldfastError('port-taken', `${place} is taken by a program that does not share it`)
  }
  if (code === 'EACCES') return new HoldfastError('port-denied', `${place} is not allowed to us`)
  const isOurs = code !== 'EADDRNOTAVAIL'
  const why = isOurs ? `could not be opened: ${message}` : 'this machine has no such address'
  return new HoldfastError('unreachable', `${place}: ${why}`)
}

function addressOf(host: string, port: number): string {
  return `udp:${host}:${port}`
}

function placeOf(address: string): { host: string; port: number } | null {
  const [, host = '', port] = /^udp:([0-9.]{7,15}):([1-9][0-9]{0,4})$/.exec(address) ?? []
  return isIPv4(host) && Number(port) <= 0xffff ? { host, port: Number(port) } : null
}

class MulticastSockets implements Multicast {
  readonly addresses: readonly string[]
  readonly group: string
  readonly counters: MulticastCounters = {
    sent: 0,
    received: 0,
    echoes: 0,
    oversize: 0,
    failed: 0,
  }
  readonly #own: dgram.Socket
  readonly #all: dgram.Socket
  readonly #events: MulticastEvents
  #open = true

  constructor(own: dgram.Socket, all: dgram.Socket, group: string, events: MulticastEvents) {
    this.#own = own
    this.#all = all
    this.#events = events
    this.group = group
    const { address, port } = own.address()
    this.addresses = [addressOf(address, port)]
    for (const socket of [own, all]) {
      socket.on('message', (bytes, source) => this.#receive(bytes, source))
      socket.on('error', () => {
        this.counters.failed += 1
      })
    }
  }

  reaches(address: string): boolean {
    return placeOf(address) !== null
  }

  send(to: string, bytes: Uint8Array): void {
    const place = placeOf(to)
    if (!this.#open || place === null) this.counters.failed += 1
    else if (bytes.length > DATAGRAM_MAX) this.counters.oversize += 1
    else {
      this.counters.sent += 1
      // Node keeps the bytes until the kernel has them: with a copy the caller may reuse its own.
      this.#own.send(bytes.slice(), place.port, place.host, (error) => {
        if (error) this.counters.failed += 1
      })
    }
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#own.close()
    this.#all.close()
  }

  #receive(bytes: Buffer, source: dgram.RemoteInfo): void {
    if (!this.#open) return
    const from = addressOf(source.address, source.port)
    if (from === this.addresses[0]) {
      this.counters.echoes += 1
      return
    }
    this.counters.received += 1
    if (bytes.length === 0 || bytes.length > DATAGRAM_MAX) this.counters.oversize += 1
    else {
      this.#events.datagram(from, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
    }
  }
}
