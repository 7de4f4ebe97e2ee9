/**
 * One process of the flood: sends as fast as it can, or takes what comes, raw or by a link.
 *
 *     node flood.js raw|link|coalesced send|receive SIZE
 *
 * The parent says `{ port }` to connect both sockets, `start` and `stop`; between these the
 * process counts messages and processor time, which it reports.
 */

import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import * as link from '../../packages/holdfast/src/link/link.ts'
import { writeRaw } from '../../packages/holdfast/src/wire/bytes.ts'
import { carry } from './carrier.ts'

const [mode, role, sizeText] = process.argv.slice(2) as [string, string, string]
const size = Number(sizeText)
const message = new Uint8Array(size).fill(7)
const SOCKET_BYTES = 4 * 1024 * 1024
// Sends of a raw sender between two looks at the event loop.
const BURST = 32

/** What one process counted. */
export interface Count {
  messages: number
  /** Processor time, user and system, in microseconds. */
  cpu: number
  /** Of the link: packets sent, and lost. */
  packets: number
  lost: number
}

let messages = 0
let stopped = false

function raw(socket: Socket): void {
  if (role === 'receive') {
    socket.on('message', () => {
      messages += 1
    })
    return
  }
  const burst = (): void => {
    if (stopped) return
    for (let count = 0; count < BURST; count++) socket.send(message, 0, size)
    setImmediate(burst)
  }
  burst()
}

function linked(socket: Socket): link.Link {
  if (role === 'receive') {
    return carry(socket, { frame: () => (messages += 1), message: () => (messages += 1) }).link
  }
  let last = -1
  const single = mode === 'link'
  const carrier = carry(socket, {
    // One message for each packet that has room for it beside an ack and a question.
    write: (sequence, writer, budget) => {
      if (sequence === last || budget < size) return -1
      last = sequence
      writeRaw(writer, message)
      return 4
    },
    acked: () => {
      if (single) messages += 1
    },
    delivered: (upTo) => {
      if (!single) messages = upTo
    },
    feed: (state, now) => {
      if (stopped) return
      if (single) link.scheduleWrite(state, now)
      else while (state.outgoing.messages < 500) link.send(state, now, message)
    },
  })
  carrier.turn()
  return carrier.link
}

const socket = createSocket('udp4')
let counting: { cpu: NodeJS.CpuUsage; messages: number; packets: number } | null = null
let state: link.Link | null = null
// A peer that has stopped already is no failure.
socket.on('error', () => {})
socket.bind(0, '127.0.0.1', () => {
  socket.setRecvBufferSize(SOCKET_BYTES)
  socket.setSendBufferSize(SOCKET_BYTES)
  process.send!({ port: (socket.address() as AddressInfo).port })
})
process.on('message', (order: { port?: number; say?: string }) => {
  if (order.port !== undefined) {
    socket.connect(order.port, '127.0.0.1', () => {
      if (mode === 'raw') raw(socket)
      else state = linked(socket)
    })
  } else if (order.say === 'start') {
    counting = { cpu: process.cpuUsage(), messages, packets: state?.counters.sent ?? 0 }
  } else if (counting !== null) {
    const cpu = process.cpuUsage(counting.cpu)
    const count: Count = {
      messages: messages - counting.messages,
      cpu: cpu.user + cpu.system,
      packets: (state?.counters.sent ?? 0) - counting.packets,
      lost: state?.counters.lost ?? 0,
    }
    stopped = true
    process.send!({ count }, () => process.exit())
  }
})
