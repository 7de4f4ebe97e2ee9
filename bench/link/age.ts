/**
 * One end of the age measurement, run by the bridge: `b` makes a new state 60 times a second and
 * sends it over a link, a bare UDP socket and a WebSocket at once; `a` notes how old the newest
 * state is that it has, every 5 ms, and prints it. Both read the same clock.
 *
 *     node age.js SECONDS a|b
 */

import { createSocket } from 'node:dgram'
import WebSocket, { WebSocketServer } from 'ws'
import { scheduleWrite } from '../../packages/holdfast/src/link/link.ts'
import { writeRaw } from '../../packages/holdfast/src/wire/bytes.ts'
import { carry } from './carrier.ts'

const [secondsText, side] = process.argv.slice(2) as [string, string]
const seconds = Number(secondsText)
const HZ = 60
const STATE_BYTES = 200
const SAMPLE_MS = 5
const HOSTS = { a: '10.99.0.1', b: '10.99.0.2' }
const PORTS = { bare: 9001, link: 9002, ws: 9003 }
const SETTLE_MS = 1500

const clock = (): number => Number(process.hrtime.bigint()) / 1e6

function newState(): Buffer {
  const bytes = Buffer.alloc(STATE_BYTES)
  bytes.writeDoubleBE(clock())
  return bytes
}

function make(): void {
  const bare = createSocket('udp4')
  bare.bind(PORTS.bare, HOSTS.b, () => bare.connect(PORTS.bare, HOSTS.a))
  const socket = createSocket('udp4')
  let fresh: Buffer | null = null
  let turn = (): void => {}
  let wants = (): void => {}
  socket.bind(PORTS.link, HOSTS.b, () =>
    socket.connect(PORTS.link, HOSTS.a, () => {
      const carrier = carry(socket, {
        write: (_sequence, writer) => {
          if (fresh === null) return -1
          writeRaw(writer, fresh)
          fresh = null
          return 4
        },
      })
      wants = (): void => scheduleWrite(carrier.link, performance.now())
      turn = carrier.turn
      carrier.turn()
    }),
  )
  const server = new WebSocketServer({ host: HOSTS.b, port: PORTS.ws, perMessageDeflate: false })
  server.on('connection', (peer) => {
    const start = clock() + SETTLE_MS
    let count = 0
    const tick = (): void => {
      bare.send(newState())
      fresh = newState()
      wants()
      turn()
      peer.send(newState())
      count += 1
      setTimeout(tick, Math.max(0, start + (count * 1000) / HZ - clock()))
    }
    setTimeout(tick, SETTLE_MS)
  })
}

function watch(): void {
  const newest = { link: 0, bare: 0, ws: 0 }
  const ages: Record<keyof typeof newest, number[]> = { link: [], bare: [], ws: [] }
  const note = (kind: keyof typeof newest, bytes: Uint8Array): void => {
    const made = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0)
    newest[kind] = Math.max(newest[kind], made)
  }
  const bare = createSocket('udp4')
  bare.on('message', (bytes) => note('bare', bytes))
  bare.bind(PORTS.bare, HOSTS.a)
  const socket = createSocket('udp4')
  socket.bind(PORTS.link, HOSTS.a, () =>
    socket.connect(PORTS.link, HOSTS.b, () => {
      carry(socket, { frame: (_channel, bytes) => note('link', bytes) }).turn()
    }),
  )
  const connect = (): void => {
    const ws = new WebSocket(`ws://${HOSTS.b}:${PORTS.ws}`, { perMessageDeflate: false })
    ws.on('error', () => setTimeout(connect, 200))
    ws.on('message', (bytes: Buffer) => note('ws', bytes))
    ws.on('open', begin)
  }
  const begin = (): void => {
    const sampling = setInterval(() => {
      if (newest.link === 0 || newest.bare === 0 || newest.ws === 0) return
      const now = clock()
      for (const kind of ['link', 'bare', 'ws'] as const) ages[kind].push(now - newest[kind])
    }, SAMPLE_MS)
    setTimeout(
      () => {
        clearInterval(sampling)
        // A pipe takes more than a moment for so much.
        process.stdout.write(JSON.stringify(ages), () => process.exit())
      },
      seconds * 1000 + SETTLE_MS + 500,
    )
  }
  connect()
}

if (side === 'a') watch()
else make()
