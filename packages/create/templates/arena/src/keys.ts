/** Arrow keys and WASD. */

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

/** Reads the keys that are held. @returns their direction: right and down are positive */
export function openKeys(): () => [number, number] {
  const held = new Set<string>()
  addEventListener('keydown', (event) => {
    if (!(event.code in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    held.add(event.code)
  })
  addEventListener('keyup', (event) => held.delete(event.code))
  addEventListener('blur', () => held.clear())
  return () => {
    let [x, y] = [0, 0]
    for (const code of held) {
      x += KEYS[code]![0]
      y += KEYS[code]![1]
    }
    return [x, y]
  }
}

/** A direction that is at most 1 long. */
export function shortened(x: number, y: number): [number, number] {
  const length = Math.max(1, Math.hypot(x, y))
  return [x / length, y / length]
}
