/** Rooms whose members all act without pause until they go, and who comes then. */

import type { Place, SessionWorld } from '../../packages/sim/src/session-world.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { action } from '../../packages/holdfast/src/index.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
})
const place = { game: 'garden', room: 'r', types: [add] }

/** What a backup has the hub may lack for so long, in ms: 100, and the way there. */
export const LAG_MS = 400

/** A page has no path but the hub's. */
export const PAGE: Place = { kind: 'browser' }

/** Operations, and when their outcome came. */
export type Acked = Map<string, number>

/** Joins; its errors count for nothing. */
export async function comes(w: SessionWorld, name: string, where: Place = PAGE): Promise<Session> {
  const session = await w.join({ ...place, name }, where)
  session.on('error', () => {})
  return session
}

/** So many come, and ask for one operation after the other, as long as they get outcomes. */
export async function playing(
  w: SessionWorld,
  places: readonly Place[],
): Promise<{ all: Session[]; acked: Acked }> {
  const all: Session[] = []
  const acked: Acked = new Map()
  for (const [at, where] of places.entries()) all.push(await comes(w, `player ${at}`, where))
  for (const [at, one] of all.entries()) void play(w, one, `player ${at}`, acked)
  return { all, acked }
}

async function play(w: SessionWorld, session: Session, name: string, acked: Acked): Promise<void> {
  for (let at = 0; at < 1_000; at++) {
    const what = `${name} ${at}`
    const outcome = await session.act(add, [what]).catch(() => null)
    if (!outcome?.ok) return
    acked.set(what, w.now())
  }
}

/** The room as whoever came after all had gone found it. */
export interface Found {
  /** After how many ms. */
  ms: number
  /** What was acknowledged by then and is not there, and when it was; what is there twice. */
  lacks: (readonly [what: string, at: number])[]
  twice: string[]
}

/** A stranger asks for the room until it is in. */
export async function opened(w: SessionWorld, acked: Acked): Promise<Found> {
  const begun = w.now()
  const known = [...acked]
  for (let at = 0; at < 8; at++) {
    const next = await comes(w, 'stranger').catch(() => null)
    if (!next) continue
    const { table } = next
    const lacks = known.filter(([what]) => table.get(what) === undefined)
    const twice = known.flatMap(([what]) => ((table.get(what) ?? 1) === 1 ? [] : [what]))
    return { ms: w.now() - begun, lacks, twice }
  }
  throw new Error('nobody opens the room')
}
