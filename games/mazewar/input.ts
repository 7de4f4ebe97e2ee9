/** Keys of a keyboard, for a page. */

import { isElsewhere } from '../keys.ts'
import type { Controller } from './controller.ts'
import type { Held, Wish } from './rules/hands.ts'

/** What each key is for; the first of each is the one that is told of. */
const WISHES: Readonly<Record<string, Wish>> = {
  ArrowUp: 'ahead',
  ArrowDown: 'back',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  KeyW: 'ahead',
  KeyS: 'back',
  KeyA: 'left',
  KeyD: 'right',
  KeyX: 'round',
  Space: 'fire',
  KeyC: 'cloak',
}
const PEEKS: Readonly<Record<string, 'left' | 'right'>> = { KeyQ: 'left', KeyE: 'right' }

/** What goes on while its key is held. */
export function isHeld(wish: Wish): wish is NonNullable<Held> {
  return wish === 'ahead' || wish === 'back' || wish === 'left' || wish === 'right'
}

/** What else keys do. */
export interface Commands {
  /** The player sits here; null for nobody. */
  controller(): Controller | null
  help(): void
  mute(): void
  close(): void
}

/** Listens to the window's keys. */
export function listen(commands: Commands): void {
  window.addEventListener('keydown', (event) => {
    if (isElsewhere(event)) return
    const controller = commands.controller()
    if (controller && play(controller, event)) return event.preventDefault()
    if (event.repeat) return
    if (event.key === '?' || event.code === 'KeyH') commands.help()
    else if (event.code === 'KeyM') commands.mute()
    else if (event.code === 'Escape') commands.close()
  })
  window.addEventListener('keyup', ({ code }) => {
    const controller = commands.controller()
    const wish = WISHES[code]
    if (wish && isHeld(wish)) controller?.release(wish)
    if (controller && controller.stage.peeks === PEEKS[code]) controller.stage.peeks = null
  })
  window.addEventListener('blur', () => commands.controller()?.letGo())
}

function play(controller: Controller, { code, repeat }: KeyboardEvent): boolean {
  const wish = WISHES[code]
  const side = PEEKS[code]
  if (!controller.rat) {
    if (code !== 'Space' && code !== 'ArrowRight' && code !== 'ArrowLeft') return false
    if (!repeat) controller.watch(code === 'ArrowLeft' ? -1 : 1)
    return true
  }
  if (side) controller.stage.peeks = side
  else if (wish && !repeat) {
    controller.press(wish)
    if (isHeld(wish)) controller.hold(wish, performance.now())
  }
  return wish !== undefined || side !== undefined
}
