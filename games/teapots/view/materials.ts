/** What things are made of: glazed, metal, woven; few materials, shared by all. */

import * as THREE from 'three'

/** Whether light is worked out for each pixel, with reflections, or plainly. */
export type Finish = 'fine' | 'plain'

/** Materials that are shared by all things. */
export interface Materials {
  finish: Finish
  /** Porcelain, cake and whatever else has its colour in its corners. */
  glazed: THREE.Material
  metal: THREE.Material
  sugar: THREE.Material
  cloth(map: THREE.Texture): THREE.Material
}

/** Makes the materials. */
export function createMaterials(finish: Finish): Materials {
  if (finish === 'plain') {
    return {
      finish,
      glazed: new THREE.MeshLambertMaterial({ vertexColors: true }),
      metal: new THREE.MeshLambertMaterial({ color: '#d9b66a' }),
      sugar: new THREE.MeshLambertMaterial({ vertexColors: true }),
      cloth: (map) => new THREE.MeshLambertMaterial({ map }),
    }
  }
  return {
    finish,
    glazed: new THREE.MeshStandardMaterial({
      vertexColors: true,
      roughness: 0.34,
      envMapIntensity: 0.85,
    }),
    metal: new THREE.MeshStandardMaterial({
      color: '#e0b968',
      metalness: 1,
      roughness: 0.27,
      envMapIntensity: 1.5,
    }),
    sugar: new THREE.MeshStandardMaterial({
      vertexColors: true,
      roughness: 0.7,
      envMapIntensity: 0.7,
    }),
    cloth: (map) => new THREE.MeshStandardMaterial({ map, roughness: 0.86, envMapIntensity: 0.5 }),
  }
}

/** A room in the late afternoon, to be reflected: a window, a lamp, a dark floor. */
export function createRoom(renderer: THREE.WebGLRenderer): THREE.Texture {
  const scene = new THREE.Scene()
  scene.background = new THREE.Color('#2e1d13')
  const box = (colour: string, power: number, size: Three, at: Three): void => {
    const material = new THREE.MeshBasicMaterial({ color: new THREE.Color(colour) })
    material.color.multiplyScalar(power)
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(...size), material)
    mesh.position.set(...at)
    scene.add(mesh)
  }
  box('#6b4a30', 1.1, [40, 0.5, 40], [0, 12, 0])
  box('#3a2619', 0.8, [40, 0.5, 40], [0, -8, 0])
  // A window of four panes, a lamp over the table, and the glow of another room.
  for (const x of [-3.4, 3.4]) {
    box('#fff0d2', 9, [5.4, 5, 0.3], [x - 6, 8.4, -16])
    box('#ffe7bd', 6, [5.4, 4, 0.3], [x - 6, 3.2, -16])
  }
  box('#ffcf8a', 7, [6, 0.3, 6], [7, 11, 6])
  box('#ff9c57', 2, [0.3, 7, 9], [17, 3, 2])
  box('#7f9bd0', 1.2, [0.3, 7, 12], [-17, 4, 4])
  const maker = new THREE.PMREMGenerator(renderer)
  const { texture } = maker.fromScene(scene, 0.03)
  maker.dispose()
  return texture
}

type Three = [number, number, number]

/** Gives every corner of a geometry this colour. */
export function paint(geometry: THREE.BufferGeometry, colour: string): THREE.BufferGeometry {
  const { r, g, b } = new THREE.Color(colour)
  const count = geometry.getAttribute('position').count
  const colours = new Float32Array(count * 3)
  for (let i = 0; i < count; i++) colours.set([r, g, b], 3 * i)
  geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3))
  return geometry
}
