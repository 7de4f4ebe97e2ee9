/** A Node process as a place to run in: UDP to other Node members, the hub by WebSocket. */

import { createNodeLoop } from './net/loop-node.ts'
import { openUdp, type UdpOptions } from './net/udp.ts'
import { connectWebSocketNode } from './net/websocket-node.ts'
import type { Environment } from '../ports.ts'

/** The environment of this process. @param udp where to listen; null for the relay alone */
export function nodeEnvironment(udp: UdpOptions | null = {}): Environment {
  return {
    kind: 'node',
    loop: createNodeLoop(),
    connect: connectWebSocketNode,
    carriers: udp ? [openUdp(udp)] : [],
    defaultServer: process.env['HOLDFAST_SERVER'] ?? 'ws://127.0.0.1:8700',
    onEnd: (run) => {
      process.once('exit', run)
      return () => process.removeListener('exit', run)
    },
  }
}
