/**
 * All pots at once: bodies, lids, gold, soft shadows and glass bells, each one instanced mesh, so
 * a dozen players cost no more strokes than one.
 */

import type { Vec2 } from 'holdfast'
import * as THREE from 'three'
import { TeapotGeometry } from 'three/addons/geometries/TeapotGeometry.js'
import { glazeOf } from '../rules/glazes.ts'
import type { Gait, Pose } from './gait.ts'
import type { Materials } from './materials.ts'
import { merged, turned } from './props.ts'
import { flat, spot } from './spots.ts'

/** Most pots that are drawn. */
export const POTS_MAX = 32
const SIZE = 0.92

/** One pot as it is to be drawn. */
export interface PotLook {
  pos: Vec2
  aim: number
  glaze: number
  pose: Pose
  gait: Gait
  /** It waits for its player. */
  asleep: boolean
  /** How far its lid jumps, in units. */
  rattle: number
  /** How much of its glass bell is there: 0 for none, 1 for all. */
  bell: number
  /** How large its puddle is: 0 for none, 1 for all. */
  puddle: number
}

const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0)
const UP = new THREE.Vector3(0, 1, 0)
/** What is left of the colours of a pot that nobody plays. */
const ASH = new THREE.Color('#b3a794')

/** See the head of this file. */
export class Pots {
  readonly #bodies: THREE.InstancedMesh
  readonly #lids: THREE.InstancedMesh
  readonly #gold: THREE.InstancedMesh
  readonly #shadows: THREE.InstancedMesh
  readonly #puddles: THREE.InstancedMesh
  readonly #bells: THREE.InstancedMesh
  readonly #styles: THREE.InstancedBufferAttribute
  readonly #matrix = new THREE.Matrix4()
  readonly #lid = new THREE.Matrix4()
  readonly #turn = new THREE.Quaternion()
  readonly #lean = new THREE.Quaternion()
  readonly #axis = new THREE.Vector3()
  readonly #at = new THREE.Vector3()
  readonly #scale = new THREE.Vector3()
  readonly #colour = new THREE.Color()

