/** Where the player wants to go: by keys, mouse or finger. */

const KEYS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  KeyA: [-1, 0],
  ArrowRight: [1, 0],
  KeyD: [1, 0],
  ArrowUp: [0, -1],
  KeyW: [0, -1],
  ArrowDown: [0, 1],
  KeyS: [0, 1],
}

/** Reads input. @returns the direction from a position, at most 1 long */
export function openInput(
  canvas: HTMLCanvasElement,
): (from: readonly number[]) => [number, number] {
  const held = new Set<string>()
  let aim: [number, number] | null = null
  addEventListener('keydown', (event) => {
    if (!(event.code in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    held.add(event.code)
    aim = null
  })
  addEventListener('keyup', (event) => held.delete(event.code))
  addEventListener('blur', () => held.clear())
  canvas.addEventListener('pointermove', (event) => {
    const { width } = canvas.getBoundingClientRect()
    const scale = canvas.width / width
    aim = [event.offsetX * scale, event.offsetY * scale]
  })
  canvas.addEventListener('pointerleave', () => (aim = null))

  return ([x = 0, y = 0]) => {
    let [dx, dy] = aim ? [(aim[0] - x) / 40, (aim[1] - y) / 40] : [0, 0]
    for (const code of held) {
      dx += KEYS[code]![0]
      dy += KEYS[code]![1]
    }
    const length = Math.max(1, Math.hypot(dx, dy))
    return [dx / length, dy / length]
  }
}
