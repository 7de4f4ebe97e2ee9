/** Buttons for thumbs; the style sheet shows them where there are thumbs. */

import type { ComponentChild } from 'preact'
import type { Controller } from './controller.ts'
import { isHeld } from './input.ts'
import type { Wish } from './rules/hands.ts'

const ARROWS: readonly (readonly [wish: Wish, label: string, turn: number])[] = [
  ['left', 'Turn left', -90],
  ['ahead', 'Step ahead', 0],
  ['right', 'Turn right', 90],
  ['back', 'Step back', 180],
]

/** All that one can do. */
export function Touch({ controller }: { controller: Controller }): ComponentChild {
  return (
    <section class="touch" aria-label="Keys for thumbs">
      <div class="arrows">
        {ARROWS.map(([wish, label, turn]) => (
          <Key key={wish} controller={controller} wish={wish} label={label}>
            <svg viewBox="0 0 24 24" style={{ transform: `rotate(${turn}deg)` }}>
              <path d="M12 5l8 10H4z" />
            </svg>
          </Key>
        ))}
      </div>
      <div class="deeds">
        <Peek controller={controller} side="left" />
        <Peek controller={controller} side="right" />
        <Key controller={controller} wish="round" label="Turn round">
          Turn
        </Key>
        <Key controller={controller} wish="cloak" label="Cloak">
          Cloak
        </Key>
        <Key controller={controller} wish="fire" label="Shoot">
          Shoot
        </Key>
      </div>
    </section>
  )
}

function Key(props: {
  controller: Controller
  wish: Wish
  label: string
  children: ComponentChild
}): ComponentChild {
  const { controller, wish, label } = props
  const down = (event: PointerEvent): void => {
    event.preventDefault()
    ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    controller.press(wish)
    if (isHeld(wish)) controller.hold(wish, performance.now())
  }
  const up = (): void => void (isHeld(wish) && controller.release(wish))
  return (
    <button
      type="button"
      class={wish}
      aria-label={label}
      onPointerDown={down}
      onPointerUp={up}
      onPointerCancel={up}
    >
      {props.children}
    </button>
  )
}

function Peek({
  controller,
  side,
}: {
  controller: Controller
  side: 'left' | 'right'
}): ComponentChild {
  const look = (event: PointerEvent): void => {
    event.preventDefault()
    ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    controller.stage.peeks = side
  }
  const stop = (): void => void (controller.stage.peeks = null)
  return (
    <button
      type="button"
      class={`peek ${side}`}
      aria-label={`Peek ${side}`}
      onPointerDown={look}
      onPointerUp={stop}
      onPointerCancel={stop}
    >
      {side === 'left' ? '‹ Peek' : 'Peek ›'}
    </button>
  )
}