  constructor(scene: THREE.Scene, materials: Materials) {
    const segments = materials.finish === 'fine' ? 8 : 5
    const china = chinaOf(materials)
    const body = standing(new TeapotGeometry(SIZE, segments, true, false, true))
    const lid = standing(new TeapotGeometry(SIZE, segments, false, true, false))
    this.#styles = new THREE.InstancedBufferAttribute(new Float32Array(POTS_MAX), 1)
    body.setAttribute('style', this.#styles)
    lid.setAttribute('style', this.#styles)
    this.#bodies = instanced(body, china, true)
    this.#lids = instanced(lid, china, true)
    this.#gold = instanced(goldGeometry(), materials.metal, true)
    this.#shadows = instanced(flat(3.4), spot('#1c0e05', 0.62), false)
    this.#puddles = instanced(flat(4.6), spot('#7a3d12', 0.72), false)
    this.#bells = instanced(turned(BELL, '#ffffff'), glass(), false)
    // Materials are made for meshes with colours of their own, before there is a pot.
    for (const mesh of [this.#bodies, this.#lids]) mesh.setColorAt(0, this.#colour)
    this.#shadows.renderOrder = 1
    this.#puddles.renderOrder = 2
    scene.add(this.#puddles, this.#shadows, this.#bodies, this.#lids, this.#gold, this.#bells)
  }

  /** Draws these pots and no others. */
  show(pots: readonly PotLook[]): void {
    const count = Math.min(POTS_MAX, pots.length)
    for (let i = 0; i < count; i++) this.#place(i, pots[i]!)
    for (const mesh of this.#all()) {
      mesh.count = count
      mesh.instanceMatrix.needsUpdate = true
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true
    }
    this.#styles.needsUpdate = true
  }

  #all(): THREE.InstancedMesh[] {
    return [this.#bodies, this.#lids, this.#gold, this.#shadows, this.#puddles, this.#bells]
  }

  #place(place: number, look: PotLook): void {
    const { pos, pose, glaze, aim, gait, asleep } = look
    this.#turn.setFromAxisAngle(UP, -aim)
    this.#leanOver(gait, pose)
    this.#lean.multiply(this.#turn)
    const raised = pose.up + 1.02 * Math.sin(Math.min(Math.PI / 2, pose.over))
    this.#at.set(pos[0], raised, pos[1])
    const wide = 1 + (1 - pose.squash) * 0.6
    this.#scale.set(wide, pose.squash, wide)
    this.#matrix.compose(this.#at, this.#lean, this.#scale)
    this.#bodies.setMatrixAt(place, this.#matrix)
    this.#gold.setMatrixAt(place, this.#matrix)
    this.#lids.setMatrixAt(place, this.#lidOf(look))
    this.#colour.set(glazeOf(glaze).colour)
    if (asleep) this.#colour.lerp(ASH, 0.75)
    this.#bodies.setColorAt(place, this.#colour)
    this.#lids.setColorAt(place, this.#colour)
    this.#styles.setX(place, asleep ? -1 : glaze % 4)
    this.#spots(place, look)
  }

  // Swaying turns it about an axis across its way; so does toppling, much farther.
  #leanOver({ lean, falls }: Gait, { over }: Pose): void {
    const x = lean[0] * (over > 0 ? 0.2 : 1) + falls[0] * over
    const y = lean[1] * (over > 0 ? 0.2 : 1) + falls[1] * over
    const angle = Math.hypot(x, y)
    if (angle < 1e-5) this.#lean.identity()
    else this.#lean.setFromAxisAngle(this.#axis.set(y / angle, 0, -x / angle), angle)
  }

  #lidOf({ pos, pose, gait, rattle }: PotLook): THREE.Matrix4 {
    const { lidOff } = pose
    if (lidOff === 0) {
      this.#lid.makeTranslation(0, rattle, 0)
      return this.#lid.premultiply(this.#matrix)
    }
    // It flies off farther than the pot falls, turns over and lies on its back.
    const far = 2.9 * lidOff
    const high = 3.4 * lidOff * (1 - lidOff)
    this.#at.set(
      pos[0] + gait.falls[0] * far + gait.falls[1] * 0.9 * lidOff,
      high - 1.3 + 3.1 * lidOff,
      pos[1] + gait.falls[1] * far - gait.falls[0] * 0.9 * lidOff,
    )
    this.#lean.setFromAxisAngle(this.#axis.set(1, 0.2, 0.3).normalize(), Math.PI * lidOff)
    return this.#lid.compose(this.#at, this.#lean, this.#scale.set(1, 1, 1))
  }

  #spots(place: number, { pos, pose, bell, puddle, gait }: PotLook): void {
    const spread = 1 / (1 + pose.up * 0.35)
    this.#lid.makeScale(spread, 1, spread).setPosition(pos[0] + 0.15, 0.03, pos[1] + 0.15)
    this.#shadows.setMatrixAt(place, this.#lid)
    if (puddle <= 0) this.#puddles.setMatrixAt(place, HIDDEN)
    else {
      const [x, y] = [pos[0] + gait.falls[0] * 1.5, pos[1] + gait.falls[1] * 1.5]
      this.#lid.makeScale(puddle, 1, puddle * 0.85).setPosition(x, 0.02, y)
      this.#puddles.setMatrixAt(place, this.#lid)
    }
    if (bell <= 0) this.#bells.setMatrixAt(place, HIDDEN)
    else {
      const wide = 0.85 + 0.15 * bell
      this.#lid.makeScale(wide, wide, wide)
      this.#lid.setPosition(pos[0], pose.up + (1 - bell) * 3.5, pos[1])
      this.#bells.setMatrixAt(place, this.#lid)
    }
  }
}

function instanced(
  geometry: THREE.BufferGeometry,
  material: THREE.Material,
  solid: boolean,
): THREE.InstancedMesh {
  const mesh = new THREE.InstancedMesh(geometry, material, POTS_MAX)
  mesh.castShadow = solid
  mesh.receiveShadow = solid
  mesh.frustumCulled = false
  mesh.count = 0
  return mesh
}

/** A pot with its foot on the cloth. */
function standing(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.translate(0, SIZE, 0)
}

// The rims of body and foot, the knob, a bead on the spout.
function goldGeometry(): THREE.BufferGeometry {
  const ring = (radius: number, thick: number, height: number): THREE.BufferGeometry =>
    new THREE.TorusGeometry(radius, thick, 8, 40).rotateX(Math.PI / 2).translate(0, height, 0)
  const unit = (2 * SIZE) / 3.15
  return merged([
    ring(1.45 * unit, 0.045, 2.44 * unit),
    ring(1.5 * unit, 0.05, 0.06),
    new THREE.TorusGeometry(0.145, 0.035, 8, 20)
      .rotateX(Math.PI / 2)
      .rotateZ(-0.25)
      .translate(3.2 * unit, 2.4 * unit, 0),
  ])
}

