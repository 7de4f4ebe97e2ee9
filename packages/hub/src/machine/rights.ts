/** What players may do in a session, as the hub keeps it: by their keys, whatever members say. */

import { mayLead, type PeerId, RIGHTS } from '../../../holdfast/src/machine.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import type { Why } from '../../../holdfast/src/hub-protocol/messages.ts'
import type { Kept } from './records.ts'
import type { Entrant } from '../../../holdfast/src/hub-protocol/tickets.ts'

/** Of a change: who is primary and backup by it, and why. */
interface Change {
  readonly why: Why
  readonly primary: PeerId
  readonly backup: PeerId
}

/** How the player of that key came in by a ticket; undefined if it did not. */
export function entrantOf(entrants: readonly Entrant[], key: Uint8Array): Entrant | undefined {
  return entrants.find((entrant) => sameBytes(entrant.key, key))
}

/** What the player of that key may do: to play, if it came in by no ticket. */
export function rightsOf({ entrants }: Pick<Kept, 'entrants'>, key: Uint8Array): number {
  return entrantOf(entrants, key)?.rights ?? RIGHTS.play
}

/** Whether by a change nobody comes to serve who may not. */
export function suits(kept: Kept, { why, primary, backup }: Change): boolean {
  switch (why) {
    case 'add':
      return mayServe(kept, backup)
    case 'takeover':
    case 'handover':
    case 'recover':
      return mayServe(kept, primary)
    default:
      return true
  }
}

function mayServe(kept: Kept, inc: PeerId): boolean {
  const member = kept.members.find((listed) => listed.inc === inc)
  return member !== undefined && mayLead(rightsOf(kept, member.key), kept.hosts)
}
