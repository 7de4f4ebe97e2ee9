/** The process of an attacker: it does what its parent says, and says what came of it. */

import { addresses, type Attack, ATTACKS } from './attacks.ts'

/** What an attacker is to do. */
export interface Order {
  attack: Attack
  url: string
  /** From so many addresses. */
  addresses: number
  /** Of this net: see `addresses`. */
  net: number
  game: string
  room: string
  schema: number
  ms: number
}

process.on('disconnect', () => process.exit())
process.on('message', (order: Order) => {
  const { attack, ms, addresses: many, net, ...place } = order
  const target = { ...place, addresses: addresses(many, net), until: performance.now() + ms }
  void ATTACKS[attack](target).then((tally) => {
    process.send?.(tally, () => process.exit())
  })
})
