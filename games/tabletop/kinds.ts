/** What lies on the table, as this window holds it. */

import type { PieceHandle, Session, Vec2 } from 'holdfast'
import { theCard } from './rules/faces.ts'
import { CHESSMEN } from './rules/men.ts'
import { COLOURS } from './rules/box.ts'
import { Card, Die, Man, Token } from './rules/pieces.ts'
import { homeOf } from './rules/places.ts'

/** Handles of the four kinds. */
export type CardHandle = PieceHandle<typeof Card.schema.fields>
/** See CardHandle. */
export type ManHandle = PieceHandle<typeof Man.schema.fields>
/** See CardHandle. */
export type DieHandle = PieceHandle<typeof Die.schema.fields>
/** See CardHandle. */
export type TokenHandle = PieceHandle<typeof Token.schema.fields>

/** One thing. */
export type Thing =
  | { readonly kind: 'card'; readonly id: string; readonly handle: CardHandle }
  | { readonly kind: 'man'; readonly id: string; readonly handle: ManHandle }
  | { readonly kind: 'die'; readonly id: string; readonly handle: DieHandle }
  | { readonly kind: 'token'; readonly id: string; readonly handle: TokenHandle }

/** All of them, the lowest first: men, tokens and dice lie on cards. */
export function thingsOf(session: Session): Thing[] {
  const cards = session.all(Card).map((handle): Thing => ({ kind: 'card', id: handle.id, handle }))
  const men = session.all(Man).map((handle): Thing => ({ kind: 'man', id: handle.id, handle }))
  const dice = session.all(Die).map((handle): Thing => ({ kind: 'die', id: handle.id, handle }))
  const tokens = session
    .all(Token)
    .map((handle): Thing => ({ kind: 'token', id: handle.id, handle }))
  return [...cards, ...men, ...tokens, ...dice].filter(({ handle }) => !handle.state.aside)
}

/** Whether the rules of a game move it. */
export function isLawful({ kind, handle }: Thing): boolean {
  return (kind === 'card' || kind === 'man') && handle.state.law
}

/** Where it lies. A man of a game that nobody carries stands on its square. */
export function placeOf({ kind, handle }: Thing): Vec2 {
  if (kind !== 'man') return handle.state.at
  const { at, law, square } = handle.state
  return law && square !== 0 && handle.holder === null ? homeOf(handle.state) : at
}

/** How far it is turned, in radians. */
export function turnOf({ kind, handle }: Thing): number {
  return kind === 'man' || kind === 'token' ? 0 : handle.state.turn
}

/** Such as "the 7 of hearts". @param face  of a card that may be hidden by now */
export function called({ kind, handle }: Thing, face: number | null = null): string {
  if (kind === 'card') return theCard(handle.state.face ?? face)
  if (kind === 'die') return handle.state.sides === 6 ? 'a die' : `a die of ${handle.state.sides}`
  if (kind === 'token') {
    const { counter, colour, value } = handle.state
    return counter ? `a counter at ${value}` : `a ${COLOURS[colour]} token`
  }
  const { white, king, kind: rank } = handle.state
  return `a ${white ? 'white' : 'black'} ${king ? 'king' : CHESSMEN[rank]}`
}

/** What a move may change of a thing, and an undo brings back. */
export interface Moment {
  readonly at: Vec2
  readonly turn?: number
  readonly up?: boolean
  readonly hand?: number
  readonly king?: boolean
  readonly value?: number
  /** The kind of a chessman (`ManState`), which promotion changes. */
  readonly kind?: number
}

/** How it is now. */
export function momentOf({ kind, handle }: Thing): Moment {
  const { at } = handle.state
  if (kind === 'man') return { at, king: handle.state.king, kind: handle.state.kind }
  if (kind === 'die') return { at, turn: handle.state.turn }
  if (kind === 'token') return { at, value: handle.state.value }
  const { turn, up, hand } = handle.state
  return { at, turn, up, hand }
}

const SAME = ['turn', 'up', 'hand', 'king', 'value', 'kind'] as const

/** Whether nothing was moved between two moments. */
export function isSame(a: Moment, b: Moment): boolean {
  const isThere = a.at[0] === b.at[0] && a.at[1] === b.at[1]
  return isThere && SAME.every((field) => a[field] === b[field])
}
