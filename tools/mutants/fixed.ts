/**
 * Changes that no test noticed when an outside check of 0.1 tried them. They are tried whatever
 * is drawn. The text is what stands there by now; `id` is what the check called it.
 */

import { fileOf } from '../tidy/layers.ts'
import type { Change } from './sites.ts'

/** A change of the list. */
export interface Fixed extends Change {
  readonly id: string
}

/** One whose place is not there any more. */
export interface Gone {
  readonly id: string
  readonly why: string
}

function fixed(id: string, place: string, text: string, put: string, nth: number = 0): Fixed {
  const [file = '', within = ''] = place.split(' ')
  return { id, file: fileOf(file), within, text, put, nth }
}

/** The list, module by module. */
export const FIXED: readonly Fixed[] = [
  fixed(
    'L7',
    'link/verdict.ts dueAt',
    'place <= newestAcked - later',
    'place < newestAcked - later',
  ),
  fixed('L8', 'link/timing/loss.ts sample', 'Math.min(held, STATE_ACK_DELAY_MAX)', 'held'),
  fixed('L10', 'link/verdict.ts ackedBy', 'acked < sent.next', 'acked <= sent.next'),
  fixed('L11', 'link/verdict.ts takeAcks', 'link.loss.probes = 0', ''),
  fixed('L12', 'link/reliable.ts given', 'if (piece?.packet === sequence)', 'if (piece)'),
  fixed(
    'C4',
    'session/replicate.ts follow',
    'message.index === commit.lengthOf(log)',
    'message.index >= commit.lengthOf(log)',
  ),
  fixed(
    'C8',
    'session/roles.ts onAcknowledge',
    'if (session.rules.mayAdd(message.length, length))',
    '',
  ),
  fixed('C9', 'session/session.ts RULES', 'lacking === 0', 'lacking <= 1'),
  fixed('C10', 'session/roles.ts stepDown', 'releaseAll(turn)', ''),
  fixed('C11', 'session/lease.ts holds', ' || lease.removed.size > 0', ''),
  fixed('C12', 'session/lease.ts reached', 'if (at < sentAt)', ''),
  fixed('C15', 'session/client.ts takeView', 'view.mv >= known.mv', 'view.mv > known.mv'),
  fixed('C17', 'session/state.ts mayBePrimary', 'register.epoch >= view.epoch && ', ''),
  fixed(
    'C19',
    'session/recovery.ts resume',
    'if (member) countUpTo(durable, member.player, settled)',
    '',
  ),
  fixed(
    'C20',
    'session/operations.ts operate',
    'if (seq !== (queue?.at(-1)?.seq ?? row.lastSeq) + 1) return',
    '',
  ),
  fixed('C21', 'session/operations.ts settle', 'if (client.published.waiting) return', ''),
  fixed(
    'C22',
    'session/operations.ts renumber',
    'Math.max(client.nextSeq, lastSeq + 1)',
    'lastSeq + 1',
  ),
  fixed(
    'C23',
    'replication/durable.ts add',
    'known.lastSeq = Math.max(known.lastSeq, settled)',
    ';',
  ),
  fixed('C24', 'session/roles.ts lead', 'why ? sentAt : ackedAt', 'now'),
  fixed(
    'C25',
    'session/replicate.ts takeSnapshot',
    "server.role === 'idle' || message.epoch >= server.epoch",
    'true',
  ),
  fixed('R2', 'hub/machine/register.ts RECOVER_MS', '15_000', '5_000'),
  fixed('R3', 'hub/machine/register.ts setRegister', 'row.lastYes = now', ''),
  fixed('R4', 'hub/machine/register.ts receiveYes', ' || register.epoch !== answer.epoch', ''),
  fixed('R7', 'hub/machine/register.ts mayRecover', 'row.present.has(inc) && ', ''),
  fixed('R8', 'hub/machine/register.ts isDead', 'backup === 0 && ', ''),
  fixed('H2', 'hub/machine/sessions.ts compareAndSet', '!speaks', 'false'),
  fixed('H5', 'hub/machine/hub.ts receive', 'isLong ? 1 + bytes.length / 1024 : 1', '1'),
  fixed('H6', 'hub/machine/listing.ts page', ', from + LIST_MAX', ''),
  fixed('H7', 'hub/machine/attachment.ts detach', 'members?.get(inc) !== connection', '!members'),
  fixed(
    'O6',
    'objects/protocol/accept.ts isAuthorized',
    'if (entry.owner !== from) return false',
    '',
  ),
  fixed('O12', 'objects/protocol/interest.ts maySee', 'if (replica.hidden) return false', ''),
  fixed(
    'A1',
    'actions/protocol/actions.ts draft',
    'committed.size + changes.size',
    'committed.size',
  ),
  fixed(
    'A2',
    'actions/protocol/reserved-rows.ts startingWith',
    " && typeof current(key) === 'string'",
    '',
  ),
  fixed('A3', 'actions/protocol/actions.ts receive', 'state.published = new Map()', ''),
  fixed(
    'B1',
    'mailbox/machine/inbox.ts take',
    'if (peer.link && isNews) peer.link.ackDue = now',
    '',
  ),
  fixed('B3', 'mailbox/machine/state.ts createLink', 'acked: -1', 'acked: peer.heard'),
  fixed('S11', 'slots/protocol/frames.ts queueEvent', 'event.held.includes(inc) || ', ''),
  fixed('P2', 'pieces/protocol/pieces.ts RULES', ' && row.lastReleased === player', ''),
  fixed(
    'updates:279',
    'objects/protocol/updates.ts missingFields',
    'changedAt[field]! > base',
    'changedAt[field]! >= base',
  ),
  fixed('duty:107', 'objects/protocol/fan-out.ts sendsTo', 'replica.owner !== peer', 'true'),
  fixed(
    'duty:169',
    'objects/protocol/fan-out.ts maySend',
    'if (!objects.mesh && leads(objects) && !follows) return false',
    '',
  ),
  fixed(
    'greeting:84',
    'mailbox/machine/handshake.ts misnamed',
    'return from === id ? `',
    'return false ? `',
  ),
  fixed('part:95', 'pieces/protocol/part.ts shower', 'hidden.join()', 'String(hidden.length)'),
  fixed('levels:23', 'pieces/protocol/levels.ts byLevel', 'a.zg - b.zg', 'b.zg - a.zg'),
  fixed('state:261', 'pieces/protocol/state.ts isLost', 'gen > newest || ', ''),
  fixed(
    'state:266',
    'pieces/protocol/state.ts nextGen',
    'Math.max(committed.gen + 1, epoch * GENERATIONS + 1)',
    'committed.gen + 1',
  ),
  fixed(
    'decide:138',
    'pieces/protocol/decide.ts refusalOf',
    "if (op.hold === 'release' && row.heldBy !== player) return 'you do not hold it'",
    '',
  ),
  fixed(
    'decide:206',
    'pieces/protocol/decide.ts recordByPrimary',
    'if (op.z !== null) row.zg = gen',
    '',
  ),
  fixed(
    'branch:78',
    'pieces/protocol/pending.ts receiveNews',
    "entry.why === 'inapplicable' && row?.refused.length && senderOf(row) !== pieces.player",
    'false',
  ),
  fixed('O24', 'objects/protocol/unowned.ts giveBack', ' || openGrant(ctx, replica.key)', ''),
]

/** What the same check tried and what has no place now. */
export const GONE: readonly Gone[] = [
  { id: 'tally:52', why: 'acts that are unsure are told by how far the tallies are, not by age' },
]
