/** One end of WebRTC channels that takes orders, and tells what happens to it, as plain data. */

import type { ChannelEvents, Channels, IceRefusal } from '../../packages/holdfast/src/ports.ts'

export type Order =
  | { do: 'offer' | 'drop'; peer: number }
  | { do: 'signal'; peer: number; bytes: number[] }
  | { do: 'send'; to: string; bytes: number[]; times?: number }
  | { do: 'count' | 'close' }

export type Told =
  | { what: 'signal'; peer: number; bytes: number[] }
  | { what: 'candidate'; peer: number; address: string }
  | { what: 'gone'; address: string }
  | { what: 'datagram'; from: string; bytes: number[] }
  | ({ what: 'refused' } & IceRefusal)
  | { what: 'counters'; counters: Record<string, number> }

type Counted = Channels & { counters: Record<string, number> }

/** @returns takes an order */
export function openEnd(
  open: (events: ChannelEvents) => Channels,
  tell: (told: Told) => void,
): (order: Order) => void {
  const channels = open({
    signal: (peer, bytes) => tell({ what: 'signal', peer, bytes: [...bytes] }),
    candidate: (peer, address) => tell({ what: 'candidate', peer, address }),
    gone: (address) => tell({ what: 'gone', address }),
    refused: (refusal) => tell({ what: 'refused', ...refusal }),
    datagram: (from, bytes) => tell({ what: 'datagram', from, bytes: [...bytes] }),
  })
  return (order) => {
    switch (order.do) {
      case 'offer':
        return channels.offer(order.peer)
      case 'drop':
        return channels.drop(order.peer)
      case 'signal':
        return channels.signal(order.peer, Uint8Array.from(order.bytes))
      case 'send': {
        const bytes = Uint8Array.from(order.bytes)
        for (let n = order.times ?? 1; n > 0; n--) channels.send(order.to, bytes)
        return
      }
      case 'count':
        return tell({ what: 'counters', counters: { ...(channels as Counted).counters } })
      case 'close':
        return channels.close()
    }
  }
}
