/**
 * Rooms that a host keeps in a store of its own: the hub keeps the digests of the sheets in place
 * of the sheets. So all that holds of kept rooms holds of these as well, who writes, who opens and
 * what is acknowledged, and what is in them leaves the host for other members alone.
 *
 *     write   the store has the sheet; then the hub is told its digest
 *     open    the hub tells the digests; the store has the sheets
 *     drop    once the hub has a newer whole state, what is before that is of no use to anybody
 *
 * A host with another store, or none, does not open such a room: it stays as it is.
 */

import { termsSay } from '../machine.ts'
import type { Unfit } from './builds.ts'
import { sameBytes } from '../wire/digest.ts'
import { toHex } from '../wire/bytes.ts'
import { decode, encode, fixed, record, word } from '../wire/layout.ts'
import type { OwnSheet, Runtime } from './state.ts'

/** What founders with a store say among the terms of a session. */
export const AT_HOSTS = 'kept=hosts'

/** A sheet as the hub has it, where a host has the sheet. */
export const digestLayout = record({ at: word(['host']), digest: fixed(32) })

/** What another store has. */
export const ELSEWHERE: Unfit = {
  code: 'store',
  why: 'what is kept of this room is in the store of a host: it alone opens the room',
}

/** Whether what is kept of a session is with its hosts, by its terms. */
export function isAtHosts(terms: string): boolean {
  return termsSay(terms, 'kept', 'hosts')
}

/** A sheet as the hub is to have it. */
export function put(run: Runtime, sheet: Uint8Array, isWhole: boolean): Uint8Array {
  const { member, ports } = run
  if (!ports.ownStore || !isAtHosts(member.session.terms)) return sheet
  const digest = ports.ciphers.hash(sheet)
  const name = toHex(digest)
  member.ownSheets.push({ name, isWhole })
  ports.ownStore.put(member.session.id, name, sheet)
  return encode(digestLayout, { at: 'host', digest })
}

/** The sheets of a room that is opened; null if one of them is not ours. */
export function take(
  { member, ports: { ciphers, ownStore } }: Runtime,
  session: string,
  digests: readonly Uint8Array[],
): Uint8Array[] | null {
  const found: Uint8Array[] = []
  const own: OwnSheet[] = []
  for (const bytes of digests) {
    const digest = decode(digestLayout, bytes)?.digest
    const name = digest ? toHex(digest) : ''
    const sheet = digest && ownStore ? ownStore.read(session, name) : null
    if (!sheet || !sameBytes(ciphers.hash(sheet), digest!)) return null
    own.push({ name, isWhole: own.length === 0 })
    found.push(sheet)
  }
  member.ownSheets = own
  return found
}

/** We lead: of other sheets of this room nothing will come. */
export function begin({ member, ports: { ownStore } }: Runtime): void {
  if (!ownStore || !isAtHosts(member.session.terms)) return
  const names = member.ownSheets.map(({ name }) => name)
  ownStore.keepOnly(member.session.id, names)
}

/** The hub has said what it has: of what the store has as well, the rest is dropped. */
export function settle({ member, ports: { ownStore } }: Runtime): void {
  const { server } = member.session
  if (!ownStore || !('lead' in server) || member.ownSheets.length === 0) return
  const { flying, kept, sent, why } = server.lead.keeping
  const whole = member.ownSheets.findLastIndex(({ isWhole }) => isWhole)
  if (flying || why !== '' || kept < 0 || kept !== sent || whole < 1) return
  member.ownSheets = member.ownSheets.slice(whole)
  ownStore.keepOnly(
    member.session.id,
    member.ownSheets.map(({ name }) => name),
  )
}

/** Whether a member can keep what is kept at hosts. */
export function canKeep({ ports }: Runtime, terms: string): boolean {
  return !isAtHosts(terms) || ports.ownStore !== undefined
}
