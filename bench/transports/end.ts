/**
 * One of the two ends, a process of its own, with all lines open.
 *
 *     node end.js a|b
 */

import { openOnNode } from '../../packages/holdfast/src/drivers/crypto/libsodium.ts'
import * as bare from './bare.ts'
import * as drivers from './drivers.ts'
import { type Came, type Line, Talk } from './line.ts'
import { type Open, sealed, unsealed } from './linked.ts'
import {
  type Asked,
  FAR_MS,
  type LineName,
  LINES,
  type Said,
  type Servers,
  type Side,
  type Trips,
} from './words.ts'

process.on('disconnect', () => process.exit())

/** The first byte of a message; a number of four bytes follows it. */
const KIND = { flood: 0, there: 1, back: 2 } as const
/** The last round trips of a turn are waited for so long. */
const LAST_MS = 500

const side = process.argv[2] as Side
const talks = new Map<LineName, Talk>()
const lines = new Map<LineName, Line>()
let flooding: Line | null = null
let came = 0

for (const line of LINES) {
  talks.set(line, new Talk(side, (word) => say({ kind: 'word', line, word })))
}

function say(said: Said): void {
  process.send?.(said)
}

function open(line: LineName, servers: Servers): Promise<Line> {
  const talk = talks.get(line)!
  const take = takeOf(line)
  const incs = (low: number): { me: number; other: number } => {
    return side === 'a' ? { me: low, other: low + 1 } : { me: low + 1, other: low }
  }
  const seal = async (carrier: Open, low = 2): Promise<Line> => {
    return sealed(carrier, talk, { ...incs(low), crypto: await openOnNode() }, take)
  }
  switch (line) {
    case 'dgram':
      return bare.dgram(talk, take)
    case 'UDP':
      return unsealed(drivers.udp(talk), take)
    case 'sealed UDP':
      return seal(drivers.udp(talk))
    case 'channel':
      return bare.channel(talk, take)
    case 'sealed WebRTC':
      return seal(drivers.webrtc(talk, incs(2)))
    case 'ws':
      return bare.ws(talk, take)
    case 'sealed WebSocket':
      return seal(drivers.straight(talk))
    case 'forwarded ws':
      return bare.forwardedWs(servers.forwarder, take)
    case 'sealed relay':
      return seal(drivers.hub(talk, incs(2), servers, 0), 2)
    case 'sealed relay far away':
      return seal(drivers.hub(talk, incs(4), servers, FAR_MS), 4)
  }
}

function takeOf(line: LineName): Came {
  return (bytes) => {
    came += 1
    if (bytes[0] === KIND.there) {
      const answer = Uint8Array.from(bytes)
      answer[0] = KIND.back
      lines.get(line)?.send(answer)
    } else if (bytes[0] === KIND.back) landed(line, numberIn(bytes))
  }
}

function numberIn(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
}

let numbered = 0
const flying = new Map<LineName, Map<number, number>>()
const landings = new Map<LineName, number[]>()

function landed(line: LineName, number: number): void {
  const own = flying.get(line)
  const left = own?.get(number)
  if (left === undefined) return
  own!.delete(number)
  landings.get(line)!.push(performance.now() - left)
}

async function trips({ lines: names, bytes, perSecond, ms }: Asked & { kind: 'trips' }) {
  for (const name of names) {
    flying.set(name, new Map())
    landings.set(name, [])
  }
  const gap = 1_000 / perSecond / names.length
  const first = numbered
  const start = performance.now()
  await new Promise<void>((resolve) => {
    const dueAt = (): number => start + (numbered - first) * gap
    const next = (): void => {
      // The timer counts in milliseconds, so more than one may be due.
      for (; dueAt() <= performance.now(); numbered++) {
        if (dueAt() >= start + ms) return void setTimeout(resolve, LAST_MS)
        const name = names[(numbered - first) % names.length]!
        const message = new Uint8Array(bytes)
        message[0] = KIND.there
        new DataView(message.buffer).setUint32(1, numbered)
        flying.get(name)!.set(numbered, performance.now())
        lines.get(name)!.send(message)
      }
      setTimeout(next, dueAt() - performance.now())
    }
    next()
  })
  const found: Partial<Record<LineName, Trips>> = {}
  for (const name of names) {
    found[name] = { ms: landings.get(name)!, lost: flying.get(name)!.size }
  }
  say({ kind: 'trips', trips: found })
}

async function obey(asked: Asked): Promise<void> {
  switch (asked.kind) {
    case 'word':
      return talks.get(asked.line)!.take(asked.word)
    case 'open':
      for (const line of LINES) lines.set(line, await open(line, asked.servers))
      return say({ kind: 'opened' })
    case 'flood':
      flooding?.flood(null)
      flooding = asked.line ? lines.get(asked.line)! : null
      return flooding?.flood(new Uint8Array(asked.bytes))
    case 'count': {
      const { user, system } = process.cpuUsage()
      return say({ kind: 'count', messages: came, cpu: user + system, at: performance.now() })
    }
    case 'trips':
      return trips(asked)
  }
}

process.on('message', (asked: Asked) => void obey(asked))
