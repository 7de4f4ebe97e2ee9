/** The pictures of the games in the lobby, drawn as SVG. */

import type { ComponentChild } from 'preact'

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
export function DotsPicture(): ComponentChild {
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