const BELL =
  '1.75 0.02, 1.82 0.06, 1.7 0.12, 1.68 1.2, 1.5 1.9, 1.05 2.4, 0.4 2.65, 0.14 2.68, 0.12 2.8, ' +
  '0.22 2.95, 0.16 3.08, 0 3.12'

// Glass is seen where one looks along it.
function glass(): THREE.Material {
  return new THREE.ShaderMaterial({
    transparent: true,
    depthWrite: false,
    side: THREE.DoubleSide,
    vertexShader: `
      varying vec3 vNormal; varying vec3 vTo;
      void main() {
        vec4 at = modelViewMatrix * instanceMatrix * vec4(position, 1.0);
        vNormal = normalize(normalMatrix * mat3(instanceMatrix) * normal);
        vTo = normalize(-at.xyz);
        gl_Position = projectionMatrix * at;
      }`,
    fragmentShader: `
      varying vec3 vNormal; varying vec3 vTo;
      void main() {
        vec3 n = normalize(vNormal);
        float edge = 1.0 - abs(dot(n, vTo));
        float shine = smoothstep(0.94, 0.99, abs(dot(n, normalize(vec3(-0.5, 0.75, 0.6)))));
        float seen = 0.07 + 0.75 * pow(edge, 2.4) + 0.6 * shine;
        gl_FragColor = vec4(vec3(1.0, 0.985, 0.94), clamp(seen, 0.0, 0.85));
      }`,
  })
}

/**
 * China: the glaze of the pot with a cream pattern on its belly, of four kinds. The pattern is
 * worked out from where a point lies on the pot, so it needs no picture.
 */
function chinaOf({ finish }: Materials): THREE.Material {
  const material =
    finish === 'fine'
      ? new THREE.MeshPhysicalMaterial({
          roughness: 0.3,
          clearcoat: 0.8,
          clearcoatRoughness: 0.12,
          envMapIntensity: 0.95,
          side: THREE.DoubleSide,
        })
      : new THREE.MeshLambertMaterial({ side: THREE.DoubleSide })
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', `#include <common>${HANDED}attribute float style;`)
      .replace(
        '#include <begin_vertex>',
        '#include <begin_vertex>\nvOn = position; vStyle = style;',
      )
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', `#include <common>${HANDED}${PATTERN}`)
      .replace('#include <color_fragment>', 'diffuseColor.rgb = patterned(vColor.rgb);')
  }
  return material
}

const HANDED = '\nvarying vec3 vOn; varying float vStyle;\n'
const PATTERN = `
float soft(float value) { return smoothstep(-1.0, 1.0, value / max(fwidth(value), 1e-4)); }
float dots(vec2 at, float size) { return soft(size - length(fract(at) - 0.5)); }
vec3 patterned(vec3 glaze) {
  float round = atan(vOn.z, vOn.x) / 6.2831853;
  float high = vOn.y;
  vec3 cream = vec3(0.93, 0.86, 0.74);
  float band = soft(0.3 - abs(high - 0.66));
  float mask = 0.0;
  if (vStyle < 0.5) {
    mask = band * (1.0 - dots(vec2(round * 14.0, (high - 0.66) * 1.9 + 0.5), 0.3));
  } else if (vStyle < 1.5) {
    mask = soft(abs(fract(round * 12.0) - 0.5) - 0.27) * soft(0.47 - abs(high - 0.72));
  } else if (vStyle < 2.5) {
    float row = (high - 0.2) * 3.4;
    mask = dots(vec2(round * 18.0 + 0.5 * floor(row), row), 0.24) * soft(0.52 - abs(high - 0.74));
  } else {
    float wave = 0.08 * sin(round * 75.4);
    mask = soft(0.07 - abs(high - 0.88 - wave)) + soft(0.05 - abs(high - 0.5 + wave));
    mask = max(mask, soft(0.025 - abs(high - 0.69)));
  }
  if (high > 1.34 || vStyle < -0.5) mask = 0.0;
  float onBelly = step(length(vOn.xz), 1.2);
  return mix(glaze, cream, clamp(mask, 0.0, 1.0) * onBelly);
}
`
