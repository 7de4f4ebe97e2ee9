/** Pictures that are painted at the start: the cloth on the tray, the wood around it. */

import * as THREE from 'three'
import { TRAY_RADIUS } from '../rules/arena.ts'

type Pen = CanvasRenderingContext2D

/**
 * A square canvas as a texture.
 *
 * @param paint  draws on it, `size` pixels wide
 * @param sharp  whether it is looked at from the side
 */
export function painted(
  size: number,
  paint: (pen: Pen, size: number) => void,
  sharp = false,
): THREE.Texture {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size
  paint(canvas.getContext('2d')!, size)
  const texture = new THREE.CanvasTexture(canvas)
  texture.colorSpace = THREE.SRGBColorSpace
  if (sharp) texture.anisotropy = 8
  return texture
}

// The same marks each time: a picture needs no chance, only what looks like it.
function scatter(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 16807) % 2147483647
    return state / 2147483647
  }
}

/** The cloth: linen with a woven grain, an embroidered border, lace in the middle. */
export function paintCloth(pen: Pen, size: number): void {
  const half = size / 2
  pen.fillStyle = '#f6ead2'
  pen.fillRect(0, 0, size, size)
  weave(pen, size)
  pen.translate(half, half)
  const unit = half / (TRAY_RADIUS + 0.3)
  pen.lineCap = 'round'
  ringOf(pen, unit)
  sprigs(pen, unit)
  doily(pen, unit)
  teaRing(pen, unit * 10.2, unit * 0.4, unit * 1.5)
  teaRing(pen, unit * -4.6, unit * -8, unit * 1.35)
  pen.setTransform(1, 0, 0, 1, 0, 0)
  sunlight(pen, size)
}

// The late sun comes in by a window: six panes of light, and the rest in warm shade. It is drawn
// small and enlarged, so that its edges are soft.
function sunlight(pen: Pen, size: number): void {
  const small = document.createElement('canvas')
  small.width = small.height = 112
  const brush = small.getContext('2d')!
  brush.fillStyle = '#e0d2bd'
  brush.fillRect(0, 0, 112, 112)
  brush.fillStyle = '#fffdf6'
  brush.transform(1, 0.32, -0.42, 0.94, 52, 17)
  for (const x of [-27, 3]) {
    for (const y of [-4, 21, 46]) brush.fillRect(x, y, 26, 21)
  }
  pen.globalCompositeOperation = 'multiply'
  pen.imageSmoothingQuality = 'high'
  pen.drawImage(small, 0, 0, size, size)
  pen.globalCompositeOperation = 'source-over'
}

function weave(pen: Pen, size: number): void {
  const chance = scatter(7)
  const step = Math.max(2, size / 512)
  for (let at = 0; at < size; at += step) {
    pen.fillStyle = `rgb(120 88 50 / ${0.015 + 0.05 * chance()})`
    pen.fillRect(at, 0, step * 0.6, size)
    pen.fillStyle = `rgb(255 250 236 / ${0.02 + 0.09 * chance()})`
    pen.fillRect(0, at, size, step * 0.6)
  }
}

const BLUE = '#4f6fa8'
const RED = '#b9564a'
const GREEN = '#6f8a55'

function ringOf(pen: Pen, unit: number): void {
  const circle = (radius: number, width: number, colour: string): void => {
    pen.strokeStyle = colour
    pen.lineWidth = width * unit
    pen.beginPath()
    pen.arc(0, 0, radius * unit, 0, 7)
    pen.stroke()
  }
  circle(15.5, 0.45, BLUE)
  circle(15.05, 0.09, RED)
  circle(12.4, 0.07, BLUE)
  // Scallops between the two.
  const count = 48
  pen.strokeStyle = BLUE
  pen.lineWidth = 0.1 * unit
  for (let i = 0; i < count; i++) {
    const middle = ((i + 0.5) / count) * 2 * Math.PI
    pen.beginPath()
    pen.arc(
      Math.cos(middle) * 14.85 * unit,
      Math.sin(middle) * 14.85 * unit,
      (14.85 * Math.PI * unit) / count,
      middle + Math.PI / 2,
      middle - Math.PI / 2,
    )
    pen.stroke()
  }
}

function sprigs(pen: Pen, unit: number): void {
  const count = 24
  for (let i = 0; i < count; i++) {
    pen.save()
    pen.rotate((i / count) * 2 * Math.PI)
    pen.translate(13.15 * unit, 0)
    leaf(pen, unit, 0.45, 0.62)
    leaf(pen, unit, -0.45, 0.62)
    if (i % 2 === 0) flower(pen, unit, i % 4 === 0 ? RED : BLUE)
    else dotAt(pen, 0, 0, 0.13 * unit, RED)
    pen.restore()
  }
}

function leaf(pen: Pen, unit: number, side: number, long: number): void {
  pen.fillStyle = GREEN
  pen.save()
  pen.rotate(side * 2.4)
  pen.beginPath()
  pen.moveTo(0.15 * unit, 0)
  pen.quadraticCurveTo(0.4 * unit, 0.17 * unit, long * unit, 0)
  pen.quadraticCurveTo(0.4 * unit, -0.17 * unit, 0.15 * unit, 0)
  pen.fill()
  pen.restore()
}

function flower(pen: Pen, unit: number, colour: string): void {
  for (let i = 0; i < 6; i++) {
    const way = (i / 6) * 2 * Math.PI
    dotAt(pen, Math.cos(way) * 0.22 * unit, Math.sin(way) * 0.22 * unit, 0.14 * unit, colour)
  }
  dotAt(pen, 0, 0, 0.11 * unit, '#e8b84a')
}

