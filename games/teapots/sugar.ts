/**
 * One member's part in the lumps of sugar, of a window and a bot alike. A lump is moved by its
 * owner. Who bumps one that is not theirs asks for it once, and is granted or refused it by the
 * server; until then the bump is shown here alone, so that nobody waits for a push.
 *
 * Whoever serves lays out what is missing. What is missing the session says, not who laid it: so
 * lumps outlive every server, and none is laid twice. Should two servers have laid the same, the
 * younger goes.
 */

import type { Session } from 'holdfast'
import { serves } from '../kill.ts'
import { Pace } from './pace.ts'
import { POT_RADIUS } from './rules/arena.ts'
import * as rules from './rules/lumps.ts'
import type { Body, Other } from './rules/pot.ts'
import { Lump, Pot } from './rules/things.ts'
import { type LumpHandle, Views } from './views.ts'

/** What is missing so long is laid: before that its owner may have yet to speak of it. */
const MISSING_MS = 1_200
/** How long to wait before a lump that was refused or taken away is asked for again. */
const ASK_MS = 300

/** A lump as this member sees it. */
export interface LumpSight {
  handle: LumpHandle
  lump: rules.Lump
  /** Whether it is moved here: it is ours, or may be in a moment. */
  here: boolean
}

/** See the head of this file. */
export class Sugar {
  /** The lump that our pot touched last. */
  touched: LumpHandle | null = null
  readonly #session: Session
  readonly #pace = new Pace()
  readonly #views = new Views()
  #sights: LumpSight[] = []
  /** Lumps that are moved here, and what of that was told. */
  readonly #moved = new Map<LumpHandle, rules.Lump>()
  readonly #told = new WeakMap<LumpHandle, rules.Lump>()
  readonly #asking = new Set<LumpHandle>()
  readonly #askAfter = new WeakMap<LumpHandle, number>()
  #missingSince = NaN

  constructor(session: Session) {
    this.#session = session
  }

  /** All lumps as they are seen here now. */
  get sights(): readonly LumpSight[] {
    return this.#sights
  }

  /**
   * For who has no pot: brings what is ours to this instant of a local clock.
   *
   * @returns how long ago the last step was
   */
  advance(now: number): number {
    const steps = this.#pace.due(now)
    if (steps > 0) this.#advance(steps)
    return this.#pace.late(now)
  }

  #advance(steps: number): void {
    const pots = this.#session.all(Pot).map((pot) => this.#views.of(pot))
    this.look()
    for (let i = 0; i < steps; i++) this.step(null, pots)
    this.tell()
  }

  /** Sees where all lumps are, before steps are made. */
  look(): void {
    const now = this.#session.now()
    const all = this.#session.all(Lump)
    for (const handle of this.#moved.keys()) {
      if (handle.alive && (handle.mine || this.#asking.has(handle))) continue
      this.#moved.delete(handle)
      this.#askAfter.set(handle, now + ASK_MS)
    }
    this.#sights = all.map((handle) => {
      const here = handle.mine || this.#asking.has(handle)
      const lump = this.#moved.get(handle) ?? lumpOf(this.#views.ofLump(handle))
      if (here) this.#moved.set(handle, lump)
      return { handle, lump, here }
    })
  }

  /**
   * One step of the world.
   *
   * @param pot  our own, which pushes; null for none
   * @param pots  all others
   * @returns our pot, a little slower if it pushed something
   */
  step(pot: Body, pots: readonly Other[]): Body
  step(pot: null, pots: readonly Other[]): null
  step(pot: Body | null, pots: readonly Other[]): Body | null {
    if (pot) this.#bump(pot)
    const lumps = this.#sights.map(({ lump }) => lump)
    const slower = pot && rules.slowed(pot, lumps)
    const pushing = slower ? [slower, ...pots] : pots
    for (const [i, sight] of this.#sights.entries()) {
      if (!sight.here) continue
      sight.lump = rules.slide(sight.lump, pushing, lumps.toSpliced(i, 1))
      this.#moved.set(sight.handle, sight.lump)
    }
    return slower
  }

  /** Tells the others where ours are, and lays out what is missing. */
  tell(): void {
    for (const { handle, lump } of this.#sights) {
      if (!handle.mine || !handle.alive) continue
      if (this.#isDouble(handle)) {
        handle.destroy()
        continue
      }
      const placed = rules.isOff(lump) ? rules.lumpAt(handle.state.home) : lump
      this.#moved.set(handle, placed)
      if (this.#told.get(handle) === placed) continue
      this.#told.set(handle, placed)
      handle.set({ ...placed })
    }
    this.#lay()
  }

  // What our pot pushes shall be ours.
  #bump(pot: Body): void {
    const now = this.#session.now()
    for (const sight of this.#sights) {
      const { handle, lump } = sight
      if (!rules.pushOf(lump, pot.pos, POT_RADIUS)) continue
      this.touched = handle
      const isOurs = (handle.mine && !handle.away) || this.#asking.has(handle)
      if (isOurs || now < (this.#askAfter.get(handle) ?? 0)) continue
      this.#askAfter.set(handle, now + ASK_MS)
      sight.here = true
      void this.#take(handle)
    }
  }

  async #take(handle: LumpHandle): Promise<void> {
    this.#asking.add(handle)
    try {
      await handle.take()
    } catch {
      // The session is lost, and says so itself.
    } finally {
      this.#asking.delete(handle)
    }
  }

  // Two servers that did not know of each other have laid the same.
  #isDouble({ id, state: { home } }: LumpHandle): boolean {
    return this.#sights.some(({ handle }) => handle.state.home === home && isOlder(handle.id, id))
  }

  #lay(): void {
    const { status } = this.#session
    if (status !== 'live' || !serves(this.#session)) {
      this.#missingSince = NaN
      return
    }
    const now = this.#session.now()
    const known = new Set(this.#sights.map(({ handle }) => handle.state.home))
    const missing = rules.HOMES.map((_, home) => home).filter((home) => !known.has(home))
    if (missing.length === 0) this.#missingSince = NaN
    else if (Number.isNaN(this.#missingSince)) this.#missingSince = now
    else if (now - this.#missingSince > MISSING_MS) {
      for (const home of missing) this.#session.create(Lump, { ...rules.lumpAt(home), home })
      this.#missingSince = NaN
    }
  }
}

// An id says who created it, and which of theirs it is.
function isOlder(id: string, than: string): boolean {
  const [creator = 0, count = 0] = id.split('.').map(Number)
  const [other = 0, others = 0] = than.split('.').map(Number)
  return creator === other ? count < others : creator < other
}

function lumpOf({ pos, vel, turn, spin }: rules.Lump): rules.Lump {
  // What is seen belongs to whoever asks for it next.
  return { pos: [...pos], vel: [...vel], turn, spin }
}
