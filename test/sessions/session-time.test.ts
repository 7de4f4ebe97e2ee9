// Goal: session time never goes back for an application within one session, from the first moment,
// and in another session it starts with what it is there.
// Method: whole sessions in virtual time, looked at after each event of the world.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

const SURE_MS = 125

/** What an application reads, by session, whenever it looks. */
interface Watched {
  back: string[]
  /** Of each session: the first time that was known. */
  first: Map<string, { time: number; at: number }>
  look: () => false
}

function watched(w: SessionWorld, session: Session): Watched {
  const [back, first] = [[] as string[], new Map<string, { time: number; at: number }>()]
  let last = { id: '', time: -1 }
  const look = (): false => {
    const id = session.member!.session.id
    // On the way it is in no session.
    if (id === '') return false
    const time = session.now()
    if (id === last.id && time < last.time) back.push(`${last.time} to ${time} in ${id}`)
    if (time > 0 && !first.has(id)) first.set(id, { time, at: w.now() })
    last = { id, time }
    return false
  }
  return { back, first, look }
}

const cases = (['star', 'mesh'] as const).flatMap((topology) =>
  [0, 30].map((loss) => [topology, loss] as const),
)

describe('session time', () => {
  test.each(cases)(
    'T14: in another session, in a %s, of a hundred %i are lost',
    async (topology, loss) => {
      const w = world({ seed: 2, conditions: `rtt=40,jitter=10,loss=${loss}%` })
      const join = (name: string) => {
        return w.join({ game: 'time', name, topology, keepRoom: false })
      }
      const [ada, grace, alice] = [await join('Ada'), await join('Grace'), await join('Alice')]
      const before = alice.member!.session.id
      const { back, first, look } = watched(w, alice)
      await w.runUntil(look, 5_000)
      const mend = w.partition([[w.nodeOf(alice)]])
      await w.runUntil(look, 20_000)
      for (const session of [ada, grace]) w.kill(session)
      await w.runUntil(look, 30_000)
      const bob = await join('Bob')
      const offset = bob.now() - w.now()
      mend()
      await w.runUntil(look, 30_000)
      const after = alice.member!.session.id
      expect([after === before, alice.status]).toEqual([false, 'live'])
      expect(back).toEqual([])
      const { time, at } = first.get(after)!
      expect(Math.abs(time - at - offset)).toBeLessThanOrEqual(SURE_MS)
      expect(Math.abs(alice.now() - bob.now())).toBeLessThan(50)
    },
  )

  test.each(cases)(
    'T14: of who just came in, in a %s, of a hundred %i are lost',
    async (topology, loss) => {
      const w = world({ seed: 8, conditions: `rtt=40,jitter=10,loss=${loss}%` })
      const ada = await w.join({ game: 'time', name: 'Ada', topology })
      const bob = await w.join({ game: 'time', name: 'Bob', topology })
      const { back, first, look } = watched(w, bob)
      look()
      await w.runUntil(look, 20_000)
      expect(back).toEqual([])
      const [{ time, at }] = [...first.values()] as [{ time: number; at: number }]
      expect(Math.abs(time - at - (ada.now() - w.now()))).toBeLessThanOrEqual(SURE_MS)
    },
  )
})
