/** A card, a man and a die, each drawn round its middle. */

import type { ComponentChild } from 'preact'
import type { Thing } from '../kinds.ts'
import { CARD, DIE, MAN } from '../rules/places.ts'
import { PIPS } from './faces.tsx'

const [WIDTH, HEIGHT] = CARD

/** What there is to show of a thing besides. */
export interface Marks {
  readonly selected: boolean
  readonly focused: boolean
  /** It may be moved now, by the rules. */
  readonly ready: boolean
  /** The colour of another who holds it; empty for nobody. */
  readonly holder: string
  /** Their name. */
  readonly name: string
  /** In our own hand, above the table. */
  readonly inAir: boolean
  /** 0 for its back, 1 for its face. */
  readonly flip: number
  /** Seen from the other side of the table. */
  readonly turned: boolean
}

/** Any of them. */
export function ThingPicture({ thing, marks }: { thing: Thing; marks: Marks }): ComponentChild {
  switch (thing.kind) {
    case 'card':
      return <CardPicture face={thing.handle.state.face} marks={marks} />
    case 'man':
      return <ManPicture {...thing.handle.state} marks={marks} />
    case 'die':
      return <DiePicture pips={thing.handle.state.pips} marks={marks} />
    default:
      return thing satisfies never
  }
}

function CardPicture({ face, marks }: { face: number | null; marks: Marks }): ComponentChild {
  const { flip, inAir } = marks
  const shows = flip > 0.5 && face !== null ? `#face-${face}` : '#back'
  const narrow = Math.max(0.03, Math.abs(2 * flip - 1))
  const shade = inAir ? 9 : 2
  return (
    <g>
      <rect
        x={-WIDTH / 2}
        y={-HEIGHT / 2 + shade}
        width={WIDTH}
        height={HEIGHT}
        rx="8"
        fill="#000"
        fill-opacity={inAir ? 0.3 : 0.24}
        transform={`translate(${shade / 3} 0) scale(${narrow} 1)`}
      />
      <g transform={`scale(${narrow} 1)`}>
        <use href={shows} />
        <Outline marks={marks} />
      </g>
      <Tag marks={marks} y={-HEIGHT / 2 - 14} />
    </g>
  )
}

function Outline({ marks }: { marks: Marks }): ComponentChild {
  const { selected, focused, holder } = marks
  if (!selected && !focused && !holder) return null
  return (
    <rect
      class={`outline${selected ? ' selected' : ''}${focused ? ' focused' : ''}`}
      x={-WIDTH / 2 - 3}
      y={-HEIGHT / 2 - 3}
      width={WIDTH + 6}
      height={HEIGHT + 6}
      rx="10"
      style={holder ? { stroke: holder } : undefined}
    />
  )
}

function Tag({ marks, y }: { marks: Marks; y: number }): ComponentChild {
  if (!marks.holder) return null
  const width = marks.name.length * 8.4 + 18
  return (
    <g transform={`translate(0 ${y})${marks.turned ? ' rotate(180)' : ''}`}>
      <rect x={-width / 2} y="-12" width={width} height="23" rx="11" fill={marks.holder} />
      <text class="tag" text-anchor="middle" y="5">
        {marks.name}
      </text>
    </g>
  )
}

function ManPicture(props: { white: boolean; king: boolean; marks: Marks }): ComponentChild {
  const { white, king, marks } = props
  const { selected, focused, ready, holder, inAir } = marks
  const edge = white ? '#a88f62' : '#0e0a0b'
  return (
    <g>
      <ellipse cx="1" cy={inAir ? 12 : 5} rx={MAN} ry={MAN - 1} fill="#000" fill-opacity="0.35" />
      {(ready || selected || focused || holder) && (
        <circle
          class={`outline${selected ? ' selected' : ''}${focused ? ' focused' : ''}`}
          r={MAN + 3}
          style={holder ? { stroke: holder } : undefined}
        />
      )}
      <circle r={MAN} cy="3" fill={edge} />
      <circle r={MAN} fill={`url(#man-${white ? 'w' : 'b'})`} stroke={edge} stroke-width="1.5" />
      <circle r={MAN * 0.72} fill="none" stroke={edge} stroke-opacity="0.55" stroke-width="2" />
      <circle r={MAN * 0.5} fill="none" stroke={edge} stroke-opacity="0.35" stroke-width="1.5" />
      {king && (
        <path
          class="crown"
          transform={marks.turned ? 'rotate(180)' : ''}
          d="M-15 11L-17 -8L-8 0L0 -13L8 0L17 -8L15 11Z"
        />
      )}
      <Tag marks={marks} y={-MAN - 16} />
    </g>
  )
}

/** Where the pips of a die are: those of 4 to 6 as on a card. */
const DIE_PIPS: typeof PIPS = {
  ...PIPS,
  1: [[0, 0]],
  2: [
    [-1, -1],
    [1, 1],
  ],
  3: [
    [-1, -1],
    [0, 0],
    [1, 1],
  ],
}

function Pips({ pips }: { pips: number }): ComponentChild {
  return DIE_PIPS[pips]?.map(([x, y]) => (
    <circle
      key={`${x} ${y}`}
      cx={x * 12.5}
      cy={y * 12.5}
      r={pips === 1 ? 6.5 : 4.6}
      fill={pips === 1 ? '#c8283c' : '#1c2230'}
    />
  ))
}

function DiePicture({ pips, marks }: { pips: number; marks: Marks }): ComponentChild {
  const half = DIE / 2
  const { selected, focused, holder, inAir } = marks
  return (
    <g>
      <rect
        x={-half + 1}
        y={-half + (inAir ? 10 : 4)}
        width={DIE}
        height={DIE}
        rx="10"
        fill="#000"
        fill-opacity="0.32"
      />
      <rect
        x={-half}
        y={-half}
        width={DIE}
        height={DIE}
        rx="10"
        fill="#fbf7ee"
        stroke="#b9a98a"
        stroke-width="1.5"
      />
      <Pips pips={pips} />
      {(selected || focused || holder) && (
        <rect
          class={`outline${selected ? ' selected' : ''}${focused ? ' focused' : ''}`}
          x={-half - 4}
          y={-half - 4}
          width={DIE + 8}
          height={DIE + 8}
          rx="13"
          style={holder ? { stroke: holder } : undefined}
        />
      )}
      <Tag marks={marks} y={-half - 16} />
    </g>
  )
}
