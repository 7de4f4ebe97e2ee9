/** What a picture of a thing shows besides: that it is selected, who holds it. */

import type { ComponentChild } from 'preact'

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

/** The class of its outline. */
export function outlineOf({ selected, focused }: Marks): string {
  return `outline${selected ? ' selected' : ''}${focused ? ' focused' : ''}`
}

/** The name of who holds it. */
export function Tag({ marks, y }: { marks: Marks; y: number }): ComponentChild {
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
