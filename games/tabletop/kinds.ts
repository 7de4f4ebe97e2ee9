/** What lies on the table, as this window holds it. */

import type { PieceHandle, Session, Vec2 } from 'holdfast'
import { theCard } from './rules/faces.ts'
import { Card, Die, Man } from './rules/pieces.ts'
import { squareAt } from './rules/places.ts'

/** Handles of the three kinds. */
export type CardHandle = PieceHandle<typeof Card.schema.fields>
/** See CardHandle. */
export type ManHandle = PieceHandle<typeof Man.schema.fields>
/** See CardHandle. */
export type DieHandle = PieceHandle<typeof Die.schema.fields>

/** One thing. */
export type Thing =
  | { readonly kind: 'card'; readonly id: number; readonly handle: CardHandle }
  | { readonly kind: 'man'; readonly id: number; readonly handle: ManHandle }
  | { readonly kind: 'die'; readonly id: number; readonly handle: DieHandle }

/** All of them, the lowest first: men and dice lie on cards. */
export function thingsOf(session: Session): Thing[] {
  const cards = session.all(Card).map((handle): Thing => ({ kind: 'card', id: handle.id, handle }))
  const men = session.all(Man).map((handle): Thing => ({ kind: 'man', id: handle.id, handle }))
  const dice = session.all(Die).map((handle): Thing => ({ kind: 'die', id: handle.id, handle }))
  return [...cards, ...men, ...dice].filter(({ handle }) => !handle.state.aside)
}

/** Where it lies. A man of a game that nobody carries stands on its square. */
export function placeOf({ kind, handle }: Thing): Vec2 {
  if (kind !== 'man') return handle.state.at
  const { at, law, square } = handle.state
  return law && square !== 0 && handle.heldBy === 0 ? squareAt(square) : at
}

/** How far it is turned, in radians. */
export function turnOf({ kind, handle }: Thing): number {
  return kind === 'man' ? 0 : handle.state.turn
}

/** Such as "the 7 of hearts". @param face  of a card that may be hidden by now */
export function called({ kind, handle }: Thing, face: number | null = null): string {
  if (kind === 'card') return theCard(handle.state.face ?? face)
  if (kind === 'die') return 'a die'
  return `a ${handle.state.white ? 'white' : 'black'} ${handle.state.king ? 'king' : 'man'}`
}

/** What a move may change of a thing, and an undo brings back. */
export interface Moment {
  readonly at: Vec2
  readonly turn?: number
  readonly up?: boolean
  readonly hand?: number
  readonly king?: boolean
}

/** How it is now. */
export function momentOf({ kind, handle }: Thing): Moment {
  const { at } = handle.state
  if (kind === 'man') return { at, king: handle.state.king }
  if (kind === 'die') return { at, turn: handle.state.turn }
  const { turn, up, hand } = handle.state
  return { at, turn, up, hand }
}

/** Whether nothing was moved between two moments. */
export function isSame(a: Moment, b: Moment): boolean {
  const isThere = a.at[0] === b.at[0] && a.at[1] === b.at[1]
  return isThere && a.turn === b.turn && a.up === b.up && a.hand === b.hand && a.king === b.king
}
