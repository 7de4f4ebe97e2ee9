/** Rates of datagram bytes, outgoing and incoming, over the last two seconds. */

import type { Millis } from '../machine.ts'

const SLOT_MS: Millis = 250
const SLOTS = 8

/** Bytes per second, without the headers of the carrier. */
export interface ByteRates {
  readonly in: number
  readonly out: number
}

/** Counts bytes in a ring of time slots. */
export class Traffic {
  readonly #startedAt: Millis
  readonly #in = new Float64Array(SLOTS)
  readonly #out = new Float64Array(SLOTS)
  #slot: number

  constructor(now: Millis) {
    this.#startedAt = now
    this.#slot = Math.floor(now / SLOT_MS)
  }

  sent(now: Millis, bytes: number): void {
    this.#out[this.#slotAt(now)]! += bytes
  }

  received(now: Millis, bytes: number): void {
    this.#in[this.#slotAt(now)]! += bytes
  }

  /** The recent rates, over one slot at least. */
  rates(now: Millis): ByteRates {
    this.#slotAt(now)
    const oldest = (this.#slot - SLOTS + 1) * SLOT_MS
    const seconds = Math.max(SLOT_MS, now - Math.max(oldest, this.#startedAt)) / 1000
    const sum = (slots: Float64Array): number => slots.reduce((all, one) => all + one, 0)
    return { in: sum(this.#in) / seconds, out: sum(this.#out) / seconds }
  }

  #slotAt(now: Millis): number {
    const slot = Math.floor(now / SLOT_MS)
    const passed = Math.min(SLOTS, slot - this.#slot)
    for (let i = 0; i < passed; i++) {
      const place = (slot - i) % SLOTS
      this.#in[place] = 0
      this.#out[place] = 0
    }
    this.#slot = Math.max(this.#slot, slot)
    return this.#slot % SLOTS
  }
}
