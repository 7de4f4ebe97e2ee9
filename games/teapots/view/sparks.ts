/**
 * Small things that fly and go: steam, drops of tea, crumbs of sugar, confetti. One kind of mesh
 * for what is solid, one for what is soft; the oldest make room for new ones.
 */

import * as THREE from 'three'
import { painted, paintSpot } from './drawings.ts'

/** Most of each at once; quality may allow fewer. */
const MOST = 500

/** How one kind flies. */
interface Kind {
  soft: boolean
  colours: readonly string[]
  /** How long it lasts, in seconds. */
  lasts: number
  /** Size at the start and at the end. */
  from: number
  to: number
  /** Pull downwards; below zero it rises. */
  pull: number
  /** What it loses of its speed in a second. */
  drag: number
  opacity: number
}

const KINDS = {
  steam: kind(true, ['#fff6ea'], 1.3, 0.35, 1.5, -1.1, 1.2, 0.17),
  dust: kind(true, ['#ffffff'], 0.4, 0.34, 0.1, 0, 3, 0.4),
  tea: kind(false, ['#9a5220', '#c27a35', '#7d3f15'], 0.75, 0.26, 0.07, 17, 0.6, 1),
  crumb: kind(false, ['#fffdf4', '#f4ead6'], 0.6, 0.15, 0.06, 16, 1.2, 1),
  confetti: kind(
    false,
    ['#e8604c', '#4f86d9', '#efb73e', '#63b07f', '#f3f0e4'],
    2.6,
    0.24,
    0.2,
    5,
    1.6,
    1,
  ),
} satisfies Record<string, Kind>

/** The kinds there are. */
export type SparkKind = keyof typeof KINDS

function kind(
  soft: boolean,
  colours: readonly string[],
  lasts: number,
  from: number,
  to: number,
  pull: number,
  drag: number,
  opacity: number,
): Kind {
  return { soft, colours, lasts, from, to, pull, drag, opacity }
}

interface Spark {
  kind: Kind
  age: number
  at: THREE.Vector3
  speed: THREE.Vector3
  colour: THREE.Color
  spin: number
}

/** See the head of this file. */
export class Sparks {
  /** Most at once. */
  most = MOST
  #sparks: Spark[] = []
  readonly #solid: THREE.InstancedMesh
  readonly #soft: THREE.Points
  readonly #matrix = new THREE.Matrix4()
  readonly #turn = new THREE.Quaternion()
  readonly #tumble = new THREE.Euler()
  readonly #scale = new THREE.Vector3()

  constructor(scene: THREE.Scene) {
    this.#solid = new THREE.InstancedMesh(
      new THREE.IcosahedronGeometry(0.6, 0),
      new THREE.MeshLambertMaterial(),
      MOST,
    )
    this.#solid.frustumCulled = false
    this.#solid.count = 0
    this.#soft = new THREE.Points(softGeometry(), softMaterial())
    this.#soft.frustumCulled = false
    this.#soft.renderOrder = 5
    scene.add(this.#solid, this.#soft)
  }

  /**
   * Some sparks fly.
   *
   * @param at  where from: x, height, y
   * @param way  which way they all go, in units a second
   * @param spread  how much each goes its own way
   */
  burst(
    what: SparkKind,
    count: number,
    at: readonly [number, number, number],
    way: readonly [number, number, number],
    spread: number,
  ): void {
    const one = KINDS[what]
    for (let i = 0; i < count; i++) {
      const apart = (): number => (Math.random() + Math.random() - 1) * spread
      const speed = new THREE.Vector3(way[0] + apart(), way[1] + apart(), way[2] + apart())
      const colour = new THREE.Color(one.colours[Math.floor(Math.random() * one.colours.length)])
      const place = new THREE.Vector3(...at)
      const age = Math.random() * 0.1
      this.#sparks.push({ kind: one, age, at: place, speed, colour, spin: Math.random() * 7 })
    }
    if (this.#sparks.length > this.most) this.#sparks.splice(0, this.#sparks.length - this.most)
  }

  /** Lets them fly for so long, and draws them. @param pixels  height of the picture */
  advance(seconds: number, pixels: number): void {
    this.#sparks = this.#sparks.filter((spark) => fly(spark, Math.min(0.3, seconds)))
    let solid = 0
    let soft = 0
    for (const spark of this.#sparks) {
      if (spark.kind.soft) this.#drawSoft(soft++, spark)
      else this.#drawSolid(solid++, spark)
    }
    this.#solid.count = solid
    this.#solid.instanceMatrix.needsUpdate = true
    if (this.#solid.instanceColor) this.#solid.instanceColor.needsUpdate = true
    const { geometry, material } = this.#soft
    geometry.setDrawRange(0, soft)
    for (const name of ['position', 'look']) geometry.getAttribute(name).needsUpdate = true
    ;(material as THREE.ShaderMaterial).uniforms['pixels']!.value = pixels
  }

  #drawSolid(place: number, { at, kind: { from, to, lasts }, age, spin, colour }: Spark): void {
    const size = from + (to - from) * (age / lasts)
    const turn = spin + age * 9
    this.#turn.setFromEuler(this.#tumble.set(turn, turn * 1.3, spin))
    this.#matrix.compose(at, this.#turn, this.#scale.set(size, size * 0.6, size))
    this.#solid.setMatrixAt(place, this.#matrix)
    this.#solid.setColorAt(place, colour)
  }

  #drawSoft(place: number, { at, kind: { from, to, lasts, opacity }, age }: Spark): void {
    const share = age / lasts
    const { geometry } = this.#soft
    geometry.getAttribute('position').setXYZ(place, at.x, at.y, at.z)
    const fade = Math.min(1, share * 6) * (1 - share) ** 1.5
    geometry.getAttribute('look').setXY(place, from + (to - from) * share, opacity * fade)
  }
}

function fly(spark: Spark, seconds: number): boolean {
  const { kind: how, at, speed } = spark
  spark.age += seconds
  speed.multiplyScalar(Math.exp(-how.drag * seconds))
  speed.y -= how.pull * seconds
  at.addScaledVector(speed, seconds)
  if (at.y < 0.05) {
    at.y = 0.05
    speed.set(speed.x * 0.5, Math.abs(speed.y) * 0.3, speed.z * 0.5)
  }
  return spark.age < how.lasts
}

function softGeometry(): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry()
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(MOST * 3), 3))
  geometry.setAttribute('look', new THREE.BufferAttribute(new Float32Array(MOST * 2), 2))
  return geometry
}

function softMaterial(): THREE.Material {
  return new THREE.ShaderMaterial({
    uniforms: { map: { value: painted(64, paintSpot) }, pixels: { value: 600 } },
    transparent: true,
    depthWrite: false,
    vertexShader: `
      attribute vec2 look; uniform float pixels; varying float vFade;
      void main() {
        vec4 at = modelViewMatrix * vec4(position, 1.0);
        vFade = look.y;
        gl_PointSize = look.x * pixels * projectionMatrix[1][1] * 0.5 / -at.z;
        gl_Position = projectionMatrix * at;
      }`,
    fragmentShader: `
      uniform sampler2D map; varying float vFade;
      void main() {
        gl_FragColor = vec4(1.0, 0.98, 0.95, texture2D(map, gl_PointCoord).a * vFade);
      }`,
  })
}
