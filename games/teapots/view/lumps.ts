/**
 * Lumps of sugar, each with a ring on the cloth in the glaze of whoever owns it. Where a lump is
 * said to be may jump when it changes hands; it is shown to slide there.
 */

import type { Vec2 } from 'holdfast'
import * as THREE from 'three'
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js'
import { LUMP_EDGE, LUMP_HALF } from '../rules/lumps.ts'
import { turnTo } from '../rules/plane.ts'
import { type Materials, paint } from './materials.ts'
import { flat, spot } from './spots.ts'

/** Most lumps that are drawn. */
const LUMPS_MAX = 24
const HEIGHT = 1.15
/** How soon a jump is slid over: e to the minus of that is left of it in a second. */
const SOON = 9
/** What is farther is not slid over, in units. */
const JUMP = 5
/** How long a ring swells when its lump has a new owner. */
const SWELL_SECONDS = 0.45
const RING_INNER = 1.22
const RING_OUTER = 1.46

/** One lump as it is to be drawn. */
export interface LumpLook {
  id: string
  pos: Vec2
  turn: number
  /** Whether it is moved here; when that changes, where it is may jump. */
  here: boolean
  /** A CSS colour. */
  colour: string
}

interface Shown {
  look: LumpLook
  pos: Vec2
  turn: number
  /** What is left of a jump. */
  off: Vec2
  offTurn: number
  /** How much the ring swells: 1 for a new owner, 0 for one of old. */
  swell: number
}

/** See the head of this file. */
export class Lumps {
  readonly #lumps: THREE.InstancedMesh
  readonly #rings: THREE.InstancedMesh
  readonly #shadows: THREE.InstancedMesh
  readonly #matrix = new THREE.Matrix4()
  readonly #colour = new THREE.Color()
  readonly #scale = new THREE.Vector3()
  readonly #at = new THREE.Vector3()
  readonly #turn = new THREE.Quaternion()
  #shown = new Map<string, Shown>()

  constructor(scene: THREE.Scene, materials: Materials) {
    this.#lumps = new THREE.InstancedMesh(sugar(), materials.sugar, LUMPS_MAX)
    this.#lumps.castShadow = true
    this.#lumps.receiveShadow = true
    this.#rings = new THREE.InstancedMesh(ring(), ink(), LUMPS_MAX)
    this.#shadows = new THREE.InstancedMesh(flat(3.1), spot('#1c0e05', 0.6), LUMPS_MAX)
    this.#shadows.renderOrder = 1
    this.#rings.renderOrder = 2
    // Materials are made for meshes with colours of their own, before there is a lump.
    this.#rings.setColorAt(0, this.#colour)
    for (const mesh of [this.#shadows, this.#rings, this.#lumps]) {
      mesh.frustumCulled = false
      mesh.count = 0
      scene.add(mesh)
    }
  }

  /** Draws these lumps and no others. */
  show(looks: readonly LumpLook[], seconds: number): void {
    const next = new Map<string, Shown>()
    for (const look of looks.slice(0, LUMPS_MAX)) {
      next.set(look.id, follow(this.#shown.get(look.id), look, seconds))
    }
    this.#shown = next
    let count = 0
    for (const shown of next.values()) this.#place(count++, shown)
    for (const mesh of [this.#lumps, this.#rings, this.#shadows]) {
      mesh.count = count
      mesh.instanceMatrix.needsUpdate = true
    }
    this.#rings.instanceColor!.needsUpdate = true
  }

  #place(place: number, { pos, turn, look, swell }: Shown): void {
    this.#turn.setFromAxisAngle(THREE.Object3D.DEFAULT_UP, -turn)
    this.#matrix.compose(this.#at.set(pos[0], 0, pos[1]), this.#turn, this.#scale.setScalar(1))
    this.#lumps.setMatrixAt(place, this.#matrix)
    const wide = 1 + 0.3 * swell * swell
    this.#matrix.makeScale(wide, 1, wide).setPosition(pos[0], 0.035, pos[1])
    this.#rings.setMatrixAt(place, this.#matrix)
    this.#rings.setColorAt(place, this.#colour.set(look.colour))
    this.#matrix.makeTranslation(pos[0] + 0.14, 0.028, pos[1] + 0.14)
    this.#shadows.setMatrixAt(place, this.#matrix)
  }
}

function follow(known: Shown | undefined, look: LumpLook, seconds: number): Shown {
  const { pos, turn } = look
  if (!known) return { look, pos, turn, off: [0, 0], offTurn: 0, swell: 0 }
  const left = Math.exp(-SOON * seconds)
  let off: Vec2 = [known.off[0] * left, known.off[1] * left]
  let offTurn = known.offTurn * left
  if (known.look.here !== look.here) {
    off = [known.pos[0] - pos[0], known.pos[1] - pos[1]]
    offTurn = turnTo(turn, known.turn)
    if (Math.hypot(off[0], off[1]) > JUMP) [off, offTurn] = [[0, 0], 0]
  }
  const isNew = known.look.colour !== look.colour
  return {
    look,
    pos: [pos[0] + off[0], pos[1] + off[1]],
    turn: turn + offTurn,
    off,
    offTurn,
    swell: isNew ? 1 : Math.max(0, known.swell - seconds / SWELL_SECONDS),
  }
}

// White, a little rough, darker towards the cloth.
function sugar(): THREE.BufferGeometry {
  const wide = 2 * LUMP_HALF
  const box = new RoundedBoxGeometry(wide, HEIGHT, wide, 4, LUMP_EDGE)
  box.deleteAttribute('uv')
  paint(box.translate(0, HEIGHT / 2, 0), '#fffdf6')
  const [at, colour] = [box.getAttribute('position'), box.getAttribute('color')]
  for (let i = 0; i < at.count; i++) {
    const low = 0.86 + 0.14 * Math.min(1, at.getY(i) / (0.6 * HEIGHT))
    // Corners that lie in one place have one shade, or seams would show.
    const grain = Math.sin(at.getX(i) * 91.7 + at.getY(i) * 47.3 + at.getZ(i) * 73.9)
    const light = low * (0.965 + 0.035 * grain)
    colour.setXYZ(i, light, light * (0.985 + 0.01 * low), light * (0.95 + 0.03 * low))
  }
  return box
}

function ring(): THREE.BufferGeometry {
  return new THREE.RingGeometry(RING_INNER, RING_OUTER, 56).rotateX(-Math.PI / 2)
}

function ink(): THREE.Material {
  return new THREE.MeshBasicMaterial({
    transparent: true,
    opacity: 0.92,
    toneMapped: false,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -3,
  })
}
