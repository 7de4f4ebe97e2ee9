/**
 * The field on its canvas: dots glide to where they were last said to be, pins are rings that
 * are dashed until the backup has them, and whoever serves or would take over wears a ring.
 */

import type { ObjectHandle, Vec2 } from 'holdfast'
import * as labels from './labels.ts'
import type { Play } from './play.ts'
import * as rules from './rules.ts'

/** Radius of a dot, in CSS pixels. */
const DOT_RADIUS = 9
/** Radius of a pin. */
const PIN_RADIUS = 6
/** How long a new pin takes to settle. */
const PIN_MS = 420
/** Distance of the field's edge from the canvas's, so that no dot is cut. */
const MARGIN = 22
/** Space between the lines of the ground. */
const GRID = 44

type DotHandle = ObjectHandle<typeof rules.Dot.schema.fields>

/** Draws one session for as long as it goes on. */
export class Board {
  /** Called before each frame with the time since the last, in milliseconds. */
  beforeFrame: (ms: number) => void = () => {}
  readonly #canvas: HTMLCanvasElement
  readonly #pen: CanvasRenderingContext2D
  readonly #calm: MediaQueryList = matchMedia('(prefers-reduced-motion: reduce)')
  #shown = new Map<DotHandle, Vec2>()
  readonly #born = new Map<number, number>()
  /** The names of this frame, with their places. */
  #labels: labels.Label[] = []
  #play: Play | null = null
  #width = 0
  #height = 0
  #at = 0

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d')!
    new ResizeObserver(() => this.#resize()).observe(canvas)
    this.#resize()
    requestAnimationFrame((now) => this.#frame(now))
  }

  /** What to draw from now on; null leaves what is there. */
  show(play: Play | null): void {
    this.#play = play
  }

  /** The place of the field under a point of the page. */
  placeAt(clientX: number, clientY: number): Vec2 {
    const box = this.#canvas.getBoundingClientRect()
    return [
      rules.clamp(((clientX - box.left - MARGIN) / (box.width - 2 * MARGIN)) * rules.FIELD[1]),
      rules.clamp(((clientY - box.top - MARGIN) / (box.height - 2 * MARGIN)) * rules.FIELD[1]),
    ]
  }

  #resize(): void {
    const ratio = Math.min(3, devicePixelRatio || 1)
    this.#width = this.#canvas.clientWidth
    this.#height = this.#canvas.clientHeight
    this.#canvas.width = Math.round(this.#width * ratio)
    this.#canvas.height = Math.round(this.#height * ratio)
    this.#pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.#draw(0)
  }

  #frame(now: number): void {
    const ms = Math.min(250, now - this.#at)
    this.#at = now
    this.beforeFrame(ms)
    this.#draw(ms)
    requestAnimationFrame((next) => this.#frame(next))
  }

  #draw(ms: number): void {
    this.#pen.clearRect(0, 0, this.#width, this.#height)
    this.#drawGround()
    const play = this.#play
    if (!play) return
    for (const pin of play.pins) this.#drawPin(pin.at, pin.player, this.#ageOf(pin.number))
    for (const at of play.waiting.values()) this.#drawWaiting(at, play.session.me.player)
    const shown = new Map<DotHandle, Vec2>()
    for (const dot of play.session.all(rules.Dot)) {
      const from = this.#shown.get(dot) ?? dot.state.pos
      const at = dot.mine ? dot.state.pos : rules.glide(from, dot.state.pos, ms)
      shown.set(dot, at)
      this.#drawDot(play, dot, at)
    }
    this.#shown = shown
    this.#drawLabels()
  }

