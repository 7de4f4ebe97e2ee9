/** How much a hub does in a second while it does nothing else, and how a room fares meanwhile. */

import { setTimeout as pause } from 'node:timers/promises'
import { end, heard, start } from '../processes/children.ts'
import { type Beside, Bystander } from './bystander.ts'
import { load } from './loads.ts'
import type { Order } from './words.ts'

/** A write of the register has at most so many rooms. */
const MANY = 1_000
/** One page of the list has so many rooms. */
const ROOMS = 200
const ECHO_MS = 10_000

/** One kind of work. */
export interface Pace {
  what: string
  /** Done each second, and what was sent and never came, in parts of all. */
  rate: number
  lost: number
  beside: Beside
}

type Work<One extends Order = Order> = One extends Order ? Omit<One, 'url'> : never

/** All kinds, for so long each, at one hub. */
export async function pace(within: string, ms: number): Promise<Pace[]> {
  const bystander = await Bystander.meet(within)
  const { url } = bystander.hub
  const found: Pace[] = []
  const add = async (what: string, work: Work): Promise<void> => {
    const one = await load({ url, ...work })
    const { value, beside } = await bystander.during(() => one.begin(ms))
    await one.end()
    const { count, lost } = value
    found.push({ what, rate: count / (value.ms / 1_000), lost: lost / (count + lost), beside })
  }
  try {
    const quiet = await bystander.during(() => pause(ms))
    found.push({ what: 'nothing', rate: 0, lost: 0, beside: quiet.beside })
    for (const streams of [64, MANY]) {
      await add(`rooms founded and ended, ${streams} at a time`, { kind: 'registrations', streams })
    }
    for (const streams of [64, MANY]) {
      await add(`segments kept, ${streams} rooms at a time`, { kind: 'segments', streams })
    }
    const rooms = await load({ kind: 'rooms', url, count: ROOMS, net: 3 })
    await rooms.begin(0)
    await add(`pages of ${ROOMS} rooms by stream`, { kind: 'lists', by: 'stream' })
    await add(`pages of ${ROOMS} rooms by HTTP`, { kind: 'lists', by: 'request' })
    await rooms.end()
    for (const bytes of SIZES) await add(`relayed packets of ${bytes} B`, { kind: 'relay', bytes })
    return found
  } finally {
    await bystander.end()
  }
}

/** Sizes of relayed packets. */
export const SIZES = [100, 1_100] as const

/** Messages that a plain server of WebSockets hands on each second. */
export async function plain(bytes: number, ms: number): Promise<number> {
  const child = start(new URL('../latency/echo.js', import.meta.url), [])
  const isListening = (said: unknown): said is { port: number } => {
    return typeof (said as { port?: unknown }).port === 'number'
  }
  const { port } = await heard(child, isListening, 'the plain server', ECHO_MS)
  const one = await load({ kind: 'echo', url: `http://127.0.0.1:${port}/`, bytes })
  const { count, ms: elapsed } = await one.begin(ms)
  await one.end()
  await end(child)
  return count / (elapsed / 1_000)
}
