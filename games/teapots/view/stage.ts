/**
 * The stage: what draws, from where one looks, how fine. It watches its own frames and draws
 * less when they are slow; where there is no WebGL at all it says so by not being made.
 */

import type { Vec2 } from 'holdfast'
import * as THREE from 'three'
import { TRAY_RADIUS } from '../rules/arena.ts'
import { createMaterials, createRoom, type Finish, type Materials } from './materials.ts'
import { createGovernor, DEGREES, type Governor, took } from './quality.ts'

/** How one looks down, as a share of straight down; and how wide one sees, in degrees. */
const SLOPE = new THREE.Vector3(0, 0.8, 0.64).normalize()
const CLOSE_SLOPE = new THREE.Vector3(0, 0.47, 0.85).normalize()
const WIDE = 34
/** How much of the tray a narrow picture shows, in units from side to side. */
const NARROW_WIDTH = 21
/** The plane that a pointer aims at: about the middle of a pot. */
const AIMED = new THREE.Plane(new THREE.Vector3(0, 1, 0), -0.6)
/** How soon the picture follows, as a share of the way in a second. */
const FOLLOW = 3.4

/** See the head of this file. */
export class Stage {
  readonly renderer: THREE.WebGLRenderer
  readonly scene = new THREE.Scene()
  readonly camera = new THREE.PerspectiveCamera(WIDE, 1, 1, 220)
  readonly materials: Materials
  readonly #governor: Governor
  readonly #sun: THREE.DirectionalLight
  readonly #target = new THREE.Vector3()
  readonly #spot = new THREE.Vector3()
  readonly #slope = SLOPE.clone()
  readonly #ray = new THREE.Raycaster()
  readonly #pointed = new THREE.Vector2()
  #width = 1
  #height = 1
  #shake = 0
  #orbit = 0
  #far = 0

