/**
 * What stands on the tray, as geometry: a cake, cups, a bowl, a jug, macarons and spoons. All that
 * is glazed is one geometry with its colours in its corners, all that is metal another, so that
 * the whole table is drawn at two strokes.
 */

import * as THREE from 'three'
import { mergeGeometries, mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js'
import { OBSTACLES, type Obstacle, TRAY_RADIUS } from '../rules/arena.ts'
import { paint } from './materials.ts'

type Geometry = THREE.BufferGeometry
/** Parts of a thing, by what they are made of. */
interface Parts {
  glazed: Geometry[]
  metal: Geometry[]
}

const PORCELAIN = '#f6f1e6'
const TEA = '#7c3f16'
/** Corners of a whole round. */
const ROUND = 28

/** Everything that stands on the tray, and the rim. */
export function createProps(): { glazed: Geometry; metal: Geometry } {
  const all: Parts = { glazed: [], metal: [] }
  for (const thing of OBSTACLES) {
    const { glazed, metal } = MAKERS[thing.kind](thing)
    all.glazed.push(...glazed)
    all.metal.push(...metal)
  }
  rim(all)
  return { glazed: merged(all.glazed), metal: merged(all.metal) }
}

/** One geometry of many; only places, normals and colours are kept. */
export function merged(parts: readonly Geometry[]): Geometry {
  const bare = parts.map((part) => {
    part.deleteAttribute('uv')
    if (!part.getAttribute('color')) paint(part, '#ffffff')
    // Corners that are shared are worked out once.
    return part.index ? part : mergeVertices(part)
  })
  return mergeGeometries(bare)
}

const MAKERS: Readonly<Record<Obstacle['kind'], (thing: Obstacle) => Parts>> = {
  cake: ({ a }) => placed(cake(), a, 0),
  cup: ({ a }) => placed(cup(a[0] < 0 ? '#4f6fa8' : '#b9564a'), a, a[0] < 0 ? 0.7 : -2.2),
  bowl: ({ a }) => placed(bowl(), a, 0.4),
  jug: ({ a }) => placed(jug(), a, 2.5),
  macaron: ({ a }) => placed(macarons(a[1] < 0 ? '#e9a5b4' : '#a8c995'), a, 0),
  spoon: ({ a, b }) => placed(spoon(a, b), a, -Math.atan2(b[1] - a[1], b[0] - a[0])),
}

function placed(parts: Parts, at: readonly [number, number], turn: number): Parts {
  const move = (part: Geometry): Geometry => part.rotateY(turn).translate(at[0], 0, at[1])
  return { glazed: parts.glazed.map(move), metal: parts.metal.map(move) }
}

/** A shape turned on a wheel. @param outline  radius and height of each corner, upwards */
export function turned(outline: string, colour: string): Geometry {
  const points = outline.split(', ').map((corner) => {
    const [radius, height] = corner.split(' ').map(Number)
    return new THREE.Vector2(radius, height)
  })
  return paint(new THREE.LatheGeometry(points, ROUND), colour)
}

function ring(radius: number, thick: number, height: number): Geometry {
  return new THREE.TorusGeometry(radius, thick, 6, Math.round(ROUND * 1.6))
    .rotateX(Math.PI / 2)
    .translate(0, height, 0)
}

function lid(radius: number, height: number, colour: string): Geometry {
  const disc = new THREE.CircleGeometry(radius, ROUND).rotateX(-Math.PI / 2)
  return paint(disc.translate(0, height, 0), colour)
}

const ICING = '#f9dfe0'
/** From where to where a layer goes, its radius and colour. */
const LAYERS: readonly (readonly [from: number, to: number, radius: number, colour: string])[] = [
  [1.1, 1.55, 2.12, '#d9a45c'],
  [1.55, 1.68, 2.16, '#b8323c'],
  [1.68, 2.1, 2.12, '#d9a45c'],
  [2.1, 2.24, 2.17, '#fff4e2'],
  [2.24, 2.64, 2.1, '#d39c55'],
]

// Three layers of sponge on a stand, with cream that runs down and cherries round a candle.
function cake(): Parts {
  const stand =
    '0 0, 1.5 0, 1.35 0.12, 0.5 0.3, 0.42 0.75, 0.9 0.9, 2.62 0.98, 2.7 1.1, 2.62 1.12, 0 1.06'
  const glazed = [
    turned(stand, PORCELAIN),
    ...LAYERS.map(layer),
    turned('2.16 2.5, 2.2 2.62, 2.12 2.78, 1.9 2.84, 0 2.84', ICING),
    paint(new THREE.CylinderGeometry(0.1, 0.1, 1.1, 14).translate(0, 3.35, 0), '#fbe9b7'),
    paint(new THREE.CylinderGeometry(0.02, 0.02, 0.16, 6).translate(0, 3.95, 0), '#3a2a20'),
  ]
  for (let i = 0; i < 18; i++) glazed.push(drip((i / 18) * 2 * Math.PI, 0.16 + 0.3 * wobble(i)))
  for (let i = 0; i < 8; i++) glazed.push(...cherry((i / 8) * 2 * Math.PI + 0.2))
  return { glazed, metal: [ring(2.66, 0.05, 1.12), ring(1.46, 0.05, 0.06)] }
}

function layer([from, to, radius, colour]: (typeof LAYERS)[number]): Geometry {
  const inner = radius - 0.06
  const sides = `${inner} ${from}, ${radius} ${from + 0.05}, ${radius} ${to - 0.05}`
  return turned(`${sides}, ${inner} ${to}, 0 ${to}`, colour)
}

// Looks like chance, and is the same in every window.
function wobble(place: number): number {
  return Math.abs(Math.sin(place * 12.9898) * 43758.5453) % 1
}

function drip(way: number, long: number): Geometry {
  const drop = new THREE.CapsuleGeometry(0.17, long, 4, 10).scale(1, 1, 0.55)
  return paint(drop.rotateY(Math.PI / 2 - way), ICING).translate(
    Math.cos(way) * 2.12,
    2.62 - long / 2,
    Math.sin(way) * 2.12,
  )
}

function cherry(way: number): Geometry[] {
  const at: [number, number, number] = [Math.cos(way) * 1.55, 2.98, Math.sin(way) * 1.55]
  const swirl = new THREE.SphereGeometry(0.34, 14, 8).scale(1, 0.5, 1)
  const berry = new THREE.SphereGeometry(0.22, 14, 10)
  return [
    paint(swirl, '#fffaf0').translate(at[0], at[1] - 0.1, at[2]),
    paint(berry, '#a8152a').translate(at[0], at[1] + 0.16, at[2]),
  ]
}

function cup(band: string): Parts {
  const glazed = [
    turned('0 0.02, 0.9 0.02, 1.0 0.1, 1.75 0.28, 1.9 0.38, 1.84 0.4, 0.95 0.2, 0 0.2', PORCELAIN),
    turned('0.5 0.22, 0.56 0.34, 0.86 0.5, 1.12 0.9, 1.2 1.28', PORCELAIN),
    turned('1.2 1.28, 1.25 1.5, 1.2 1.5, 1.16 1.3', band),
    turned('0 0.42, 0.7 0.5, 1.05 0.9, 1.17 1.3', PORCELAIN),
    lid(1.14, 1.24, TEA),
    paint(handle(0.4, 0.09).translate(1.42, 0.98, 0), PORCELAIN),
  ]
  return { glazed, metal: [ring(1.225, 0.028, 1.5), ring(1.87, 0.028, 0.39)] }
}

function handle(radius: number, thick: number): Geometry {
  return new THREE.TorusGeometry(radius, thick, 8, Math.round(ROUND / 2))
}

function bowl(): Parts {
  const glazed = [
    turned(
      '0 0.02, 0.7 0.02, 0.75 0.14, 1.15 0.4, 1.42 0.85, 1.46 1.15, 1.38 1.15, 1.3 0.85, 0 0.5',
      '#8fb0d8',
    ),
  ]
  for (let i = 0; i < 16; i++) {
    const way = i * 2.4
    const far = 0.95 * Math.sqrt((i % 10) / 10)
    const size = 0.46
    const cube = paint(new THREE.BoxGeometry(size, size, size), '#fffdf7')
    cube.rotateY(i * 1.7).rotateX(wobble(i) * 0.9)
    glazed.push(cube.translate(Math.cos(way) * far, i < 10 ? 1.02 : 1.36, Math.sin(way) * far))
  }
  return { glazed, metal: [ring(1.42, 0.04, 1.16), ring(0.74, 0.04, 0.08)] }
}

function jug(): Parts {
  const body =
    '0 0.02, 0.8 0.02, 0.85 0.12, 1.2 0.55, 1.3 0.95, 1.05 1.5, 0.86 1.85, 1 2.25, 0.94 2.25'
  const lip = new THREE.ConeGeometry(0.34, 0.62, 20).rotateZ(-1.95).scale(1, 0.8, 0.85)
  return {
    glazed: [
      turned(body, PORCELAIN),
      lid(0.84, 1.98, '#fffbf2'),
      paint(lip.translate(0.96, 2.1, 0), PORCELAIN),
      paint(handle(0.52, 0.1).scale(0.85, 1.15, 1).translate(-1.22, 1.3, 0), PORCELAIN),
      turned('1.29 0.8, 1.315 0.92, 1.27 1.05', '#4f6fa8'),
    ],
    metal: [ring(0.97, 0.03, 2.26)],
  }
}

function macarons(colour: string): Parts {
  const glazed: Geometry[] = []
  const shell = '0.78 0, 0.98 0.05, 1.0 0.14, 0.9 0.3, 0.55 0.42, 0 0.45'
  const one = (at: number, tint: string, tilt: number): void => {
    const parts = [
      turned(shell, tint).rotateX(Math.PI).translate(0, 0.45, 0),
      turned('0.86 0.42, 0.92 0.5, 0.86 0.58', '#fff6e6'),
      turned(shell, tint).translate(0, 0.56, 0),
    ]
    for (const part of parts) glazed.push(part.rotateZ(tilt).translate(tilt * -1.4, at, 0))
  }
  one(0, colour, 0)
  one(1, '#f0d7a2', 0.06)
  return { glazed, metal: [] }
}

// Lies along x from its bowl to its end.
function spoon(a: readonly [number, number], b: readonly [number, number]): Parts {
  const long = Math.hypot(b[0] - a[0], b[1] - a[1])
  const scoop = new THREE.SphereGeometry(0.62, 32, 12, 0, 2 * Math.PI, Math.PI / 2, Math.PI / 2)
  scoop.scale(1.35, 0.5, 0.8).translate(0.25, 0.36, 0)
  const shaft = new THREE.CapsuleGeometry(0.13, long - 1.2, 6, 12).rotateZ(Math.PI / 2)
  shaft.scale(1, 0.7, 1).translate(long / 2 + 0.5, 0.24, 0)
  const end = new THREE.SphereGeometry(0.3, 18, 10).scale(1.3, 0.4, 0.9).translate(long, 0.22, 0)
  const bottom = new THREE.SphereGeometry(0.6, 32, 8).scale(1.35, 0.25, 0.8).translate(0.25, 0.2, 0)
  return { glazed: [], metal: [scoop, bottom, shaft, end] }
}

function rim({ glazed, metal }: Parts): void {
  const at = TRAY_RADIUS + 0.55
  const wood = new THREE.TorusGeometry(at, 0.62, 10, ROUND * 3.5)
    .rotateX(Math.PI / 2)
    .scale(1, 1.35, 1)
  glazed.push(paint(wood.translate(0, 0.12, 0), '#5b3219'))
  metal.push(ring(at - 0.46, 0.09, 0.62), ring(at + 0.62, 0.1, 0.3))
  for (let i = 0; i < 12; i++) {
    const way = ((i + 0.5) / 12) * 2 * Math.PI
    const stud = new THREE.SphereGeometry(0.2, 10, 6).scale(1, 0.6, 1)
    metal.push(stud.translate(Math.cos(way) * at, 0.97, Math.sin(way) * at))
  }
}
