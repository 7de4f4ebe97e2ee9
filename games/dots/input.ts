/**
 * Mouse, touch and keys. A pointer leads the dot, a click or a tap drops a pin; arrows or WASD
 * move it, the space bar drops. A dot moves once for each frame, however many events there were.
 */

import type { Vec2 } from 'holdfast'
import { Keys } from '../keys.ts'
import type { Board } from './board.ts'
import type { Play } from './play.ts'
import { step } from './rules.ts'

/** Lets the user play. @param playing  what there is to be played now */
export function listen(canvas: HTMLCanvasElement, board: Board, playing: () => Play | null): void {
  const keys = new Keys(
    () => playing() !== null,
    () => void playing()?.drop(),
  )
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
  board.beforeFrame = (ms) => {
    const play = playing()
    if (!play) return
    if (pointed) play.move(pointed)
    pointed = null
    const { way } = keys
    const { place } = play
    if (place && (way[0] !== 0 || way[1] !== 0)) play.move(step(place, way, ms))
  }
}
