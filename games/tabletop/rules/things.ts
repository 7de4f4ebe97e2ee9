/** All that the table says to others: pieces, where a hand is, what is decided on the server. */

import {
  action,
  bool,
  type Field,
  type Definition,
  object,
  type ObjectType,
  u8,
  type Vec2,
  vec2,
} from 'holdfast'
import { Kill } from '../../kill.ts'
import * as absence from './absence.ts'
import * as board from './board.ts'
import * as box from './box.ts'
import { moveChessman } from './chess-board.ts'
import { TIME_UP } from './clock.ts'
import * as duel from './duel.ts'
import * as free from './free.ts'
import { board as takeBoard } from './men.ts'
import { Card, Die, Man, Token } from './pieces.ts'
import { TABLE } from './places.ts'
import * as round from './round.ts'
import * as shelf from './shelf.ts'
import * as searches from './search.ts'
import * as sitting from './sitting.ts'
import { split } from './split.ts'
import { timeUp } from './time-up.ts'

/** Most players of a table. */
export const PLAYERS_MAX = 16

/** A player's hand over the table: where it is, told some times a second, and where it points. */
export const Hand: ObjectType<{
  at: Field<Vec2>
  speed: Field<Vec2>
  there: Field<boolean>
  ping: Field<Vec2>
  pings: Field<number>
}> = object(
  'hand',
  {
    at: vec2(0, TABLE[0], 0.5),
    speed: vec2(-4000, 4000, 4),
    there: bool,
    ping: vec2(0, TABLE[0], 0.5),
    pings: u8,
  },
  { motion: { follow: { at: 'speed' }, warp: 0.8, snap: 600 } },
)

/** What is decided on the server, all of it at once each time. */
export const ACTS = {
  setUp: action('set-up', free.setUp),
  shuffle: action('shuffle', free.shuffle),
  deal: action('deal', free.deal),
  board: action('board', takeBoard),
  search: action('search', searches.search),
  endSearch: action('end-search', searches.endOwnSearch),
  searchDue: action(searches.SEARCH_DUE, searches.searchDue),
  split: action('split', split),
  takeOut: action('take-out', box.takeOut),
  putBack: action('put-back', box.putBack),
  jokers: action('jokers', box.jokers),
  takeBack: action('take-back', shelf.takeBack),
  sweep: action(shelf.SWEEP, shelf.sweep),
  roll: action('roll', free.roll),
  sit: action('sit', sitting.sit),
  rise: action('rise', sitting.rise),
  hop: action('hop', board.hop),
  moveChessman: action('move-chessman', moveChessman),
  offer: action('offer', duel.offer),
  resign: action('resign', duel.resign),
  again: action('again', duel.again),
  dealRound: action('deal-round', round.dealRound),
  playCard: action('play-card', round.playCard),
  takeCard: action('take-card', round.takeCard),
  pass: action('pass', round.pass),
  breakOff: action('break-off', round.breakOff),
  timeUp: action(TIME_UP, timeUp),
  stay: action('stay', absence.stay),
  claim: action('claim', absence.claim),
  vote: action('vote', absence.vote),
  claimDue: action(absence.CLAIM_DUE, absence.claimDue),
}

/** All types of the game, for `join`. */
export const TYPES = [Card, Man, Die, Token, Hand, Kill, ...Object.values(ACTS)] as Definition[]
