/** Sugar cubes in the air, and the dots that show where one's own would go. */

import type { Vec2 } from 'holdfast'
import * as THREE from 'three'
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js'
import { type Thrown, whereIs } from '../flights.ts'
import { hop } from './gait.ts'
import { type Materials, paint } from './materials.ts'

/** Most cubes that are drawn. */
const CUBES_MAX = 96
/** Dots of the aim. */
const DOTS_MAX = 26
/** How long a cube takes to come out of its pot, in milliseconds. */
const OUT_MS = 70

/** A cube as it is seen. */
export interface CubeSight {
  pos: Vec2
  height: number
  bounces: number
}

/** See the head of this file. */
export class Cubes {
  readonly #cubes: THREE.InstancedMesh
  readonly #dots: THREE.InstancedMesh
  readonly #matrix = new THREE.Matrix4()
  readonly #turn = new THREE.Quaternion()
  readonly #tumble = new THREE.Euler()
  readonly #at = new THREE.Vector3()
  readonly #scale = new THREE.Vector3()

  constructor(scene: THREE.Scene, materials: Materials) {
    const cube = new RoundedBoxGeometry(0.66, 0.66, 0.66, 2, 0.09)
    cube.deleteAttribute('uv')
    this.#cubes = new THREE.InstancedMesh(paint(cube, '#fffdf6'), materials.glazed, CUBES_MAX)
    this.#cubes.castShadow = true
    const dot = new THREE.CircleGeometry(0.11, 12).rotateX(-Math.PI / 2)
    const ink = new THREE.MeshBasicMaterial({
      color: '#b5533c',
      transparent: true,
      opacity: 0.75,
      depthWrite: false,
    })
    this.#dots = new THREE.InstancedMesh(dot, ink, DOTS_MAX)
    for (const mesh of [this.#cubes, this.#dots]) {
      mesh.frustumCulled = false
      mesh.count = 0
      scene.add(mesh)
    }
  }

  /** Draws these throws. @param seen  is told where each of them is */
  show(thrown: readonly Thrown[], now: number, seen: (id: string, sight: CubeSight) => void): void {
    let count = 0
    for (const one of thrown) {
      const ms = now - one.at
      if (count >= CUBES_MAX || ms < 0 || ms >= one.ends) continue
      const { pos, bounces } = whereIs(one, now)
      const height = hop(ms, one.ends - ms)
      seen(one.id, { pos, height, bounces })
      const size = Math.min(1, ms / OUT_MS)
      const spin = ms * 0.011 + one.at
      this.#turn.setFromEuler(this.#tumble.set(spin, spin * 0.73, spin * 0.41))
      this.#at.set(pos[0], height, pos[1])
      this.#matrix.compose(this.#at, this.#turn, this.#scale.setScalar(size))
      this.#cubes.setMatrixAt(count++, this.#matrix)
    }
    this.#cubes.count = count
    this.#cubes.instanceMatrix.needsUpdate = true
  }

  /** Draws the dots of one's own aim; none to draw none. */
  aim(places: readonly Vec2[]): void {
    const count = Math.min(DOTS_MAX, places.length)
    for (let i = 0; i < count; i++) {
      const [x, y] = places[i]!
      const size = 1.15 - (0.8 * i) / DOTS_MAX
      this.#matrix.makeScale(size, 1, size).setPosition(x, 0.045, y)
      this.#dots.setMatrixAt(i, this.#matrix)
    }
    this.#dots.count = count
    this.#dots.instanceMatrix.needsUpdate = true
  }
}
