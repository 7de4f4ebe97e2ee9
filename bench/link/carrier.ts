/**
 * A link on a UDP socket, as thin as it can be: an envelope of four bytes, acks and timers when
 * all that has come was read.
 */

import type { Socket } from 'node:dgram'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Arrivals, Link, LinkSink } from '../../packages/holdfast/src/link/link.ts'

const ENVELOPE = 4
// The system may still hold a datagram when `send` has returned, so buffers go round.
const BUFFERS = 1024
const BUFFER_BYTES = 1232

/** What a measurement adds to a link. */
export interface Use {
  write?: LinkSink['write']
  frame?(channel: number, bytes: Uint8Array): void
  message?(bytes: Uint8Array): void
  acked?(sequence: number): void
  delivered?(message: number): void
  /** Before packets are sent: time to queue or poke. */
  feed?(link: Link, now: number): void
}

/** A link at work. */
export interface Carrier {
  readonly link: Link
  /** Does what is due, and asks `feed`. */
  readonly turn: () => void
}

const nothing = (): void => {}

/** Runs a link over a connected socket. */
export function carry(socket: Socket, use: Use): Carrier {
  const state = link.create(performance.now())
  const sink = sinkOf(socket, use)
  const arrivals = link.createArrivals()
  let planned = false
  let timer: NodeJS.Timeout | null = null
  let timerAt = Infinity
  const ring = (): void => {
    timer = null
    turn()
  }
  const turn = (): void => {
    planned = false
    const now = performance.now()
    use.feed?.(state, now)
    link.flush(state, now, sink)
    if (link.deadline(state) <= now) link.wake(state, now, sink)
    const at = link.deadline(state)
    if (timer !== null && timerAt <= at) return
    if (timer !== null) clearTimeout(timer)
    timerAt = at
    timer = setTimeout(ring, Math.max(0, at - performance.now()))
  }
  socket.on('message', (bytes) => {
    const now = performance.now()
    const taken = link.receive(state, now, bytes.subarray(ENVELOPE), arrivals)
    tell(arrivals, use)
    if (taken) link.answer(state, now, sink)
    if (planned) return
    planned = true
    setImmediate(turn)
  })
  return { link: state, turn }
}

function tell({ list, count }: Arrivals, use: Use): void {
  for (let i = 0; i < count; i++) {
    const { what, number, bytes } = list[i]!
    if (what === 'message') use.message?.(bytes)
    else if (what === 'frame') use.frame?.(number, bytes)
    else if (what !== 'lost') use[what]?.(number)
  }
}

function sinkOf(socket: Socket, use: Use): LinkSink {
  const buffers = Array.from({ length: BUFFERS }, () => Buffer.alloc(BUFFER_BYTES))
  let buffer = 0
  return {
    packet: (bytes) => {
      const out = buffers[buffer++ % BUFFERS]!
      out.set(bytes, ENVELOPE)
      socket.send(out, 0, bytes.length + ENVELOPE)
    },
    write: use.write ?? ((): number => -1),
    lost: nothing,
  }
}
