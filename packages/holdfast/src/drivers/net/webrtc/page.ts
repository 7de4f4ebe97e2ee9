/** WebRTC of a browser. Loaded with the first channel of a page. */

import type { ChannelEvents, Channels, IceOptions } from '../../../ports.ts'
import { type Connection, type ConnectionEvents, GATHERING_MS, WebRtcChannels } from './channels.ts'

export function openChannelsInPage(ice: () => IceOptions, events: ChannelEvents): Channels {
  return new WebRtcChannels((own) => new PageConnection(ice(), own), events)
}

// Codes of STUN are below. Above, a server was not reached from one of several addresses; Firefox
// says no more if it refuses.
const STUN_CODES_END = 700
const SILENT = 'it does not answer, or refuses'

class PageConnection implements Connection {
  readonly #connection: RTCPeerConnection
  readonly #channel: RTCDataChannel
  readonly #events: ConnectionEvents
  readonly #looking: ReturnType<typeof setTimeout>

  constructor({ ice = [], relayOnly = false }: IceOptions, events: ConnectionEvents) {
    this.#events = events
    const iceTransportPolicy = relayOnly ? 'relay' : 'all'
    this.#connection = new RTCPeerConnection({ iceServers: [...ice], iceTransportPolicy })
    // Agreed beforehand, so it opens without a further message.
    this.#channel = this.#connection.createDataChannel('holdfast', {
      ...{ negotiated: true, id: 0, ordered: false, maxRetransmits: 0 },
    })
    this.#channel.binaryType = 'arraybuffer'
    const urls = ice.flatMap((server) => server.urls)
    this.#looking = this.#gather(urls.filter((url) => url.startsWith('turn')))
    this.#channel.onopen = () => events.opened()
    this.#channel.onmessage = ({ data }) => {
      events.frame(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(0))
    }
    this.#channel.onclose = () => events.closed()
  }

  // A browser says of a server that does not answer only after 40 s that it did not.
  #gather(turn: readonly string[]): ReturnType<typeof setTimeout> {
    const events = this.#events
    const silent = new Set<string>()
    // There is an address of a TURN server, or a reason why there is none.
    let isClear = false
    const tell = (urls: Iterable<string>): void => {
      if (isClear) return
      for (const url of urls) events.refused({ url, code: 0, why: SILENT })
      isClear = true
    }
    this.#connection.onicecandidate = ({ candidate }) => {
      if (!candidate) return tell(silent)
      isClear ||= candidate.type === 'relay'
      events.candidate(candidate.candidate)
    }
    this.#connection.onicecandidateerror = ({ url, errorCode: code, errorText: why }) => {
      if (code < STUN_CODES_END) {
        isClear = true
        events.refused({ url, code, why })
      } else if (url.startsWith('turn')) silent.add(url)
    }
    return setTimeout(() => tell(turn), GATHERING_MS)
  }

  begin(offer: string | null): void {
    this.#try(async () => {
      if (offer !== null) {
        await this.#connection.setRemoteDescription({ type: 'offer', sdp: offer })
      }
      await this.#connection.setLocalDescription()
      this.#events.described(this.#connection.localDescription?.sdp ?? '')
    })
  }

  accept(answer: string): void {
    this.#try(() => this.#connection.setRemoteDescription({ type: 'answer', sdp: answer }))
  }

  candidate(line: string): void {
    // One that the browser cannot use, such as IPv6 where there is none, ends nothing.
    this.#connection.addIceCandidate({ candidate: line, sdpMid: '0' }).catch(() => {})
  }

  waiting(): number {
    return this.#channel.bufferedAmount
  }

  send(bytes: Uint8Array): boolean {
    try {
      this.#channel.send(bytes as Uint8Array<ArrayBuffer>)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    clearTimeout(this.#looking)
    this.#channel.onopen = this.#channel.onmessage = this.#channel.onclose = null
    this.#connection.onicecandidate = this.#connection.onicecandidateerror = null
    this.#connection.close()
  }

  #try(run: () => Promise<void>): void {
    run().catch(() => this.#events.closed())
  }
}
