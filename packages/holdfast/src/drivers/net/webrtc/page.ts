/** WebRTC of a browser. Loaded with the first channel of a page. */

import type { ChannelEvents, Channels, IceOptions } from '../../../ports.ts'
import { type Connection, type ConnectionEvents, WebRtcChannels } from './channels.ts'

export function openChannelsInPage(ice: IceOptions, events: ChannelEvents): Channels {
  return new WebRtcChannels((own) => new PageConnection(ice, own), events)
}

class PageConnection implements Connection {
  readonly #connection: RTCPeerConnection
  readonly #channel: RTCDataChannel
  readonly #events: ConnectionEvents

  constructor({ ice = [], relayOnly = false }: IceOptions, events: ConnectionEvents) {
    this.#events = events
    const iceTransportPolicy = relayOnly ? 'relay' : 'all'
    this.#connection = new RTCPeerConnection({ iceServers: [...ice], iceTransportPolicy })
    // Agreed beforehand, so it opens without a further message.
    this.#channel = this.#connection.createDataChannel('holdfast', {
      ...{ negotiated: true, id: 0, ordered: false, maxRetransmits: 0 },
    })
    this.#channel.binaryType = 'arraybuffer'
    this.#connection.onicecandidate = ({ candidate }) => {
      if (candidate) events.candidate(candidate.candidate)
    }
    this.#channel.onopen = () => events.opened()
    this.#channel.onmessage = ({ data }) => {
      events.frame(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(0))
    }
    this.#channel.onclose = () => events.closed()
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
    this.#channel.onopen = this.#channel.onmessage = this.#channel.onclose = null
    this.#connection.onicecandidate = null
    this.#connection.close()
  }

  #try(run: () => Promise<void>): void {
    run().catch(() => this.#events.closed())
  }
}
