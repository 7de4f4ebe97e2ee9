/** Soft round spots that lie on the cloth: shadows, puddles. */

import * as THREE from 'three'
import { painted, paintSpot } from './drawings.ts'

/** A square on the cloth. */
export function flat(size: number): THREE.BufferGeometry {
  return new THREE.PlaneGeometry(size, size).rotateX(-Math.PI / 2)
}

/** What makes a soft spot of it. */
export function spot(colour: string, opacity: number): THREE.Material {
  return new THREE.MeshBasicMaterial({
    map: painted(64, paintSpot),
    color: colour,
    opacity,
    transparent: true,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -2,
  })
}
