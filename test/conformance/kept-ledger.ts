/**
 * What was acknowledged to a player who is alone in a kept room, written down outside of all that
 * is killed, and held against the room as whoever opens it next finds it.
 */

import type { Ack, Found } from './kept-life-messages.ts'

/** The room tells so many of its newest operations. */
export const NEWEST = 64
/** Each operation of so many makes a piece, and so many of these stay. */
export const MADE_EVERY = 4
/** See MADE_EVERY. */
export const MADE_MAX = 3

/** What a room must be, whoever is killed; each fault begins with one of these. */
export const CLAIMS = [
  'acknowledged is kept',
  'once',
  'nothing that nobody did',
  'nothing comes later',
  'same players',
  'same pieces',
  'one after the other',
  'time goes on',
  'alone waits for the hub',
] as const

type Claim = (typeof CLAIMS)[number]

/** See the head of this file. */
export class Ledger {
  /** What did not hold, a sentence each. */
  readonly wrong: string[] = []
  /** Operations that were acknowledged. */
  acks = 0
  /** By its place in the room, the number of an operation; and the other way round. */
  readonly #places = new Map<number, number>()
  readonly #numbers = new Map<number, number>()
  /** Pieces by the operation that made them. */
  readonly #made = new Map<number, string>()
  /** By their tokens, players to whom something was acknowledged; and who plays now. */
  readonly #players = new Map<string, number>()
  #token = ''
  /** How many operations, and moves, were asked for; the first that whoever plays now was given. */
  #given = 0
  #first = 1
  #movesGiven = 0
  /** The most operations that the room was known to have, and had as it was opened last. */
  #count = 0
  #opened = 0
  #moves = 0
  #epoch = 0
  #now = 0

  /** Somebody may do so many operations and as many moves. @returns the number of the first */
  give(count: number): number {
    const first = this.#given + 1
    this.#given += count
    this.#movesGiven += count
    return first
  }

  /** An operation was acknowledged. */
  acked({ n, at, player, now, safety }: Ack): void {
    this.acks++
    this.#players.set(this.#token, player)
    this.#operation(n, at)
    this.#goesOn(now)
    this.#count = Math.max(this.#count, at)
    const isSafe = safety === 'kept' || safety === 'waiting'
    if (!isSafe) this.#fault('alone waits for the hub', `operation ${n}, ${safety}`)
  }

  /** The piece was moved, so often in all. */
  moved(moves: number): void {
    if (moves <= this.#moves) this.#fault('once', `move ${moves} came after ${this.#moves}`)
    this.#moves = Math.max(this.#moves, moves)
  }

  /** Somebody opened the room. @param token  by which they came; null for a new player */
  found(found: Found, token: string | null): void {
    this.#knows(found, token)
    const { count, newest, moves, epoch, now } = found
    if (count < this.#count) {
      this.#fault('acknowledged is kept', `${this.#count} operations were, and ${count} are there`)
    }
    if (moves < this.#moves) {
      this.#fault('acknowledged is kept', `${this.#moves} moves were, and ${moves} are there`)
    }
    if (moves > this.#movesGiven) {
      this.#fault('once', `the piece moved ${moves} times, of ${this.#movesGiven}`)
    }
    if (epoch <= this.#epoch) {
      this.#fault('one after the other', `epoch ${epoch} came after ${this.#epoch}`)
    }
    this.#goesOn(now)
    for (const [back, n] of newest.toReversed().entries()) this.#operation(n, count - back)
    this.#pieces(found)
    // What is there now counts, or the same loss would be a fault with each opening.
    this.#count = count
    this.#opened = count
    this.#moves = moves
    this.#epoch = epoch
    this.#first = this.#given + 1
  }

  // An operation has its place for ever, and none has two.
  #operation(n: number, at: number): void {
    const [before, place] = [this.#places.get(at), this.#numbers.get(n)]
    if (before === n) return
    if (before !== undefined) {
      this.#fault('acknowledged is kept', `${n} is where ${before} was, at ${at}`)
    }
    if (place !== undefined) this.#fault('once', `operation ${n} is at ${place} and at ${at}`)
    if (!(n >= 1 && n <= this.#given)) this.#fault('nothing that nobody did', `operation ${n}`)
    const isLate = at > this.#opened && n < this.#first
    if (isLate) this.#fault('nothing comes later', `operation ${n} came to ${at}`)
    this.#places.set(at, n)
    this.#numbers.set(n, at)
  }

  #knows({ player, token: own }: Found, token: string | null): void {
    const known = token === null ? undefined : this.#players.get(token)
    if (known !== undefined && known !== player) {
      this.#fault('same players', `player ${known} came back as ${player}`)
    }
    const isTaken = [...this.#players.values()].includes(player)
    if (known === undefined && isTaken) {
      this.#fault('same players', `somebody new is player ${player} too`)
    }
    this.#token = own
  }

  #pieces({ count, made }: Found): void {
    const newest = Math.floor(count / MADE_EVERY)
    const expected = [newest - 2, newest - 1, newest].filter((one) => one > 0)
    const places = made.map(({ at }) => at).toSorted((a, b) => a - b)
    if (places.join() !== expected.map((one) => one * MADE_EVERY).join()) {
      this.#fault('same pieces', `after ${count} operations there are those of ${places.join()}`)
    }
    for (const { id, at } of made) {
      const before = this.#made.get(at)
      if (before !== undefined && before !== id) {
        this.#fault('same pieces', `the piece of ${at} was ${before}, and is ${id}`)
      }
      this.#made.set(at, id)
    }
    if (new Set(this.#made.values()).size < this.#made.size) {
      this.#fault('same pieces', 'two pieces have one id')
      this.#made.clear()
    }
  }

  #goesOn(now: number): void {
    if (now < this.#now) this.#fault('time goes on', `it was ${this.#now} ms, and is ${now}`)
    this.#now = now
  }

  #fault(claim: Claim, what: string): void {
    this.wrong.push(`${claim}: ${what}`)
  }
}
