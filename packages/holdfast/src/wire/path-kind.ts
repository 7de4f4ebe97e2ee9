/** The kinds of paths between two members, which the prefix of an address names. */

import { isRelayed } from './relay.ts'

/** Better kinds first. An address without a prefix of these, as in the simulator, is UDP. */
export const PATH_KINDS = ['udp', 'rtc', 'ws', 'relay'] as const

export type PathKind = (typeof PATH_KINDS)[number]

export function pathKindOf(address: string): PathKind {
  if (isRelayed(address)) return 'relay'
  if (address.startsWith('rtc:')) return 'rtc'
  return address.startsWith('ws:') || address.startsWith('wss:') ? 'ws' : 'udp'
}

/** Whether packets of the first kind should rather go by the second. */
export function isWorse(one: PathKind, other: PathKind): boolean {
  return PATH_KINDS.indexOf(one) > PATH_KINDS.indexOf(other)
}
