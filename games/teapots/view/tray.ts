/** The table that nobody moves: wood, the tray with its cloth, what stands on it, the candle. */

import * as THREE from 'three'
import { TRAY_RADIUS } from '../rules/arena.ts'
import { paintCloth, painted, paintSpot, paintWood } from './drawings.ts'
import type { Materials } from './materials.ts'
import { createProps } from './props.ts'

/** How far the wood of the table reaches. */
const WOOD_RADIUS = 74

/** The table, and its candle that flickers. */
export interface Tray {
  flicker(seconds: number): void
}

/** Puts the table into the scene. */
export function addTray(scene: THREE.Scene, materials: Materials): Tray {
  const fine = materials.finish === 'fine'
  addTable(scene, materials, fine)
  const { glazed, metal } = createProps()
  for (const [geometry, material] of [
    [glazed, materials.glazed],
    [metal, materials.metal],
  ] as const) {
    const mesh = new THREE.Mesh(geometry, material)
    mesh.castShadow = true
    mesh.receiveShadow = true
    scene.add(mesh)
  }
  return addCandle(scene, fine)
}

function addTable(scene: THREE.Scene, materials: Materials, fine: boolean): void {
  const size = fine ? 1024 : 512
  // Nothing is drawn under the tray, and its shadow is painted on the wood.
  const wood = new THREE.Mesh(
    new THREE.RingGeometry(TRAY_RADIUS, WOOD_RADIUS, 48, 1).rotateX(-Math.PI / 2),
    new THREE.MeshBasicMaterial({ map: painted(size, paintWood, fine) }),
  )
  wood.position.y = -0.7
  const cloth = new THREE.Mesh(
    new THREE.CircleGeometry(TRAY_RADIUS + 0.3, fine ? 96 : 48).rotateX(-Math.PI / 2),
    materials.cloth(painted(size * 2, paintCloth, fine)),
  )
  cloth.receiveShadow = true
  scene.add(wood, cloth)
}

function addCandle(scene: THREE.Scene, fine: boolean): Tray {
  const light = new THREE.PointLight('#ffb057', 90, 26, 1.8)
  light.position.set(0, 5.2, 0)
  const map = painted(64, paintSpot)
  const flame = spark(map, '#ffd27a', [0.5, 0.95])
  flame.position.set(0, 4.25, 0)
  const glow = spark(map, '#ff9a3c', [3.6, 3.6])
  glow.material.opacity = 0.34
  glow.position.set(0, 4.25, 0)
  scene.add(flame, glow)
  if (fine) scene.add(light)
  return {
    flicker: (seconds) => {
      const wave = Math.sin(seconds * 9.1) * 0.4 + Math.sin(seconds * 23.7) * 0.35
      light.intensity = 90 + 9 * wave
      flame.scale.set(0.5 - 0.04 * wave, 0.95 + 0.1 * wave, 1)
      glow.scale.setScalar(3.6 + 0.25 * wave)
    },
  }
}

function spark(map: THREE.Texture, colour: string, size: [number, number]): THREE.Sprite {
  const material = new THREE.SpriteMaterial({
    map,
    color: colour,
    blending: THREE.AdditiveBlending,
    depthWrite: false,
  })
  const sprite = new THREE.Sprite(material)
  sprite.scale.set(...size, 1)
  return sprite
}
