/** The view from the eye, on a canvas: lines of light on black, and eyeballs that look at one. */

import { blend, colourOf, css, GROUND, LINE, type Rgb } from './colours.ts'
import type { Body, Scene } from './scene.ts'
import { FOCUS, look, type Panel, type Seen, WALL } from './sight.ts'

/** Radius of an eyeball, and of a missile, in cells. */
const BALL = 0.25
const MISSILE = 0.055
/** How far below the middle an eyeball floats. */
const SINKS = 0.06
/** How far below the middle a missile flies: one sees over it. */
export const LOW = 0.2
/** Names are shown up to so many cells. */
const NAME_FAR = 7

/** Names of rats. */
type NameOf = (rat: number) => string

interface Screen {
  readonly pen: CanvasRenderingContext2D
  readonly width: number
  readonly height: number
  /** Pixels for 1. */
  readonly unit: number
}

/** Draws a scene on a canvas of that size in pixels. @returns rats that are seen, nearest first */
export function paint(
  pen: CanvasRenderingContext2D,
  width: number,
  height: number,
  scene: Scene,
  nameOf: NameOf,
): number[] {
  const screen: Screen = { pen, width, height, unit: height / 2 }
  const { panels, seen } = look(scene.eye, width / height, scene.bodies)
  pen.save()
  paintGround(screen)
  pen.translate(width / 2, height / 2)
  for (const panel of panels) fill(screen, panel)
  paintLines(screen, panels)
  for (const one of seen) paintBody(screen, one, nameOf)
  pen.restore()
  const rats = seen.filter(({ thing }) => thing.kind === 'rat')
  return rats.map(({ thing }) => thing.rat).toReversed()
}

function paintGround({ pen, width, height }: Screen): void {
  const light = pen.createLinearGradient(0, 0, 0, height)
  light.addColorStop(0, css([10, 20, 20]))
  light.addColorStop(0.5, css(GROUND))
  light.addColorStop(1, css([13, 28, 25]))
  pen.fillStyle = light
  pen.fillRect(0, 0, width, height)
}

// Half the height of a wall on the screen, in pixels.
function tall({ unit }: Screen, near: number): number {
  return WALL * FOCUS * near * unit
}

function outline(screen: Screen, { left, right, leftNear, rightNear }: Panel): void {
  const { pen, unit } = screen
  const [first, last] = [tall(screen, leftNear), tall(screen, rightNear)]
  pen.beginPath()
  pen.moveTo(left * unit, -first)
  pen.lineTo(right * unit, -last)
  pen.lineTo(right * unit, last)
  pen.lineTo(left * unit, first)
  pen.closePath()
}

function fill(screen: Screen, panel: Panel): void {
  const near = Math.min(1, (panel.leftNear + panel.rightNear) / 2)
  const light = (0.03 + 0.1 * near) * (0.55 + 0.45 * panel.face)
  outline(screen, panel)
  screen.pen.fillStyle = css(blend(GROUND, LINE, light))
  screen.pen.fill()
}

// Every line twice: a wide one that glows, and a sharp one.
function paintLines(screen: Screen, panels: readonly Panel[]): void {
  for (const [width, power] of [
    [6, 0.1],
    [1.7, 1],
  ] as const) {
    screen.pen.lineWidth = width
    for (const panel of panels) paintEdges(screen, panel, power)
  }
}

function paintEdges(screen: Screen, panel: Panel, power: number): void {
  const { pen, unit } = screen
  const { left, right, leftNear, rightNear } = panel
  const [first, last] = [tall(screen, leftNear), tall(screen, rightNear)]
  pen.strokeStyle = css(LINE, power * lightAt((leftNear + rightNear) / 2))
  pen.beginPath()
  for (const side of [-1, 1]) {
    pen.moveTo(left * unit, side * first)
    pen.lineTo(right * unit, side * last)
  }
  pen.stroke()
  paintEnd(screen, panel.leftEnd, left, leftNear, power)
  paintEnd(screen, panel.rightEnd, right, rightNear, power)
}

function paintEnd(
  screen: Screen,
  end: Panel['leftEnd'],
  x: number,
  near: number,
  power: number,
): void {
  const { pen, unit } = screen
  if (end === 'hidden') return
  pen.strokeStyle = css(LINE, power * lightAt(near) * (end === 'seam' ? 0.13 : 1))
  pen.beginPath()
  pen.moveTo(x * unit, -tall(screen, near))
  pen.lineTo(x * unit, tall(screen, near))
  pen.stroke()
}

function lightAt(near: number): number {
  return Math.min(1, 0.2 + 0.9 * near)
}

function paintBody(screen: Screen, one: Seen<Body>, nameOf: NameOf): void {
  const { pen, unit, height } = screen
  pen.save()
  pen.beginPath()
  for (const [left, right] of one.windows) {
    pen.rect(left * unit, -height / 2, (right - left) * unit, height)
  }
  pen.clip()
  pen.translate(one.x * unit, 0)
  const size = FOCUS * one.near * unit
  if (one.thing.kind === 'missile') paintMissile(pen, size, one)
  else paintRat(pen, size, one)
  pen.restore()
  if (one.thing.kind === 'rat' && 1 / one.near < NAME_FAR) paintName(screen, one, nameOf)
}

