/** Colours of players. */

/** A player's hue in degrees: neighbours are far apart. */
function hueOf(player: number): number {
  return Math.round((player * 137.508 + 60) % 360)
}

/** A player's colour, for SVG and CSS alike. */
export function colourOf(player: number): string {
  return `oklch(0.8 0.14 ${hueOf(player)})`
}
