/**
 * Sealing: what a packet costs with each driver, beside bare calls of the same cipher and plain
 * node:crypto; handshakes a second; and what a page loads for it.
 */

import { libsodium, libsodiumCurves } from '../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { nobleCiphers } from '../packages/holdfast/src/drivers/crypto/browser.ts'
import { nobleCurves } from '../packages/holdfast/src/drivers/crypto/noble-curves.ts'
import { nodeCurves } from '../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../test/node-ciphers.ts'
import { openOnNode } from '../packages/holdfast/src/drivers/crypto/libsodium.ts'
import { sodiumNative } from '../packages/holdfast/src/drivers/crypto/sodium-native.ts'
import { webCurves } from '../packages/holdfast/src/drivers/crypto/web-curves.ts'
import { BASE_POINT, type Ciphers, type Curves, TAG_BYTES } from '../packages/holdfast/src/ports.ts'
import * as machine from '../packages/holdfast/src/seal/seal.ts'
import type { Seal, SealSink } from '../packages/holdfast/src/seal/state.ts'
import { atMost, type BenchReport, type Goal, type Table, unjudged } from './report.ts'
import { weigh, weighParts } from './size/bundles.ts'
import { firstGame } from './size/first-game.ts'

/** For the list of benches. */
export const about = 'sealing: a packet and a handshake by driver, and what pages load for it'

const SIZES = [64, 1_132] as const
const ROUNDS = 5
/** What a page of the first game may load for it. */
const GOAL_KB = 6

