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
import { readIceUrl } from '../../../wire/text/ice-url.ts'
import { askTurn, type TurnServer } from './ask-turn.ts'
import { type Connection, type ConnectionEvents, GATHERING_MS, WebRtcChannels } from './channels.ts'

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

/** @throws HoldfastError `bad-value` without the package */
export function openChannelsOnNode(
  { host, ports }: Pick<WebRtcOptions, 'host' | 'ports'>,
  ice: () => IceOptions,
  events: ChannelEvents,
): Channels {
  const { PeerConnection, cleanup } = nodeDataChannel()
  const place = {
    disableAutoNegotiation: true,
    ...(host === undefined ? {} : { bindAddress: host }),
    ...(ports === undefined ? {} : { portRangeBegin: ports[0], portRangeEnd: ports[1] }),
  }
  const asked = new Set<string>()
  users += 1
  return new WebRtcChannels(
    (own) => {
      const { ice: given = [], relayOnly = false } = ice()
      const { stun, turn } = serversOf(given)
      const iceTransportPolicy = relayOnly ? ('relay' as const) : ('all' as const)
      const connection = new PeerConnection('holdfast', {
        ...place,
        ...{ iceTransportPolicy, iceServers: [...stun, ...turn.map(({ toLibrary }) => toLibrary)] },
      })
      return new NodeConnection(connection, own, (relayed) => {
        if (relayed < turn.length) askEach(turn, asked, own)
      })
    },
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
  readonly #looking: NodeJS.Timeout
  #open = true
  /**
   * Candidates of our offer, which the peer gets after we have its answer: if it reaches us while
   * the library takes that answer, the library compares the certificate with none, and gives up.
   */
  #early: string[] | null = null

  /** @param gathered  all candidates are there or late, so many of them of TURN servers */
  constructor(
    connection: library.PeerConnection,
    events: ConnectionEvents,
    gathered: (relayed: number) => void,
  ) {
    this.#connection = connection
    this.#events = events
    let relayed = 0
    // The library waits 40 s for a server that does not answer.
    const look = (): void => this.#tell(() => gathered(relayed))
    this.#looking = setTimeout(look, GATHERING_MS).unref()
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') look()
    })
    connection.onLocalDescription((sdp) => this.#tell(() => events.described(sdp)))
    connection.onLocalCandidate((line) => {
      const plain = line.replace(/^a=/, '')
      if (plain.includes(' typ relay')) relayed += 1
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
    clearTimeout(this.#looking)
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

interface Turn extends TurnServer {
  readonly url: string
  readonly toLibrary: library.IceServer
}

/** The servers that the library takes: by UDP, without TLS. */
function serversOf(ice: readonly IceServer[]): { stun: string[]; turn: Turn[] } {
  const stun: string[] = []
  const turn: Turn[] = []
  for (const { urls, username = '', credential = '' } of ice) {
    for (const url of [urls].flat()) {
      const { scheme, host, port, transport } = readIceUrl(url)!
      if (scheme === 'stun') stun.push(url)
      if (scheme !== 'turn' || transport !== 'udp') continue
      const toLibrary = {
        ...{ hostname: host, port, username, password: credential },
        relayType: 'TurnUdp' as const,
      }
      turn.push({ url, host, port, username, credential, toLibrary })
    }
  }
  return { stun, turn }
}

/** Finds out why these gave no address, once for each of their credentials. */
function askEach(servers: readonly Turn[], asked: Set<string>, events: ConnectionEvents): void {
  for (const server of servers) {
    const { url, username } = server
    if (asked.has(`${url} ${username}`)) continue
    asked.add(`${url} ${username}`)
    askTurn(server, (refusal) => {
      if (refusal) events.refused({ url, ...refusal })
    })
  }
}
