/** The bar over the table: who sits where, whose turn it is, what can be done in this game. */

import type { ComponentChild, ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { colourOf } from './colours.ts'
import type { Play } from './play.ts'
import { isInCheck } from './rules/chess.ts'
import { clockText, leftOf } from './rules/clock.ts'
import { chessOf, positionOf, turnOf } from './rules/duel.ts'
import * as eights from './rules/eights.ts'
import { SUITS } from './rules/faces.ts'
import { isOn, roundOf } from './rules/round.ts'
import { endOf, gameOf, scoreOf, seatsOf } from './rules/seats.ts'
import { ACTS } from './rules/things.ts'
import { TITLES } from './rules/words.ts'
import { SUIT_PATHS } from './view/faces.tsx'

/** With less time left than that a clock is red, in milliseconds. */
const LOW_MS = 10_000
/** How long it is asked whether one is sure, in milliseconds. */
const SURE_MS = 3_000

/** See the head of this file. @param deal  deals on a free table @param count  cards to each */
export function Bar(props: {
  play: Play
  count: number
  setCount: (count: number) => void
  deal: () => void
}): ComponentChild {
  const { play } = props
  switch (gameOf(play.session.table)) {
    case 'free':
      return play.watching ? null : <FreeBar {...props} />
    case 'draughts':
    case 'chess':
      return <DuelBar play={play} />
    case 'eights':
      return <EightsBar play={play} />
    default:
      return null
  }
}

function FreeBar(props: {
  play: Play
  count: number
  setCount: (count: number) => void
  deal: () => void
}): ComponentChild {
  const { play } = props
  return (
    <div class="bar" role="toolbar" aria-label="The table">
      <Dealing {...props} />
      <button
        type="button"
        title="Shuffle the deck (S)"
        onClick={() => void play.act(ACTS.shuffle, { all: false })}
      >
        Shuffle
      </button>
      <Gather play={play} />
      <button type="button" title="Roll all dice (G)" onClick={() => void play.roll(null)}>
        Roll
      </button>
      <button
        type="button"
        title="Boards, dice, tokens, jokers (B)"
        onClick={() => play.show({ kind: 'box', id: 0 })}
      >
        Box
      </button>
    </div>
  )
}

function Dealing(props: {
  count: number
  setCount: (count: number) => void
  deal: () => void
}): ComponentChild {
  const { count, setCount, deal } = props
  return (
    <span class="dealer">
      <button type="button" class="main" onClick={deal} title="Deal to everybody (D)">
        Deal {count}
      </button>
      <button type="button" aria-label="Fewer cards" onClick={() => setCount(count - 1)}>
        −
      </button>
      <button type="button" aria-label="More cards" onClick={() => setCount(count + 1)}>
        +
      </button>
    </span>
  )
}

// It takes cards out of everybody's hands, so it is asked for twice.
function Gather({ play }: { play: Play }): ComponentChild {
  const [asked, ask] = useState(false)
  const click = (): void => {
    ask(!asked)
    if (asked) void play.act(ACTS.shuffle, { all: true })
    else setTimeout(() => ask(false), SURE_MS)
  }
  return (
    <button type="button" title="All cards onto the deck, also out of hands" onClick={click}>
      {asked ? 'Out of all hands?' : 'Gather all'}
    </button>
  )
}

/** A seat: who sits there, or a way to sit down. */
function Seat(props: {
  play: Play
  seat: number
  isNext: boolean
  sign?: ComponentChild
  children?: ComponentChildren
}): ComponentChild {
  const { play, seat, isNext, sign, children } = props
  const player = seatsOf(play.session.table)[seat] ?? 0
  const isAway = player !== 0 && !play.isPresent(player)
  const sit = (): void => void play.act(ACTS.sit, { seat })
  const mine = player === play.session.me.player
  return (
    <div class={`seat${isNext ? ' next' : ''}${mine ? ' mine' : ''}`}>
      {sign}
      {player === 0 ? (
        play.watching ? (
          <span class="empty">free seat</span>
        ) : (
          <button type="button" onClick={sit}>
            Sit here
          </button>
        )
      ) : (
        <>
          <span class="who" style={{ color: colourOf(player) }}>
            {mine ? 'You' : play.called(player)}
          </span>
          {children}
          {isAway && <span class="watches">away</span>}
        </>
      )}
    </div>
  )
}

function DuelBar({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const seats = seatsOf(session.table)
  const over = endOf(session.table)
  const turn = turnOf(session.table)
  const isOn = over === null && !seats.includes(0)
  const sits = seats.includes(session.me.player)
  return (
    <div class="bar" role="group" aria-label={TITLES[gameOf(session.table)!][0]}>
      {[0, 1].map((seat) => (
        <Seat
          key={seat}
          play={play}
          seat={seat}
          isNext={isOn && turn === 'bw'[seat]}
          sign={
            <i class={`man ${seat === 0 ? 'black' : 'white'}`} title={seat ? 'White' : 'Black'} />
          }
        >
          <span class="count">{menLeft(play, seat === 1)}</span>
          <Clock play={play} who={'bw'[seat]!} />
        </Seat>
      ))}
      <span class="said">{duelSays(play, isOn, sits)}</span>
      {isOn && sits && <Ways play={play} />}
      {sits && !isOn && over === null && (
        <button type="button" onClick={() => void play.act(ACTS.rise, null)}>
          Get up
        </button>
      )}
    </div>
  )
}

/** The time that a side or a player has left; nothing in a game without a clock. */
function Clock({ play, who }: { play: Play; who: string }): ComponentChild {
  const { session } = play
  const left = leftOf(session.table, who, session.now())
  if (left === null) return null
  const runs = session.table.get('clock.runs') === who
  const state = runs ? (left < LOW_MS ? ' runs low' : ' runs') : ''
  return (
    <time class={`clock${state}`} role="timer" title="Time left">
      {clockText(left)}
    </time>
  )
}

// Ways out of a game of two.
function Ways({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const offered = session.table.get('draw')
  const mine = seatsOf(session.table).map((player, seat) => {
    return player === session.me.player ? 'bw'[seat] : ''
  })
  const isAsked = offered !== undefined && !mine.includes(String(offered))
  return (
    <>
      <button type="button" onClick={() => void play.act(ACTS.offer, null)}>
        {isAsked ? 'Accept the draw' : offered === undefined ? 'Offer a draw' : 'Draw offered'}
      </button>
      <button type="button" onClick={() => void play.act(ACTS.resign, null)}>
        Resign
      </button>
    </>
  )
}

function menLeft(play: Play, white: boolean): number {
  return play.things.filter(({ kind, handle }) => {
    return kind === 'man' && handle.state.white === white && handle.state.square !== 0
  }).length
}

function duelSays(play: Play, isOn: boolean, sits: boolean): string {
  const { session } = play
  if (endOf(session.table)) return ''
  if (!isOn) return sits ? 'Waiting for somebody on the other seat.' : 'Take a seat to play.'
  const isChess = gameOf(session.table) === 'chess'
  if (!isChess && positionOf(session.table).mid !== 0 && play.isMyTurn) return 'Jump on!'
  const turn = turnOf(session.table)
  const check = isChess && isInCheck(chessOf(session.table), turn) ? 'Check! ' : ''
  if (play.isMyTurn) return `${check}Your move.`
  return `${check}${turn === 'b' ? 'Black' : 'White'} moves.`
}

function EightsBar({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const round = roundOf(session.table)
  const seats = seatsOf(session.table)
  const on = isOn(session.table)
  const next = round && on ? eights.playerOf(round) : 0
  const sits = seats.includes(session.me.player)
  return (
    <div class="bar" role="group" aria-label="Crazy Eights">
      {seats.map((player, seat) =>
        player === 0 && (on || sits) ? null : (
          <Seat key={seat} play={play} seat={seat} isNext={player !== 0 && player === next}>
            <Backs count={play.handOf(player).length} />
            <span class="count" title="Points">
              {scoreOf(session.table, player)}
            </span>
            {player === next && <Clock play={play} who={String(player)} />}
          </Seat>
        ),
      )}
      {round && on && <Follow suit={round.suit} />}
      <span class="said">{eightsSays(play)}</span>
      {on && play.isMyTurn && round && <Turn play={play} drawn={round.drawn} />}
      {on && sits && (
        <button
          type="button"
          title="Ends the round: nobody wins"
          onClick={() => void play.act(ACTS.breakOff, null)}
        >
          Break off
        </button>
      )}
      {!on && sits && !endOf(session.table) && <Dealer play={play} />}
    </div>
  )
}

/** How many cards a hand has. */
export function Backs({ count }: { count: number }): ComponentChild {
  return (
    <span class="backs" title={`${count} cards in hand`}>
      <i aria-hidden="true" />
      {count}
    </span>
  )
}

function Follow({ suit }: { suit: number }): ComponentChild {
  return (
    <span class="follow" title={`${SUITS[suit]} must follow`}>
      <SuitSign suit={suit} />
    </span>
  )
}

/** A suit as a small picture. */
export function SuitSign({ suit }: { suit: number }): ComponentChild {
  return (
    <svg viewBox="-14 -14 28 28" width="20" height="20" role="img" aria-label={SUITS[suit]}>
      <path d={SUIT_PATHS[suit]} class={suit === 1 || suit === 2 ? 'red' : 'black'} />
    </svg>
  )
}

function Turn({ play, drawn }: { play: Play; drawn: number }): ComponentChild {
  return (
    <>
      <button
        type="button"
        disabled={drawn >= eights.DRAWS_MAX}
        onClick={() => void play.act(ACTS.takeCard, null)}
      >
        Draw <small>{eights.DRAWS_MAX - drawn} left</small>
      </button>
      <button type="button" onClick={() => void play.act(ACTS.pass, null)}>
        Pass
      </button>
    </>
  )
}

function Dealer({ play }: { play: Play }): ComponentChild {
  const count = seatsOf(play.session.table).filter((player) => player !== 0).length
  return (
    <>
      <button
        type="button"
        class="main"
        disabled={count < 2}
        onClick={() => void play.act(ACTS.dealRound, null)}
      >
        Deal
      </button>
      <button type="button" onClick={() => void play.act(ACTS.rise, null)}>
        Get up
      </button>
    </>
  )
}

function eightsSays(play: Play): string {
  const { session } = play
  const round = roundOf(session.table)
  const seats = seatsOf(session.table)
  if (endOf(session.table)) return ''
  if (round) return play.isMyTurn ? 'Your turn.' : `${play.called(eights.playerOf(round))} plays.`
  if (!seats.includes(session.me.player)) return 'Two to four can play: take a seat.'
  return seats.filter((player) => player !== 0).length < 2 ? 'One more must sit down.' : ''
}
