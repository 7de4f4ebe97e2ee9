/** A primary and members in one place: what each hears is handed on at once. */

import { calmPart } from '../calmly.ts'
import {
  create,
  draft,
  type Op,
  type PieceEvent,
  type Pieces,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import {
  decodeOutcome,
  type Outcome,
  piecesPart,
  type PieceTypes,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { update } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'

/** An update that changes nothing, to be filled in. */
export const NOTHING: Op = { hold: 'keep', mask: 0, fields: [], z: null }

/** A machine, and what it told its application. */
export interface Seat {
  state: Pieces
  events: PieceEvent[]
}

/** All of them; the first leads. */
export interface Room {
  types: PieceTypes
  part: ReturnType<typeof piecesPart>
  primary: Seat
  seats: Seat[]
}

/** A primary and so many members, with so many pieces of the first type. */
export function room(types: PieceTypes, members: number, pieces: number, epoch = 1): Room {
  const part = calmPart(piecesPart(types))
  const seat = (me: number): Seat => {
    const made: Seat = { state: create(Uint8Array.of(me, 7, 7)), events: [] }
    follow({ part }, made, me, 100, epoch)
    return made
  }
  const all = { types, part, primary: seat(100), seats: [] as Seat[] }
  const opened = draft(all.primary.state, types, part.channel, 0)
  for (let i = 0; i < pieces; i++)
    opened.api.create(0, 0, [], `b${i.toString(36).padStart(2, '1')}`)
  for (const change of opened.done().changes) part.apply!(all.primary.state, change)
  for (let i = 1; i <= members; i++) {
    all.seats.push(seat(i))
    welcome(all, all.seats.at(-1)!)
  }
  return all
}

/** A machine hears who leads. */
export function follow(
  { part }: Pick<Room, 'part'>,
  { state, events }: Seat,
  me: number,
  primary: number,
  epoch: number,
): void {
  const members = [{ inc: me, player: me }]
  const view = { session: 'a', me, primary, epoch, mesh: false, members, left: false }
  part.view!(state, 0, view, outTo(events))
}

/** A sink that keeps what is told. */
export function outTo(events: PieceEvent[]) {
  return { send: () => 0, emit: (event: unknown) => void events.push(event as PieceEvent) }
}

/** A member gets the whole table. */
export function welcome({ part, primary }: Room, { state, events }: Seat): void {
  for (const bytes of part.welcome!(primary.state)) {
    const seen = part.show!(primary.state, bytes, state.player)
    part.receive!(state, 0, state.primary, seen, outTo(events))
  }
}

/** A member updates; the primary has not heard of it. */
export function ask({ types }: Room, { state }: Seat, id: number, op: Partial<Op>, loose = false) {
  return update(state, types, state.published.get(id)!, { ...NOTHING, ...op }, loose)
}

/** The primary hears it. @param deaf  who hears nothing of it */
export function hear(all: Room, from: Seat, body: Uint8Array, deaf: Seat[] = []): Outcome {
  const { part, primary, seats } = all
  const { player } = from.state
  const { outcome, changes, news } = part.perform!(primary.state, 0, body, player, player)
  for (const change of changes) part.apply!(primary.state, change)
  for (const { state, events } of news ? seats.filter((seat) => !deaf.includes(seat)) : []) {
    const seen = part.show!(primary.state, news!, state.player)
    part.receive!(state, 0, primary.state.me, seen, outTo(events))
  }
  return decodeOutcome(outcome)!
}

/** Both at once. */
export function act(all: Room, from: Seat, id: number, op: Partial<Op>, loose = false): Outcome {
  return hear(all, from, ask(all, from, id, op, loose))
}
