/** What does not move: the felt, the board, the places of the piles. */

import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Vec2 } from 'holdfast'
import type { Board } from '../rules/men.ts'
import { BOARD, CARD, DECK, DISCARD, SQUARE, squareAt, TABLE } from '../rules/places.ts'
import { type Game, isDuel } from '../rules/seats.ts'

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
 */
export function Ground(props: { game: Game | null; board: Board | null }): ComponentChild {
  const { game, board } = props
  return useMemo(() => <Whole {...props} />, [game, board])
}

function Whole(props: { game: Game | null; board: Board | null }): ComponentChild {
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
      {board && <Squares board={board} />}
      {!isDuel(game) && <Piles />}
    </>
  )
}

function Squares({ board }: { board: Board }): ComponentChild {
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
        <Dark key={square} square={square} isNumbered={board === 'draughts'} />
      ))}
    </g>
  )
}

const SQUARES: readonly number[] = Array.from({ length: 32 }, (_, index) => index + 1)

function Dark(props: { square: number; isNumbered: boolean }): ComponentChild {
  const { square, isNumbered } = props
  const [x, y] = squareAt(square)
  const [left, top] = [x - SQUARE / 2, y - SQUARE / 2]
  return (
    <g>
      <rect x={left} y={top} width={SQUARE} height={SQUARE} fill="#7b4a2a" />
      {isNumbered && (
        <text class="count" x={left + 5} y={top + 14} font-size="11" fill="#e9d7b4" opacity="0.6">
          {square}
        </text>
      )}
    </g>
  )
}

/** What changes on the board: the last move, and where a man may go. */
export function Trail(props: {
  last: readonly Vec2[]
  ways: readonly { readonly at: Vec2; readonly takes: boolean }[]
}): ComponentChild {
  const half = SQUARE / 2
  return (
    <g>
      {props.last.map(([x, y]) => (
        <rect
          key={`${x} ${y}`}
          class="last"
          x={x - half}
          y={y - half}
          width={SQUARE}
          height={SQUARE}
        />
      ))}
      {props.ways.map(({ at: [x, y], takes }) => (
        <circle
          key={`${x} ${y}`}
          class={takes ? 'way takes' : 'way'}
          cx={x}
          cy={y}
          r={takes ? half - 4 : 13}
        />
      ))}
    </g>
  )
}

/** Files and ranks of chess, on the edge of the board. @param turned  seen from the other side */
export function Names({ turned }: { turned: boolean }): ComponentChild {
  const name = (text: string, x: number, y: number): ComponentChild => (
    <text key={text} transform={`translate(${x} ${y})${turned ? ' rotate(180)' : ''}`} y="4">
      {text}
    </text>
  )
  const middle = (at: number, from: number): number => from + (at + 0.5) * SQUARE
  const [left, low] = [BOARD[0] - BOARD_EDGE / 2, BOARD[1] + 8 * SQUARE + BOARD_EDGE / 2]
  return (
    <g class="count" font-size="12" fill="#e9d7b4" text-anchor="middle">
      {'abcdefgh'.split('').map((text, at) => name(text, middle(at, BOARD[0]), low))}
      {'87654321'.split('').map((text, at) => name(text, left, middle(at, BOARD[1])))}
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
