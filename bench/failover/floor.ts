/**
 * The floor below any detector of this kind: two bare sockets, a heartbeat every 10 ms, a bound
 * of 50 ms, from the kill of the one process to the instant at which the other notices.
 */

import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { BOUND_MIN_MS, heartbeatOf } from '../../packages/holdfast/src/session/failure-detector.ts'
import { end, start } from '../processes/children.ts'
import { clock } from '../processes/clock.ts'

const WARM_MS = 400
const OVER_MS = 2_000
const HEARTBEAT_MS = heartbeatOf('udp')

/** Kill to noticed, in ms. @throws Error when it is not noticed within two seconds */
export async function floor(): Promise<number> {
  const socket = createSocket('udp4')
  let heard = NaN
  socket.on('message', () => {
    heard = clock()
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  const child = start(new URL('./beat.js', import.meta.url), [port, HEARTBEAT_MS])
  try {
    await once(socket, 'message')
    await pause(WARM_MS + Math.random() * HEARTBEAT_MS)
    const killed = clock()
    child.kill('SIGKILL')
    while (clock() - heard < BOUND_MIN_MS) {
      await pause(heard + BOUND_MIN_MS - clock())
      if (clock() - killed > OVER_MS) throw new Error('a bare heartbeat does not end')
    }
    return clock() - killed
  } finally {
    await end(child)
    socket.close()
  }
}
