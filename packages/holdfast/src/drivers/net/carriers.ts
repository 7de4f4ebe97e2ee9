/** Several carriers of datagrams as one: each address goes to the first that reaches it. */

import type { Datagrams } from '../../ports.ts'

/** Most addresses whose carrier is remembered. */
const ROUTES_MAX = 4096

/** All carriers as one. Put the best first: addresses are listed in this order. */
export function combine(carriers: readonly Datagrams[]): Datagrams {
  const routes = new Map<string, Datagrams>()
  const route = (address: string): Datagrams | null => {
    const known = routes.get(address)
    if (known !== undefined) return known
    const carrier = carriers.find((each) => each.reaches(address)) ?? null
    if (carrier === null) return null
    if (routes.size >= ROUTES_MAX) routes.clear()
    routes.set(address, carrier)
    return carrier
  }
  return {
    // Computed at each call, because a carrier may learn its address late.
    get addresses() {
      return carriers.flatMap((carrier) => carrier.addresses)
    },
    reaches: (address) => route(address) !== null,
    send: (to, bytes) => route(to)?.send(to, bytes),
    close: () => {
      for (const carrier of carriers) carrier.close()
    },
  }
}
