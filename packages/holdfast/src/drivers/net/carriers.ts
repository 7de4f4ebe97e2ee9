/**
 * All carriers of a session as one. Each address belongs to the first carrier that reaches it; that
 * is remembered, so a datagram costs one lookup more than with a single carrier.
 */

import type { DatagramEvents, Datagrams, OpenDatagrams } from '../../ports.ts'

/** Most addresses whose carrier is remembered. */
const REMEMBERED_MAX = 4096

/** Opens all of them, or none. @throws HoldfastError of the first that could not be opened */
export async function openCarriers(
  open: readonly OpenDatagrams[],
  events: DatagramEvents,
): Promise<Datagrams> {
  const carriers: Datagrams[] = []
  try {
    // One after the other: their order is the order of their addresses.
    for (const one of open) carriers.push(await one(events))
  } catch (error) {
    for (const carrier of carriers) carrier.close()
    throw error
  }
  return new Carriers(carriers)
}

class Carriers implements Datagrams {
  readonly addresses: readonly string[]
  readonly #carriers: readonly Datagrams[]
  readonly #found = new Map<string, Datagrams>()

  constructor(carriers: readonly Datagrams[]) {
    this.#carriers = carriers
    // In turns: where few addresses are announced, each carrier has its best among them.
    const most = Math.max(0, ...carriers.map(({ addresses }) => addresses.length))
    this.addresses = Array.from({ length: most }, (_none, at) => {
      return carriers.flatMap(({ addresses }) => addresses.slice(at, at + 1))
    }).flat()
  }

  reaches(address: string): boolean {
    return this.#carrierOf(address) !== undefined
  }

  send(to: string, bytes: Uint8Array): void {
    this.#carrierOf(to)?.send(to, bytes)
  }

  close(): void {
    for (const carrier of this.#carriers) carrier.close()
  }

  // An address that none reaches now may be reached later, so only hits are remembered.
  #carrierOf(address: string): Datagrams | undefined {
    const known = this.#found.get(address)
    if (known) return known
    const found = this.#carriers.find((carrier) => carrier.reaches(address))
    if (!found) return undefined
    if (this.#found.size >= REMEMBERED_MAX) this.#found.clear()
    this.#found.set(address, found)
    return found
  }
}
