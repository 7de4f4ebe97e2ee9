/** A stick and a button for thumbs; the style sheet shows them where there are thumbs. */

import type { Vec2 } from 'holdfast'
import type { ComponentChild } from 'preact'
import type { Input } from './input.ts'

/** How far the stick goes, as a share of its pad. */
const REACH = 0.36

/** Both controls. */
export function Touch({ input }: { input: Input }): ComponentChild {
  return (
    <div class="touch">
      <Stick input={input} />
      <button
        type="button"
        class="fire"
        aria-label="Throw a cube"
        onPointerDown={() => input.hold(true)}
        onPointerUp={() => input.hold(false)}
        onPointerCancel={() => input.hold(false)}
        onPointerLeave={() => input.hold(false)}
      >
        <i aria-hidden="true" />
      </button>
    </div>
  )
}

function Stick({ input }: { input: Input }): ComponentChild {
  const push = (event: PointerEvent): void => {
    const pad = event.currentTarget as HTMLElement
    if (event.type === 'pointerdown') pad.setPointerCapture(event.pointerId)
    else if (!pad.hasPointerCapture(event.pointerId)) return
    input.stick = pushed(pad, event)
    tilt(pad, input.stick)
  }
  const release = (event: PointerEvent): void => {
    input.stick = [0, 0]
    tilt(event.currentTarget as HTMLElement, input.stick)
  }
  return (
    <div
      class="stick"
      aria-hidden="true"
      onPointerDown={push}
      onPointerMove={push}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <i />
    </div>
  )
}

function pushed(pad: HTMLElement, event: PointerEvent): Vec2 {
  const box = pad.getBoundingClientRect()
  const reach = box.width * REACH
  const x = (event.clientX - box.left - box.width / 2) / reach
  const y = (event.clientY - box.top - box.height / 2) / reach
  const long = Math.max(1, Math.hypot(x, y))
  return [x / long, y / long]
}

function tilt(pad: HTMLElement, [x, y]: Vec2): void {
  const reach = pad.clientWidth * REACH
  pad.style.setProperty('--x', `${x * reach}px`)
  pad.style.setProperty('--y', `${y * reach}px`)
}
