/** One window on its canvas, and where its player points. */

import type { Vec2 } from 'holdfast'
import { Ball, Dot, type Frame, HEIGHT, pinsOn, WIDTH } from './room.ts'

/** How long a dot on screen takes for most of the way to where it is. */
const GLIDE_MS = 45
/** How fast the keys move a dot, in units a second. */
const KEYS_SPEED = 80
const KEYS: Readonly<Record<string, Vec2>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The colour of a dot whose player is away. */
const AWAY = 'rgb(255 255 255 / 0.25)'

/** A player's colour. */
export function colourOf(player: number, alpha: number = 1): string {
  return `oklch(0.78 0.15 ${Math.round((player * 137.508) % 360)} / ${alpha})`
}

/** See the head of this file. */
export class Canvas {
  /** Where the player points, until the pointer leaves; null for nowhere. */
  aim: Vec2 | null = null
  readonly #frame: Frame
  readonly #canvas: HTMLCanvasElement
  readonly #pen: CanvasRenderingContext2D
  readonly #held = new Set<string>()
  readonly #shown = new Map<object, Vec2>()

  constructor(frame: Frame, canvas: HTMLCanvasElement, drop: (at: Vec2) => void) {
    this.#frame = frame
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d')!
    canvas.addEventListener('pointermove', (event) => (this.aim = this.#placeOf(event)))
    canvas.addEventListener('pointerleave', () => (this.aim = null))
    canvas.addEventListener('pointerdown', (event) => {
      this.aim = this.#placeOf(event)
      drop(this.aim)
    })
    canvas.addEventListener('keydown', (event) => {
      const { key } = event
      if (key !== ' ' && !(key in KEYS)) return
      event.preventDefault()
      if (key in KEYS) this.#held.add(key)
      else if (!event.repeat) drop(this.place ?? [WIDTH / 2, HEIGHT / 2])
    })
    canvas.addEventListener('keyup', ({ key }) => this.#held.delete(key))
    canvas.addEventListener('blur', () => this.#held.clear())
  }

  /** Where the dot of this window is. */
  get place(): Vec2 | null {
    return this.#mine?.state.pos ?? null
  }

  /** Whether the player is at it. */
  get isPlayed(): boolean {
    return this.aim !== null || this.#held.size > 0 || document.activeElement === this.#canvas
  }

  /** Moves the dot where the player wants it, or strolls. */
  move(ms: number, stroll: Vec2 | null): void {
    const { place } = this
    if (!place) return
    const wanted = this.aim ?? (this.isPlayed ? this.#steered(place, ms) : (stroll ?? place))
    const share = 1 - Math.exp(-ms / GLIDE_MS)
    const pos: Vec2 = [
      clamp(place[0] + (wanted[0] - place[0]) * share, WIDTH),
      clamp(place[1] + (wanted[1] - place[1]) * share, HEIGHT),
    ]
    this.#mine!.set({ pos })
  }

  /** Draws one frame; a killed window keeps the last. */
  draw(ms: number): void {
    const { session } = this.#frame
    this.#resize()
    if (!session) return
    const pen = this.#pen
    pen.clearRect(0, 0, WIDTH, HEIGHT)
    this.#drawGround()
    for (const { player, at } of pinsOn(session)) this.#ring(at, 1.7, colourOf(player, 0.9))
    for (const ball of session.all(Ball)) this.#disc(ball.view().pos, 2.6, '#cdd6e5')
    for (const dot of session.all(Dot)) {
      const from = this.#shown.get(dot) ?? dot.state.pos
      const share = dot.mine ? 1 : 1 - Math.exp(-ms / GLIDE_MS)
      const [x, y] = dot.state.pos
      const at: Vec2 = [from[0] + (x - from[0]) * share, from[1] + (y - from[1]) * share]
      this.#shown.set(dot, at)
      // The server holds the dot of a player who is away.
      const colour = dot.away ? AWAY : colourOf(dot.owner?.player ?? 0)
      if (!dot.away) this.#disc(at, 7.5, colourOf(dot.owner?.player ?? 0, 0.14))
      this.#disc(at, 3.6, colour)
      this.#label(at, dot.away ? 'away' : (dot.owner?.name ?? ''))
    }
  }

  get #mine() {
    return this.#frame.session?.all(Dot).find((dot) => dot.mine) ?? null
  }

  #placeOf({ offsetX, offsetY }: PointerEvent): Vec2 {
    const scale = WIDTH / this.#canvas.clientWidth
    return [clamp(offsetX * scale, WIDTH), clamp(offsetY * scale, HEIGHT)]
  }

  #steered(from: Vec2, ms: number): Vec2 {
    let [x, y] = from
    // The glide to it is as fast as the keys say.
    const reach = (KEYS_SPEED * ms) / 1_000 / (1 - Math.exp(-ms / GLIDE_MS))
    for (const key of this.#held) {
      x += KEYS[key]![0] * reach
      y += KEYS[key]![1] * reach
    }
    return [x, y]
  }

  #resize(): void {
    const ratio = Math.min(3, devicePixelRatio || 1)
    const width = Math.round(this.#canvas.clientWidth * ratio)
    if (width === 0 || width === this.#canvas.width) return
    this.#canvas.width = width
    this.#canvas.height = Math.round((width * HEIGHT) / WIDTH)
    this.#pen.setTransform(width / WIDTH, 0, 0, width / WIDTH, 0, 0)
  }

  #drawGround(): void {
    this.#pen.fillStyle = 'rgb(255 255 255 / 0.12)'
    for (let x = 8; x < WIDTH; x += 16) {
      for (let y = 8; y < HEIGHT; y += 16) this.#pen.fillRect(x, y, 0.6, 0.6)
    }
  }

  #disc(at: readonly number[], radius: number, colour: string): void {
    this.#pen.fillStyle = colour
    this.#pen.beginPath()
    this.#pen.arc(at[0]!, at[1]!, radius, 0, 2 * Math.PI)
    this.#pen.fill()
  }

  #ring(at: Vec2, radius: number, colour: string): void {
    this.#pen.strokeStyle = colour
    this.#pen.lineWidth = 0.8
    this.#pen.beginPath()
    this.#pen.arc(at[0], at[1], radius, 0, 2 * Math.PI)
    this.#pen.stroke()
  }

  #label([x, y]: Vec2, text: string): void {
    const pen = this.#pen
    pen.font = '500 5.5px system-ui, sans-serif'
    pen.textAlign = 'center'
    pen.fillStyle = 'rgb(230 233 239 / 0.92)'
    pen.fillText(text, Math.min(Math.max(x, 10), WIDTH - 10), y + (y > HEIGHT - 14 ? -8 : 12))
  }
}

function clamp(value: number, size: number): number {
  return Math.min(size, Math.max(0, value))
}
