/**
 * Hostile messages at the shipped hub while its disk fills and is freed again, and founders that
 * mean well, who keep what they were told is registered.
 */

import { once } from 'node:events'
import { WebSocket } from 'ws'
import {
  create as chaosOf,
  chance,
  fork,
  type Prng,
} from '../../packages/holdfast/src/faults/prng.ts'
import { HUB_VERSION, toHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage } from '../../packages/holdfast/src/wire/relay.ts'
import {
  founder,
  type Founder,
  type HubProcess,
  SECRET,
  startHub,
} from '../conformance/hub-process.ts'
import { smallDisk, type SmallDisk } from '../conformance/small-disk.ts'
import { hubBytes, type Knowledge } from './hostile.ts'

/** Streams that say hostile things at a time. */
const STREAMS = 16
/** What one stream may have waiting before more is said on it, in bytes. */
const BACKLOG_MAX = 256 * 1024
/** Hostile messages between two words of a founder. */
const PAUSE = 200
/** Rooms that one founder opens. */
const ROOMS = 40

/** What a storm came to. */
export interface Storm {
  sent: number
  /** Streams that the hub closed. */
  closed: number
  /** Sessions and changes that were acknowledged. */
  acknowledged: number
  /** And refused with the sentence of the disk. */
  refused: number
  /** What must hold and did not. */
  complaints: string[]
}

/** Storms; the disk is full for the middle third. Kills the hub at the end, and asks it anew. */
export async function storm(seed: number, messages: number): Promise<Storm> {
  const disk = await smallDisk('4m')
  const found: Storm = { sent: 0, closed: 0, acknowledged: 0, refused: 0, complaints: [] }
  let hub: HubProcess | null = null
  try {
    hub = await startHub(disk)
    const kept = await rage(seed, messages, hub, disk, found)
    if (!hub.isRunning()) found.complaints.push(`the hub ended: ${hub.errors()}`)
    else await hub.kill('SIGKILL')
    hub = await startHub(disk)
    await ask(hub, kept, found)
  } finally {
    if (hub?.isRunning()) await hub.kill('SIGKILL')
    disk.close()
  }
  return found
}

/** The epoch of each session as its founder knows it. */
type Kept = Map<string, number>

async function rage(
  seed: number,
  messages: number,
  hub: HubProcess,
  disk: SmallDisk,
  found: Storm,
): Promise<Kept> {
  const kept: Kept = new Map()
  const chaos = fork(chaosOf(seed), 'storm')
  const streams: (WebSocket | null)[] = Array.from({ length: STREAMS }, () => null)
  let by: Founder | null = null
  for (let count = 0; count < messages && hub.isRunning(); count++) {
    if (count === Math.floor(messages / 3)) disk.fill()
    if (count === Math.floor((messages * 2) / 3)) disk.free()
    await hostile(chaos, streams, hub.url, kept, found)
    if (count % PAUSE !== 0) continue
    if (!by?.isOpen() || kept.size % ROOMS === 0) {
      by?.close()
      by = await founder(hub.url)
    }
    await good(by, chaos, kept, found).catch((error: unknown) => {
      found.complaints.push(`after ${count} messages: ${String(error)}`)
    })
  }
  by?.close()
  for (const stream of streams) stream?.terminate()
  return kept
}

async function hostile(
  chaos: Prng,
  streams: (WebSocket | null)[],
  url: string,
  kept: Kept,
  found: Storm,
): Promise<void> {
  const at = found.sent % STREAMS
  let stream = streams[at] ?? null
  if (stream?.readyState !== WebSocket.OPEN) {
    if (stream) found.closed++
    stream = streams[at] = await dial(url)
  }
  const sessions = [...kept.keys()]
  const known: Knowledge = {
    numbers: [0, 1, 2, 3],
    session: sessions[found.sent % (sessions.length || 1)] ?? 'fuzz',
    samples: [],
  }
  stream.send(hubBytes(chaos, known), { binary: chance(chaos, 0.99) })
  found.sent++
  if (stream.bufferedAmount > BACKLOG_MAX || found.sent % 64 === 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function dial(url: string): Promise<WebSocket> {
  const stream = new WebSocket(new URL('/hub', url.replace('http', 'ws')))
  stream.on('error', () => {})
  await Promise.race([once(stream, 'open'), once(stream, 'close')])
  const hello = encode(toHub, { kind: 'hello', version: HUB_VERSION })
  if (stream.readyState === WebSocket.OPEN) stream.send(frameMessage(hello))
  return stream
}

// Opens a room, or changes the register of one.
async function good(by: Founder, chaos: Prng, kept: Kept, found: Storm): Promise<void> {
  const [last] = [...kept.keys()].slice(-1)
  if (last === undefined || chance(chaos, 0.5)) {
    const made = await by.found(`good ${found.sent}`)
    if ('why' in made) return refused(made.why, found)
    found.acknowledged++
    return void kept.set(made.session, 1)
  }
  const expect = kept.get(last)!
  const proof = proofOf(SECRET, 'register')
  const change = { session: last, inc: 1, proof, expect, primary: 1, backup: 0 } as const
  const answer = await by.ask({ kind: 'change', request: 0, ...change, why: 'drop' })
  if (answer.kind === 'refused') return refused(answer.why, found)
  if (answer.kind !== 'register' || !answer.ok) {
    return void found.complaints.push(`the change of ${last} in ${expect}: ${answer.kind}`)
  }
  found.acknowledged++
  kept.set(last, expect + 1)
}

function refused(why: string, found: Storm): void {
  if (why.includes('the disk is full')) found.refused++
  else found.complaints.push(`refused: ${why}`)
}

async function ask(hub: HubProcess, kept: Kept, found: Storm): Promise<void> {
  let by: Founder | null = null
  let asked = 0
  for (const [session, epoch] of kept) {
    // One stream may not ask for ever at once.
    if (asked++ % 500 === 0) {
      by?.close()
      by = await founder(hub.url)
    }
    const answer = await by!.ask({ kind: 'get', request: 0, session })
    const has = answer.kind === 'register' ? answer.register.epoch : 'nothing'
    if (has !== epoch) found.complaints.push(`${session}: epoch ${epoch} was told, it has ${has}`)
  }
  by?.close()
}
