/** What a hub keeps for streams and for rooms that do nothing, as the system counts its memory. */

import { setTimeout as pause } from 'node:timers/promises'
import { type Beside, Bystander } from './bystander.ts'
import { load } from './loads.ts'

/** Before it is counted a hub has had so many, for code that it keeps anyway. */
const WARM = 100
/** Memory is looked at so often, and the least counts: garbage comes and goes. */
const LOOK_MS = 250

/** So many of one kind at one hub. */
export interface Kept {
  kind: 'streams' | 'rooms'
  /** That were wanted, and that stayed open. */
  wanted: number
  count: number
  /** How long it took until all were open, in ms. */
  ms: number
  /** Memory of the hub with all of them, and for each one of them, in bytes. */
  memory: number
  each: number
  /** While they were opened, and while they were kept. */
  opening: Beside
  keeping: Beside
}

/** A hub of its own keeps so many. @param looks  at its memory, before and then */
export async function keep(
  within: string,
  kind: Kept['kind'],
  wanted: number,
  looks: number,
): Promise<Kept> {
  const bystander = await Bystander.meet(within)
  try {
    const { url } = bystander.hub
    const warm = await load({ kind, url, count: WARM, net: 1 })
    await warm.begin(0)
    await warm.end()
    const before = await least(bystander, looks)
    const holder = await load({ kind, url, count: wanted, net: 2 })
    const opened = await bystander.during(() => holder.begin(0))
    const kept = await bystander.during(() => least(bystander, looks))
    await holder.end()
    const { count, ms } = opened.value
    const each = (kept.value - before) / count
    const besides = { opening: opened.beside, keeping: kept.beside }
    return { kind, wanted, count, ms, memory: kept.value, each, ...besides }
  } finally {
    await bystander.end()
  }
}

async function least(bystander: Bystander, looks: number): Promise<number> {
  let found = Infinity
  for (let at = 0; at < looks; at++) {
    await pause(LOOK_MS)
    found = Math.min(found, await bystander.memory())
  }
  return found
}
