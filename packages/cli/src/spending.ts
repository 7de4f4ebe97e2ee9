/** What TCP connections and requests of one address may cost a server of ours. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Account, Budgets } from '../../hub/src/machine/budgets.ts'
import { accountOf, reasonOf, refuse, spend } from '../../hub/src/machine/budgets.ts'
import { remoteOf } from '../../holdfast/src/drivers/net/websocket-server.ts'
import { isTrusted, NOWHERE, placeOf, type Trust } from '../../holdfast/src/wire/ip.ts'
import { say } from './give.ts'

/** After so many seconds whoever asked too much may ask again. */
const RETRY_AFTER_S = 1

/** What may be spent, and whose word of an address counts. */
export interface Spending {
  budgets: Budgets
  trust: Trust
}

/**
 * Ends connections beyond those that an address may have, and beyond those that it may make in a
 * while. They are not told why: whoever has so many would not read it. A trusted proxy has as many
 * as it wants.
 */
export function boundSockets(server: Server, { budgets, trust }: Spending): void {
  server.maxConnections = budgets.limits.hub.sockets
  server.on('drop', () => refuse(budgets, 'hub', 'sockets'))
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? NOWHERE
    if (isTrusted(peer, trust)) return
    const account = accountOf(budgets, performance.now(), placeOf(peer))
    account.sockets++
    socket.once('close', () => account.sockets--)
    if (isTooMuch(budgets, account)) socket.destroy()
  })
}

function isTooMuch(budgets: Budgets, account: Account): boolean {
  const isFull = account.sockets > budgets.limits.address.sockets
  if (isFull) refuse(budgets, 'address', 'sockets')
  return isFull || spend(budgets, performance.now(), { account }, 'dials', 1) !== null
}

/** Spends for a request. @returns false if that was too much, and it was answered so */
export function mayAsk(
  { budgets, trust }: Spending,
  request: IncomingMessage,
  response: ServerResponse,
  what: 'requests' | 'lists',
  cost: number,
): boolean {
  const now = performance.now()
  const account = accountOf(budgets, now, placeOf(remoteOf(request, trust)))
  const met = spend(budgets, now, { account }, what, cost)
  if (!met) return true
  response.setHeader('Retry-After', RETRY_AFTER_S)
  say(response, 429, 'text/plain; charset=utf-8', `${reasonOf(budgets, met)}\n`)
  return false
}
