/** Memory of a hub for each kept room that nobody is in, each idle member, each plain stream. */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { end, heard, start } from '../processes/children.ts'
import { load } from './loads.ts'
import type { Order, Weight } from './words.ts'

/**
 * Before it is weighed a server has had so many, for code and room to work that it keeps anyway.
 * Rooms that were left stay; streams go again, and others take their memory, so they are fewer.
 */
const WARM = { left: 1_000, members: 200, streams: 200, plain: 200 }
const LOOK_MS = 300
const READY_MS = 60_000

/** Each of so many, in bytes. */
export interface Weighed {
  what: string
  count: number
  each: Weight
}

type Kind = 'left' | 'members' | 'streams' | 'plain'

/** How many of each, and how often it is weighed: the least counts. */
export interface Scale {
  count: number
  looks: number
}

/** All of them. */
export async function weigh(within: string, scale: Scale): Promise<Weighed[]> {
  const folder = mkdtempSync(join(within, 'weighed-'))
  const left = join(folder, 'left.db')
  return [
    { what: 'a kept room that nobody is in', ...(await grown('left', left, scale)) },
    { what: 'the same, once the hub was started again', ...(await restarted(folder, left, scale)) },
    { what: 'a member, with its stream', ...(await grown('members', join(folder, 'm.db'), scale)) },
    { what: 'a stream of plain ws', ...(await grown('plain', null, scale)) },
  ]
}

/** By how much the memory of a running server grows as so many come. */
async function grown(
  kind: Kind,
  file: string | null,
  { count, looks }: Scale,
): Promise<Pick<Weighed, 'count' | 'each'>> {
  const server = await WeighedServer.start(file)
  const warm = await load(order(kind, server.url, WARM[kind], 1))
  await warm.begin(0)
  await warm.end()
  const before = await server.weight(looks)
  const more = await load(order(kind, server.url, count, 2))
  const did = await more.begin(0)
  if (did.lost > 0) throw new Error(`${did.lost} of ${count} ${kind} did not stay`)
  // Rooms stay when whoever kept them is gone; the others do not.
  if (kind === 'left') await more.end()
  const after = await server.weight(looks)
  await more.end()
  await server.end()
  return { count: did.count, each: share(before, after, did.count) }
}

/** By how much a hub that starts with these rooms is larger than one that starts without any. */
async function restarted(
  folder: string,
  file: string,
  { count, looks }: Scale,
): Promise<Pick<Weighed, 'count' | 'each'>> {
  const weights: Weight[] = []
  for (const one of [join(folder, 'none.db'), file]) {
    const server = await WeighedServer.start(one)
    const warm = await load(order('streams', server.url, WARM.streams, 3))
    await warm.begin(0)
    await warm.end()
    weights.push(await server.weight(looks))
    await server.end()
  }
  const [without, all] = weights
  const rooms = count + WARM.left
  return { count: rooms, each: share(without!, all!, rooms) }
}

function order(kind: Kind, url: string, count: number, net: number): Order {
  const held = { url, count, net }
  return kind === 'left' ? { kind, ...held } : { kind, ...held }
}

function share(before: Weight, after: Weight, count: number): Weight {
  return { rss: (after.rss - before.rss) / count, heap: (after.heap - before.heap) / count }
}

/** A server that says what it weighs. */
export class WeighedServer {
  readonly url: string
  readonly pid: number
  readonly #child: ReturnType<typeof start>

  private constructor(child: ReturnType<typeof start>, port: number) {
    this.#child = child
    this.pid = child.pid!
    this.url = `http://127.0.0.1:${port}/`
  }

  /** @param store  a file, or servers of NATS; null for a server that is no hub */
  static async start(store: string | null): Promise<WeighedServer> {
    const child = start(new URL('./weighed.js', import.meta.url), store === null ? [] : [store])
    const listens = (said: unknown): said is { port: number } => 'port' in (said as object)
    const { port } = await heard(child, listens, 'a server to weigh', READY_MS)
    return new WeighedServer(child, port)
  }

  /** @param looks  how often it is weighed: the least counts */
  async weight(looks: number): Promise<Weight> {
    const least = { rss: Infinity, heap: Infinity }
    for (let look = 0; look < looks; look++) {
      await pause(LOOK_MS)
      const isWeight = (said: unknown): said is { weight: Weight } => 'weight' in (said as object)
      const told = heard(this.#child, isWeight, 'a weight', READY_MS)
      this.#child.send({})
      const { rss, heap } = (await told).weight
      least.rss = Math.min(least.rss, rss)
      least.heap = Math.min(least.heap, heap)
    }
    return least
  }

  end(): Promise<void> {
    return end(this.#child)
  }
}