  /** @throws where there is no WebGL */
  constructor(canvas: HTMLCanvasElement, wish: Finish | null) {
    const finish = wish ?? (isSoftware() ? 'plain' : 'fine')
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: finish === 'fine', alpha: false })
    this.materials = createMaterials(finish)
    const top = DEGREES.length - 1
    this.#governor = createGovernor(wish === 'fine' ? top : finish === 'fine' ? 4 : 1, top)
    if (wish) this.#governor.patience = Infinity
    this.renderer.shadowMap.type = THREE.PCFShadowMap
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping
    this.renderer.toneMappingExposure = 1.08
    this.scene.background = new THREE.Color('#120a06')
    this.#sun = this.#addLights(finish)
    this.#applyDegree()
    new ResizeObserver(() => this.#resize()).observe(canvas)
    this.#resize()
  }

  /** What is drawn now, for a display. */
  get degree(): number {
    return this.#governor.degree
  }

  /** What the last frame took to draw: strokes and triangles. */
  get cost(): string {
    const { calls, triangles } = this.renderer.info.render
    return `${calls} strokes, ${triangles} triangles`
  }

  /** Sparks that there may be. */
  get sparks(): number {
    return DEGREES[this.#governor.degree]!.sparks
  }

  /** Shortest time from one frame to the next, in milliseconds. */
  get apart(): number {
    return DEGREES[this.#governor.degree]!.apart
  }

  /** Height of the picture in its own pixels. */
  get pixels(): number {
    return this.renderer.domElement.height
  }

  /** Draws. @param ms  since the frame before */
  draw(ms: number): void {
    this.renderer.render(this.scene, this.camera)
    if (took(this.#governor, ms)) this.#applyDegree()
  }

  /** Looks at the tray so that this place is well in sight; null looks around. */
  look(at: Vec2 | null, seconds: number): void {
    const { aspect } = this.camera
    const share = THREE.MathUtils.clamp((1.45 - aspect) / 0.8, 0, 1)
    const [x, y] = at ?? [0, 0]
    // A narrow picture follows to the sides; below the table there is room for thumbs.
    this.#spot.set(x * (0.16 + 0.4 * share), 0, y * (0.14 + 0.16 * share) + 1.5 + 3.6 * share)
    this.#orbit = at ? this.#orbit * Math.exp(-2 * seconds) : this.#orbit + 0.05 * seconds
    this.#shake *= Math.exp(-9 * seconds)
    // The scores stand to the right, so the table is a little to the left.
    const aside = aspect > 1.25 ? 0.035 * this.#width : 0
    this.#shift(aside, 0)
    this.#stand(SLOPE, this.#distance(share), seconds)
  }

  /** Looks closely at one place, beside or above which something is written. */
  lookClosely(at: Vec2, seconds: number): void {
    const wide = this.camera.aspect > 1.1
    this.#spot.set(at[0], 1.1, at[1])
    this.#orbit = 0.32 * Math.sin(performance.now() * 0.00017)
    const [x, y] = wide ? [this.#width * 0.22, 0] : [0, this.#height * 0.29]
    this.#shift(-x, y)
    this.#stand(CLOSE_SLOPE, wide ? 17 : 23, seconds)
  }

  // Moves the picture to the left and up, by CSS pixels.
  #shift(x: number, y: number): void {
    this.camera.setViewOffset(this.#width, this.#height, x, y, this.#width, this.#height)
  }

  // Goes there softly, but for the first time at once.
  #stand(slope: THREE.Vector3, far: number, seconds: number): void {
    const share = this.#far === 0 ? 1 : 1 - Math.exp(-FOLLOW * seconds)
    this.#target.lerp(this.#spot, share)
    this.#far += (far - this.#far) * share
    this.#slope.lerp(slope, share).normalize()
    this.camera.position.copy(this.#slope).multiplyScalar(this.#far)
    this.camera.position.applyAxisAngle(THREE.Object3D.DEFAULT_UP, this.#orbit)
    this.camera.position.add(this.#target)
    const jolt = this.#shake * Math.sin(performance.now() * 0.06)
    this.camera.position.x += jolt
    this.camera.position.y += jolt * 0.6
    this.camera.lookAt(this.#target)
  }

  /** The picture shakes a little. */
  shake(by: number): void {
    this.#shake = Math.min(0.6, this.#shake + by)
  }

  /** Where a point of the tray is on the page, in CSS pixels of the canvas; null behind one. */
  project(x: number, height: number, y: number): Vec2 | null {
    this.#spot.set(x, height, y).project(this.camera)
    if (this.#spot.z > 1) return null
    return [((this.#spot.x + 1) / 2) * this.#width, ((1 - this.#spot.y) / 2) * this.#height]
  }

  /** The place of the tray under a point of the canvas, in CSS pixels; null beside the table. */
  placeAt(x: number, y: number): Vec2 | null {
    this.#pointed.set((x / this.#width) * 2 - 1, 1 - (y / this.#height) * 2)
    this.#ray.setFromCamera(this.#pointed, this.camera)
    const met = this.#ray.ray.intersectPlane(AIMED, this.#spot)
    return met && [met.x, met.z]
  }

  // Far enough to see all of the tray, or as much as a narrow picture shows well.
  #distance(narrow: number): number {
    const half = THREE.MathUtils.degToRad(WIDE / 2)
    const tall = (TRAY_RADIUS * 0.965) / Math.tan(half)
    const wide = THREE.MathUtils.lerp(2 * TRAY_RADIUS + 3, NARROW_WIDTH, narrow)
    const across = wide / 2 / Math.tan(half) / this.camera.aspect
    return narrow === 0 ? Math.max(tall, across) : across
  }

  #addLights(finish: Finish): THREE.DirectionalLight {
    const fine = finish === 'fine'
    if (fine) {
      this.scene.environment = createRoom(this.renderer)
      this.scene.environmentIntensity = 0.55
    }
    this.scene.add(new THREE.HemisphereLight('#ffe9cc', '#5a3a24', fine ? 0.75 : 1.7))
    const sun = new THREE.DirectionalLight('#ffdfb0', fine ? 2.5 : 2.6)
    sun.position.set(-15, 26, -13)
    sun.shadow.mapSize.set(2048, 2048)
    sun.shadow.bias = -0.0004
    sun.shadow.normalBias = 0.07
    sun.shadow.radius = 5
    const area = sun.shadow.camera
    area.left = area.bottom = -21
    area.right = area.top = 21
    area.near = 8
    area.far = 60
    this.scene.add(sun)
    return sun
  }

  #applyDegree(): void {
    const { ratio, shadows } = DEGREES[this.#governor.degree]!
    this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, ratio))
    const wanted = shadows && this.materials.finish === 'fine'
    this.renderer.shadowMap.enabled = wanted
    this.#sun.castShadow = wanted
    this.#resize()
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.renderer.domElement
    this.#width = Math.max(1, clientWidth)
    this.#height = Math.max(1, clientHeight)
    this.renderer.setSize(this.#width, this.#height, false)
    this.camera.aspect = this.#width / this.#height
    this.camera.updateProjectionMatrix()
  }
}

// Asked on another canvas, for it must be known before the one that counts is opened.
function isSoftware(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2')
  const found = gl?.getExtension('WEBGL_debug_renderer_info')
  const name = gl && found ? (gl.getParameter(found.UNMASKED_RENDERER_WEBGL) as unknown) : ''
  gl?.getExtension('WEBGL_lose_context')?.loseContext()
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name))
}
