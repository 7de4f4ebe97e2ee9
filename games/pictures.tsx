/** The pictures of the games in the lobby, drawn as SVG. */

import type { ComponentChild } from 'preact'
import type { GameId } from './games.ts'

const DOTS: readonly [x: number, y: number, hue: number, trail: string][] = [
  [92, 70, 138, 'M30 118 C 44 84 66 70 92 70'],
  [206, 112, 275, 'M150 150 C 170 128 186 112 206 112'],
  [238, 48, 53, 'M290 92 C 282 62 262 46 238 48'],
]
const PINS: readonly [x: number, y: number, hue: number][] = [
  [48, 52, 138],
  [130, 118, 275],
  [158, 42, 138],
  [270, 140, 53],
  [70, 146, 275],
]

/** Three dots on their way, their pins, and a ring round the one that serves. */
function DotsPicture(): ComponentChild {
  const colour = (hue: number): string => `oklch(0.78 0.15 ${hue})`
  return (
    <svg viewBox="0 0 320 180" role="img" aria-label="Three dots moving among rings">
      <rect width="320" height="180" fill="#0f1218" />
      {PINS.map(([x, y, hue]) => (
        <g key={`${x} ${y}`} stroke={colour(hue)} fill="none" stroke-width="2">
          <circle cx={x} cy={y} r="5.5" />
          <circle cx={x} cy={y} r="0.8" />
        </g>
      ))}
      {DOTS.map(([x, y, hue, trail], place) => (
        <g key={hue} fill={colour(hue)}>
          <path d={trail} fill="none" stroke={colour(hue)} stroke-width="2" opacity="0.25" />
          <circle cx={x} cy={y} r="21" opacity="0.13" />
          <circle cx={x} cy={y} r="10" />
          {place === 0 && (
            <circle cx={x} cy={y} r="15" fill="none" stroke={colour(hue)} stroke-width="2" />
          )}
        </g>
      ))}
    </svg>
  )
}

const POT =
  'M-26 -4 C -42 -20 -58 -2 -50 14 C -46 24 -34 30 -24 28 C -20 38 20 38 26 24 ' +
  'C 38 22 44 4 62 -14 C 50 -18 40 -12 32 -2 C 26 -14 -18 -16 -26 -4 Z ' +
  'M -30 6 C -28 12 -28 16 -27 20 C -40 20 -46 8 -40 2 C -36 -2 -32 2 -30 6 Z'
const LID = 'M-22 -9 C -18 -20 18 -20 24 -9 C 10 -14 -8 -14 -22 -9 Z'

function Pot(props: { at: string; colour: string; lid?: string }): ComponentChild {
  return (
    <g transform={props.at}>
      <ellipse cx="2" cy="36" rx="36" ry="7" fill="#000" opacity="0.25" />
      <path d={POT} fill={props.colour} fill-rule="evenodd" />
      <path d="M-22 4 C -12 12 20 12 30 3" fill="none" stroke="#f3e6cd" stroke-width="5" />
      <path d="M-24 13 C -12 21 20 21 28 13" fill="none" stroke="#e3b75f" stroke-width="1.6" />
      <g transform={props.lid}>
        <path d={LID} fill={props.colour} />
        <circle cx="1" cy="-20" r="4.5" fill="#e3b75f" />
      </g>
      <path
        d="M-12 -2 C -16 4 -16 12 -13 18"
        fill="none"
        stroke="#fff"
        stroke-width="3"
        stroke-linecap="round"
        opacity="0.5"
      />
    </g>
  )
}

const CUBES: readonly [x: number, y: number, turn: number][] = [
  [136, 58, 20],
  [164, 49, 50],
  [190, 56, 75],
]

const DROPS: readonly [x: number, y: number, radius: number][] = [
  [226, 62, 3.5],
  [238, 50, 2.5],
  [252, 64, 3],
  [216, 76, 2],
  [262, 54, 2],
]

function Flying(): ComponentChild {
  return (
    <>
      {CUBES.map(([x, y, turn]) => (
        <g key={x} transform={`translate(${x} ${y}) rotate(${turn})`}>
          <rect x="-6" y="-6" width="12" height="12" rx="2" fill="#fffdf6" stroke="#d8c9ae" />
        </g>
      ))}
      {DROPS.map(([x, y, radius]) => (
        <circle key={x} cx={x} cy={y} r={radius} fill="#a5602a" />
      ))}
    </>
  )
}

