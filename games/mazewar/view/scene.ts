/**
 * What one window shows of a maze just now: the eye, the rats and the missiles, each on its way.
 * Who is cloaked is not among them, neither before the eye nor on the map, but for oneself. On the
 * map is who is before the eye, or was heard to shoot a moment ago; a room may show all.
 */

import type { MazeClient } from '../maze-client.ts'
import { peek, type Side } from '../rules/peek.ts'
import { type Rat, ratOf } from '../rules/world.ts'
import { aim, type Glide, poseAt, stand } from './glide.ts'
import { angleOf, eyeOf, look, middleOf, type Pose, type Thing } from './sight.ts'

/** For how long who was heard is on the map, in milliseconds. */
const HEARD_MS = 1_000
/** Width by height of what an eye takes in: windows are of any form, and what is fair is one. */
const ASPECT = 16 / 9

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
  /** For the map: the one whose eyes these are, what is his, and what he sees or just heard. */
  readonly mapped: readonly Body[]
  /** Whose eyes; undefined before the birth. */
  readonly rat: Rat | undefined
}

/** See the head of this file. */
export class Stage {
  /** Whose eyes: our own rat's, or that of whom one watches. */
  whose: number | null = null
  /** Looking round a corner. */
  peeks: Side | null = null
  /** The map has all on it who are not cloaked. */
  showsAll = false
  /** Nothing glides: who wants little motion sees where things are, at once. */
  calm = false
  readonly #glides = new Map<string, Glide>()
  #eye: Glide | null = null
  readonly #heard = new Map<number, number>()
  #shots = new Set<string>()

  /** What is shown now. */
  scene(maze: MazeClient, now: number): Scene {
    const whose = this.whose ?? maze.me
    const world = maze.ahead
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
    this.#listen(bodies, now)
    return { eye, bodies: others, mapped: this.#map(bodies, others, eye, whose, now), rat }
  }

  // Who shoots is heard: a missile that was not there before.
  #listen(bodies: readonly Body[], now: number): void {
    const shots = new Set<string>()
    for (const { kind, key, rat } of bodies) {
      if (kind !== 'missile') continue
      shots.add(key)
      if (!this.#shots.has(key)) this.#heard.set(rat, now)
    }
    this.#shots = shots
    for (const [rat, at] of this.#heard) if (now - at > HEARD_MS) this.#heard.delete(rat)
  }

  #map(
    bodies: readonly Body[],
    others: readonly Body[],
    eye: Pose,
    whose: number,
    now: number,
  ): readonly Body[] {
    if (this.showsAll) return bodies
    const sight = look(eye, ASPECT, others)
    const seen = new Set(sight.seen.map(({ thing }) => thing.key))
    const isHeard = (rat: number): boolean => now - (this.#heard.get(rat) ?? -Infinity) <= HEARD_MS
    return bodies.filter(
      ({ key, kind, rat }) => rat === whose || seen.has(key) || (kind === 'rat' && isHeard(rat)),
    )
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
    const glide = known && !this.calm ? aim(known, to, now) : stand(to)
    this.#glides.set(key, glide)
    seen.add(key)
    return poseAt(glide, now)
  }

  #look(rat: Rat | undefined, now: number): Pose {
    if (!rat) return this.#eye ? poseAt(this.#eye, now) : { x: 16.5, y: 8.5, angle: 0 }
    const round = this.peeks && peek(rat.at, rat.facing, this.peeks)
    const [x, y] = middleOf(round ? round.at : rat.at)
    // Round the corner one looks from the middle of the cell, or one would see but its wall.
    const angle = angleOf(round ? round.facing : rat.facing)
    const to = eyeOf({ x, y, angle })
    this.#eye = this.#eye && !this.calm ? aim(this.#eye, to, now) : stand(to)
    return poseAt(this.#eye, now)
  }
}
