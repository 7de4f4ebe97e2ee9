/**
 * The faces of the cards, drawn as SVG symbols that each card uses: suits as paths, pips where
 * they have always been, court cards that stand on their head as well as on their feet.
 */

import type { ComponentChild } from 'preact'
import { CARDS, indexOf, isJoker, isRed, JOKERS, rankOf, suitOf } from '../rules/faces.ts'
import { CARD } from '../rules/places.ts'

const [WIDTH, HEIGHT] = CARD
const RED = '#c8283c'
const BLACK = '#1c2230'
const PAPER = '#fdfbf5'

/** The four suits, each about 24 wide, round the middle. */
export const SUIT_PATHS: readonly string[] = [
  // Clubs.
  'M0 -12a5.6 5.6 0 0 1 4.6 8.8a5.6 5.6 0 1 1 -3.3 8.7q.3 4 3.3 6.5h-9.2' +
    'q3 -2.5 3.3 -6.5' +
    'a5.6 5.6 0 1 1 -3.3 -8.7a5.6 5.6 0 0 1 4.6 -8.8z',
  // Diamonds.
  'M0 -13q4.5 7.5 9.5 13q-5 5.5 -9.5 13q-4.5 -7.5 -9.5 -13q5 -5.5 9.5 -13z',
  // Hearts.
  'M0 12.5c-4 -5.5 -11 -9.5 -11 -16.5c0 -7.5 8.8 -9.5 11 -3' +
    'c2.2 -6.5 11 -4.5 11 3c0 7 -7 11 -11 16.5z',
  // Spades.
  'M0 -13c3.5 5.5 10.8 9 10.8 15.5c0 5.8 -6.6 7.3 -9.2 3.1q.3 4.4 3.4 6.9h-10' +
    'q3.1 -2.5 3.4 -6.9' +
    'c-2.6 4.2 -9.2 2.7 -9.2 -3.1c0 -6.5 7.3 -10 10.8 -15.5z',
]

