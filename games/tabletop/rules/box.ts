/** The box of the free table: tokens, counters, dice and jokers are taken out and put back. */

import type { Actor, GameTable, Vec2 } from 'holdfast'
import { cardsOf, deckOf, shuffleFaces } from './deck.ts'
import { CARDS, JOKERS } from './faces.ts'
import { Card, Die, Token } from './pieces.ts'
import { COUNTER, DECK, DIE, SPOTS } from './places.ts'
import { type Readable, record } from './records.ts'
import { gameOf } from './seats.ts'

/** Tokens, counters and dice that lie on a table, at most. */
export const THINGS_MAX = 60
/** The sides that dice have. */
export const SIDES_OF_DICE: readonly number[] = [4, 6, 8, 10, 12, 20]
/** The colours of tokens, by their numbers. */
export const COLOURS = ['red', 'blue', 'green', 'yellow', 'white', 'violet'] as const

/** A thing that a player takes out of the box: `kind` is a die's sides, or a token's colour. */
export interface Wanted {
  readonly what: 'die' | 'token' | 'counter'
  readonly kind: number
}

type Loose = { readonly id: string; readonly heldBy: number; remove(): void }

/** Takes one thing out. @returns the id of its piece */
export function takeOut(table: GameTable, args: Wanted, by: Actor): string {
  checkFree(table)
  const { what, kind } = args ?? {}
  checkWanted(what, kind)
  if (widths(table).length >= THINGS_MAX) {
    throw new RangeError(`A table has room for ${THINGS_MAX} tokens, counters and dice.`)
  }
  const at = spotFor(table, what === 'counter' ? COUNTER[0] : DIE)
  record(table, by.player, `took out ${nameOf(what, kind)}`)
  if (what === 'die') return table.create(Die, { at, sides: kind, pips: 1 + table.draw(kind) }).id
  return table.create(Token, { at, colour: kind, counter: what === 'counter', value: 0 }).id
}

function checkWanted(what: unknown, kind: unknown): void {
  if (what !== 'die' && what !== 'token' && what !== 'counter') {
    throw new RangeError(`The box has dice, tokens and counters, and no "${String(what)}".`)
  }
  const sides = SIDES_OF_DICE.join(', ')
  if (what === 'die' && !SIDES_OF_DICE.includes(kind as number)) {
    throw new RangeError(`A die has ${sides} sides, and not ${String(kind)}.`)
  }
  if (what !== 'die' && !(Number.isInteger(kind) && COLOURS[kind as number])) {
    throw new RangeError(`Colours are 0 to ${COLOURS.length - 1}, and not ${String(kind)}.`)
  }
}

function nameOf(what: Wanted['what'], kind: number): string {
  if (what === 'die') return `a die with ${kind} sides`
  return what === 'counter' ? 'a counter' : `a ${COLOURS[kind]} token`
}

/** Puts tokens, counters and dice back that nobody else holds. @returns how many */
export function putBack(table: GameTable, args: { ids: string[] }, by: Actor): number {
  checkFree(table)
  const ids = args?.ids
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > THINGS_MAX) {
    throw new RangeError(`Put 1 to ${THINGS_MAX} things back at once.`)
  }
  const all: Loose[] = [...table.all(Die), ...table.all(Token)]
  const gone = all.filter(({ id, heldBy }) => {
    return ids.includes(id) && (heldBy === 0 || heldBy === by.player)
  })
  if (gone.length === 0) {
    throw new RangeError('Only tokens, counters and dice that nobody holds go back into the box.')
  }
  for (const thing of gone) thing.remove()
  record(table, by.player, `put ${gone.length === 1 ? 'a thing' : `${gone.length} things`} back`)
  return gone.length
}

/** Whether the jokers are in the game. */
export function hasJokers(table: Readable): boolean {
  return table.get('jokers') === true
}

/** Shuffles the jokers into the deck, or takes them out of the game wherever they are. */
export function jokers(table: GameTable, args: { in: boolean }, by: Actor): void {
  checkFree(table)
  const wanted = args?.in === true
  if (wanted === hasJokers(table)) return
  if (wanted) {
    for (let face = CARDS; face < CARDS + JOKERS; face++) {
      table.create(Card, { at: DECK, deck: true, face })
    }
    shuffleFaces(table, deckOf(table))
    table.set('jokers', true)
  } else {
    for (const card of cardsOf(table)) if ((card.state.face ?? 0) >= CARDS) card.remove()
    table.delete('jokers')
  }
  record(table, by.player, wanted ? 'shuffled two jokers into the deck' : 'took the jokers out')
}

/** Where tokens, counters and dice lie, and how wide they are. */
function widths(table: GameTable): { at: Vec2; width: number }[] {
  const dice = table.all(Die).filter(({ state }) => !state.aside)
  const tokens = table.all(Token).filter(({ state }) => !state.aside)
  return [
    ...dice.map(({ state }) => ({ at: state.at, width: DIE })),
    ...tokens.map(({ state }) => ({ at: state.at, width: state.counter ? COUNTER[0] : DIE })),
  ]
}

// A place on which nothing of the box lies yet, if there is one.
function spotFor(table: GameTable, width: number): Vec2 {
  const taken = widths(table)
  const isFree = ([x, y]: Vec2): boolean =>
    taken.every(({ at, width: other }) => {
      return Math.abs(at[0] - x) >= (width + other) / 2 || Math.abs(at[1] - y) >= DIE
    })
  return SPOTS.find(isFree) ?? SPOTS[0]!
}

function checkFree(table: GameTable): void {
  if (gameOf(table) !== 'free') throw new RangeError('The box belongs to the free table.')
}
