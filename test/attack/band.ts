/**
 * A room of real members that plays on: how many moves were acknowledged, and its pauses. Members
 * share an address, as in a house; each newcomer comes from one of its own.
 */

import { WebSocket } from 'ws'
import { connectWith } from '../../packages/holdfast/src/drivers/net/websocket.ts'
import { metByError } from '../../packages/holdfast/src/drivers/net/met.ts'
import { nodeEnvironment } from '../../packages/holdfast/src/drivers/node.ts'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import { action, type NodeJoinOptions, type Session } from '../../packages/holdfast/src/node.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { until } from '../conformance/until.ts'

/** The game and the room that they play in. */
export const PLACE = { game: 'band', room: 'main', udp: null } as const
/** Of members that reach each other by UDP, all of them. */
export const MIRROR = { game: 'band', room: 'mirror', topology: 'mesh', udp: {} } as const
/** Members are there, and no attacker. */
const HOUSE = '127.0.0.1'
/** A member moves so often. */
const MOVE_MS = 50

const move = action('move', (table, by: number) => {
  const sum = Number(table.get('sum') ?? 0) + by
  table.set('sum', sum)
  return sum
})

/** Where they play, and how. */
type Place = Pick<NodeJoinOptions, 'game' | 'room'> &
  Partial<Pick<NodeJoinOptions, 'topology' | 'udp'>>

/** How a room fared. */
export interface Fared {
  acknowledged: number
  /** Moves that had another outcome than the next sum: what was lost, or came twice. */
  wrong: number
  /** Longest time between two acknowledgements, in ms. */
  pauseMs: number
  /** How long newcomers took to come in, in ms. */
  joins: number[]
  /** Why others did not get in. */
  lost: string[]
}

/** Members in a room, through a hub, who move in turn. */
export class Band {
  readonly #url: string
  readonly #place: Place
  readonly #members: Session[] = []
  #fared: Fared = fresh()
  #lastAt = performance.now()
  #moves = 0
  #came = 0
  #isOver = false
  #playing: Promise<void> = Promise.resolve()

  private constructor(url: string, place: Place) {
    this.#url = url
    this.#place = place
  }

  /** All are in, and begin to play. */
  static async meet(url: string, members: number, place: Place = PLACE): Promise<Band> {
    const band = new Band(url, place)
    for (let at = 0; at < members; at++) band.#members.push(await band.#enter(`${at}`, HOUSE))
    await until(() => band.#members.every(({ safety }) => safety === 'backed-up'))
    band.#lastAt = performance.now()
    band.#playing = band.#play()
    return band
  }

  #enter(name: string, localAddress: string): Promise<Session> {
    const { udp, ...place } = this.#place
    const dial = (url: string): WebSocket => {
      return new WebSocket(url, { localAddress, perMessageDeflate: false })
    }
    const environment = { ...nodeEnvironment(udp), connect: connectWith(dial, metByError) }
    return joinIn(environment, { ...place, name, types: [move], server: this.#url })
  }

  async #play(): Promise<void> {
    for (let at = 0; !this.#isOver; at++) {
      const begun = performance.now()
      const outcome = await this.#members[at % this.#members.length]!.act(move, 1)
      if (this.#isOver) return
      this.#note(outcome.ok && outcome.value === ++this.#moves)
      const rest = begun + MOVE_MS - performance.now()
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest))
    }
  }

  #note(isRight: boolean): void {
    const now = performance.now()
    this.#fared.acknowledged++
    if (!isRight) this.#fared.wrong++
    this.#fared.pauseMs = Math.max(this.#fared.pauseMs, now - this.#lastAt)
    this.#lastAt = now
  }

  /** Somebody comes in, and goes. */
  async newcomer(name: string): Promise<void> {
    const begun = performance.now()
    const at = this.#came++
    try {
      const session = await this.#enter(name, `127.252.${Math.floor(at / 250)}.${1 + (at % 250)}`)
      this.#fared.joins.push(performance.now() - begun)
      await session.leave()
    } catch (error) {
      this.#fared.lost.push((error as Error).message)
    }
  }

  /** How it fared since this was asked last. */
  take(): Fared {
    const fared = this.#fared
    // A pause that has not ended is one.
    fared.pauseMs = Math.max(fared.pauseMs, performance.now() - this.#lastAt)
    this.#fared = fresh()
    this.#lastAt = performance.now()
    return fared
  }

  /** The schema of their game, as a primary tells it to whoever has another. */
  schema(): number {
    return (this.#members[0] as InternalSession).member!.session.schema
  }

  /** Which of their roles changed, by epoch. */
  epoch(): number {
    return this.#members[0]!.debug.figures().epoch
  }

  async end(): Promise<void> {
    this.#isOver = true
    for (const session of this.#members) session.end('done')
    await this.#playing.catch(() => {})
  }
}

function fresh(): Fared {
  return { acknowledged: 0, wrong: 0, pauseMs: 0, joins: [], lost: [] }
}
