/**
 * Cubes on a floor in three.js: each is an object, drawn from `view()`, which eases it into what
 * was said of it last. Who presses a cube takes it, and drags it without waiting for anybody.
 */

import { join, object, type ObjectHandle, u8, vec2 } from 'holdfast'
import * as THREE from 'three'

const Cube = object(
  'cube',
  { at: vec2(-6, 6, 0.01), speed: vec2(-1, 1, 0.1), hue: u8 },
  { take: 'free', onOwnerLeave: 'keep', motion: { follow: { at: 'speed' } } },
)
type CubeHandle = ObjectHandle<typeof Cube.schema.fields>

const session = await join({ game: 'cubes', types: [Cube] })
if (session.members.length === 1) {
  for (const x of [-4, -2, 0, 2, 4]) session.create(Cube, { at: [x, 0], hue: 128 + 25 * x })
}

const renderer = new THREE.WebGLRenderer({ antialias: true })
renderer.setClearColor('#0f1218')
const canvas = renderer.domElement
document.querySelector('main')!.append(canvas)
const camera = new THREE.PerspectiveCamera(50)
camera.position.set(0, 9, 6)
camera.lookAt(0, 0, 0)
const scene = new THREE.Scene()
scene.add(new THREE.HemisphereLight('#ffffff', '#334455', 3), new THREE.GridHelper(12, 12))

// One mesh for each cube, for as long as there is the cube.
const shape = new THREE.BoxGeometry(1, 1, 1)
const meshes = new Map<CubeHandle, THREE.Mesh<THREE.BoxGeometry, THREE.MeshLambertMaterial>>()

function follow(): void {
  for (const cube of session.all(Cube)) {
    if (meshes.has(cube)) continue
    const mesh = new THREE.Mesh(shape, new THREE.MeshLambertMaterial())
    meshes.set(cube, mesh)
    scene.add(mesh)
  }
  for (const [cube, mesh] of meshes) {
    if (cube.alive) continue
    scene.remove(mesh)
    meshes.delete(cube)
  }
}
session.all(Cube).subscribe(follow)
follow()

renderer.setAnimationLoop(() => {
  for (const [cube, mesh] of meshes) {
    const { at, hue } = cube.view()
    mesh.position.set(at[0], 0.5, at[1])
    mesh.material.color.setHSL(hue / 256, 0.7, cube.mine ? 0.7 : 0.45)
  }
  const { innerWidth: width, innerHeight: height } = window
  camera.aspect = width / height
  camera.updateProjectionMatrix()
  renderer.setSize(width, height)
  renderer.render(scene, camera)
})

const ray = new THREE.Raycaster()
const floor = new THREE.Plane(new THREE.Vector3(0, 1, 0), -0.5)
let held: CubeHandle | null = null

function aim({ clientX, clientY }: PointerEvent): void {
  const x = (clientX / innerWidth) * 2 - 1
  ray.setFromCamera(new THREE.Vector2(x, 1 - (clientY / innerHeight) * 2), camera)
}

canvas.addEventListener('pointerdown', (event) => {
  aim(event)
  const [hit] = ray.intersectObjects([...meshes.values()])
  held = [...meshes].find(([, mesh]) => mesh === hit?.object)?.[0] ?? null
  void held?.take()
})
canvas.addEventListener('pointermove', (event) => {
  aim(event)
  const place = ray.ray.intersectPlane(floor, new THREE.Vector3())
  const inside = (value: number): number => Math.min(6, Math.max(-6, value))
  // Not ours before the server has said so, which takes one round trip.
  if (held?.mine && place) held.set({ at: [inside(place.x), inside(place.z)] })
})
const drop = (): void => void (held = null)
canvas.addEventListener('pointerup', drop)
canvas.addEventListener('pointercancel', drop)

// For the console.
Object.assign(window, {
  cubes: () => session.all(Cube).map(({ state, mine }) => ({ ...state, mine })),
})
