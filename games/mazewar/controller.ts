/**
 * The controller of a player, in a page or a terminal: keys go in; acts, lines of text and sounds
 * come out. It neither draws nor listens for keys.
 */

import type { MazeClient } from './maze-client.ts'
import * as hands from './rules/hands.ts'
import { byScore, type Hit, type Rat, ratOf } from './rules/world.ts'
import { type Scene, Stage } from './view/scene.ts'

/** How long a key must be down to go on by itself: a tap is one step. */
const HELD_MS = 170
/** Lines that are kept. */
const LINES_MAX = 5
/** How long a line is shown, in milliseconds. */
const LINE_MS = 6_000

/** Something that happened. */
export interface Line {
  readonly id: number
  readonly text: string
  readonly kind: 'good' | 'bad' | 'quiet'
  readonly at: number
}

/** What can be heard. */
export type Cue = 'step' | 'turn' | 'fire' | 'empty' | 'hit' | 'beHit' | 'cloak' | 'elsewhere'

/** See the head of this file. */
export class Controller {
  readonly maze: MazeClient
  readonly stage = new Stage()
  /** Something is to be heard. */
  onCue: (cue: Cue) => void = () => {}
  lines: readonly Line[] = []
  #hands = hands.create()
  #held: { key: NonNullable<hands.Held>; since: number }[] = []
  #told = new Set<string>()
  #since: number
  #count = 0

  constructor(maze: MazeClient) {
    this.maze = maze
    this.#since = maze.state.slot
  }

  /** Our own rat, as it is just now; undefined before it is born, and for who watches. */
  get rat(): Rat | undefined {
    return ratOf(this.maze.ahead, this.maze.me)
  }

  /** A key was struck. */
  press(wish: hands.Wish): void {
    if (this.maze.live && this.rat) hands.press(this.#hands, wish)
  }

  /** The same from a key that may be one that is held: more of it than one does not wait. */
  wish(wish: hands.Wish): void {
    if (!this.#hands.wishes.includes(wish)) this.press(wish)
  }

  /** A key is down from now on. */
  hold(key: NonNullable<hands.Held>, now: number): void {
    this.release(key)
    this.#held.push({ key, since: now })
  }

  /** And up again. */
  release(key: NonNullable<hands.Held>): void {
    this.#held = this.#held.filter((each) => each.key !== key)
  }

  /** All keys are up. */
  letGo(): void {
    this.#held = []
    this.stage.peeks = null
  }

  /** Does what is wished for, and hears what happened. Call it often. */
  tick(now: number): void {
    const { maze } = this
    const last = this.#held.at(-1)
    const held = last && now - last.since >= HELD_MS ? last.key : null
    for (let rat = this.rat; rat && maze.live; rat = this.rat) {
      const act = hands.next(this.#hands, maze.slot, rat, held)
      if (act === null) break
      maze.act(act)
      this.#sound(act.kind, rat)
    }
    this.#listen(now)
    if (this.lines.some(({ at }) => now - at > LINE_MS)) {
      this.lines = this.lines.filter(({ at }) => now - at <= LINE_MS)
    }
  }

  /** What there is to draw. */
  scene(now: number): Scene {
    if (this.maze.showsAll) this.stage.showsAll = true
    return this.stage.scene(this.maze, now)
  }

  /** Says something. */
  say(text: string, kind: Line['kind'], now: number): void {
    this.lines = [...this.lines, { id: this.#count++, text, kind, at: now }].slice(-LINES_MAX)
  }

  /** Looks through the eyes of the next, by points; for who has no rat. */
  watch(way: 1 | -1 = 1): void {
    const rats = byScore(this.maze.state)
    const now = rats.findIndex(({ id }) => id === this.stage.whose)
    const next = now < 0 ? 0 : (now + way + rats.length) % rats.length
    this.stage.whose = rats[next]?.id ?? null
  }

  #sound(kind: string, rat: Rat): void {
    if (kind === 'step') this.onCue('step')
    else if (kind === 'turn') this.onCue('turn')
    else if (kind === 'cloak') this.onCue('cloak')
    else if (kind === 'fire') {
      this.onCue(this.rat && this.rat.missiles.length > rat.missiles.length ? 'fire' : 'empty')
    }
  }

  #listen(now: number): void {
    const { state } = this.maze
    const kept = new Set<string>()
    for (const hit of state.hits) {
      const key = `${hit.slot} ${hit.by} ${hit.whom}`
      kept.add(key)
      // What was there before us is no news.
      if (!this.#told.has(key) && hit.slot > this.#since) this.#tell(hit, now)
    }
    this.#told = kept
  }

  #tell({ by, whom }: Hit, now: number): void {
    const { me } = this.maze
    const [one, other] = [this.maze.nameOf(by), this.maze.nameOf(whom)]
    if (by === me) {
      this.say(`You hit ${other}`, 'good', now)
      this.onCue('hit')
    } else if (whom === me) {
      this.say(`${one} hit you`, 'bad', now)
      this.onCue('beHit')
    } else {
      this.say(`${one} hit ${other}`, 'quiet', now)
      this.onCue('elsewhere')
    }
  }
}
