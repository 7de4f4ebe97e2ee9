/**
 * What the link costs beside bare sockets, and what it saves beside a stream.
 *
 * Flood: two processes over UDP loopback, raw node:dgram and the link in turns; one message a
 * datagram. Of the link only acked messages count, of raw those that were received (it loses
 * the rest, and nobody tells it). Coalesced is apart: reliable messages, many in a packet.
 *
 * Age: how old the newest state is that a player sees, at 60 Hz over a lossy wire of 25 ms each
 * way, against ws over the same wire at the same time, with a bare UDP socket as the floor.
 */

import { execFile, fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Count } from './link/flood.ts'
import { atLeast, atMost, quantile, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'the link beside raw node:dgram, and the age of newest state beside ws'

const execute = promisify(execFile)
const WARM_MS = 300
// The larger one still fits one packet, headers included.
const SIZES = [64, 1100] as const
const GOALS: Record<number, number> = { 64: 0.7, 1100: 0.8 }
const ONE_WAY_MS = 25
const LOSSES = [
  { loss: 0.05, goal: 0.45 },
  { loss: 0.1, goal: 0.12 },
]

type Mode = 'raw' | 'link' | 'coalesced'

/** One flood: messages a second that arrived, and processor time for each. */
interface Flood {
  perSecond: number
  cpu: number
  sendCpu: number
  receiveCpu: number
  lost: number
}

/** Measures; `quick` takes fewer and shorter runs, and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const rows: (string | number)[][] = []
  const goals: Goal[] = []
  for (const size of SIZES) {
    const found = await floods(size, quick)
    for (const [mode, floodsOf] of found) rows.push(rowOf(mode, size, floodsOf))
    const ratio = middle(found.get('link')!, 'perSecond') / middle(found.get('raw')!, 'perSecond')
    goals.push(atLeast(`link ${size} B acked goodput / raw`, ratio, GOALS[size]!, 'x'))
  }
  const flood: Table = {
    title: 'flood over UDP loopback, medians',
    columns: ['kind', 'bytes', 'messages/s', 'min', 'max', 'CPU us', 'sender', 'receiver', 'lost'],
    rows,
  }
  const age = await ages(quick)
  const all = [...goals, ...age.goals]
  return {
    tables: age.table === null ? [flood] : [flood, age.table],
    goals: quick ? all.map(unjudged) : all,
    notes: age.notes,
  }
}

async function floods(size: number, quick: boolean): Promise<Map<Mode, Flood[]>> {
  const found = new Map<Mode, Flood[]>([
    ['raw', []],
    ['link', []],
    ['coalesced', []],
  ])
  for (let round = 0; round < (quick ? 3 : 7); round++) {
    for (const [mode, list] of found) list.push(await flood(mode, size, quick ? 700 : 2000))
  }
  return found
}

async function flood(mode: Mode, size: number, ms: number): Promise<Flood> {
  const script = fileURLToPath(new URL('./link/flood.js', import.meta.url))
  const receiver = fork(script, [mode, 'receive', String(size)])
  const sender = fork(script, [mode, 'send', String(size)])
  const ports = await Promise.all([receiver, sender].map((child) => heard<{ port: number }>(child)))
  receiver.send({ port: ports[1]!.port })
  await pause(50)
  sender.send({ port: ports[0]!.port })
  await pause(WARM_MS)
  const start = performance.now()
  receiver.send({ say: 'start' })
  sender.send({ say: 'start' })
  await pause(ms)
  const counts = [heard<{ count: Count }>(receiver), heard<{ count: Count }>(sender)]
  receiver.send({ say: 'stop' })
  sender.send({ say: 'stop' })
  const [{ count: received }, { count: sent }] = (await Promise.all(counts)) as [
    { count: Count },
    { count: Count },
  ]
  const seconds = (performance.now() - start) / 1000
  const messages = mode === 'raw' ? received.messages : sent.messages
  return {
    perSecond: messages / seconds,
    cpu: (sent.cpu + received.cpu) / messages,
    sendCpu: sent.cpu / messages,
    receiveCpu: received.cpu / messages,
    lost: mode === 'raw' ? 0 : sent.lost,
  }
}

async function heard<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message]
  return message
}

function middle(list: readonly Flood[], field: keyof Flood): number {
  return list.map((one) => one[field]).toSorted((a, b) => a - b)[list.length >> 1]!
}

function rowOf(mode: Mode, size: number, list: readonly Flood[]): (string | number)[] {
  const rates = list.map((one) => one.perSecond)
  const micro = (field: keyof Flood): number => Number(middle(list, field).toFixed(2))
  return [
    mode,
    size,
    Math.round(middle(list, 'perSecond')),
    Math.round(Math.min(...rates)),
    Math.round(Math.max(...rates)),
    micro('cpu'),
    micro('sendCpu'),
    micro('receiveCpu'),
    middle(list, 'lost'),
  ]
}

type Ages = Record<'link' | 'bare' | 'ws', number[]>

async function ages(
  quick: boolean,
): Promise<{ table: Table | null; goals: Goal[]; notes: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const goals: Goal[] = []
  const rows: (string | number)[][] = []
  try {
    const bridge = join(folder, 'bridge')
    const source = fileURLToPath(new URL('../../bench/link/bridge.c', import.meta.url))
    await execute('cc', ['-O2', '-o', bridge, source])
    for (const { loss, goal } of LOSSES) {
      const found = await age(bridge, loss, quick ? 6 : 60)
      for (const kind of ['link', 'bare', 'ws'] as const) rows.push(ageRow(kind, loss, found[kind]))
      const ratio = quantile(found.link, 0.99) / quantile(found.ws, 0.99)
      goals.push(atMost(`age p99 at ${loss * 100} % loss / ws`, ratio, goal, 'x'))
    }
  } catch (error) {
    const why = String((error as { stderr?: string }).stderr || error).trim()
    for (const { loss, goal } of LOSSES.slice(goals.length)) {
      goals.push(atMost(`age p99 at ${loss * 100} % loss / ws`, null, goal, 'x'))
    }
    const note = `age was not measured (it needs cc, root and /dev/net/tun): ${why}`
    return { table: null, goals, notes: [note] }
  } finally {
    rmSync(folder, { recursive: true })
  }
  const title = `age of the newest state in ms, 60 Hz, ${ONE_WAY_MS} ms each way`
  const columns = ['kind', 'loss', 'p50', 'p95', 'p99', 'max']
  return { table: { title, columns, rows }, goals, notes: [] }
}

async function age(bridge: string, loss: number, seconds: number): Promise<Ages> {
  const script = fileURLToPath(new URL('./link/age.js', import.meta.url))
  const words = [String(ONE_WAY_MS), String(loss), '7', process.execPath, script, String(seconds)]
  const { stdout } = await execute(bridge, words, { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout) as Ages
}

function ageRow(kind: string, loss: number, list: readonly number[]): (string | number)[] {
  const at = (share: number): number => Number(quantile(list, share).toFixed(1))
  return [kind, `${loss * 100} %`, at(0.5), at(0.95), at(0.99), at(1)]
}
