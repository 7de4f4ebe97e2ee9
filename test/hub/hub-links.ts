/** Streams between the hubs of a test, which it can cut. */

import {
  type HubLinks,
  type Stream,
  STREAM_MESSAGE_MAX,
  type StreamEvents,
} from '../../packages/holdfast/src/ports.ts'

type Accept = (stream: Stream) => StreamEvents

interface End {
  readonly events: StreamEvents
  isOpen: boolean
}

export class Links implements HubLinks {
  readonly #hubs = new Map<number, Accept>()
  readonly #cut = new Map<number, Accept>()
  readonly #open: { to: number; ends: [End, End] }[] = []
  /** Bytes that wait in each of them. */
  backlog = 0
  /** Messages from hub to hub so far. */
  count = 0

  /** How a hub of these takes part in them. */
  listen(boot: number, accept: Accept): void {
    this.#hubs.set(boot, accept)
  }

  open(to: number, events: StreamEvents): Stream {
    const accept = this.#hubs.get(to)
    const near: End = { events, isOpen: accept !== undefined }
    const far: End = { events, isOpen: near.isOpen }
    if (!accept) {
      queueMicrotask(() => events.closed('there is no such hub'))
      return this.#from(near, far)
    }
    const there = accept(this.#from(far, near))
    Object.assign(far, { events: there })
    this.#open.push({ to, ends: [near, far] })
    queueMicrotask(() => {
      there.opened()
      events.opened()
    })
    return this.#from(near, far)
  }

  /** That hub is reached no more, by any name so far. */
  cut(boot: number): void {
    this.#cut.set(boot, this.#hubs.get(boot)!)
    this.#hubs.delete(boot)
    for (const { to, ends } of this.#open) {
      if (to === boot) for (const end of ends) this.#close(end)
    }
  }

  /** That hub is reached again. */
  heal(boot: number): void {
    this.#hubs.set(boot, this.#cut.get(boot)!)
  }

  #from(own: End, other: End): Stream {
    return {
      send: (bytes) => {
        if (bytes.length > STREAM_MESSAGE_MAX) throw new Error(`too long: ${bytes.length}`)
        if (!own.isOpen) return false
        this.count++
        queueMicrotask(() => other.isOpen && other.events.message(bytes))
        return true
      },
      backlog: () => this.backlog,
      close: () => {
        own.isOpen = false
        queueMicrotask(() => this.#close(other))
      },
    }
  }

  #close(end: End): void {
    if (!end.isOpen) return
    end.isOpen = false
    end.events.closed('it was cut')
  }
}
