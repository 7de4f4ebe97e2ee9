/** The keys that all games are played with: arrows or WASD, and the space bar. */

import type { Vec2 } from 'holdfast'

const WAYS: Readonly<Record<string, Vec2>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  KeyA: [-1, 0],
  KeyD: [1, 0],
  KeyW: [0, -1],
  KeyS: [0, 1],
}

/** Which of them are held. */
export class Keys {
  readonly #held = new Set<string>()

  /**
   * @param active  whether there is something to be played
   * @param struck  the space bar went down
   */
  constructor(active: () => boolean, struck: () => void) {
    window.addEventListener('keydown', (event) => {
      const { code, repeat } = event
      if (!active() || isElsewhere(event) || !(code === 'Space' || code in WAYS)) return
      event.preventDefault()
      this.#held.add(code)
      if (code === 'Space' && !repeat) struck()
    })
    window.addEventListener('keyup', ({ code }) => this.#held.delete(code))
    window.addEventListener('blur', () => this.#held.clear())
  }

  /** Where they point: -1, 0 or 1 on each axis. */
  get way(): Vec2 {
    let [x, y] = [0, 0]
    for (const key of this.#held) {
      x += WAYS[key]?.[0] ?? 0
      y += WAYS[key]?.[1] ?? 0
    }
    return [Math.sign(x), Math.sign(y)]
  }

  /** Whether the space bar is held. */
  get space(): boolean {
    return this.#held.has('Space')
  }
}

/**
 * Whether a key is for somebody else: with a modifier it is the browser's, and in a field or on a
 * button it has a meaning already.
 */
export function isElsewhere(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true
  if (!(event.target instanceof Element)) return false
  // Whoever came to a slider by keys moves it by keys; a pointer leaves them to the game.
  const typed = 'input:not([type=range]), input:focus-visible, select, textarea'
  if (event.target.closest(typed)) return true
  const presses = event.key === 'Enter' || event.key === ' '
  return presses && event.target.closest('button, a, input, summary') !== null
}
