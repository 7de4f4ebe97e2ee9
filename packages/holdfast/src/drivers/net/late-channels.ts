/** A carrier of channels that is loaded and opened with the first channel: most pages need none. */

import type { Channels, Later } from '../../ports.ts'
import type { PeerId } from '../../machine.ts'

export class LateChannels implements Channels {
  readonly addresses: readonly string[] = []
  readonly #open: () => Later<Channels>
  #channels: Channels | null = null
  #opening: Promise<void> | null = null
  #isClosed = false

  constructor(open: () => Later<Channels>) {
    this.#open = open
  }

  offer(peer: PeerId): void {
    this.#do((channels) => channels.offer(peer))
  }

  signal(peer: PeerId, bytes: Uint8Array): void {
    const kept = bytes.slice()
    this.#do((channels) => channels.signal(peer, kept))
  }

  drop(peer: PeerId): void {
    if (this.#channels || this.#opening) this.#do((channels) => channels.drop(peer))
  }

  reaches(address: string): boolean {
    return this.#channels?.reaches(address) ?? false
  }

  send(to: string, bytes: Uint8Array): void {
    this.#channels?.send(to, bytes)
  }

  close(): void {
    this.#isClosed = true
    this.#channels?.close()
  }

  // In the order of the calls. What cannot be loaded now is tried again with the next channel.
  #do(run: (channels: Channels) => void): void {
    if (this.#isClosed) return
    if (this.#channels) return run(this.#channels)
    this.#opening ??= this.#load()
    void this.#opening.then(() => {
      if (this.#channels && !this.#isClosed) run(this.#channels)
    })
  }

  async #load(): Promise<void> {
    try {
      this.#channels = await this.#open()
      if (this.#isClosed) this.#channels.close()
    } catch {
      this.#opening = null
    }
  }
}