/** Two teapots on a tray; one throws sugar, the other spills tea. */
function TeapotsPicture(): ComponentChild {
  return (
    <svg
      viewBox="0 0 320 180"
      preserveAspectRatio="xMidYMid slice"
      role="img"
      aria-label="Two teapots duel with sugar cubes"
    >
      <rect width="320" height="180" fill="#22120a" />
      <ellipse cx="160" cy="128" rx="176" ry="74" fill="#5b3219" />
      <ellipse cx="160" cy="124" rx="166" ry="67" fill="#efe2c9" />
      <ellipse cx="160" cy="124" rx="150" ry="58" fill="none" stroke="#4f6fa8" stroke-width="2.5" />
      <ellipse cx="160" cy="124" rx="143" ry="54" fill="none" stroke="#b9564a" />
      <path
        d="M110 84 C 136 40 186 36 214 76"
        fill="none"
        stroke="#b5533c"
        stroke-width="2.5"
        stroke-dasharray="0.1 8"
        stroke-linecap="round"
      />
      <Pot at="translate(78 104)" colour="#d94f43" />
      <Pot
        at="translate(244 108) scale(-1 1) rotate(-9)"
        colour="#3f74c9"
        lid="translate(-6 -15) rotate(-16)"
      />
      <Flying />
    </svg>
  )
}

const HAND: readonly [turn: number, index: string, suit: string, red: boolean][] = [
  [-27, 'A', 'M0 -8l7 8l-7 8l-7 -8z', true],
  [-9, '8', 'M0 8c-9 -8 -9 -15 -4.5 -15q3.5 0 4.5 4q1 -4 4.5 -4c4.5 0 4.5 7 -4.5 15z', true],
  [9, 'K', 'M0 -8c9 8 9 13 5 13q-3.5 0 -5 -3q-1.5 3 -5 3c-4 0 -4 -5 5 -13zM0 1l3 7h-6z', false],
]

const MEN: readonly [x: number, y: number, white: boolean][] = [
  [34, 62, false],
  [74, 62, false],
  [54, 102, true],
  [94, 102, false],
  [34, 142, true],
]

function Squares(): ComponentChild {
  return (
    <g>
      <rect x="6" y="34" width="116" height="136" rx="5" fill="#5b3519" />
      <rect x="14" y="42" width="100" height="120" fill="#e9d7b4" />
      {[0, 1, 2, 3, 4, 5].flatMap((row) =>
        [0, 1, 2, 3, 4].map(
          (column) =>
            (row + column) % 2 === 0 && (
              <rect
                key={`${column} ${row}`}
                x={14 + column * 20}
                y={42 + row * 20}
                width="20"
                height="20"
                fill="#7b4a2a"
              />
            ),
        ),
      )}
      {MEN.map(([x, y, white]) => (
        <circle
          key={`${x} ${y}`}
          cx={x - 10}
          cy={y - 10}
          r="8.5"
          fill={white ? '#fbf1dd' : '#2b2124'}
          stroke={white ? '#a88f62' : '#0e0a0b'}
          stroke-width="1.5"
        />
      ))}
    </g>
  )
}

/** A hand of cards over a green table, with a board and a die. */
function TabletopPicture(): ComponentChild {
  return (
    <svg
      viewBox="0 0 320 180"
      preserveAspectRatio="xMidYMid slice"
      role="img"
      aria-label="A hand of cards, a board of draughts and a die"
    >
      <rect width="320" height="180" fill="#1f5b49" />
      <rect width="320" height="180" rx="16" fill="none" stroke="#54311a" stroke-width="14" />
      <Squares />
      {HAND.map(([turn, index, suit, red]) => (
        <g key={index} transform={`translate(206 196) rotate(${turn}) translate(0 -96)`}>
          <rect x="-29" y="-41" width="58" height="82" rx="6" fill="#fdfbf5" stroke="#0004" />
          <g fill={red ? '#c8283c' : '#1c2230'}>
            <text x="-18" y="-20" text-anchor="middle" font-size="18" font-weight="700">
              {index}
            </text>
            <path d={suit} transform="translate(-18 -8) scale(0.7)" />
            <path d={suit} transform="translate(3 8) scale(1.9)" />
          </g>
        </g>
      ))}
      <g transform="translate(268 44) rotate(18)">
        <rect x="-15" y="-15" width="30" height="30" rx="6" fill="#fbf7ee" stroke="#b9a98a" />
        {[-8, 0, 8].map((at) => (
          <circle key={at} cx={at} cy={at} r="3" fill="#1c2230" />
        ))}
      </g>
    </svg>
  )
}

