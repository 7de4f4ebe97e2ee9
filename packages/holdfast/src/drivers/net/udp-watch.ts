/**
 * Detects that a UDP port was closed.
 *
 * When a process dies, the kernel of its machine answers datagrams for its port with an ICMP error,
 * which only a connected socket gets. So each address that we send to regularly has a second,
 * connected socket, which now and then sends an empty datagram while we send there. The error comes
 * back within a round trip, long before a timeout could be sure (T36).
 *
 * A firewall may swallow the error, and an attacker on the path may forge it: its absence proves
 * nothing, and its presence is only a suspicion.
 */

import dgram from 'node:dgram'

/** Least time between two empty datagrams to one address, in milliseconds. */
const PROBE_MS = 5
/** With more watched addresses than this each is probed more seldom: a probe costs a packet. */
const FEW = 8
/** Most addresses watched at a time; at further ones only silence shows a death. */
const WATCHES_MAX = 64
/** An address may be replaced when nothing was sent to it for so long. */
const IDLE_MS = 5_000

const EMPTY = new Uint8Array(0)

interface Place {
  host: string
  port: number
  family: 4 | 6
}

interface Watch {
  socket: dgram.Socket
  probedAt: number
  connected: boolean
}

export class Watches {
  readonly #refused: (address: string) => void
  /** Least recently used first. */
  readonly #watches = new Map<string, Watch>()

  /** @param refused  called at most once for each probe of an address */
  constructor(refused: (address: string) => void) {
    this.#refused = refused
  }

  /** Called when we send to this address: probes it, unless it was just probed. */
  probe(address: string, place: Place): void {
    const now = performance.now()
    const watch = this.#watches.get(address) ?? this.#open(now, address, place)
    const least = PROBE_MS * Math.max(1, this.#watches.size / FEW) ** 2
    if (!watch || now - watch.probedAt < least) return
    watch.probedAt = now
    this.#watches.delete(address)
    this.#watches.set(address, watch)
    if (watch.connected) watch.socket.send(EMPTY, (error) => this.#onResult(address, error))
  }

  close(): void {
    for (const { socket } of this.#watches.values()) socket.close()
    this.#watches.clear()
  }

  #open(now: number, address: string, { host, port, family }: Place): Watch | null {
    if (!this.#hasRoom(now)) return null
    const socket = dgram.createSocket({
      type: family === 4 ? 'udp4' : 'udp6',
      lookup: (name, _options, done) => done(null, name, family),
    })
    const watch: Watch = { socket, probedAt: -Infinity, connected: false }
    socket.unref()
    socket.on('error', (error) => this.#onResult(address, error))
    socket.connect(port, host, () => {
      watch.connected = true
    })
    this.#watches.set(address, watch)
    return watch
  }

  #hasRoom(now: number): boolean {
    if (this.#watches.size < WATCHES_MAX) return true
    const [oldest, watch] = this.#watches.entries().next().value!
    if (now - watch.probedAt < IDLE_MS) return false
    this.#watches.delete(oldest)
    watch.socket.close()
    return true
  }

  #onResult(address: string, error: NodeJS.ErrnoException | null): void {
    const watched = this.#watches.has(address)
    if (watched && error?.code === 'ECONNREFUSED') this.#refused(address)
  }
}
