/**
 * What one window shows of a maze just now: the eye, the rats and the missiles, each on its way.
 * Who is cloaked is not among them, neither before the eye nor on the map, but for oneself.
 */

import type { Burrow } from '../burrow.ts'
import { peek, type Side } from '../rules/peek.ts'
import { type Rat, ratOf } from '../rules/world.ts'
import { aim, type Glide, poseAt, stand } from './glide.ts'
import { angleOf, eyeOf, middleOf, type Pose, type Thing } from './sight.ts'

/** How long a fresh birth flashes, in milliseconds. */
const FLASH_MS = 450

/** More cells than a rat walks from one picture to the next, also on a slow machine. */
const FAR = 6

/** A rat or a missile that may be seen. */
export interface Body extends Thing {
  readonly kind: 'rat' | 'missile'
  /** Whose it is. */
  readonly rat: number
}

/** What there is to draw. */
export interface Scene {
  readonly eye: Pose
  /** Others, for the view from the eye. */
  readonly bodies: readonly Body[]
  /** All, with the one whose eyes these are, for the map. */
  readonly mapped: readonly Body[]
  /** Whose eyes; undefined before the birth. */
  readonly rat: Rat | undefined
  /** From 1 down to 0 after a birth. */
  readonly flash: number
}

/** See the head of this file. */
export class Stage {
  /** Whose eyes: our own rat's, or that of whom one watches. */
  whose: number | null = null
  /** Looking round a corner. */
  peeks: Side | null = null
  readonly #glides = new Map<string, Glide>()
  #eye: Glide | null = null
  #flashAt = -Infinity
  #last: { at: number; whose: number } | null = null

  /** What is shown now. */
  scene(burrow: Burrow, now: number): Scene {
    const whose = this.whose ?? burrow.me
    const world = burrow.ahead
    const rat = ratOf(world, whose)
    const bodies: Body[] = []
    const seen = new Set<string>()
    for (const each of world.rats) {
      if (!each.cloaked || each.id === whose) bodies.push(this.#body(each, seen, now))
      for (const missile of each.missiles) {
        const key = `${each.id} ${missile.id}`
        bodies.push({ ...this.#at(key, missile, seen, now), key, kind: 'missile', rat: each.id })
      }
    }
    for (const key of this.#glides.keys()) if (!seen.has(key)) this.#glides.delete(key)
    const others = bodies.filter(({ kind, rat: id }) => kind === 'missile' || id !== whose)
    const eye = this.#look(rat, now)
    const flash = Math.max(0, 1 - (now - this.#flashAt) / FLASH_MS)
    return { eye, bodies: others, mapped: bodies, rat, flash }
  }

  #body(rat: Rat, seen: Set<string>, now: number): Body {
    const key = `${rat.id}`
    return { ...this.#at(key, rat, seen, now), key, kind: 'rat', rat: rat.id }
  }

  #at(
    key: string,
    { at, facing }: Pick<Rat, 'at' | 'facing'>,
    seen: Set<string>,
    now: number,
  ): Pose {
    const [x, y] = middleOf(at)
    const to = { x, y, angle: angleOf(facing) }
    const known = this.#glides.get(key)
    const glide = known ? aim(known, to, now) : stand(to)
    this.#glides.set(key, glide)
    seen.add(key)
    return poseAt(glide, now)
  }

  #look(rat: Rat | undefined, now: number): Pose {
    if (!rat) return this.#eye ? poseAt(this.#eye, now) : { x: 16.5, y: 8.5, angle: 0 }
    if (this.#last?.whose === rat.id && isFar(this.#last.at, rat.at)) this.#flashAt = now
    this.#last = { at: rat.at, whose: rat.id }
    const round = this.peeks && peek(rat.at, rat.facing, this.peeks)
    const [x, y] = middleOf(round ? round.at : rat.at)
    // Round the corner one looks from the middle of the cell, or one would see but its wall.
    const angle = angleOf(round ? round.facing : rat.facing)
    const to = eyeOf({ x, y, angle })
    this.#eye = this.#eye ? aim(this.#eye, to, now) : stand(to)
    return poseAt(this.#eye, now)
  }
}

// Nobody walks so far at once: who is there was born anew.
function isFar(from: number, to: number): boolean {
  const [x, y] = middleOf(from)
  const [right, down] = middleOf(to)
  return Math.abs(right - x) + Math.abs(down - y) > FAR
}