/** Measures; `quick` takes fewer packets and judges no times. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  const all = [sodiumNative(), await libsodium(), nodeCiphers, nobleCiphers]
  const drivers = all.filter((one) => one !== null)
  const count = quick ? 500 : 4_000
  const packets = drivers.map((ciphers) => packetRow(ciphers, count))
  const reference = packets.find(({ name }) => name === nodeCiphers.name)!
  const { ciphers } = await openOnNode(() => {
    throw new Error('as where it is not installed')
  })
  const plain = packets.find(({ name }) => name === ciphers.name)!
  const curves = [await libsodiumCurves(), nodeCurves, await webCurves(), nobleCurves].filter(
    (one) => one !== null,
  )
  const hands: [string, number, number][] = []
  for (const one of curves) hands.push(await handshakeRow(one, quick ? 10 : 60))
  const more = await pageKilobytes()
  const goals: Goal[] = [
    ...plain.sizes.map(({ size, sealed, bare }) => {
      return atMost(`${plain.name}, ${size} B: a packet / bare calls`, sealed / bare, 1.3, 'x')
    }),
    atMost('for it in a page of the first game, gzipped', more, GOAL_KB, 'kB'),
  ]
  return {
    tables: [packetTable(packets, reference), handshakeTable(hands)],
    goals: quick ? goals.map((goal) => (goal.unit === 'kB' ? goal : unjudged(goal))) : goals,
    notes: [
      'A handshake is message 1, message 2 and the first word each way: ten points of X25519.',
      'In a page that is sealing, keys and the way in, with @noble/ciphers.',
    ],
  }
}

function packetTable(packets: readonly PacketRow[], reference: PacketRow): Table {
  return {
    title: 'one packet sealed and opened, microseconds of a processor',
    columns: ['driver', 'bytes', 'bare calls', 'by the machine', 'ratio', 'node:crypto bare, x'],
    rows: packets.flatMap(({ name, sizes }) => {
      return sizes.map(({ size, bare, sealed }, at) => {
        const beside = bare / reference.sizes[at]!.bare
        return [name, size, round(bare), round(sealed), round(sealed / bare), round(beside)]
      })
    }),
  }
}

function handshakeTable(rows: Table['rows']): Table {
  const columns = ['curves', 'a second of a processor', 'milliseconds']
  return { title: 'handshakes, both ends in one thread', columns, rows }
}

const round = (value: number): number => Number(value.toPrecision(3))

interface PacketRow {
  name: string
  sizes: { size: number; bare: number; sealed: number }[]
}

function packetRow(ciphers: Ciphers, count: number): PacketRow {
  const sizes = SIZES.map((size) => {
    const text = new Uint8Array(size).fill(7)
    const [bare, sealed] = [bareOf(ciphers, text), machineOf(ciphers, text)]
    // In turns, so that what else the machine does befalls both.
    const best = [Infinity, Infinity]
    for (let round = 0; round < ROUNDS; round++) {
      best[0] = Math.min(best[0]!, timed(bare, count))
      best[1] = Math.min(best[1]!, timed(sealed, count))
    }
    return { size, bare: best[0]!, sealed: best[1]! }
  })
  return { name: ciphers.name, sizes }
}

function timed(work: () => void, count: number): number {
  const before = processor()
  for (let n = 0; n < count; n++) work()
  return (processor() - before) / count
}

/** Microseconds of a processor that this process has used: others do not count. */
function processor(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function bareOf(ciphers: Ciphers, text: Uint8Array): () => void {
  const [key, nonce, data] = [new Uint8Array(32), new Uint8Array(12), new Uint8Array(7)]
  const [sealed, opened] = [new Uint8Array(text.length + TAG_BYTES), new Uint8Array(text.length)]
  return () => {
    ciphers.seal(key, nonce, data, text, sealed)
    if (!ciphers.open(key, nonce, data, sealed, opened)) throw new Error('does not open')
  }
}

function machineOf(ciphers: Ciphers, text: Uint8Array): () => void {
  const [ada, bea] = [endOf(ciphers, 1), endOf(ciphers, 2)]
  ask(ada, bea)
  // What leaves comes at once.
  ada.leaves = (bytes) => void machine.receive(bea.seal, 0, 'a', bytes)
  const peer = machine.nameOf(bea.seal.point)
  return () => {
    if (!machine.send(ada.seal, 0, peer, text)) throw new Error('it did not leave')
  }
}

interface End {
  seal: Seal
  waiting: [job: number, pairs: readonly (readonly [Uint8Array, Uint8Array])[]][]
  mail: Uint8Array[]
  leaves: (bytes: Uint8Array) => void
}

function endOf(ciphers: Ciphers, me: number): End {
  const secret = new Uint8Array(32).fill(me)
  const point = nodeCurves.agree(secret, BASE_POINT) as Uint8Array
  const seed = new Uint8Array(32).fill(me + 100)
  const [firsts, firstsOfOne] = [
    { max: 1e6, perSecond: 0 },
    { max: 1e6, perSecond: 0 },
  ]
  const limits = { window: 2048, rekeyMs: Infinity, rekeyPackets: Infinity, overlapMs: 0 }
  const mail: Uint8Array[] = []
  const waiting: End['waiting'] = []
  const out: SealSink = {
    datagram: (_to, bytes) => end.leaves(bytes),
    agree: (job, pairs) => waiting.push([job, pairs]),
    admit: () => null,
    event: () => {},
  }
  const options = { out, ciphers, session: 'bench', secret, point, seed, me }
  const seal = machine.create(0, { ...options, limits: { ...limits, firsts, firstsOfOne } })
  const end: End = { seal, waiting, mail, leaves: (bytes) => mail.push(new Uint8Array(bytes)) }
  return end
}

function ask(ada: End, bea: End, curves: Curves = nodeCurves): void {
  const peer = machine.nameOf(bea.seal.point)
  machine.ask(ada.seal, 0, { peer, to: 2, addresses: ['a'] })
  for (let busy = true; busy;) {
    busy = false
    for (const end of [ada, bea]) {
      for (let next = end.waiting.shift(); next; next = end.waiting.shift()) {
        const shared = next[1].map(([secret, point]) => curves.agree(secret, point) as Uint8Array)
        machine.agreed(end.seal, 0, next[0], shared)
        busy = true
      }
      const other = end === ada ? bea : ada
      for (let bytes = end.mail.shift(); bytes; bytes = end.mail.shift()) {
        machine.receive(other.seal, 0, 'a', bytes)
        busy = true
      }
    }
  }
}

async function handshakeRow(curves: Curves, count: number): Promise<[string, number, number]> {
  const { ciphers } = await openOnNode()
  const [ada, bea] = [endOf(ciphers, 1), endOf(ciphers, 2)]
  const waits = (await webCurves())?.name === curves.name
  const before = processor()
  for (let n = 0; n < count; n++) {
    if (waits) await askLater(ada, bea, curves)
    else ask(ada, bea, curves)
  }
  if (bea.seal.counters.handshakes !== count) throw new Error('a handshake failed')
  const ms = (processor() - before) / 1_000 / count
  return [curves.name, round(1_000 / ms), round(ms)]
}

async function askLater(ada: End, bea: End, curves: Curves): Promise<void> {
  const peer = machine.nameOf(bea.seal.point)
  machine.ask(ada.seal, 0, { peer, to: 2, addresses: ['a'] })
  for (let busy = true; busy;) {
    busy = false
    for (const end of [ada, bea]) {
      for (let next = end.waiting.shift(); next; next = end.waiting.shift()) {
        const points = next[1].map(async ([secret, point]) => await curves.agree(secret, point))
        machine.agreed(end.seal, 0, next[0], await Promise.all(points))
        busy = true
      }
      const other = end === ada ? bea : ada
      for (let bytes = end.mail.shift(); bytes; bytes = end.mail.shift()) {
        machine.receive(other.seal, 0, 'a', bytes)
        busy = true
      }
    }
  }
}

// What is there for keys and sealed links alone.
const SEALING =
  /src\/(seal|drivers\/crypto)\/|@noble\/ciphers|src\/member\/(link-keys|join-link|join-res)/

/** The first game, less the game without what is there for sealing. */
async function pageKilobytes(): Promise<number> {
  const game = await firstGame()
  const parts = weighParts(game, (path) => (SEALING.test(path) ? 'sealing' : 'rest'))
  return (weigh(game.code).gzipped - parts.get('rest')!.gzipped) / 1_000
}
