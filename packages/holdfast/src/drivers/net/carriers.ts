/** Several carriers of datagrams as one: each address goes to the first that reaches it. */

import type { Datagrams } from '../../ports.ts'

/** Addresses whose carrier is remembered. */
const ROUTES_MAX = 4096

/** All carriers as one; the best first, for their addresses are listed in this order. */
export function combine(carriers: readonly Datagrams[]): Datagrams {
  return new Carriers(carriers)
}

class Carriers implements Datagrams {
  readonly #carriers: readonly Datagrams[]
  readonly #routes = new Map<string, Datagrams>()

  constructor(carriers: readonly Datagrams[]) {
    this.#carriers = carriers
  }

  /** Computed at each call, for a carrier may learn its address late. */
  get addresses(): readonly string[] {
    return this.#carriers.flatMap((carrier) => carrier.addresses)
  }

  reaches(address: string): boolean {
    return this.#route(address) !== null
  }

  send(to: string, bytes: Uint8Array): void {
    this.#route(to)?.send(to, bytes)
  }

  close(): void {
    for (const carrier of this.#carriers) carrier.close()
  }

  #route(address: string): Datagrams | null {
    const known = this.#routes.get(address)
    if (known !== undefined) return known
    const carrier = this.#carriers.find((each) => each.reaches(address)) ?? null
    if (carrier === null) return null
    if (this.#routes.size >= ROUTES_MAX) this.#routes.clear()
    this.#routes.set(address, carrier)
    return carrier
  }
}
