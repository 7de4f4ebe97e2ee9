/** Primaries of rooms that are kept, each alone: they write segments as a member does. */

import { setTimeout as pause } from 'node:timers/promises'
import { addresses } from '../../test/attack/attacks.ts'
import { blank, Stranger } from '../../test/attack/stranger.ts'
import { ENTRIES_MIN } from '../../packages/holdfast/src/session/persistence.ts'
import { found, heard } from './holding.ts'
import { endRoom } from './registering.ts'
import type { Did } from './words.ts'

const TERMS = 'keep=1440'
/** Bytes of a whole state, and of an entry behind it. */
const WHOLE = new Uint8Array(1_000)
const ENTRY = new Uint8Array(150)
const ADDRESSES = 100
const DIALS = 32

interface Held {
  url: string
  count: number
  net: number
}

/** So many rooms are founded, kept and left. */
export async function leaveBehind({ url, count, net }: Held): Promise<Did> {
  const start = performance.now()
  const from = addresses(ADDRESSES, net)
  let [next, done] = [0, 0]
  const dial = async (): Promise<void> => {
    while (next < count) {
      const at = next++
      const stranger = new Stranger(url, from[at % from.length]!, blank())
      await heard(stranger, 'welcome')
      await found(stranger, `left ${net} ${at}`, TERMS)
      await new Primary(stranger).keep()
      endRoom(stranger)
      await heard(stranger, 'register')
      stranger.end()
      done++
    }
  }
  await Promise.all(Array.from({ length: DIALS }, dial))
  return { count: done, ms: performance.now() - start, lost: count - done }
}

/** Dials; each has one segment under way. @returns what keeps for so long */
export async function keepOn(url: string, streams: number): Promise<(ms: number) => Promise<Did>> {
  const from = addresses(streams, 201)
  const all = from.map((address) => new Stranger(url, address, blank()))
  await Promise.all(all.map((one) => heard(one, 'welcome')))
  await Promise.all(all.map((one, at) => found(one, `kept ${at}`, TERMS)))
  let done = 0
  let isOver = false
  const work = async (stranger: Stranger): Promise<void> => {
    const primary = new Primary(stranger)
    while (!isOver && !stranger.isOver) {
      await primary.keep()
      done++
    }
  }
  return async (ms) => {
    const start = performance.now()
    for (const one of all) void work(one)
    await pause(ms)
    isOver = true
    const lost = all.filter((one) => one.isOver).length
    return { count: done, ms: performance.now() - start, lost }
  }
}

class Primary {
  readonly #stranger: Stranger
  #number = 0
  #index = 0
  /** Bytes behind the whole state; null before there is one. */
  #behind: number | null = null

  constructor(stranger: Stranger) {
    this.#stranger = stranger
  }

  /** The next segment is on disk. */
  async keep(): Promise<void> {
    const { session } = this.#stranger
    const isWhole = this.#behind === null || this.#behind + ENTRY.length > ENTRIES_MIN
    const from = isWhole ? null : this.#index
    const said = { session, number: ++this.#number, from, index: ++this.#index }
    const bytes = isWhole ? WHOLE : ENTRY
    this.#behind = isWhole ? 0 : this.#behind! + bytes.length
    const rest = { time: this.#number, next: 2, acks: 'strict' as const, piece: 0, of: 1, bytes }
    this.#stranger.say({ kind: 'keep', ...said, ...rest })
    await heard(this.#stranger, 'kept')
  }
}
