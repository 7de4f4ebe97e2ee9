/**
 * How each thing looks at this moment: it glides to where it lies, and turns over on the way. What
 * our own hand holds is where the pointer is.
 */

import type { Vec2 } from 'holdfast'
import { type CardHandle, placeOf, type Thing, turnOf } from '../kinds.ts'
import type { Play } from '../play.ts'
import { layoutFor } from '../tray.ts'
import type { Camera } from './camera.ts'
import { type Fan, FAN_SCALE, fansOf } from './fans.ts'

/** Most of a way is done in so many milliseconds. */
const GLIDE_MS = 70
/** And most of a turn over. */
const FLIP_MS = 60
/** What is nearer is there, in pixels. */
const THERE = 0.4

/** Where a thing is drawn: on the table, in our hand of cards, or held by our hand. */
export type Space = 'table' | 'tray' | 'air'

/** See the head of this file. */
export interface Look {
  /** In units of the table; in the tray in pixels of the picture. */
  at: Vec2
  turn: number
  /** Of a card's own size, in pixels of the picture; on the table it is the camera's. */
  scale: number
  /** 0 for its back, 1 for its face. */
  flip: number
  space: Space
}

/** The looks of all things. */
export class Looks {
  readonly #camera: Camera
  /** The hands of the others, along the upper edge. */
  fans: readonly Fan[] = []
  #looks = new Map<string, Look>()
  #fans: ReadonlyMap<string, Vec2> = new Map()

  constructor(camera: Camera) {
    this.#camera = camera
  }

  /** How a thing looks; null for one that is not drawn, such as another's cards. */
  of(id: string): Look | null {
    return this.#looks.get(id) ?? null
  }

  /** Goes on by so many milliseconds. @returns whether anything still moves */
  advance(play: Play, ms: number): boolean {
    const looks = new Map<string, Look>()
    let isMoving = false
    this.fans = fansOf(play, this.#camera.frame)
    this.#fans = new Map(this.fans.flatMap(({ cards }) => [...cards]))
    for (const thing of play.things) {
      const goal = this.#goal(play, thing)
      if (!goal) continue
      const look = this.#looks.get(thing.id)
      if (look) isMoving = this.#glide(look, goal, ms) || isMoving
      looks.set(thing.id, look ?? goal)
    }
    this.#looks = looks
    return isMoving
  }

  #goal(play: Play, thing: Thing): Look | null {
    const me = play.session.me.player
    const drag = play.drags.held.get(thing.id)
    const flip = thing.kind === 'card' && isOpen(thing.handle) ? 1 : 0
    const { zoom, frame } = this.#camera
    if (drag) return { at: drag.at, turn: turnOf(thing), scale: zoom, flip, space: 'air' }
    if (thing.kind === 'card' && thing.handle.state.hand !== 0 && !thing.handle.holder) {
      const isOurs = thing.handle.state.hand === me && !play.watching
      const fan = isOurs ? null : this.#fans.get(thing.id)
      if (fan) return { at: fan, turn: 0, scale: FAN_SCALE, flip, space: 'tray' }
      const at = play.tray.slotOf(thing.id, frame)
      if (!at) return null
      const lift = play.fits(thing.handle) ? 10 : 0
      const { scale } = layoutFor(frame.width)
      return { at: [at[0], at[1] - lift], turn: 0, scale, flip, space: 'tray' }
    }
    // What others may not see yet is a back, also when it is said to be open.
    return { at: placeOf(thing), turn: turnOf(thing), scale: zoom, flip, space: 'table' }
  }

  #glide(look: Look, goal: Look, ms: number): boolean {
    this.#move(look, goal.space)
    const isCarried = goal.space === 'air'
    const share = isCarried || calm.matches ? 1 : 1 - Math.exp(-ms / GLIDE_MS)
    const [x, y] = [goal.at[0] - look.at[0], goal.at[1] - look.at[1]]
    const turn = Math.atan2(Math.sin(goal.turn - look.turn), Math.cos(goal.turn - look.turn))
    const pixels = goal.space === 'tray' ? 1 : this.#camera.zoom
    const size = goal.scale - look.scale
    const over = goal.flip - look.flip
    const isThere =
      Math.abs(x) + Math.abs(y) < THERE / pixels && Math.abs(turn) < 0.01 && Math.abs(size) < 0.01
    if (isThere && Math.abs(over) < 0.02) {
      const changes = x !== 0 || y !== 0 || turn !== 0 || size !== 0 || over !== 0
      Object.assign(look, goal)
      return changes
    }
    look.at = [look.at[0] + x * share, look.at[1] + y * share]
    look.turn += turn * share
    look.scale = goal.space === 'tray' ? look.scale + size * share : goal.scale
    look.flip += over * (calm.matches ? 1 : 1 - Math.exp(-ms / FLIP_MS))
    return true
  }

  // From pixels to units of the table, or back: it goes on from where it is seen.
  #move(look: Look, space: Space): void {
    const camera = this.#camera
    if (look.space === 'tray' && space !== 'tray') look.at = camera.toTable(look.at)
    if (look.space !== 'tray' && space === 'tray') look.at = camera.toScreen(look.at)
    look.space = space
  }

  /** Where a thing is seen, in pixels of the picture. */
  onScreen(id: string): Vec2 | null {
    const look = this.#looks.get(id)
    if (!look) return null
    return look.space === 'tray' ? look.at : this.#camera.toScreen(look.at)
  }
}

// A face that we know by looking through a pile is not shown there as if it lay open.
function isOpen({ state: { face, up, hand } }: CardHandle): boolean {
  return face !== null && (up || hand !== 0)
}

const calm = matchMedia('(prefers-reduced-motion: reduce)')
