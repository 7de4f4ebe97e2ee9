/**
 * A bridge between a LAN and a session: a member of both, so that a terminal that plays with no
 * server and a browser are in one maze.
 *
 *     npm run mazewar -- bridge --join http://127.0.0.1:8700 [--room main] [--via eth0]
 *
 * Each rat of the session has a puppet on the LAN, a classic player with an id and an address of
 * its own, which does what its model does. Each rat of the LAN is one that the bridge owns in the
 * session. Who hits a rat of the session is decided there, and its puppet says so on the LAN. Who
 * hits a rat of the LAN both mazes decide for themselves, for there the victim alone may say it;
 * so points of a rat of the LAN are those of the maze that one looks at. Names cross: a puppet has
 * that of its model, and a rat of the LAN in the session what it says on the LAN.
 */

import type { LanPlayer } from './classic/lan.ts'
import { createMirror, follow, type Mirror, shot } from './rules/mirror.ts'
import { type Hit, type Rat, ratOf } from './rules/world.ts'
import type { Seat } from './seat.ts'

/** Rats of the LAN have ids from here on in the session: below are the numbers of players. */
const LAN_FROM = 480
/** And up to here. */
const LAN_UNTIL = 512

/** What a bridge needs of a session. */
export type SessionBank = Pick<
  Seat,
  'me' | 'slot' | 'live' | 'state' | 'ahead' | 'actFor' | 'nameOf' | 'label'
>
/** And of a player on the LAN. */
export type LanBank = Pick<
  LanPlayer,
  'me' | 'slot' | 'live' | 'state' | 'ahead' | 'act' | 'put' | 'strike' | 'close' | 'nameOf'
>

/** A rat of the session, on the LAN. */
interface Puppet {
  readonly player: LanBank
  mirror: Mirror | null
  slot: number
  placed: boolean
}

/** A rat of the LAN, in the session. */
interface Guest {
  readonly rat: number
  mirror: Mirror | null
  slot: number
}

/** See the head of this file. */
export class Bridge {
  /** The LAN cannot be reached. */
  onFailure: (error: unknown) => void = () => {}
  readonly #seat: SessionBank
  readonly #open: (name: string) => Promise<LanBank>
  readonly #puppets = new Map<number, Puppet>()
  readonly #opening = new Set<number>()
  readonly #guests = new Map<number, Guest>()
  #told = new Set<string>()

  constructor(seat: SessionBank, open: (name: string) => Promise<LanBank>) {
    this.#seat = seat
    this.#open = open
  }

  /** Lets both mazes hear of each other. Call it often. */
  look(): void {
    if (!this.#seat.live) return
    const { state, me } = this.#seat
    const locals = state.rats.filter(({ owner }) => owner !== me)
    for (const [id, { player }] of this.#puppets) {
      if (locals.some((rat) => rat.id === id)) continue
      player.close()
      this.#puppets.delete(id)
    }
    for (const rat of locals) this.#lead(rat)
    this.#tellHits(state.hits)
    this.#welcome()
  }

  end(): void {
    for (const { player } of this.#puppets.values()) player.close()
  }

  // A rat of the session goes on, and its puppet with it.
  #lead(model: Rat): void {
    const puppet = this.#puppets.get(model.id)
    if (!puppet) return this.#make(model.id)
    const { player } = puppet
    const copy = player.live ? ratOf(player.ahead, player.me) : undefined
    if (!copy || puppet.slot === player.slot) return
    puppet.slot = player.slot
    if (!puppet.placed || !puppet.mirror) {
      puppet.placed = player.put(model)
      puppet.mirror = createMirror(model)
      return
    }
    for (const act of follow(puppet.mirror, model, copy)) {
      if (act.kind === 'born') player.put(model)
      else if (player.act(act) && act.kind === 'fire') shot(puppet.mirror)
    }
  }

  #make(id: number): void {
    if (this.#opening.has(id)) return
    this.#opening.add(id)
    void this.#open(this.#seat.nameOf(id)).then((player) => {
      this.#opening.delete(id)
      this.#puppets.set(id, { player, mirror: null, slot: -1, placed: false })
    }, this.onFailure)
  }

  // The session's verdict on its own rats is told on the LAN.
  #tellHits(hits: readonly Hit[]): void {
    const kept = new Set<string>()
    for (const { slot, by, whom } of hits) {
      const key = `${slot} ${by} ${whom}`
      kept.add(key)
      const puppet = this.#puppets.get(whom)
      if (this.#told.has(key) || !puppet) continue
      puppet.player.strike(this.#idOnLan(by))
      // It is born anew where its model was.
      puppet.placed = false
    }
    this.#told = kept
  }

  #idOnLan(rat: number): number {
    for (const [id, guest] of this.#guests) if (guest.rat === rat) return id
    return this.#puppets.get(rat)?.player.me ?? 0
  }

  // What any puppet sees of the LAN, but for the puppets.
  #welcome(): void {
    const [first] = this.#puppets.values()
    const puppets = new Set([...this.#puppets.values()].map(({ player }) => player.me))
    const seen = first?.player.state.rats.filter(({ id }) => !puppets.has(id)) ?? []
    for (const [id, guest] of this.#guests) {
      if (seen.some((rat) => rat.id === id)) continue
      this.#seat.actFor(guest.rat, { kind: 'leave' })
      if (!ratOf(this.#seat.state, guest.rat)) this.#guests.delete(id)
    }
    // A puppet that is being opened is a stranger until it is known.
    if (this.#opening.size > 0) return
    for (const rat of seen) {
      this.#follow(rat)
      const guest = this.#guests.get(rat.id)
      if (guest && first) this.#seat.label(guest.rat, first.player.nameOf(rat.id))
    }
  }

  #follow(model: Rat): void {
    const { slot, ahead } = this.#seat
    const guest = this.#guests.get(model.id) ?? this.#invite(model)
    if (!guest || guest.slot === slot) return
    guest.slot = slot
    const copy = ratOf(ahead, guest.rat)
    if (!copy) {
      this.#seat.actFor(guest.rat, { kind: 'born', at: model.at, facing: model.facing })
      guest.mirror = createMirror(model)
      return
    }
    guest.mirror ??= createMirror(model)
    for (const act of follow(guest.mirror, model, copy)) {
      const told = this.#seat.actFor(guest.rat, act)
      if (told && act.kind === 'fire') shot(guest.mirror)
    }
  }

  #invite(model: Rat): Guest | null {
    for (let rat = LAN_FROM; rat < LAN_UNTIL; rat++) {
      const taken = [...this.#guests.values()].some((guest) => guest.rat === rat)
      if (taken || ratOf(this.#seat.ahead, rat)) continue
      const guest: Guest = { rat, mirror: null, slot: -1 }
      this.#guests.set(model.id, guest)
      return guest
    }
    return null
  }
}
