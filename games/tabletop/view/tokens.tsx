/** Tokens and counters. */

import type { ComponentChild } from 'preact'
import { COUNTER, TOKEN } from '../rules/places.ts'
import { type Marks, outlineOf, Tag } from './tag.tsx'

/** The colours by their numbers (rules/box.ts), for SVG and CSS alike. */
export const TOKEN_COLOURS: readonly string[] = [
  '#d8433b',
  '#3f83d8',
  '#3f9d5c',
  '#ecc23a',
  '#f1ede2',
  '#8d5fd0',
]

/** A disc of a colour, or a counter: its number between a minus and a plus. */
export function TokenPicture(props: {
  colour: number
  counter: boolean
  value: number
  marks: Marks
}): ComponentChild {
  const { colour, counter, value, marks } = props
  const fill = TOKEN_COLOURS[colour] ?? '#888'
  const [width, height] = counter ? COUNTER : [2 * TOKEN, 2 * TOKEN]
  const box = (more: number) => ({
    x: -width / 2 - more,
    y: -height / 2 - more,
    width: width + 2 * more,
    height: height + 2 * more,
    rx: height / 2 + more,
  })
  return (
    <g>
      <rect
        {...box(0)}
        fill="#000"
        fill-opacity="0.35"
        transform={`translate(1 ${marks.inAir ? 10 : 4})`}
      />
      <rect {...box(0)} fill={fill} stroke="#000" stroke-opacity="0.45" stroke-width="1.5" />
      {counter ? <Count value={value} /> : <Rim />}
      {(marks.selected || marks.focused || marks.holder) && (
        <rect
          {...box(4)}
          class={outlineOf(marks)}
          style={marks.holder ? { stroke: marks.holder } : undefined}
        />
      )}
      <Tag marks={marks} y={-height / 2 - 16} />
    </g>
  )
}

function Rim(): ComponentChild {
  return (
    <>
      <circle r={TOKEN * 0.68} fill="#fff" fill-opacity="0.14" stroke="#000" stroke-opacity="0.3" />
      <path
        d="M-9.3 -9.3A13.2 13.2 0 0 1 9.3 -9.3"
        fill="none"
        stroke="#fff"
        stroke-opacity="0.5"
        stroke-width="2.5"
        stroke-linecap="round"
      />
    </>
  )
}

function Count({ value }: { value: number }): ComponentChild {
  const [width, height] = COUNTER
  const end = width / 2 - 19
  return (
    <>
      <rect
        x={-width / 6 - 9}
        y={-height / 2 + 5}
        width={width / 3 + 18}
        height={height - 10}
        rx="8"
        fill="#fdfbf5"
      />
      <text class="digits" text-anchor="middle" y="7.5" font-size="22">
        {value}
      </text>
      <path
        d={`M${-end - 6} 0h12M${end - 6} 0h12M${end} -6v12`}
        stroke="#10151d"
        stroke-width="3.5"
        stroke-linecap="round"
      />
    </>
  )
}