  #ageOf(number: number): number {
    if (this.#calm.matches) return PIN_MS
    if (!this.#born.has(number)) {
      // What was there before us does not pop up.
      this.#born.set(number, this.#born.size === 0 ? -PIN_MS : this.#at)
      const oldest = this.#born.keys().next().value
      if (this.#born.size > 2 * rules.PINS_MAX && oldest) this.#born.delete(oldest)
    }
    return this.#at - this.#born.get(number)!
  }

  #drawGround(): void {
    const pen = this.#pen
    pen.fillStyle = 'rgb(255 255 255 / 0.13)'
    for (let x = MARGIN; x < this.#width; x += GRID) {
      for (let y = MARGIN; y < this.#height; y += GRID) pen.fillRect(x, y, 1.6, 1.6)
    }
  }

  #drawPin(at: Vec2, player: number, age: number): void {
    const share = Math.min(1, Math.max(0, age / PIN_MS))
    const ease = 1 - (1 - share) ** 3
    const [x, y] = this.#toCanvas(at)
    if (share < 1) {
      this.#ring(x, y, PIN_RADIUS + 22 * ease, 1.5, rules.colourOf(player, 0.6 * (1 - ease)))
    }
    this.#ring(x, y, PIN_RADIUS * (0.5 + 0.5 * ease), 2, rules.colourOf(player, 0.9))
    this.#disc(x, y, 1.5, rules.colourOf(player, 0.9))
  }

  #drawWaiting(at: Vec2, player: number): void {
    const [x, y] = this.#toCanvas(at)
    this.#pen.setLineDash([3, 3])
    this.#ring(x, y, PIN_RADIUS + 2, 1.5, rules.colourOf(player, 0.8))
    this.#pen.setLineDash([])
  }

  #drawDot(play: Play, dot: DotHandle, at: Vec2): void {
    const { owner } = dot
    const { primary, backup } = play.session
    const [x, y] = this.#toCanvas(at)
    if (dot.away) {
      this.#disc(x, y, DOT_RADIUS, 'rgb(255 255 255 / 0.16)')
      this.#labels.push({ x, y, text: 'away' })
      return
    }
    if (!owner) return
    const colour = rules.colourOf(owner.player)
    this.#disc(x, y, DOT_RADIUS * 2.1, rules.colourOf(owner.player, 0.13))
    this.#disc(x, y, DOT_RADIUS, colour)
    if (owner.inc === primary?.inc) this.#ring(x, y, DOT_RADIUS + 4.5, 2, colour)
    if (owner.inc === backup?.inc) {
      this.#pen.setLineDash([4, 4])
      this.#ring(x, y, DOT_RADIUS + 4.5, 1.5, colour)
      this.#pen.setLineDash([])
    }
    this.#labels.push({ x, y, text: dot.mine ? `${owner.name} (you)` : owner.name })
  }

  #drawLabels(): void {
    const pen = this.#pen
    pen.font = '500 13px system-ui, sans-serif'
    pen.textAlign = 'center'
    const widths = this.#labels.map(({ text }) => pen.measureText(text).width)
    const places = labels.place(this.#labels, widths, [this.#width, this.#height])
    for (const [at, { text }] of this.#labels.entries()) this.#drawLabel(places[at]!, text)
    this.#labels = []
  }

  #drawLabel([x, y]: Vec2, text: string): void {
    const pen = this.#pen
    pen.lineWidth = 4
    pen.lineJoin = 'round'
    pen.strokeStyle = 'rgb(15 18 24 / 0.8)'
    pen.strokeText(text, x, y)
    pen.fillStyle = 'rgb(230 233 239 / 0.92)'
    pen.fillText(text, x, y)
  }

  #disc(x: number, y: number, radius: number, colour: string): void {
    this.#pen.fillStyle = colour
    this.#pen.beginPath()
    this.#pen.arc(x, y, radius, 0, 2 * Math.PI)
    this.#pen.fill()
  }

  #ring(x: number, y: number, radius: number, width: number, colour: string): void {
    this.#pen.strokeStyle = colour
    this.#pen.lineWidth = width
    this.#pen.beginPath()
    this.#pen.arc(x, y, radius, 0, 2 * Math.PI)
    this.#pen.stroke()
  }

  #toCanvas(at: Vec2): Vec2 {
    return [
      MARGIN + (at[0] / rules.FIELD[1]) * (this.#width - 2 * MARGIN),
      MARGIN + (at[1] / rules.FIELD[1]) * (this.#height - 2 * MARGIN),
    ]
  }
}
