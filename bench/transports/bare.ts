/** Transports without anything of ours, as plainly as they can be used. */

import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import WebSocket, { WebSocketServer } from 'ws'
import { nodeDataChannel } from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import type { Came, Line, Talk } from './line.ts'

/** Sends between two looks at the event loop. */
const BURST = 32
/** So many bytes may wait in a stream or a channel. */
const WAITING_MAX = 256 * 1024
const SOCKET_BYTES = 4 * 1024 * 1024

export async function dgram(talk: Talk, came: Came): Promise<Line> {
  const socket = createSocket('udp4')
  socket.on('message', (bytes) => came(bytes))
  // A peer that has stopped already is no failure.
  socket.on('error', () => {})
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  socket.setRecvBufferSize(SOCKET_BYTES)
  socket.setSendBufferSize(SOCKET_BYTES)
  talk.tell(socket.address().port)
  socket.connect((await talk.hear()) as number, '127.0.0.1')
  await once(socket, 'connect')
  return plain(
    (bytes) => socket.send(bytes),
    () => 0,
  )
}

/** A channel of the kind that the product uses: unordered, without retransmits. */
export function channel(talk: Talk, came: Came): Promise<Line> {
  const { PeerConnection } = nodeDataChannel()
  const connection = new PeerConnection('bench', {
    ...{ iceServers: [], bindAddress: '127.0.0.1', disableAutoNegotiation: true },
  })
  const own = connection.createDataChannel('bench', {
    ...{ negotiated: true, id: 0, unordered: true, maxRetransmits: 0 },
  })
  own.onMessage((bytes) => came(new Uint8Array(bytes as ArrayBuffer)))
  if (talk.side === 'a') offer(connection, talk)
  else answer(connection, talk)
  return new Promise((resolve) => {
    const line = plain(
      (bytes) => own.sendMessageBinary(bytes),
      () => own.bufferedAmount(),
    )
    own.onOpen(() => resolve(line))
  })
}

type Connection = InstanceType<ReturnType<typeof nodeDataChannel>['PeerConnection']>
const CANDIDATE = /^a=(candidate:.*)\r?\n/gm

// If the other end reaches it before it has taken the answer, the library gives up: so the
// candidates of the offer come last.
function offer(connection: Connection, talk: Talk): void {
  let whole = ''
  connection.onGatheringStateChange((state) => {
    if (state !== 'complete') return
    whole = connection.localDescription()!.sdp
    talk.tell(whole.replaceAll(CANDIDATE, ''))
  })
  connection.setLocalDescription('offer')
  talk.on((sdp) => {
    connection.setRemoteDescription(String(sdp), 'answer')
    talk.tell([...whole.matchAll(CANDIDATE)].map(([, line]) => line))
  })
}

function answer(connection: Connection, talk: Talk): void {
  connection.onGatheringStateChange((state) => {
    if (state === 'complete') talk.tell(connection.localDescription()!.sdp)
  })
  talk.on((word) => {
    if (typeof word === 'string') {
      connection.setRemoteDescription(word, 'offer')
      connection.setLocalDescription('answer')
    } else for (const line of word as string[]) connection.addRemoteCandidate(line, '0')
  })
}

export async function ws(talk: Talk, came: Came): Promise<Line> {
  if (talk.side === 'a') {
    return socketLine(await dial((await talk.hear()) as number), came)
  }
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  talk.tell((server.address() as AddressInfo).port)
  const [socket] = (await once(server, 'connection')) as [WebSocket]
  return socketLine(socket, came)
}

/** Both dial a server that hands on what comes. */
export async function forwardedWs(port: number, came: Came): Promise<Line> {
  return socketLine(await dial(port), came)
}

async function dial(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
  await once(socket, 'open')
  return socket
}

function socketLine(socket: WebSocket, came: Came): Line {
  socket.on('message', (bytes: Buffer) => came(bytes))
  return plain(
    (bytes) => socket.send(bytes),
    () => socket.bufferedAmount,
  )
}

function plain(send: (bytes: Uint8Array) => unknown, waiting: () => number): Line {
  let flooding: Uint8Array | null = null
  const burst = (): void => {
    if (!flooding) return
    for (let n = 0; n < BURST && waiting() < WAITING_MAX; n++) send(flooding)
    setImmediate(burst)
  }
  return {
    send,
    flood: (bytes) => {
      flooding = bytes
      burst()
    },
  }
}
