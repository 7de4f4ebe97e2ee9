/** Where the player wants to go: by keys, or where mouse or finger is held on the floor. */

import { openKeys, shortened } from './keys.ts'
import type { Scene } from './scene.ts'

export interface Input {
  /** The direction from a place on the floor, at most 1 long. */
  direction(x: number, z: number): [number, number]
  /** Whether to jump now: once for each press. */
  jumps(): boolean
}

export function openInput(scene: Scene, jump: HTMLElement): Input {
  const keys = openKeys()
  const { canvas } = scene
  let pointer: PointerEvent | null = null
  let wantsJump = false

  addEventListener('keydown', (event) => {
    if (event.code !== 'Space' || event.repeat) return
    event.preventDefault()
    wantsJump = true
  })
  jump.addEventListener('pointerdown', () => (wantsJump = true))
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    pointer = event
  })
  canvas.addEventListener('pointermove', (event) => {
    if (event.pointerId === pointer?.pointerId) pointer = event
  })
  const lift = (event: PointerEvent): void => {
    if (event.pointerId === pointer?.pointerId) pointer = null
  }
  canvas.addEventListener('pointerup', lift)
  canvas.addEventListener('pointercancel', lift)

  return {
    direction(x, z) {
      const goal = pointer && scene.floorAt(pointer)
      return goal ? shortened(goal[0] - x, goal[1] - z) : shortened(...keys())
    },
    jumps() {
      const asked = wantsJump
      wantsJump = false
      return asked
    },
  }
}
