/** The drivers of the product, each opened between the two ends. */

import { Conditioner } from '../../packages/holdfast/src/drivers/net/conditioner.ts'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { Relay } from '../../packages/holdfast/src/drivers/net/relay.ts'
import { openDoor } from '../../packages/holdfast/src/drivers/net/server/stream-door.ts'
import { openStreams } from '../../packages/holdfast/src/drivers/net/streams.ts'
import { openUdp } from '../../packages/holdfast/src/drivers/net/udp.ts'
import { openChannelsOnNode } from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { createPath } from '../../packages/holdfast/src/faults/conditions.ts'
import {
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { OpenDatagrams } from '../../packages/holdfast/src/ports.ts'
import { HubConnection } from '../../packages/holdfast/src/runtime/hub-stream.ts'
import { proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, relayed } from '../../packages/holdfast/src/wire/relay.ts'
import { SECRET } from '../../test/attack/stranger.ts'
import type { Incs, Open } from './linked.ts'
import type { Talk } from './line.ts'
import type { Servers } from './words.ts'

const loop = createNodeLoop()

/** `b` tells where it listens, and `a` sends there. */
function listening(talk: Talk, open: OpenDatagrams): Open {
  return async (datagram) => {
    const datagrams = await open({ datagram, refused: () => {} })
    const send = datagrams.send.bind(datagrams)
    if (talk.side === 'a') return { peer: String(await talk.hear()), send }
    talk.tell(datagrams.addresses[0])
    return { peer: null, send }
  }
}

export function udp(talk: Talk): Open {
  return listening(talk, openUdp())
}

export function straight(talk: Talk): Open {
  const door = { port: 0, host: '127.0.0.1', path: '/', origins: [], tls: null }
  const open =
    talk.side === 'a' ? openStreams(connectWebSocketNode) : openDoor({ door, url: null, trust: 0 })
  return listening(talk, open)
}

export function webrtc(talk: Talk, { other }: Incs): Open {
  return (datagram) =>
    new Promise((resolve, reject) => {
      const channels = openChannelsOnNode({ host: '127.0.0.1' }, () => ({}), {
        datagram,
        refused: () => {},
        signal: (_peer, bytes) => talk.tell([...bytes]),
        gone: (address) => reject(new Error(`the channel ${address} is gone`)),
        candidate: (_peer, address) => {
          const peer = talk.side === 'a' ? address : null
          resolve({ peer, send: channels.send.bind(channels) })
        },
      })
      talk.on((signal) => channels.signal(other, Uint8Array.from(signal as number[])))
      if (talk.side === 'a') channels.offer(other)
    })
}

/** @param rttMs  a round trip between each end and the hub, beside what it is */
export function hub(
  talk: Talk,
  { me, other }: Incs,
  { hub: url, session }: Servers,
  rttMs: number,
): Open {
  const far = new Conditioner(loop, { rttMs })
  const [up, down] = [createPath(), createPath()]
  return (datagram) =>
    new Promise((resolve) => {
      const say = (message: ToHub): unknown => stream.send(frameMessage(encode(toHub, message)))
      const stream = new HubConnection(
        [url],
        { connect: connectWebSocketNode, loop },
        {
          opened: () => {
            say({ kind: 'hello', version: HUB_VERSION })
            const proof = proofOf(SECRET, 'register')
            say({ kind: 'attach', request: 1, session, inc: me, proof })
          },
          message: (bytes) => {
            if (decode(fromHub, bytes)?.kind !== 'attached') return
            const peer = talk.side === 'a' ? relayed(other) : null
            resolve({
              peer,
              send: (to, packet) => far.pass(up, packet, (copy) => relay.send(to, copy)),
            })
          },
          relayed: (from, bytes) => relay.deliver(from, bytes),
          ...{ closed: () => {}, met: () => {}, quiet: () => {}, isNeeded: () => true },
        },
      )
      const relay = new Relay(
        (frame) => stream.send(frame),
        () => stream.backlog(),
        { datagram: (from, bytes) => far.pass(down, bytes, (copy) => datagram(from, copy)) },
      )
    })
}
