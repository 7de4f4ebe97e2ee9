/** Chessmen, drawn as outlines that stand on a foot, about 60 high round their middle. */

import type { ComponentChild } from 'preact'
import { type Marks, outlineOf, Tag } from './tag.tsx'

const FOOT = 'M-19 27H19Q20 20 12 18H-12Q-20 20 -19 27Z'

/** By their kinds (rules/pieces.ts), the outlines above the foot and lines within. */
const SHAPES: readonly (readonly [outline: string, within: string])[] = [
  ['', ''],
  ['M-11 18Q-8 4 -6 -2H-10V-6H-6A9.5 9.5 0 1 1 6 -6H10V-2H6Q8 4 11 18Z', 'M-6 -4H6'],
  [
    'M-13 18Q-13 6 -3 -3Q-8 -1 -12 3Q-18 6 -20 0Q-18 -8 -13 -14Q-10 -22 -5 -23L-4 -29' +
      'L2 -24Q16 -20 16 2Q16 11 14 18Z',
    'M-8 -13h.1M4 -20Q11 -14 11 4',
  ],
  [
    'M-12 18Q-11 10 -7 5H-11V1H-6Q-15 -10 0 -24Q15 -10 6 1H11V5H7Q11 10 12 18Z' +
      'M-3.5 -26A3.5 3.5 0 1 1 3.5 -26A3.5 3.5 0 1 1 -3.5 -26Z',
    'M-7 3H7M0 -16V-4M-5 -11H5',
  ],
  ['M-13 18L-10 -8H-15V-26H-9V-20H-4V-26H4V-20H9V-26H15V-8H10L13 18Z', 'M-14 -11H14M-10 13H10'],
  [
    'M-13 18L-11 6L-21 -17L-10 -6L-8 -24L0 -8L8 -24L10 -6L21 -17L11 6L13 18Z' +
      'M-24.5 -19.5a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z' +
      'M17.5 -19.5a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z' +
      'M-12 -27a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0ZM5 -27a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z',
    'M-11 6H11M-12 12H12',
  ],
  [
    'M-13 18L-12 8Q-24 -2 -18 -11Q-10 -17 -2 -8V-18H-7V-23H-2V-29H2V-23H7V-18H2V-8' +
      'Q10 -17 18 -11Q24 -2 12 8L13 18Z',
    'M-12 8Q0 3 12 8M-12 13Q0 9 12 13M0 -8V4',
  ],
]

/** One, without anything besides. */
export function Chessman({ kind, white }: { kind: number; white: boolean }): ComponentChild {
  const [outline, within] = SHAPES[kind] ?? SHAPES[1]!
  const [fill, edge] = white ? ['#fbf3e1', '#4a3826'] : ['#3a3034', '#120d0f']
  return (
    <g stroke={edge} stroke-width="2" stroke-linejoin="round" stroke-linecap="round">
      <path d={FOOT} fill={fill} />
      <path d={outline} fill={fill} />
      <path d={within} fill="none" stroke={white ? edge : '#b9a4a4'} stroke-width="1.8" />
    </g>
  )
}

/** One on the table. */
export function ChessmanPicture(props: {
  kind: number
  white: boolean
  marks: Marks
}): ComponentChild {
  const { kind, white, marks } = props
  const { selected, focused, holder, inAir, turned } = marks
  return (
    <g>
      {(selected || focused || holder) && (
        <rect
          class={outlineOf(marks)}
          x="-34"
          y="-34"
          width="68"
          height="68"
          rx="10"
          style={holder ? { stroke: holder } : undefined}
        />
      )}
      <g transform={turned ? 'rotate(180)' : undefined}>
        <ellipse cx="1" cy={inAir ? 34 : 26} rx="20" ry="6" fill="#000" fill-opacity="0.35" />
        <Chessman kind={kind} white={white} />
      </g>
      <Tag marks={marks} y={-48} />
    </g>
  )
}