/** Where the pips of a rank are: columns -1, 0 and 1, rows from -1 at the top to 1. */
export const PIPS: Readonly<Record<number, readonly (readonly [number, number])[]>> = {
  2: [
    [0, -1],
    [0, 1],
  ],
  3: [
    [0, -1],
    [0, 0],
    [0, 1],
  ],
  4: [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  5: [
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
  ],
  6: [
    [-1, -1],
    [1, -1],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
  7: [
    [-1, -1],
    [1, -1],
    [0, -0.5],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
  8: [
    [-1, -1],
    [1, -1],
    [0, -0.5],
    [-1, 0],
    [1, 0],
    [0, 0.5],
    [-1, 1],
    [1, 1],
  ],
  9: [
    [-1, -1],
    [1, -1],
    [-1, -1 / 3],
    [1, -1 / 3],
    [0, 0],
    [-1, 1 / 3],
    [1, 1 / 3],
    [-1, 1],
    [1, 1],
  ],
  10: [
    [-1, -1],
    [1, -1],
    [0, -2 / 3],
    [-1, -1 / 3],
    [1, -1 / 3],
    [-1, 1 / 3],
    [1, 1 / 3],
    [0, 2 / 3],
    [-1, 1],
    [1, 1],
  ],
}

/** All symbols: `face-0` to `face-53`, and `back`. Their middle is the card's. */
export function Faces(): ComponentChild {
  return (
    <defs>
      {Array.from({ length: CARDS + JOKERS }, (_, face) => (
        <Face key={face} face={face} />
      ))}
      <Back />
    </defs>
  )
}

/** A suit. @param size  1 is 24 wide */
export function Suit(props: { suit: number; at?: string; size?: number }): ComponentChild {
  const { suit, at = '', size = 1 } = props
  const fill = suit === 1 || suit === 2 ? RED : BLACK
  return <path d={SUIT_PATHS[suit]} fill={fill} transform={`${at} scale(${size})`} />
}

function Paper({ fill = PAPER }: { fill?: string }): ComponentChild {
  return (
    <rect
      x={-WIDTH / 2}
      y={-HEIGHT / 2}
      width={WIDTH}
      height={HEIGHT}
      rx="8"
      fill={fill}
      stroke="#000"
      stroke-opacity="0.28"
    />
  )
}

function Face({ face }: { face: number }): ComponentChild {
  if (isJoker(face)) return <Joker face={face} />
  const rank = rankOf(face)
  return (
    <g id={`face-${face}`}>
      <Paper />
      <Corner face={face} />
      <g transform="rotate(180)">
        <Corner face={face} />
      </g>
      {rank === 1 && <Ace suit={suitOf(face)} />}
      {rank > 10 && <Court face={face} />}
      {PIPS[rank]?.map(([column, row]) => (
        <Suit
          key={`${column} ${row}`}
          suit={suitOf(face)}
          at={`translate(${column * 18} ${row * 47})${row > 0 ? ' rotate(180)' : ''}`}
          size={0.72}
        />
      ))}
    </g>
  )
}

function Corner({ face }: { face: number }): ComponentChild {
  const index = indexOf(face)
  return (
    <g transform="translate(-37.5 -52)">
      <text
        class="index"
        text-anchor="middle"
        y="4.5"
        font-size={index === '10' ? 20 : 23}
        letter-spacing={index === '10' ? -2 : 0}
        fill={isRed(face) ? RED : BLACK}
      >
        {index}
      </text>
      <Suit suit={suitOf(face)} at="translate(0 16)" size={0.62} />
    </g>
  )
}

function Joker({ face }: { face: number }): ComponentChild {
  const fill = isRed(face) ? RED : BLACK
  const letters = (
    <text class="index" text-anchor="middle" font-size="13" fill={fill}>
      {'JOKER'.split('').map((letter, row) => (
        <tspan key={row} x="-39" y={-50 + row * 13}>
          {letter}
        </tspan>
      ))}
    </text>
  )
  return (
    <g id={`face-${face}`}>
      <Paper />
      {letters}
      <g transform="rotate(180)">{letters}</g>
      <path d="M-22 12Q-30 -22 -24 -38Q-8 -34 0 -14Q8 -34 24 -38Q30 -22 22 12Z" fill={fill} />
      <path d="M0 -14Q-4 -2 -7 12H7Q4 -2 0 -14Z" fill="#e9c16a" />
      <circle cx="-24" cy="-40" r="5" fill="#e9c16a" />
      <circle cx="24" cy="-40" r="5" fill="#e9c16a" />
      <path d="M-20 12H20Q19 40 0 44Q-19 40 -20 12Z" fill="#f3d6b8" />
      <path d="M-23 9H23V16H-23Z" fill="#e9c16a" />
      <path d="M-10 25h4M6 25h4" stroke={BLACK} stroke-width="3" stroke-linecap="round" />
      <path d="M-9 32Q0 41 9 32" fill="none" stroke="#a5483f" stroke-width="2.2" />
    </g>
  )
}

function Ace({ suit }: { suit: number }): ComponentChild {
  return (
    <>
      <circle r="31" fill="none" stroke="#c9a64b" stroke-width="1" />
      <circle r="34" fill="none" stroke="#c9a64b" stroke-width="0.5" stroke-dasharray="1 3.5" />
      <Suit suit={suit} size={1.75} />
    </>
  )
}

interface Dress {
  readonly coat: string
  readonly trim: string
  readonly hair: string
}

const DRESSES: readonly Dress[] = [
  { coat: '#2c5d63', trim: '#e8b64c', hair: '#5a3a22' },
  { coat: '#b8433f', trim: '#f0c765', hair: '#c98a3a' },
  { coat: '#8f2c4a', trim: '#e7b95a', hair: '#7a4a20' },
  { coat: '#2d4480', trim: '#e9c16a', hair: '#2f2622' },
]

// Two halves of one figure, as the custom is.
function Court({ face }: { face: number }): ComponentChild {
  const half = <Half suit={suitOf(face)} rank={rankOf(face)} />
  return (
    <>
      <rect x="-27" y="-56" width="54" height="112" rx="3" fill="#f6efdc" stroke="#c9a64b" />
      {half}
      <g transform="rotate(180)">{half}</g>
      <path d="M-27 0H27" stroke="#c9a64b" stroke-width="1.5" />
    </>
  )
}

function Half({ suit, rank }: { suit: number; rank: number }): ComponentChild {
  const { coat, trim, hair } = DRESSES[suit]!
  return (
    <g>
      <path d="M-26 0V-8Q-24 -20 -8 -23H8Q24 -20 26 -8V0Z" fill={coat} />
      <path d="M-7 -23L0 -11L7 -23L4 0H-4Z" fill={trim} />
      <path d="M-20 0V-12M20 0V-12" stroke={trim} stroke-width="2.5" stroke-dasharray="2.5 2" />
      <Hair rank={rank} fill={hair} />
      <ellipse cy="-32" rx="7.5" ry="9" fill="#f3d6b8" />
      <circle cx="-2.8" cy="-33" r="1" fill="#2a2430" />
      <circle cx="2.8" cy="-33" r="1" fill="#2a2430" />
      <path d="M-2.3 -28Q0 -26.5 2.3 -28" fill="none" stroke="#a5483f" stroke-width="1.2" />
      {rank === 13 && <path d="M-7 -30Q-6 -18 0 -17Q6 -18 7 -30Q0 -22 -7 -30Z" fill={hair} />}
      <Crown rank={rank} fill={trim} coat={coat} />
      <Suit suit={suit} at="translate(-17 -47)" size={0.5} />
    </g>
  )
}

function Hair({ rank, fill }: { rank: number; fill: string }): ComponentChild {
  const long = 'M-9 -36Q-14 -22 -11 -17Q-7 -16 -6 -20V-36H6V-20Q7 -16 11 -17Q14 -22 9 -36Z'
  const short = 'M-9.5 -37Q-11 -27 -8 -24Q-6 -24 -6 -30V-37H6V-30Q6 -24 8 -24Q11 -27 9.5 -37Z'
  return <path d={rank === 12 ? long : short} fill={fill} />
}

function Crown(props: { rank: number; fill: string; coat: string }): ComponentChild {
  const { rank, fill, coat } = props
  if (rank === 13) {
    return (
      <>
        <path d="M-10 -39L-12 -51L-6 -46L0 -54L6 -46L12 -51L10 -39Z" fill={fill} />
        <path d="M-10 -40H10" stroke={coat} stroke-width="2" />
      </>
    )
  }
  if (rank === 12) {
    return (
      <>
        <path d="M-9 -39Q-8 -46 0 -50Q8 -46 9 -39Q0 -43 -9 -39Z" fill={fill} />
        <circle cy="-50" r="2.2" fill={coat} />
        <circle cx="-6.5" cy="-45.5" r="1.5" fill={coat} />
        <circle cx="6.5" cy="-45.5" r="1.5" fill={coat} />
      </>
    )
  }
  return (
    <>
      <path d="M-11 -38Q-9 -48 2 -48Q11 -47 11 -38Q0 -42 -11 -38Z" fill={coat} />
      <path d="M6 -44Q14 -54 19 -48Q13 -48 9 -40Z" fill={fill} />
    </>
  )
}

function Back(): ComponentChild {
  return (
    <>
      <pattern id="weave" width="12" height="12" patternUnits="userSpaceOnUse" x="-6" y="-10">
        <rect width="12" height="12" fill="#274472" />
        <path d="M6 0L12 6L6 12L0 6Z" fill="none" stroke="#7fa8dc" stroke-width="1" />
        <circle cx="6" cy="6" r="1.6" fill="#d9b65f" />
        <circle r="0.9" fill="#7fa8dc" />
      </pattern>
      <g id="back">
        <Paper />
        <rect x="-44" y="-64" width="88" height="128" rx="5" fill="url(#weave)" />
        <rect
          x="-40.5"
          y="-60.5"
          width="81"
          height="121"
          rx="3"
          fill="none"
          stroke="#d9b65f"
          stroke-width="1.2"
        />
        <circle r="19" fill="#1f3862" stroke="#d9b65f" stroke-width="1.5" />
        <circle r="15.5" fill="none" stroke="#7fa8dc" stroke-width="0.8" />
        <path d="M0 -12L3.2 -3.2L12 0L3.2 3.2L0 12L-3.2 3.2L-12 0L-3.2 -3.2Z" fill="#d9b65f" />
      </g>
    </>
  )
}
