/**
 * Mouse, touch and keys. A pointer leads the dot, a click or a tap drops a pin; arrows or WASD
 * move it, the space bar drops. A dot moves once for each frame, however many events there were.
 */

import type { Vec2 } from 'holdfast'
import type { Board } from './board.ts'
import type { Play } from './play.ts'
import { step } from './rules.ts'

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

/** Lets the user play. @param playing  what there is to be played now */
export function listen(canvas: HTMLCanvasElement, board: Board, playing: () => Play | null): void {
  const keys = new Set<string>()
  let pointed: Vec2 | null = null
  const point = (event: PointerEvent): void => {
    pointed = board.placeAt(event.clientX, event.clientY)
  }
  canvas.addEventListener('pointermove', point)
  canvas.addEventListener('pointerdown', point)
  canvas.addEventListener('click', (event) => {
    pointed = null
    const play = playing()
    play?.move(board.placeAt(event.clientX, event.clientY))
    void play?.drop()
  })
  window.addEventListener('keydown', (event) => {
    if (!playing() || isElsewhere(event)) return
    if (event.code === 'Space') {
      event.preventDefault()
      if (!event.repeat) void playing()?.drop()
    } else if (event.code in WAYS) {
      event.preventDefault()
      keys.add(event.code)
    }
  })
  window.addEventListener('keyup', (event) => keys.delete(event.code))
  window.addEventListener('blur', () => keys.clear())
  board.beforeFrame = (ms) => {
    const play = playing()
    if (!play) return
    if (pointed) play.move(pointed)
    pointed = null
    const way = wayOf(keys)
    if (way[0] !== 0 || way[1] !== 0) play.move(step(play.dot.state.pos, way, ms))
  }
}

function wayOf(keys: ReadonlySet<string>): Vec2 {
  let [x, y] = [0, 0]
  for (const key of keys) {
    x += WAYS[key]?.[0] ?? 0
    y += WAYS[key]?.[1] ?? 0
  }
  return [Math.sign(x), Math.sign(y)]
}

// Keys with a modifier are the browser's; in a field or on a button they have a meaning already.
function isElsewhere(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true
  return event.target instanceof Element && event.target.closest('input, button, a') !== null
}