function dotAt(pen: Pen, x: number, y: number, radius: number, colour: string): void {
  pen.fillStyle = colour
  pen.beginPath()
  pen.arc(x, y, radius, 0, 7)
  pen.fill()
}

// Lace: petals of fine lines, row upon row, on a white ground.
function doily(pen: Pen, unit: number): void {
  pen.fillStyle = 'rgb(255 253 246 / 0.85)'
  scalloped(pen, 6.1 * unit, 0.42 * unit, 32)
  pen.fill()
  pen.strokeStyle = 'rgb(168 138 96 / 0.55)'
  pen.lineWidth = 0.05 * unit
  pen.stroke()
  const rows: [radius: number, count: number, size: number][] = [
    [5.5, 32, 0.36],
    [4.7, 32, 0.26],
    [4.0, 24, 0.34],
    [3.3, 16, 0.3],
  ]
  for (const [radius, count, size] of rows) lace(pen, unit, radius, count, size)
}

function scalloped(pen: Pen, radius: number, bulge: number, count: number): void {
  pen.beginPath()
  for (let i = 0; i < count; i++) {
    const [from, to] = [i, i + 1].map((place) => (place / count) * 2 * Math.PI)
    const middle = (from! + to!) / 2
    const far = radius + bulge * 2
    if (i === 0) pen.moveTo(radius, 0)
    pen.quadraticCurveTo(
      Math.cos(middle) * far,
      Math.sin(middle) * far,
      Math.cos(to!) * radius,
      Math.sin(to!) * radius,
    )
  }
  pen.closePath()
}

function lace(pen: Pen, unit: number, radius: number, count: number, size: number): void {
  pen.strokeStyle = 'rgb(168 138 96 / 0.5)'
  pen.fillStyle = 'rgb(205 184 148 / 0.5)'
  pen.lineWidth = 0.05 * unit
  for (let i = 0; i < count; i++) {
    const way = ((i + 0.5) / count) * 2 * Math.PI
    pen.beginPath()
    pen.ellipse(
      Math.cos(way) * radius * unit,
      Math.sin(way) * radius * unit,
      size * unit,
      size * unit * 0.62,
      way,
      0,
      7,
    )
    pen.fill()
    pen.stroke()
  }
  pen.beginPath()
  pen.arc(0, 0, (radius - size - 0.06) * unit, 0, 7)
  pen.stroke()
}

function teaRing(pen: Pen, x: number, y: number, radius: number): void {
  const chance = scatter(Math.round(Math.abs(x)) + 3)
  for (let i = 0; i < 60; i++) {
    const from = chance() * 7
    pen.strokeStyle = `rgb(140 88 40 / ${0.03 + 0.06 * chance()})`
    pen.lineWidth = radius * (0.04 + 0.06 * chance())
    pen.beginPath()
    pen.arc(x, y, radius * (0.98 + 0.05 * chance()), from, from + 0.4 + chance())
    pen.stroke()
  }
}

/** Dark planks with a grain, darker the farther from the middle. */
export function paintWood(pen: Pen, size: number): void {
  const chance = scatter(21)
  const planks = 9
  const wide = size / planks
  for (let plank = 0; plank < planks; plank++) {
    const light = 20 + 6 * chance()
    pen.fillStyle = `hsl(${19 + 5 * chance()} 42% ${light}%)`
    pen.fillRect(0, plank * wide, size, wide)
    for (let i = 0; i < 70; i++) {
      const y = plank * wide + chance() * wide
      pen.strokeStyle = `hsl(18 45% ${light + (chance() - 0.6) * 9}% / 0.5)`
      pen.lineWidth = 0.5 + 1.6 * chance()
      pen.beginPath()
      pen.moveTo(0, y)
      pen.bezierCurveTo(size * 0.3, y + 8 * chance(), size * 0.6, y - 8 * chance(), size, y)
      pen.stroke()
    }
    pen.fillStyle = 'rgb(0 0 0 / 0.5)'
    pen.fillRect(0, plank * wide, size, 2.5)
  }
  shadeOf(pen, size, 0.5, [
    [0.2, 0],
    [1, 0.94],
  ])
  // The tray stands in the light and throws its shadow to the side.
  pen.translate(size * 0.012, size * 0.018)
  shadeOf(pen, size, 0.17, [
    [0.62, 0.8],
    [0.78, 0.45],
    [1, 0],
  ])
}

function shadeOf(pen: Pen, size: number, radius: number, stops: [number, number][]): void {
  const half = size / 2
  const shade = pen.createRadialGradient(half, half, 0, half, half, size * radius)
  for (const [at, dark] of stops) shade.addColorStop(at, `rgb(10 5 2 / ${dark})`)
  pen.fillStyle = shade
  pen.fillRect(-size, -size, size * 3, size * 3)
}

/** A soft round spot, white in the middle. */
export function paintSpot(pen: Pen, size: number): void {
  const half = size / 2
  const soft = pen.createRadialGradient(half, half, 0, half, half, half)
  soft.addColorStop(0, 'rgb(255 255 255 / 1)')
  soft.addColorStop(0.55, 'rgb(255 255 255 / 0.55)')
  soft.addColorStop(1, 'rgb(255 255 255 / 0)')
  pen.fillStyle = soft
  pen.fillRect(0, 0, size, size)
}
