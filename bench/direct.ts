/**
 * Windows of a room that reach one another directly: how soon they do, what an idle pair costs,
 * what the hub still relays of their play, and what comes late after a window stood still.
 *
 * Chromium without a screen, with its default flags, and a hub, in a network namespace in which a
 * route leads out. Each frame of a channel is noted at both ends: it is one sealed packet.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { noNetwork } from '../test/conformance/network.ts'
import { Apart, type ApartWindow } from '../test/e2e/apart.ts'
import type { Own } from './direct/page.ts'
import { atMost, type BenchReport, type Goal, unjudged } from './report.ts'

/** For the list of benches. */
export const about = 'windows that reach one another directly: how soon, at what cost, how late'

const PAIRS = 20
const QUICK_PAIRS = 3
/** Roles, clocks and spare paths have settled by then. */
const SETTLE_MS = 4_000
const IDLE_MS = 20_000
const QUICK_IDLE_MS = 5_000
const STILL_MS = 3_000
const OLD_MS = 500

interface Idle {
  /** Bytes a second, both ways, between primary and backup, and of another pair. */
  heads: number
  others: number
}

/** Frames to the third window, from when it or its paths stood still. */
interface Late {
  came: number
  old: number
  oldest: number
}

interface Found {
  /** From the second `join` until packets of both ends go directly, of each pair, in ms. */
  soon: number[]
  idle: Idle
  /** Bytes of packets that the hub relayed during play. */
  relayed: number
  window: Late
  path: Late
}

/** Measures; `quick` takes fewer pairs and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const none = noNetwork()
  if (none !== null) return { tables: [], goals: [], notes: [`Not measured: ${none}`] }
  const apart = await Apart.open('bench/direct/page.ts')
  try {
    const soon: number[] = []
    for (let n = 0; n < (quick ? QUICK_PAIRS : PAIRS); n++) soon.push(await pair(apart, n))
    const three = await room(apart, 'three', 3)
    await wait(SETTLE_MS)
    const idle = await idleOf(three, quick ? QUICK_IDLE_MS : IDLE_MS)
    for (const window of three) await ask(window, 'play')
    await wait(SETTLE_MS)
    const relayed = await relayedOf(three)
    const path = await late(three, async () => {
      await apart.cut()
      await wait(STILL_MS)
      await apart.mend()
    })
    for (const window of three) await ask(window, 'isDirect', 2)
    const session = await three[2]!.page.context().newCDPSession(three[2]!.page)
    await session.send('Debugger.enable')
    const window = await late(three, async () => {
      await session.send('Debugger.pause')
      await wait(STILL_MS)
      await session.send('Debugger.resume')
    })
    return report({ soon, idle, relayed, window, path }, quick)
  } finally {
    await apart.close()
  }
}

/** How long after the second window's `join` packets of both ends go directly, in ms. */
async function pair(apart: Apart, number: number): Promise<number> {
  const [first, second] = [await apart.window(), await apart.window()]
  const name = `pair ${number}`
  await ask(first, 'enter', name)
  const there = ask(first, 'isDirect', 1)
  const joined = await ask(second, 'enter', name)
  const here = await ask(second, 'isDirect', 1)
  const took = Math.max(here, await there) - joined
  await apart.closeWindows()
  return took
}

/** Windows of one room, all direct; the first is primary, the second backup. */
async function room(apart: Apart, name: string, count: number): Promise<ApartWindow[]> {
  const windows: ApartWindow[] = []
  for (let n = 0; n < count; n++) {
    windows.push(await apart.window())
    await ask(windows[n]!, 'enter', name)
  }
  for (const window of windows) await ask(window, 'isDirect', count - 1)
  return windows
}

async function idleOf(windows: readonly ApartWindow[], ms: number): Promise<Idle> {
  const bytes = async (): Promise<number[]> => {
    return Promise.all(windows.map(async (window) => (await ask(window, 'carried')).bytes))
  }
  const before = await bytes()
  const start = performance.now()
  await wait(ms)
  const after = await bytes()
  const seconds = (performance.now() - start) / 1_000
  const perSecond = (at: number): number => (after[at]! - before[at]!) / seconds
  const [primary, backup, third] = [perSecond(0), perSecond(1), perSecond(2)]
  // Each of the three is an end of two pairs, and each end counts all bytes of its pairs.
  return { heads: (primary + backup - third) / 2, others: third / 2 }
}

async function relayedOf(windows: readonly ApartWindow[]): Promise<number> {
  const bytes = (): number => windows.reduce((sum, { relayed }) => sum + relayed.bytes, 0)
  const before = bytes()
  await wait(SETTLE_MS)
  return bytes() - before
}

/** How late frames come to the last window, which neither serves nor is the backup. */
async function late(
  windows: readonly ApartWindow[],
  standStill: () => Promise<void>,
): Promise<Late> {
  for (const window of windows) await ask(window, 'note')
  await standStill()
  await wait(SETTLE_MS)
  const [first, second, third] = await Promise.all(windows.map((window) => ask(window, 'noted')))
  const left = new Map([...first!, ...second!].map(({ head, at }) => [head, at]))
  // Frames that the third window sent itself have a negative age.
  const ages = third!.map(({ head, at }) => at - (left.get(head) ?? Infinity))
  const came = ages.filter((age) => age >= 0)
  return {
    came: came.length,
    old: came.filter((age) => age > OLD_MS).length,
    oldest: Math.max(0, ...came),
  }
}

function ask<Verb extends keyof Own>(
  { page }: ApartWindow,
  verb: Verb,
  ...words: Parameters<Own[Verb]>
): Promise<Awaited<ReturnType<Own[Verb]>>> {
  return page.evaluate(
    ([name, given]) => {
      const own = globalThis as unknown as Record<string, (...all: unknown[]) => never>
      return own[name]!(...given)
    },
    [verb, words] as [string, unknown[]],
  )
}

function report({ soon, idle, relayed, window, path }: Found, quick: boolean): BenchReport {
  const sorted = soon.toSorted((a, b) => a - b)
  const median = sorted[sorted.length >> 1]!
  const old = `frames older than ${OLD_MS} ms after`
  const goals: Goal[] = [
    atMost('from join until a pair is direct, median', median, 500, 'ms'),
    atMost('idle pair, neither of them backup of the other', idle.others, 200, 'B/s'),
    atMost('play relayed by the hub while all are direct', relayed, 0, 'B'),
    atMost(`${old} its path was cut for ${STILL_MS} ms`, path.old, 5, 'frames'),
    atMost(`${old} a window stood still for ${STILL_MS} ms`, window.old, 5, 'frames'),
  ]
  const lates = [
    ['its path was cut', path],
    ['the window stood still', window],
  ] as const
  return {
    tables: [
      {
        title: 'from join until a pair is direct, ms',
        columns: ['pairs', 'median', 'longest'],
        rows: [[soon.length, Math.round(median), Math.round(sorted.at(-1)!)]],
      },
      {
        title: 'an idle pair, bytes a second both ways together',
        columns: ['primary and backup', 'another pair'],
        rows: [[Math.round(idle.heads), Math.round(idle.others)]],
      },
      {
        title: `frames to a window, from when something stood still for ${STILL_MS} ms`,
        columns: ['what', 'came', `older than ${OLD_MS} ms`, 'oldest, ms'],
        rows: lates.map(([what, { came, old: few, oldest }]) => {
          return [what, came, few, Math.round(oldest)]
        }),
      },
    ],
    goals: quick ? goals.map(unjudged) : goals,
    notes: ['A frame is one sealed packet in a channel.'],
  }
}
