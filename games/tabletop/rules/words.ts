/** The rules of the games, as they are told to players; the code beside them holds to them. */

import { QUIET_MAX as QUIET_CHESS, REPEATS_MAX } from './chess-end.ts'
import { MATCH_POINTS } from './eights.ts'
import { QUIET_MAX } from './draughts.ts'
import type { Game } from './seats.ts'

/** What a game is called, and what is said of it in a line. */
export const TITLES: Readonly<Record<Game, readonly [title: string, about: string]>> = {
  free: ['Free table', 'Cards, dice and boards. Nothing is enforced: play what you like.'],
  draughts: ['Draughts', 'English draughts for two, with the rules kept by the table.'],
  chess: ['Chess', 'For two, with all rules and the clock kept by the table.'],
  eights: ['Crazy Eights', 'A card game for two to four, with the rules kept by the table.'],
}

const AWAY =
  'Who is away keeps seat and cards, and has them again with their own window. The others may ' +
  'agree to give them to somebody else, or free them.'

const HIDDEN =
  'What you hold is sent to nobody else, but the machines that serve as server and as backup ' +
  'know the whole table.'

/** The rules, sentence by sentence. */
export const RULES: Readonly<Record<Game, readonly string[]>> = {
  free: [
    'Drag cards off the deck: let go over the table a card is open to all, over your hand ' +
      'to you alone. Hold Alt to put it face down.',
    'Cards that you drag onto the deck or the discard pile come to lie on it.',
    'A pile may be split, and looked through: everybody is told that you look, and you alone see ' +
      'what. Take out what you want; shuffle it when you are done, if you like.',
    'Whoever grabs a piece first has it; everybody else is told who that is.',
    'The box has boards, more dice, tokens, counters and two jokers. A click on an end of a ' +
      'counter lowers or raises it.',
    'A right click or a long press on the bare table points there, for all to see.',
    'Click a die to roll it. The server rolls, deals and shuffles, so nobody can foresee it.',
    AWAY,
    HIDDEN,
  ],
  draughts: [
    'Black begins. A man moves one dark square diagonally forward.',
    'A man jumps over an enemy beside it onto the free square behind, and captures it. Who ' +
      'can capture must, and goes on with the same man while it can.',
    'A man that reaches the last row becomes a king, and its move is over. Kings move and ' +
      'jump back as well.',
    'With a clock each side has so much time for all its moves, from the first move on. Who has ' +
      'none left loses.',
    'Who has no move loses. It is a draw by agreement, or after ' +
      `${QUIET_MAX / 2} moves each without a capture or a man’s move.`,
    AWAY,
  ],
  chess: [
    'White begins. Click or drag a man: marks show where it may go. Castle by moving the king ' +
      'two squares; a pawn takes in passing at once or not at all.',
    'A pawn that reaches the last row becomes what you choose.',
    'Checkmate wins. It is a draw by agreement, by stalemate, when nobody has men enough to ' +
      `win, when the men stand alike ${REPEATS_MAX} times, or after ${QUIET_CHESS / 2} moves ` +
      'each without a capture or a pawn’s move.',
    'With a clock each side has so much time for all its moves, from the first move on.',
    AWAY,
  ],
  eights: [
    'Each gets seven cards if two play, five if more. Play a card of the same suit or rank ' +
      'as the open one.',
    'An eight goes on everything, and names the suit that must follow.',
    'Who does not play draws, up to three cards in a turn, and then plays or passes. When ' +
      'the deck is empty, the discards are turned over.',
    'Who is rid of all cards wins the round, and is paid what the others hold: 50 for an ' +
      'eight, 10 for a court card, 1 for an ace, else the number. If nobody can go on, the ' +
      'cheapest hand wins.',
    'With a clock each turn has so much time. Who is too slow draws a card, and the turn passes.',
    `Who has ${MATCH_POINTS} points wins the match.`,
    AWAY,
    HIDDEN,
  ],
}
