/** A card and a man, each drawn round its middle. */

import type { ComponentChild } from 'preact'
import type { Thing } from '../kinds.ts'
import { CARD, MAN } from '../rules/places.ts'
import { ChessmanPicture } from './chessmen.tsx'
import { DiePicture } from './dice.tsx'
import { type Marks, outlineOf, Tag } from './tag.tsx'
import { TokenPicture } from './tokens.tsx'

const [WIDTH, HEIGHT] = CARD

/** Any of them. */
export function ThingPicture({ thing, marks }: { thing: Thing; marks: Marks }): ComponentChild {
  switch (thing.kind) {
    case 'card':
      return <CardPicture face={thing.handle.state.face} marks={marks} />
    case 'man':
      return thing.handle.state.kind === 0 ? (
        <ManPicture {...thing.handle.state} marks={marks} />
      ) : (
        <ChessmanPicture {...thing.handle.state} marks={marks} />
      )
    case 'die':
      return <DiePicture {...thing.handle.state} marks={marks} />
    case 'token':
      return <TokenPicture {...thing.handle.state} marks={marks} />
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
      class={outlineOf(marks)}
      x={-WIDTH / 2 - 3}
      y={-HEIGHT / 2 - 3}
      width={WIDTH + 6}
      height={HEIGHT + 6}
      rx="10"
      style={holder ? { stroke: holder } : undefined}
    />
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
          class={outlineOf(marks)}
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
