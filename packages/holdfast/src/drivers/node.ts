/** The environment of a Node process: UDP to other Node members, the hub by WebSocket. */

import { openOnNode } from './crypto/libsodium.ts'
import { createNodeLoop } from './net/loop-node.ts'
import { lookFromNode } from './net/look-node.ts'
import { openDoor, type StreamDoorOptions } from './net/server/stream-door.ts'
import { openStreams } from './net/streams.ts'
import { openUdp } from './net/udp.ts'
import { nodeDataChannel, openChannelsOnNode } from './net/webrtc/node.ts'
import { connectWebSocketNode } from './net/websocket-node.ts'
import { report } from './report.ts'
import type { Crypto, Environment, UdpOptions, WebRtcOptions } from '../ports.ts'

let crypto: Promise<Crypto> | null = null
const atEnd = new Set<() => void>()

function onEnd(run: () => void): () => void {
  // One listener for all sessions: Node warns of more than ten.
  if (atEnd.size === 0) process.once('exit', endAll)
  atEnd.add(run)
  return () => {
    atEnd.delete(run)
    if (atEnd.size === 0) process.removeListener('exit', endAll)
  }
}

function endAll(): void {
  for (const run of [...atEnd]) run()
}

/** The hub of a process that names none. */
export function defaultServer(): string {
  return process.env['HOLDFAST_SERVER'] ?? 'ws://127.0.0.1:8700'
}

/**
 * The environment of this process.
 *
 * @param udp  where to listen for other Node members; null for nowhere
 * @param listen  where to listen for streams; null for nowhere
 * @param webrtc  where WebRTC listens; false for nowhere
 * @throws HoldfastError `bad-value` where WebRTC lacks its package
 */
export function nodeEnvironment(
  udp: UdpOptions | null = {},
  listen: StreamDoorOptions | null = null,
  webrtc: WebRtcOptions | boolean = false,
): Environment {
  if (webrtc !== false) nodeDataChannel()
  const own = webrtc === true ? {} : webrtc
  return {
    kind: 'node',
    loop: createNodeLoop(),
    crypto: () => (crypto ??= openOnNode()),
    connect: connectWebSocketNode,
    look: lookFromNode,
    ...(own ? { openChannels: (ice, events) => openChannelsOnNode(own, ice, events) } : {}),
    carriers: [
      ...(udp ? [openUdp(udp)] : []),
      ...(listen ? [openDoor(listen)] : []),
      openStreams(connectWebSocketNode),
    ],
    defaultServer: defaultServer(),
    report,
    onEnd,
    // A process gets no notice before it is stopped.
    onFreeze: () => () => {},
  }
}
