/**
 * A player of the classic game on a real LAN: the machine of `peer.ts`, a multicast socket, and one
 * alarm. There is no server, and nobody is asked to join.
 */

import type { MazeClient } from '../maze-client.ts'
import { type Multicast, openMulticast } from './multicast.ts'
import { nameOnLan } from '../names.ts'
import type { Act } from '../rules/acts.ts'
import type { Facing } from '../rules/maze.ts'
import type { World } from '../rules/world.ts'
import * as classic from './peer.ts'

/** Where the players of a LAN meet unless they say otherwise: of the range for sites' own use. */
export const GROUP = '239.77.1.1'
/** See GROUP. */
export const PORT = 47_701

/** How to play. */
export interface LanOptions {
  group?: string
  port?: number
  /** Name or IPv4 address of an interface; by default the first that leads to others. */
  via?: string
  /** As the document has it to the letter: heartbeats are repeated, the id is the address. */
  strict?: boolean
  /** Our name, sent to the others; with `strict` it is not sent. */
  name?: string
  /** Its rat is a copy of one elsewhere. */
  puppet?: boolean
  onNews?: (news: classic.News) => void
}

/** See the head of this file. */
export class LanPlayer implements MazeClient {
  readonly peer: classic.Peer
  readonly #carrier: Multicast
  readonly #out: classic.Out
  #timer: ReturnType<typeof setTimeout> | null = null
  #at = Infinity
  #seen: { slot: number; own: number; state: World; ahead: World } | null = null

  /** Use `LanPlayer.open`. */
  private constructor(carrier: Multicast, peer: classic.Peer, onNews: (one: classic.News) => void) {
    this.#carrier = carrier
    this.peer = peer
    this.#out = {
      multicast: (bytes) => carrier.send(carrier.group, bytes),
      unicast: (to, bytes) => carrier.send(to, bytes),
      tell: onNews,
    }
  }

  /** Joins those who play. @throws HoldfastError that says what is wrong with the place */
  static async open(options: LanOptions = {}): Promise<LanPlayer> {
    const { group = GROUP, port = PORT, via, strict = false, puppet, name } = options
    const { onNews = () => {} } = options
    // What comes before there is a player is lost, as datagrams may be.
    let player: LanPlayer | null = null
    const carrier = await openMulticast({ group, port, via })({
      datagram: (from, bytes) => {
        if (player) player.#receive(from, bytes)
      },
    })
    const [id, seed] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
    const own = strict ? addressOf(carrier.addresses[0]!) : id
    player = new LanPlayer(
      carrier,
      classic.create(performance.now(), { id: own, seed, strict, puppet, name }),
      onNews,
    )
    player.#wake()
    return player
  }

  /** Of our rat. It changes when somebody else has it too. */
  get me(): number {
    return this.peer.id
  }

  /** The slot under way. */
  get slot(): number {
    return this.peer.slot
  }

  /** Whether we have a rat. */
  get live(): boolean {
    return this.peer.self !== null
  }

  /** What is in the maze as of the last slot. */
  get state(): World {
    return this.#look().state
  }

  /** The same with all that we did since. */
  get ahead(): World {
    return this.#look().ahead
  }

  nameOf(rat: number): string {
    const { id, name, others } = this.peer
    return (rat === id ? name : others.get(rat)?.name) || nameOnLan(rat)
  }

  /** What went over the network. */
  get carrier(): Multicast['counters'] {
    return this.#carrier.counters
  }

  /** Our rat does that, if it can be. @returns whether it was told to all */
  act(act: Act): boolean {
    if (act.kind === 'born' || act.kind === 'leave') return false
    const told = classic.act(this.peer, performance.now(), act, this.#out)
    this.#alarm()
    return told
  }

  /** A puppet's rat is there. @returns whether it was told to all */
  put(rat: { at: number; facing: Facing; score: number }): boolean {
    const { at: cell, facing, score } = rat
    const told = classic.put(this.peer, performance.now(), { cell, facing, score }, this.#out)
    this.#alarm()
    return told
  }

  /** A puppet was hit by one of that rat's missiles. @returns whether it was told to all */
  strike(owner: number): boolean {
    const told = classic.strike(this.peer, performance.now(), owner, this.#out)
    this.#alarm()
    return told
  }

  /** Leaves as one does: in silence. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#at = -Infinity
    this.#carrier.close()
  }

  #receive(from: string, bytes: Uint8Array): void {
    classic.receive(this.peer, performance.now(), from, bytes, this.#out)
    this.#alarm()
  }

  #wake(): void {
    this.#at = Infinity
    classic.wake(this.peer, performance.now(), this.#out)
    this.#alarm()
  }

  #alarm(): void {
    const at = classic.deadline(this.peer)
    if (at >= this.#at) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#at = at
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, at - performance.now()))
  }

  // A picture holds until the next slot, or until we do something.
  #look(): { state: World; ahead: World } {
    const { peer } = this
    const { slot, event: own } = peer
    if (this.#seen?.slot !== slot || this.#seen.own !== own) {
      const [state, ahead] = [classic.world(peer), classic.ahead(peer)]
      this.#seen = { slot, own, state, ahead }
    }
    return this.#seen
  }
}

// The address of `udp:10.0.0.1:4000` as a number.
function addressOf(address: string): number {
  const [, host = ''] = /^udp:([0-9.]+):/.exec(address) ?? []
  return host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}
