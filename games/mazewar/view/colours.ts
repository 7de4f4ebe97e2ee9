/** Colours of rats, the same in a browser, on a map and in a terminal. */

/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** Of lines and of the ground. */
export const LINE: Rgb = [126, 255, 190]
/** See LINE. */
export const GROUND: Rgb = [5, 10, 10]

// Twelve that are told apart on black; after that they come again.
const RATS: readonly Rgb[] = [
  [255, 197, 87],
  [111, 195, 255],
  [255, 128, 117],
  [190, 140, 255],
  [176, 230, 92],
  [255, 150, 214],
  [94, 226, 226],
  [255, 158, 74],
  [146, 160, 255],
  [240, 228, 120],
  [226, 112, 240],
  [210, 210, 214],
]

/** The colour of a rat. */
export function colourOf(rat: number): Rgb {
  return RATS[(rat >>> 0) % RATS.length]!
}

/** As a style sheet has it. @param alpha  0 is not seen */
export function css([red, green, blue]: Rgb, alpha = 1): string {
  return `rgb(${Math.round(red)} ${Math.round(green)} ${Math.round(blue)} / ${alpha})`
}

/** Part of the way from one to another. */
export function blend(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (i: 0 | 1 | 2): number => Math.round(from[i] + (to[i] - from[i]) * share)
  return [part(0), part(1), part(2)]
}
