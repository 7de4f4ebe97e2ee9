/**
 * Some of the floor's clients in one process.
 *
 *     node floor-clients.js TRAFFIC udp|ws|relay COUNT
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { HEADERS } from './counted.ts'
import { dueOf, open, seal, textOf, type Traffic } from './floor.ts'
import { asked } from './ticks.ts'
import { type Counting, used } from './used.ts'
import { blankWire, type ClientsSaid, type Way, type Wire } from './words.ts'

const [trafficText, way, countText] = process.argv.slice(2) as [string, Way, string]
const { down, up } = JSON.parse(trafficText) as Traffic
process.on('disconnect', () => process.exit())

const ack = textOf(up)
const header = way === 'udp' ? HEADERS.udp : HEADERS.tcp
const wires: Counting[] = []

/**
 * Resolves once the server has answered.
 *
 * @param connect  takes what is called with each message, and resolves to what sends one
 */
async function dial(
  connect: (heard: (bytes: Uint8Array) => void) => Promise<(bytes: Uint8Array) => void>,
): Promise<void> {
  const wire = { down: blankWire(), up: blankWire() }
  wires.push(wire)
  const due = dueOf(up.messages / down.messages)
  let first = (): void => {}
  const isThere = new Promise<void>((resolve) => (first = resolve))
  const send = await connect((bytes) => {
    first()
    open(bytes)
    count(wire.down, bytes)
    for (let left = due(); left > 0; left--) say(seal(ack))
  })
  const say = (bytes: Uint8Array): void => {
    count(wire.up, bytes)
    send(bytes)
  }
  say(seal(ack))
  await isThere
}

function count(wire: Wire, { length }: Uint8Array): void {
  wire.bytes += length + header
  wire.packets++
  wire.messages++
  wire.payload += length
}

async function join(url: string): Promise<void> {
  for (let client = 0; client < Number(countText); client++) {
    await dial(async (heard) => {
      if (way === 'udp') {
        const socket = createSocket('udp4')
        socket.on('message', heard)
        socket.connect(Number(url), '127.0.0.1')
        await once(socket, 'connect')
        return (bytes) => socket.send(bytes)
      }
      const socket = new WebSocket(url, { perMessageDeflate: false })
      socket.on('message', heard)
      await once(socket, 'open')
      return (bytes) => socket.send(bytes)
    })
  }
}

function tell(said: ClientsSaid): void {
  process.send?.(said)
}

asked('join', ({ url }) => void join(url).then(() => tell({ kind: 'joined' })))
asked('begin', ({ window }) => {
  void used(window, wires).then((took) => {
    tell({ kind: 'saw', ...took, shown: [], wanted: 0, missing: 0, has: 0, astray: 0 })
  })
})
tell({ kind: 'stands' })
