/**
 * A table with ada and bob, and P who leads, and a line for each update as it leaves, for what P
 * makes of it and for what each is told, as the document reads it. Messages stay under way until
 * the test lets them come. A generation is told as `epoch.number`.
 */

import { expect } from 'vitest'
import {
  decodeOutcome,
  removePending,
  shown,
  type Hold,
  type Op,
  type PieceEvent,
  type PieceTypes,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { readPieceBody } from '../standard/pieces.ts'
import { readWhole } from '../standard/reader.ts'
import type { Read, Value } from '../standard/values.ts'
import type { Standard } from '../standard/document.ts'
import { Script, standardOf } from '../transcript.ts'
import { ask, outTo, type Room, room, type Seat, welcome } from './room.ts'

/** Who sits at the table. */
export type Name = 'ada' | 'bob'

const PLAYERS = { ada: 1, bob: 2 } as const
const STEP_MS = 10

/** What is done to a piece: fields by their places. */
export interface Wish {
  hold?: Hold
  set?: Record<number, number>
  z?: string
  loose?: boolean
}

/** See above. */
export class Stage {
  readonly script = new Script({ untold: ['flags', 'age'] })
  readonly room: Room
  readonly #standard: Standard
  readonly #names: readonly string[]
  readonly #told = new Map<Seat, number>()
  readonly #air: Record<Name, (() => void)[]> = { ada: [], bob: [] }
  #now = 0

  constructor(types: PieceTypes, pieces: number) {
    this.#standard = standardOf({ pieceTypes: types.map(({ schema }) => schema.text) })
    this.#names = types[0]!.schema.names
    this.room = room(types, 2, pieces)
    for (const seat of this.room.seats) this.#told.set(seat, seat.events.length)
  }

  /** A player does something to a piece, which leaves for P. @returns its arrival there */
  updates(name: Name, id: number, wish: Wish): () => void {
    const seat = this.#seat(name)
    const { hold = 'keep', set = {}, z = null, loose = false } = wish
    const fields: Op['fields'] = []
    let mask = 0
    for (const [place, value] of Object.entries(set)) {
      fields[Number(place)] = value
      mask += 2 ** Number(place)
    }
    const body = ask(this.room, seat, id, { hold, mask, fields, z }, loose)
    this.#tell(name, `-> P  ${this.#brief(readPieceBody(this.#standard, 0, body))}`)
    this.sees(name, id)
    return () => this.#decide(name, id, body)
  }

  /** Everything that P said to a player comes. */
  hears(name: Name): void {
    this.#now += STEP_MS
    for (const arrival of this.#air[name].splice(0)) arrival()
  }

  /** A player comes anew, and is told the whole table. */
  comesBack(name: Name): void {
    this.#air[name].length = 0
    this.#tell(name, 'comes back')
    const { part, primary } = this.room
    const seat = this.#seat(name)
    for (const bytes of part.welcome!(primary.state)) {
      const seen = part.show!(primary.state, bytes, seat.state.player)
      this.#tell('P', `-> ${name}  ${this.#brief(readWhole(this.#standard, 'Pieces', seen))}`)
    }
    welcome(this.room, seat)
    this.#events(name)
  }

  /** How a piece looks to a player, with what is under way. */
  sees(name: Name, id: number): void {
    const row = shown(this.#seat(name).state, this.room.types, id)
    if (!row) return this.#tell(name, `sees no ${id}`)
    const fields = this.#names.map((field, place) => {
      return `${field}=${(row.hidden >>> place) % 2 === 1 ? '?' : String(row.fields[place])}`
    })
    this.#tell(name, `sees ${id}: ${fields.join(' ')} z=${row.z} heldBy=${row.heldBy}`)
  }

  #decide(name: Name, id: number, body: Uint8Array): void {
    this.#now += STEP_MS
    const { part, primary, seats } = this.room
    const by = PLAYERS[name]
    const { outcome, changes, news } = part.perform!(primary.state, 0, body, by, by)
    for (const change of changes) part.apply!(primary.state, change)
    for (const seat of news ? seats : []) {
      const to = this.#nameOf(seat)
      const seen = part.show!(primary.state, news!, seat.state.player)
      this.#tell('P', `-> ${to}  ${this.#brief(readWhole(this.#standard, 'Pieces', seen))}`)
      this.#air[to].push(() => {
        part.receive!(seat.state, 0, primary.state.me, seen, outTo(seat.events))
        this.#events(to)
      })
    }
    const read = readWhole(this.#standard, 'PieceOutcome', outcome)
    this.#tell('P', `-> ${name}  outcome ${this.#brief(read)}`)
    if (!decodeOutcome(outcome)) expect.fail('an outcome that the code does not read')
    this.#air[name].push(() => {
      const { state, events } = this.#seat(name)
      removePending(state, id, body[1]!, outTo(events))
      this.#events(name)
    })
  }

  // What a player was told since this was asked last.
  #events(name: Name): void {
    const seat = this.#seat(name)
    const told = seat.events.slice(this.#told.get(seat) ?? 0)
    this.#told.set(seat, seat.events.length)
    for (const event of told as PieceEvent[]) {
      this.#tell(name, `is told: ${this.script.brief(event)}`)
    }
  }

  #seat(name: Name): Seat {
    return this.room.seats[PLAYERS[name] - 1]!
  }

  #nameOf(seat: Seat): Name {
    return seat.state.player === PLAYERS.ada ? 'ada' : 'bob'
  }

  #brief(value: Value): string {
    return this.script.brief(short(value))
  }

  #tell(who: string, what: string): void {
    this.script.tell(this.#now, who, what)
  }
}

/** Generations in short. */
function short(value: Value): Value {
  if (Array.isArray(value)) return value.map(short)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  const { epoch, number, ...more } = value
  if (number !== undefined && Object.keys(more).length === 0) {
    return `${epoch as number}.${number as number}`
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, short(one)])) as Read
}
