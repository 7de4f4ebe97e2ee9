/**
 * WebRTC on Node, by the package node-datachannel: libdatachannel as a binary of ten megabytes. It
 * is an optional peer dependency, loaded when a member asks for it by name.
 */

import { createRequire } from 'node:module'
import type * as library from 'node-datachannel'
import { badValue } from '../../../machine.ts'
import type {
  ChannelEvents,
  Channels,
  IceOptions,
  IceServer,
  WebRtcOptions,
} from '../../../ports.ts'
import { type Connection, type ConnectionEvents, WebRtcChannels } from './channels.ts'

/** Its version range in package.json, in the form that `npm install` takes. */
const NODE_DATACHANNEL = 'node-datachannel@^0.33.4'

type Library = typeof library

const require = createRequire(import.meta.url)

/**
 * The package.
 *
 * @param load  loads it in its place: a test sees the error where it is missing
 * @throws HoldfastError `bad-value` where it is not installed, naming the command that installs it
 */
export function nodeDataChannel(load?: () => unknown): Library {
  try {
    return (load ? load() : require('node-datachannel')) as Library
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    const cure = `npm install ${NODE_DATACHANNEL}`
    throw badValue(`webrtc needs the package node-datachannel: ${cure} (${why})`)
  }
}

// The library's threads keep the process alive until its `cleanup`.
let users = 0

/** @throws HoldfastError `bad-value` without the package, or for a server that it does not take */
export function openChannelsOnNode(
  { host, ports }: Pick<WebRtcOptions, 'host' | 'ports'>,
  { ice = [], relayOnly = false }: IceOptions,
  events: ChannelEvents,
): Channels {
  const { PeerConnection, cleanup } = nodeDataChannel()
  const configuration = {
    iceServers: ice.flatMap(serversOf),
    iceTransportPolicy: relayOnly ? ('relay' as const) : ('all' as const),
    disableAutoNegotiation: true,
    ...(host === undefined ? {} : { bindAddress: host }),
    ...(ports === undefined ? {} : { portRangeBegin: ports[0], portRangeEnd: ports[1] }),
  }
  users += 1
  return new WebRtcChannels(
    (own) => new NodeConnection(new PeerConnection('holdfast', configuration), own),
    events,
    () => {
      users -= 1
      if (users === 0) cleanup()
    },
  )
}

class NodeConnection implements Connection {
  readonly #connection: library.PeerConnection
  readonly #channel: library.DataChannel
  readonly #events: ConnectionEvents
  #open = true
  /**
   * Candidates of our offer, which the peer gets after we have its answer: if it reaches us while
   * the library takes that answer, the library compares the certificate with none, and gives up.
   */
  #early: string[] | null = null

  constructor(connection: library.PeerConnection, events: ConnectionEvents) {
    this.#connection = connection
    this.#events = events
    connection.onLocalDescription((sdp) => this.#tell(() => events.described(sdp)))
    connection.onLocalCandidate((line) => {
      const plain = line.replace(/^a=/, '')
      if (this.#early) this.#early.push(plain)
      else this.#tell(() => events.candidate(plain))
    })
    // Agreed beforehand, so it opens without a further message.
    this.#channel = connection.createDataChannel('holdfast', {
      ...{ negotiated: true, id: 0, unordered: true, maxRetransmits: 0 },
    })
    this.#channel.onOpen(() => this.#tell(() => events.opened()))
    this.#channel.onClosed(() => this.#tell(() => events.closed()))
    this.#channel.onMessage((data) => {
      const bytes = typeof data === 'string' ? new Uint8Array(0) : new Uint8Array(data)
      this.#tell(() => events.frame(bytes))
    })
  }

  begin(offer: string | null): void {
    this.#try(() => {
      if (offer === null) this.#early = []
      else this.#connection.setRemoteDescription(offer, 'offer')
      this.#connection.setLocalDescription(offer === null ? 'offer' : 'answer')
    })
  }

  accept(answer: string): void {
    this.#try(() => {
      this.#connection.setRemoteDescription(answer, 'answer')
      for (const line of this.#early ?? []) {
        queueMicrotask(() => this.#tell(() => this.#events.candidate(line)))
      }
      this.#early = null
    })
  }

  candidate(line: string): void {
    try {
      this.#connection.addRemoteCandidate(line, '0')
    } catch {
      // One that the library cannot use ends nothing.
    }
  }

  waiting(): number {
    return this.#open ? this.#channel.bufferedAmount() : 0
  }

  send(bytes: Uint8Array): boolean {
    try {
      // Its answer is false where the bytes wait, which they may.
      if (this.#open) this.#channel.sendMessageBinary(bytes)
      return this.#open
    } catch {
      return false
    }
  }

  close(): void {
    this.#open = false
    this.#connection.close()
  }

  // The library reports from its threads, also what happened before it was closed.
  #tell(run: () => void): void {
    if (this.#open) run()
  }

  #try(run: () => void): void {
    try {
      run()
    } catch {
      queueMicrotask(() => this.#tell(() => this.#events.closed()))
    }
  }
}

const RELAYS = { udp: 'TurnUdp', tcp: 'TurnTcp', tls: 'TurnTls' } as const
const SERVER = /^(stun|turns?):([^:?]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/i

function serversOf({ urls, username, credential }: IceServer): (string | library.IceServer)[] {
  return [urls].flat().map((url) => {
    const [, scheme = '', host = '', port, transport = 'udp'] = SERVER.exec(url) ?? []
    if (host === '') throw badValue(`an ICE server is like turn:example.org:3478: "${url}"`)
    const isTls = scheme.toLowerCase() === 'turns'
    const at = { hostname: host, port: Number(port ?? (isTls ? 5349 : 3478)) }
    if (scheme.toLowerCase() === 'stun') return `stun:${at.hostname}:${at.port}`
    const relayType = RELAYS[isTls ? 'tls' : (transport.toLowerCase() as 'udp' | 'tcp')]
    return { ...at, relayType, username: username ?? '', password: credential ?? '' }
  })
}