const CORRIDOR: readonly string[] = [
  // The end of the corridor, its sides, and the mouths of two that cross it.
  'M138 74h44v32h-44z',
  'M138 74L112 55v70l26 -19',
  'M112 66H92V114h20',
  'M92 66V42L46 9v162l46 -33v-24',
  'M46 34H0M46 146H0',
  'M182 74l32 -23v78l-32 -23',
  'M214 60h26v60h-26',
  'M240 60V33L286 0M240 120v27l46 33',
]

/** A corridor in lines of light, an eyeball that looks at one, and a shot on its way. */
function MazewarPicture(): ComponentChild {
  return (
    <svg
      viewBox="0 0 320 180"
      preserveAspectRatio="xMidYMid slice"
      role="img"
      aria-label="An eyeball in a corridor of a maze"
    >
      <rect width="320" height="180" fill="#050a0a" />
      <path d="M46 9v162l92 -65h44l58 41 46 33H0V0h46z" fill="#7effbe" opacity="0.05" />
      {CORRIDOR.map((path) => (
        <g key={path} fill="none" stroke="#7effbe" stroke-linejoin="round">
          <path d={path} stroke-width="5" opacity="0.12" />
          <path d={path} stroke-width="1.6" />
        </g>
      ))}
      <ellipse cx="160" cy="136" rx="26" ry="4" fill="#000" opacity="0.6" />
      <g fill="none" stroke="#ffc557" stroke-width="3" stroke-linecap="round">
        <path d="M149 121l-3 12h-7M171 121l3 12h7" />
      </g>
      <circle cx="160" cy="96" r="30" fill="#eef6f0" stroke="#ffc557" stroke-width="2.5" />
      <circle cx="154" cy="98" r="15" fill="#e0a43b" />
      <circle cx="154" cy="98" r="11" fill="#8a5c14" />
      <circle cx="154" cy="98" r="7.5" fill="#04080a" />
      <circle cx="150" cy="92" r="3" fill="#fff" />
      <g stroke="#fff" stroke-width="2" stroke-linecap="round">
        <circle cx="236" cy="98" r="11" fill="#6fc3ff" stroke="none" opacity="0.35" />
        <path d="M228 98h16M236 90v16M230.5 92.5l11 11M241.5 92.5l-11 11" />
      </g>
    </svg>
  )
}

const LANES: readonly [y: number, hue: number, from: number, to: number][] = [
  [36, 240, 70, 176],
  [76, 75, 176, 296],
  [140, 75, 196, 250],
  [140, 240, 250, 296],
]

/** Two owners, one who watches, and two messages that cross. */
export function RacePicture(): ComponentChild {
  const colour = (hue: number): string => `oklch(0.8 0.13 ${hue})`
  return (
    <svg viewBox="0 0 320 180" role="img" aria-label="Messages that overtake each other">
      <rect width="320" height="180" fill="#0f1218" />
      {[36, 76, 140].map((y) => (
        <path key={y} d={`M24 ${y} H296`} stroke="#2a3140" stroke-width="2" />
      ))}
      {LANES.map(([y, hue, from, to]) => (
        <path
          key={`${y} ${from}`}
          d={`M${from} ${y} H${to}`}
          stroke={colour(hue)}
          stroke-width="6"
        />
      ))}
      <path d="M70 36 L250 140" stroke={colour(240)} stroke-width="2" />
      <path d="M176 76 L196 140" stroke={colour(75)} stroke-width="2" />
      {[
        [70, 36, 240],
        [250, 140, 240],
        [176, 76, 75],
        [196, 140, 75],
      ].map(([x, y, hue]) => (
        <circle
          key={x}
          cx={x}
          cy={y}
          r="7"
          fill="#0f1218"
          stroke={colour(hue!)}
          stroke-width="3.5"
        />
      ))}
    </svg>
  )
}

/** The picture of each game. */
export const PICTURES: Readonly<Record<GameId, () => ComponentChild>> = {
  dots: DotsPicture,
  teapots: TeapotsPicture,
  tabletop: TabletopPicture,
  mazewar: MazewarPicture,
}
