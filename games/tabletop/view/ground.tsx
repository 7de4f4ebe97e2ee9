/** What does not move: the felt, the board, the places of the piles. */

import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import { BOARD, CARD, DECK, DISCARD, SQUARE, squareAt, TABLE } from '../rules/places.ts'
import type { Game } from '../rules/seats.ts'

const BOARD_EDGE = 20

/** Colours and patterns that the table uses. */
export function Paints(): ComponentChild {
  return (
    <defs>
      <radialGradient id="felt" cx="50%" cy="42%" r="75%">
        <stop offset="0" stop-color="#2f7a62" />
        <stop offset="0.6" stop-color="#1f5b49" />
        <stop offset="1" stop-color="#123a30" />
      </radialGradient>
      <linearGradient id="rim" x1="0" y1="0" x2="0" y2="1">
        <stop offset="0" stop-color="#7a4c2a" />
        <stop offset="0.5" stop-color="#54311a" />
        <stop offset="1" stop-color="#3a2011" />
      </linearGradient>
      <pattern id="nap" width="7" height="7" patternUnits="userSpaceOnUse">
        <path d="M0 2h2M4 5h2" stroke="#fff" stroke-opacity="0.035" />
        <path d="M2 6h2M5 1h2" stroke="#000" stroke-opacity="0.06" />
      </pattern>
      <linearGradient id="wood" x1="0" y1="0" x2="1" y2="1">
        <stop offset="0" stop-color="#8a5a33" />
        <stop offset="1" stop-color="#5b3519" />
      </linearGradient>
      <radialGradient id="man-w" cx="40%" cy="34%" r="72%">
        <stop offset="0" stop-color="#fffaf0" />
        <stop offset="1" stop-color="#d9c6a2" />
      </radialGradient>
      <radialGradient id="man-b" cx="40%" cy="34%" r="72%">
        <stop offset="0" stop-color="#5c4a4a" />
        <stop offset="1" stop-color="#221a1d" />
      </radialGradient>
    </defs>
  )
}

/**
 * The table of a game, drawn anew when something changes.
 *
 * @param last  squares of the last move
 * @param ways  where a man may go
 */
export function Ground(props: {
  game: Game | null
  board: boolean
  last: readonly number[]
  ways: readonly number[]
}): ComponentChild {
  const { game, board, last, ways } = props
  return useMemo(() => <Whole {...props} />, [game, board, last.join(), ways.join()])
}

function Whole(props: {
  game: Game | null
  board: boolean
  last: readonly number[]
  ways: readonly number[]
}): ComponentChild {
  const { game, board } = props
  const [width, height] = TABLE
  return (
    <>
      <rect
        x="-34"
        y="-26"
        width={width + 68}
        height={height + 68}
        rx="64"
        fill="#05080a"
        fill-opacity="0.45"
      />
      <rect x="-34" y="-34" width={width + 68} height={height + 68} rx="64" fill="url(#rim)" />
      <rect x="-12" y="-12" width={width + 24} height={height + 24} rx="44" fill="#0c2a22" />
      <rect width={width} height={height} rx="36" fill="url(#felt)" />
      <rect width={width} height={height} rx="36" fill="url(#nap)" />
      <rect
        x="14"
        y="14"
        width={width - 28}
        height={height - 28}
        rx="26"
        fill="none"
        stroke="#e2c27a"
        stroke-opacity="0.22"
        stroke-width="2"
      />
      {board && <Board {...props} />}
      {game !== 'draughts' && <Piles />}
    </>
  )
}

function Board(props: { last: readonly number[]; ways: readonly number[] }): ComponentChild {
  const size = 8 * SQUARE
  return (
    <g>
      <rect
        x={BOARD[0] - BOARD_EDGE}
        y={BOARD[1] - BOARD_EDGE + 8}
        width={size + 2 * BOARD_EDGE}
        height={size + 2 * BOARD_EDGE}
        rx="10"
        fill="#000"
        fill-opacity="0.35"
      />
      <rect
        x={BOARD[0] - BOARD_EDGE}
        y={BOARD[1] - BOARD_EDGE}
        width={size + 2 * BOARD_EDGE}
        height={size + 2 * BOARD_EDGE}
        rx="10"
        fill="url(#wood)"
        stroke="#2a170a"
        stroke-width="2"
      />
      <rect x={BOARD[0]} y={BOARD[1]} width={size} height={size} fill="#e9d7b4" />
      {SQUARES.map((square) => (
        <Square key={square} square={square} isLast={props.last.includes(square)} />
      ))}
      {props.ways.map((square) => {
        const [x, y] = squareAt(square)
        return <circle key={square} class="way" cx={x} cy={y} r="13" />
      })}
    </g>
  )
}

const SQUARES: readonly number[] = Array.from({ length: 32 }, (_, index) => index + 1)

function Square({ square, isLast }: { square: number; isLast: boolean }): ComponentChild {
  const [x, y] = squareAt(square)
  const [left, top] = [x - SQUARE / 2, y - SQUARE / 2]
  return (
    <g>
      <rect x={left} y={top} width={SQUARE} height={SQUARE} fill={isLast ? '#a8782f' : '#7b4a2a'} />
      <text class="count" x={left + 5} y={top + 14} font-size="11" fill="#e9d7b4" opacity="0.6">
        {square}
      </text>
    </g>
  )
}

function Piles(): ComponentChild {
  return (
    <g>
      {[
        { at: DECK, text: 'DECK' },
        { at: DISCARD, text: 'DISCARD' },
      ].map(({ at: [x, y], text }) => (
        <g key={text} transform={`translate(${x} ${y})`}>
          <rect
            x={-CARD[0] / 2 - 7}
            y={-CARD[1] / 2 - 7}
            width={CARD[0] + 14}
            height={CARD[1] + 14}
            rx="13"
            fill="#0a2a21"
            fill-opacity="0.38"
            stroke="#e2c27a"
            stroke-opacity="0.4"
            stroke-width="1.5"
            stroke-dasharray="7 6"
          />
          <text class="pile" text-anchor="middle" y={CARD[1] / 2 + 28}>
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}
