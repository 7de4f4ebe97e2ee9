/** Where the player wants to go: by keys, mouse or finger. */

import { openKeys, shortened } from './keys.ts'

/**
 * Reads input.
 *
 * @param width  of the arena, which fills the canvas
 * @returns      the direction from a position, at most 1 long
 */
export function openInput(
  canvas: HTMLCanvasElement,
  width: number,
): (from: readonly number[]) => [number, number] {
  const keys = openKeys()
  let aim: [number, number] | null = null
  canvas.addEventListener('pointermove', (event) => {
    const scale = width / canvas.clientWidth
    aim = [event.offsetX * scale, event.offsetY * scale]
  })
  canvas.addEventListener('pointerleave', () => (aim = null))

  return ([x = 0, y = 0]) => {
    const [right, down] = keys()
    // The newest way to say it counts.
    if (right !== 0 || down !== 0) aim = null
    return aim ? shortened((aim[0] - x) / 40, (aim[1] - y) / 40) : shortened(right, down)
  }
}