function paintRat(pen: CanvasRenderingContext2D, size: number, one: Seen<Body>): void {
  const colour = colourOf(one.thing.rat)
  const radius = BALL * size
  pen.fillStyle = css([0, 0, 0], 0.5)
  oval(pen, 0, WALL * size * 0.97, radius * 0.9, radius * 0.16)
  pen.fill()
  pen.translate(0, SINKS * size)
  paintFeet(pen, radius, colour)
  const ball = pen.createRadialGradient(-radius / 3, -radius / 3, radius / 8, 0, 0, radius)
  ball.addColorStop(0, css([250, 253, 250]))
  ball.addColorStop(0.7, css(blend([214, 226, 220], colour, 0.25)))
  ball.addColorStop(1, css(blend([40, 56, 52], colour, 0.55)))
  pen.fillStyle = ball
  oval(pen, 0, 0, radius, radius)
  pen.fill()
  pen.strokeStyle = css(colour)
  pen.lineWidth = Math.max(1.5, radius * 0.05)
  pen.stroke()
  pen.clip()
  paintIris(pen, radius, colour, one.turn)
}

function paintFeet(pen: CanvasRenderingContext2D, radius: number, colour: Rgb): void {
  pen.strokeStyle = css(colour)
  pen.lineWidth = Math.max(1, radius * 0.09)
  pen.lineCap = 'round'
  for (const side of [-1, 1]) {
    pen.beginPath()
    pen.moveTo(side * radius * 0.35, radius * 0.85)
    pen.lineTo(side * radius * 0.42, radius * 1.34)
    pen.lineTo(side * radius * 0.72, radius * 1.38)
    pen.stroke()
  }
}

// The pupil is where the rat looks; from behind one sees the nerve that an eye hangs on.
function paintIris(pen: CanvasRenderingContext2D, radius: number, colour: Rgb, turn: number): void {
  const aside = -Math.sin(turn)
  const toUs = Math.cos(turn)
  if (toUs > -0.3) {
    const x = aside * radius * 0.78
    const narrow = Math.max(0.22, Math.abs(toUs))
    for (const [share, shade] of [
      [0.52, css(blend(colour, [0, 0, 0], 0.1))],
      [0.4, css(blend(colour, [0, 0, 0], 0.45))],
      [0.26, css([4, 8, 8])],
    ] as const) {
      pen.fillStyle = shade
      oval(pen, x, 0, radius * share * narrow, radius * share)
      pen.fill()
    }
    pen.fillStyle = css([255, 255, 255], 0.9)
    oval(pen, x - radius * 0.12 * narrow, -radius * 0.16, radius * 0.1 * narrow, radius * 0.1)
    pen.fill()
  } else paintNerve(pen, radius, colour)
}

function paintNerve(pen: CanvasRenderingContext2D, radius: number, colour: Rgb): void {
  pen.strokeStyle = css(blend(colour, [120, 20, 20], 0.5), 0.8)
  pen.lineWidth = Math.max(1, radius * 0.05)
  for (let i = 0; i < 6; i++) {
    const angle = (i * Math.PI) / 3 + 0.4
    const [x, y] = [Math.cos(angle) * radius, Math.sin(angle) * radius]
    pen.beginPath()
    pen.moveTo(x * 0.22, y * 0.22)
    pen.quadraticCurveTo(x * 0.5 - y * 0.16, y * 0.5 + x * 0.16, x * 0.8, y * 0.8)
    pen.stroke()
  }
  pen.fillStyle = css(blend(colour, [60, 10, 10], 0.6))
  oval(pen, 0, 0, radius * 0.2, radius * 0.2)
  pen.fill()
}

function paintMissile(pen: CanvasRenderingContext2D, size: number, one: Seen<Body>): void {
  const radius = MISSILE * size
  const colour = colourOf(one.thing.rat)
  pen.translate(0, LOW * size)
  const glow = pen.createRadialGradient(0, 0, 0, 0, 0, radius * 3)
  glow.addColorStop(0, css([255, 255, 255], 0.95))
  glow.addColorStop(0.25, css(colour, 0.8))
  glow.addColorStop(1, css(colour, 0))
  pen.fillStyle = glow
  oval(pen, 0, 0, radius * 3, radius * 3)
  pen.fill()
  pen.strokeStyle = css([255, 255, 255], 0.9)
  pen.lineWidth = Math.max(1, radius * 0.18)
  const spin = (one.thing.x + one.thing.y) * 2
  for (let i = 0; i < 4; i++) {
    const angle = spin + (i * Math.PI) / 4
    pen.beginPath()
    pen.moveTo(-Math.cos(angle) * radius * 1.5, -Math.sin(angle) * radius * 1.5)
    pen.lineTo(Math.cos(angle) * radius * 1.5, Math.sin(angle) * radius * 1.5)
    pen.stroke()
  }
}

function paintName({ pen, unit }: Screen, one: Seen<Body>, nameOf: NameOf): void {
  const [left, right] = one.windows[0]!
  if (one.x < left || one.x > right) return
  const size = Math.max(11, Math.min(20, 34 * one.near))
  const y = -(BALL - SINKS) * FOCUS * one.near * unit - size * 0.7
  pen.font = `600 ${size}px system-ui, sans-serif`
  pen.textAlign = 'center'
  pen.lineWidth = 4
  pen.lineJoin = 'round'
  pen.strokeStyle = css(GROUND, 0.85)
  pen.strokeText(nameOf(one.thing.rat), one.x * unit, y)
  pen.fillStyle = css(colourOf(one.thing.rat))
  pen.fillText(nameOf(one.thing.rat), one.x * unit, y)
}

function oval(
  pen: CanvasRenderingContext2D,
  x: number,
  y: number,
  wide: number,
  high: number,
): void {
  pen.beginPath()
  pen.ellipse(x, y, Math.max(0, wide), Math.max(0, high), 0, 0, 2 * Math.PI)
}
