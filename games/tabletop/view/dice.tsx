/** Dice: one of six sides has pips, the others have a shape of their own with a number on it. */

import type { ComponentChild } from 'preact'
import { DIE } from '../rules/places.ts'
import { PIPS } from './faces.tsx'
import { type Marks, outlineOf, Tag } from './tag.tsx'

/** A die's shape from above, about its middle, its colour, and where its number stands. */
interface Shape {
  readonly path: string
  /** Its edges within. */
  readonly edges: string
  readonly fill: string
  readonly y: number
}

const CUBE: Shape = {
  path: 'M-13 -23H13Q23 -23 23 -13V13Q23 23 13 23H-13Q-23 23 -23 13V-13Q-23 -23 -13 -23Z',
  edges: '',
  fill: '#fbf7ee',
  y: 0,
}

const SHAPES: Readonly<Record<number, Shape>> = {
  4: { path: 'M0 -25L26 20H-26Z', edges: '', fill: '#f4c95d', y: 13 },
  8: { path: 'M0 -27L25 0L0 27L-25 0Z', edges: 'M-25 0L0 13L25 0', fill: '#8fd3a8', y: 2 },
  10: {
    path: 'M0 -27L26 -3L26 5L0 27L-26 5L-26 -3Z',
    edges: 'M-26 5L-15 8L0 27L15 8L26 5M-15 8L0 -27L15 8',
    fill: '#8fc1ee',
    y: 2,
  },
  12: {
    path: 'M0 -27L16 -22L26 -8L26 8L16 22L0 27L-16 22L-26 8L-26 -8L-16 -22Z',
    edges: 'M0 -16L15 -5L9 13H-9L-15 -5Z',
    fill: '#c9b0ee',
    y: 6,
  },
  20: {
    path: 'M0 -27L24 -14V14L0 27L-24 14V-14Z',
    edges: 'M0 -17L16 10H-16ZM0 -27V-17M24 14L16 10M-24 14L-16 10',
    fill: '#f2a49a',
    y: 7,
  },
}

/** A die as it lies; of six sides with its pips. */
export function DiePicture(props: { sides: number; pips: number; marks: Marks }): ComponentChild {
  const { sides, pips, marks } = props
  const half = DIE / 2
  const shape = SHAPES[sides] ?? CUBE
  return (
    <g>
      <path
        d={shape.path}
        fill="#000"
        fill-opacity="0.32"
        transform={`translate(1 ${marks.inAir ? 10 : 4})`}
      />
      <path d={shape.path} fill={shape.fill} stroke="#7d6c4c" stroke-width="1.5" />
      <path d={shape.edges} fill="none" stroke="#000" stroke-opacity="0.28" />
      {shape === CUBE ? <Pips pips={pips} /> : <Digits sides={sides} pips={pips} y={shape.y} />}
      {(marks.selected || marks.focused || marks.holder) && (
        <rect
          class={outlineOf(marks)}
          x={-half - 5}
          y={-half - 5}
          width={DIE + 10}
          height={DIE + 10}
          rx="13"
          style={marks.holder ? { stroke: marks.holder } : undefined}
        />
      )}
      <Tag marks={marks} y={-half - 16} />
    </g>
  )
}

// A line under 6 and 9 tells them apart.
function Digits(props: { sides: number; pips: number; y: number }): ComponentChild {
  const { sides, pips, y } = props
  const isTwin = sides > 8 && (pips === 6 || pips === 9)
  return (
    <text
      class={`digits${isTwin ? ' twin' : ''}`}
      text-anchor="middle"
      y={y + 5.5}
      font-size={sides > 10 ? 15 : 18}
    >
      {pips}
    </text>
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
