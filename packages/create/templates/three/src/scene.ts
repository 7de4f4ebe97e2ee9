/** What three.js draws: a floor, a ball with a name for each player, and gems. */

import * as THREE from 'three'
import { EDGE } from './game.ts'

export const RADIUS = 0.6

/** A ball as it is to be drawn now. */
export interface Shown {
  id: string
  name: string
  color: string
  pos: readonly [number, number, number]
  away: boolean
}

interface Drawn {
  mesh: THREE.Mesh<THREE.SphereGeometry, THREE.MeshStandardMaterial>
  label: HTMLElement
}

export class Scene {
  readonly canvas: HTMLCanvasElement
  readonly #renderer: THREE.WebGLRenderer
  readonly #scene = new THREE.Scene()
  readonly #camera = new THREE.PerspectiveCamera(45)
  readonly #balls = new Map<string, Drawn>()
  readonly #gems = new Map<string, THREE.Mesh>()
  readonly #sphere = new THREE.SphereGeometry(RADIUS, 32, 16)
  readonly #gem = new THREE.OctahedronGeometry(0.45)
  readonly #gold = new THREE.MeshStandardMaterial({ color: 'gold', emissive: '#664400' })

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas
    this.#renderer = new THREE.WebGLRenderer({ canvas, antialias: true })
    this.#renderer.shadowMap.enabled = true
    this.#scene.background = new THREE.Color('#1b2130')
    const sun = new THREE.DirectionalLight('#ffffff', 2.5)
    sun.position.set(4, 14, 6)
    sun.castShadow = true
    Object.assign(sun.shadow.camera, { left: -EDGE, right: EDGE, top: EDGE, bottom: -EDGE })
    const floor = new THREE.Mesh(
      new THREE.BoxGeometry(2 * EDGE, 0.4, 2 * EDGE),
      new THREE.MeshStandardMaterial({ color: '#33405c' }),
    )
    floor.position.y = -0.2
    floor.receiveShadow = true
    const grid = new THREE.GridHelper(2 * EDGE, EDGE, '#5a6a8c', '#46546f')
    grid.position.y = 0.01
    this.#scene.add(new THREE.HemisphereLight('#cfe0ff', '#223', 1.6), sun, floor, grid)
  }

  /** The place on the floor below the pointer; null beside the horizon. */
  floorAt({ clientX, clientY }: PointerEvent): [number, number] | null {
    const { left, top, width, height } = this.canvas.getBoundingClientRect()
    const at = [((clientX - left) / width) * 2 - 1, 1 - ((clientY - top) / height) * 2] as const
    const ray = new THREE.Raycaster()
    ray.setFromCamera(new THREE.Vector2(...at), this.#camera)
    const plane = new THREE.Plane(new THREE.Vector3(0, 1, 0), 0)
    const hit = ray.ray.intersectPlane(plane, new THREE.Vector3())
    return hit && [hit.x, hit.z]
  }

  /**
   * Draws a frame.
   *
   * @param now   in ms
   * @param own   where the player is
   * @param gems  places on the floor, by id
   */
  draw(
    now: number,
    own: readonly number[],
    balls: readonly Shown[],
    gems: ReadonlyMap<string, readonly number[]>,
  ): void {
    this.#fit(own)
    for (const ball of balls) this.#drawBall(ball)
    forget(this.#balls, new Set(balls.map(({ id }) => id)), ({ mesh, label }) => {
      this.#scene.remove(mesh)
      label.remove()
    })
    for (const [id, [x = 0, z = 0]] of gems) {
      const mesh = this.#gems.get(id) ?? new THREE.Mesh(this.#gem, this.#gold)
      if (!this.#gems.has(id)) this.#scene.add(mesh)
      this.#gems.set(id, mesh)
      mesh.castShadow = true
      mesh.position.set(x, 0.8 + 0.1 * Math.sin(now / 300 + x), z)
      mesh.rotation.y = now / 700
    }
    forget(this.#gems, new Set(gems.keys()), (mesh) => this.#scene.remove(mesh))
    this.#renderer.render(this.#scene, this.#camera)
  }

  // Where the arena is wider than the window, as on a phone, the camera follows the player.
  #fit([x, , z]: readonly number[]): void {
    const { clientWidth: width, clientHeight: height } = this.canvas
    this.#renderer.setPixelRatio(Math.min(2, devicePixelRatio))
    this.#renderer.setSize(width, height, false)
    this.#camera.aspect = width / height
    const follows = Math.max(0, 1 - this.#camera.aspect)
    const [right, down] = [x! * follows, z! * follows]
    this.#camera.position.set(right, 20 + 8 * follows, down + 17)
    this.#camera.lookAt(right, 0, down + 0.5)
    this.#camera.updateProjectionMatrix()
    this.#camera.updateMatrixWorld()
  }

  #drawBall({ id, name, color, pos, away }: Shown): void {
    const { mesh, label } = this.#balls.get(id) ?? this.#addBall(id)
    mesh.position.set(pos[0], pos[1] + RADIUS, pos[2])
    mesh.material.color.set(color)
    // Its player closed the window, or is cut off.
    mesh.material.opacity = away ? 0.3 : 1
    const place = new THREE.Vector3(pos[0], pos[1] + 3 * RADIUS, pos[2]).project(this.#camera)
    const x = ((place.x + 1) / 2) * this.canvas.clientWidth
    const y = ((1 - place.y) / 2) * this.canvas.clientHeight
    label.textContent = name
    label.style.color = color
    label.style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`
  }

  #addBall(id: string): Drawn {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.4, transparent: true })
    const mesh = new THREE.Mesh(this.#sphere, material)
    mesh.castShadow = true
    this.#scene.add(mesh)
    const label = Object.assign(document.createElement('span'), { className: 'label' })
    this.canvas.after(label)
    const drawn = { mesh, label }
    this.#balls.set(id, drawn)
    return drawn
  }
}

function forget<Value>(
  all: Map<string, Value>,
  here: ReadonlySet<string>,
  remove: (value: Value) => void,
): void {
  for (const [id, value] of all) {
    if (here.has(id)) continue
    remove(value)
    all.delete(id)
  }
}
