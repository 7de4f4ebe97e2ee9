/**
 * What the player wants: keys, mouse, gamepad, and the touch controls of the page. The device
 * that was used last says where the spout points; without one it follows the way.
 */

import type { Vec2 } from 'holdfast'
import { Keys } from '../keys.ts'
import { length, unit } from './rules/plane.ts'
import type { Intent } from './rules/pot.ts'

/** So long after it moved last a mouse still aims, in milliseconds. */
const MOUSE_MS = 2_500
/** A stick that is pushed less lies still. */
const DEAD = 0.22
/** How much a throw is helped to aim: a mouse needs no help, thumbs need most. In radians. */
const ASSIST = { mouse: 0, keys: 0.16, pad: 0.2, touch: 0.34 }

/** See the head of this file. */
export class Input {
  /** The stick on the screen: which way, at most one long. */
  stick: Vec2 = [0, 0]
  /** Whether the button on the screen is held. */
  held = false
  /** How much a throw is helped to aim just now. */
  assist = ASSIST.keys
  readonly #keys: Keys
  readonly #aimAt: (x: number, y: number) => number | null
  #mouse: Vec2 | null = null
  #mouseAt = -Infinity
  #pressed = false
  // A tap may be shorter than a step.
  #tapped = false

  /** @param aimAt  the angle from our pot to a point of the page, if there is one */
  constructor(
    canvas: HTMLElement,
    active: () => boolean,
    aimAt: (x: number, y: number) => number | null,
  ) {
    this.#aimAt = aimAt
    this.#keys = new Keys(active, () => (this.#tapped = true))
    window.addEventListener('blur', () => this.#letGo())
    this.#listenMouse(canvas)
  }

  /** The button on the screen is held, or let go. */
  hold(held: boolean): void {
    this.held = held
    this.#tapped ||= held
  }

  /** What the player wants now. */
  read(now: number): Intent {
    const pad = readPad()
    const move = pick(this.#keys.way, this.stick, pad.move)
    const holds = this.#keys.space || this.#pressed || this.held
    const fire = holds || this.#tapped || pad.fire
    this.#tapped = false
    const aim = this.#aim(now, pad)
    return { move: length(move) > 1 ? unit(move) : move, aim, fire }
  }

  #aim(now: number, pad: Pad): number | null {
    if (length(pad.aim) > DEAD) {
      this.assist = ASSIST.pad
      return Math.atan2(pad.aim[1], pad.aim[0])
    }
    const fresh = this.#pressed || now - this.#mouseAt < MOUSE_MS
    if (this.#mouse && fresh) {
      this.assist = ASSIST.mouse
      return this.#aimAt(this.#mouse[0], this.#mouse[1])
    }
    this.assist = this.held || length(this.stick) > 0 ? ASSIST.touch : ASSIST.keys
    return null
  }

  #letGo(): void {
    this.#pressed = false
    this.held = false
    this.stick = [0, 0]
  }

  #listenMouse(canvas: HTMLElement): void {
    const point = (event: PointerEvent): void => {
      if (event.pointerType !== 'mouse') return
      this.#mouse = [event.clientX, event.clientY]
      this.#mouseAt = performance.now()
    }
    canvas.addEventListener('pointermove', point)
    canvas.addEventListener('pointerdown', (event) => {
      point(event)
      if (event.pointerType !== 'mouse' || event.button !== 0) return
      this.#pressed = true
      this.#tapped = true
    })
    window.addEventListener('pointerup', () => (this.#pressed = false))
    window.addEventListener('pointercancel', () => (this.#pressed = false))
  }
}

function pick(...ways: Vec2[]): Vec2 {
  return ways.find((way) => length(way) > DEAD) ?? [0, 0]
}

interface Pad {
  move: Vec2
  aim: Vec2
  fire: boolean
}

function readPad(): Pad {
  const pad = navigator.getGamepads?.().find((each) => each?.connected)
  if (!pad) return { move: [0, 0], aim: [0, 0], fire: false }
  const [x = 0, y = 0, lookX = 0, lookY = 0] = pad.axes
  const fire = [0, 5, 7].some((button) => pad.buttons[button]?.pressed)
  return { move: [x, y], aim: [lookX, lookY], fire }
}
