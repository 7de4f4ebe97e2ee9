/** Rooms that are founded and ended again, by many streams at once; each waits for the disk. */

import { setTimeout as pause } from 'node:timers/promises'
import { addresses } from '../../test/attack/attacks.ts'
import { blank, SECRET, Stranger } from '../../test/attack/stranger.ts'
import { proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { heard } from './holding.ts'
import type { Did } from './words.ts'

/** Dials; each stream has one under way. @returns what founds and ends for so long */
export async function register(
  url: string,
  streams: number,
): Promise<(ms: number) => Promise<Did>> {
  const from = addresses(streams, 200)
  const all = from.map((address) => new Stranger(url, address, blank()))
  await Promise.all(all.map((one) => heard(one, 'welcome')))
  let done = 0
  let isOver = false
  const work = async (stranger: Stranger, at: number): Promise<void> => {
    for (let n = 0; !isOver && !stranger.isOver; n++) {
      stranger.add(`brief ${at} ${n}`)
      await heard(stranger, 'added')
      endRoom(stranger)
      await heard(stranger, 'register')
      done++
    }
  }
  return async (ms) => {
    const start = performance.now()
    for (const [at, one] of all.entries()) void work(one, at)
    await pause(ms)
    isOver = true
    const lost = all.filter((one) => one.isOver).length
    return { count: done, ms: performance.now() - start, lost }
  }
}

/** Whoever is alone in a room leaves it. */
export function endRoom(stranger: Stranger): void {
  const { session } = stranger
  stranger.say({
    ...({ kind: 'change', request: 3, session, inc: 1, why: 'end' } as const),
    ...{ proof: proofOf(SECRET, 'register'), expect: 1, primary: 1, backup: 0 },
  })
}
