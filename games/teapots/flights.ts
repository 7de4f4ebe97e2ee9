/** The cubes that are in the air, each with its whole way, worked out once for each throw. */

import type { ObjectHandle, Session } from 'holdfast'
import { type Flight, type Place, placeAt, trace } from './rules/flight.ts'
import { Cube } from './rules/things.ts'

/** A handle of a cube. */
export type CubeHandle = ObjectHandle<typeof Cube.schema.fields>

/** One throw as this member sees it. */
export interface Thrown {
  /** Tells one throw from another, also of the same cube. */
  id: string
  player: number
  /** When it was thrown, in session time. */
  at: number
  flight: Flight
  /** How long it flies, in milliseconds: until it hits, breaks or is out of breath. */
  ends: number
}

/** See the head of this file. */
export class Flights {
  readonly #session: Session
  #known = new Map<string, Thrown>()

  constructor(session: Session) {
    this.#session = session
  }

  /** The throws that are in the air at this session time, or were until `after` ago. */
  at(now: number, after = 0): Thrown[] {
    const next = new Map<string, Thrown>()
    const found: Thrown[] = []
    for (const cube of this.#session.all(Cube)) {
      const { at, ends } = cube.state
      if (at === 0 || now > at + ends + after) continue
      const id = `${cube.id} ${at}`
      const thrown = this.#known.get(id) ?? thrownOf(cube, id)
      thrown.ends = Math.min(ends, thrown.flight.ms)
      next.set(id, thrown)
      if (now >= at) found.push(thrown)
    }
    this.#known = next
    return found
  }
}

function thrownOf(cube: CubeHandle, id: string): Thrown {
  const { at, ends } = cube.state
  const player = cube.away ? 0 : (cube.owner?.player ?? 0)
  return { id, player, at, flight: trace(cube.state), ends }
}

/** Where a throw is at this session time. */
export function whereIs({ at, flight, ends }: Thrown, now: number): Place {
  return placeAt(flight, Math.min(ends, now - at))
}
