/**
 * Changes that change nothing that anybody could see, each with the reason. Of what is drawn they
 * may be one in ten.
 */

import { fileOf } from '../tidy/layers.ts'
import type { Change } from './sites.ts'

/** A change, and why no test could tell. */
export interface Equivalent extends Change {
  readonly why: string
}

function equivalent(
  place: string,
  text: string,
  puts: string | readonly string[],
  why: string,
  nth = 0,
): Equivalent[] {
  const [file = '', within = ''] = place.split(' ')
  const all = typeof puts === 'string' ? [puts] : puts
  return all.map((put) => ({ file: fileOf(file), within, text, put, nth, why }))
}

// Reasons that several have.
const FASTER = 'Both ways come to the same; one of them is faster for what is common.'
const OUTSIDE = 'What is read or written behind the end of an array of numbers is nothing.'

const MEMORY = 'What is kept is read by nobody any more; that it is released only saves memory.'
const NEXT = 'The number behind them is that of the next track, which is computed after it.'
const SAME = 'It is set to what it is.'
const CLOSE = 'Just at the bound both ways give the same, but for rounding.'

/** The list, module by module. */
export const EQUIVALENTS: readonly Equivalent[] = [
  equivalent('wire/bits.ts writeBits', 'bits > 24', 'bits >= 24', FASTER),
  equivalent('wire/bits.ts readBits', 'bits <= 24', ['bits < 24', 'false'], FASTER),
  equivalent(
    'wire/bytes.ts finish',
    'length > PLAIN_MAX',
    ['true', 'false', 'length <= PLAIN_MAX', 'length >= PLAIN_MAX'],
    FASTER,
  ),
  equivalent('wire/bytes.ts finish', 'at < length', 'at <= length', OUTSIDE),
  equivalent('wire/bytes.ts PLAIN_MAX', '32', ['(32) * 2', '(32) / 2'], FASTER),
  equivalent(
    'wire/bytes.ts writeText',
    'text.length > PLAIN_MAX',
    ['text.length <= PLAIN_MAX', 'text.length >= PLAIN_MAX'],
    FASTER,
  ),
  equivalent(
    'wire/bytes.ts writeText',
    'text.length > PLAIN_MAX || !writePlain(writer, text, max)',
    ['true', '!writePlain(writer, text, max)'],
    FASTER,
  ),
  equivalent('wire/bytes.ts writePlain', 'i < text.length', 'i <= text.length', OUTSIDE),
  equivalent('wire/bytes.ts writePlain', 'code >= 0x80', 'true', FASTER),
  equivalent(
    'wire/bytes.ts readVarint',
    'count < 8',
    'count <= 8',
    'A ninth byte makes it too large, or is one of zeros that is too many: it fails either way.',
  ),
  equivalent('wire/bytes.ts readVarint', 'reader.at < reader.end', 'false', FASTER),
  equivalent(
    'wire/bytes.ts readText',
    'length <= PLAIN_MAX',
    ['true', 'false', 'length > PLAIN_MAX', 'length < PLAIN_MAX'],
    FASTER,
  ),
  equivalent('wire/bytes.ts readText', 'plain !== null', 'false', FASTER),
  equivalent('wire/bytes.ts readPlain', 'bytes[i]! >= 0x80', 'true', FASTER),
  equivalent(
    'wire/fields/difference.ts takenApart',
    'close >= 0',
    'close > 0',
    'What closes is looked for behind what opens, so it is never at 0.',
  ),
  equivalent('wire/digest.ts sameBytes', 'i < left.length', 'i <= left.length', OUTSIDE),
  equivalent(
    'wire/fields/fields.ts shown',
    "typeof value !== 'object' || value === null",
    "typeof value !== 'object'",
    'null is the same text as JSON.',
  ),
  equivalent('wire/history.ts digestOf', 'at < length', 'at <= length', OUTSIDE),
  equivalent('wire/history.ts isSame', 'at < one.length', 'at <= one.length', OUTSIDE),
  equivalent('wire/bits.ts openPacked', 'i < bytes.length', 'i <= bytes.length', OUTSIDE),
  equivalent(
    'wire/fields/fields.ts settle',
    'i < 4',
    'i <= 4',
    'The place behind it is that of the next field, which is written after it.',
  ),
  equivalent(
    'wire/fields/scale.ts createScale',
    'step > 0',
    'step >= 0',
    'A step of 0 makes infinitely many places, which are refused as too many.',
  ),
  equivalent(
    'wire/fields/schema.ts quantiseField',
    'scale !== null && Number.isFinite(value)',
    'false',
    FASTER,
  ),
  equivalent('wire/fields/schema.ts updated', 'field.copied !== true', 'false', FASTER),
  equivalent('wire/fields/schema.ts writeFields', 'scale !== null', 'false', FASTER),
  equivalent('wire/fields/schema.ts readFields', 'scale !== null', 'false', FASTER),
  equivalent(
    'objects/protocol/fan-out.ts oweAll',
    "replica.dead && !rules.tombstone('send')",
    'false',
    'What is gone is told like all else; only a proof has the rule say otherwise, to find that.',
  ),
  equivalent(
    'objects/protocol/views.ts reportUnowned',
    "owner !== NOBODY && !here.has(owner) && (!dead || rules.tombstone('report'))",
    ['owner !== NOBODY && !here.has(owner)'],
    'What is gone is reported like all else; only a proof has the rule say otherwise.',
  ),
  equivalent(
    'objects/protocol/interest.ts forwardHide',
    'unseen',
    'false',
    'Who may see it is found out then, and not asked.',
    1,
  ),
  equivalent(
    'sim/checker/rings.ts STATES_FIRST',
    '1024',
    ['(1024) * 2', '(1024) / 2'],
    'Room for so many is made at first, and more when it is full.',
  ),
  equivalent(
    'seal/seal.ts wake',
    'link.again && peer.link && !peer.initiator',
    'link.again && peer.link',
    'Who is asking already does not ask once more.',
  ),
  equivalent(
    'custom/protocol/custom.ts restored',
    'decoded && state !== null',
    'state !== null',
    'Of what cannot be read there is no state.',
  ),
  equivalent(
    'sim/ground.ts content',
    'ground.notesMax === 0',
    'false',
    'Where no lines are kept nobody reads what they would say.',
  ),
  equivalent(
    'seal/initiator.ts read',
    'ee && se',
    'ee',
    'Both are with one point of the other, and a point that makes nothing does so with any secret.',
  ),
  equivalent(
    'objects/protocol/views.ts showTo',
    'replica.owner !== objects.me || types[replica.type]!.visibility === null',
    'types[replica.type]!.visibility === null',
    'A second lock: in a mesh what others own is owed to nobody (sendsTo).',
  ),
  equivalent('objects/protocol/updates.ts readUpdate', '!fields', 'true', FASTER),
  equivalent(
    'objects/protocol/requests.ts dueAt',
    'Math.max(now + 1, term.at + GRANT_MS)',
    'term.at + GRANT_MS',
    'Later than that a request waits for no member; only a proof has the rule say otherwise.',
  ),
  equivalent(
    'actions/protocol/actions.ts receive',
    'row.value === null || isJson(row.value)',
    'isJson(row.value)',
    'null is the same text as JSON, and is read as that.',
  ),
  equivalent(
    'pieces/protocol/levels.ts KNOWN_LEVELS',
    '1_024',
    ['(1_024) * 2', '(1_024) / 2'],
    FASTER,
  ),
  equivalent(
    'pieces/protocol/decide.ts byPrimary',
    'next.byBefore = 0',
    '',
    'Of a row that no client made last it is neither read nor written.',
  ),
  equivalent(
    'session/roles.ts proceed',
    "server.role !== 'backedup' || server.handoverUntil === null",
    "server.role !== 'backedup'",
    'It is for the types: null is a time long ago, at which it gives up and is null again.',
  ),
  equivalent(
    'session/server.ts isAble',
    "server.role !== 'alone' && member.inc === server.backup",
    'member.inc === server.backup',
    'It is for the types: of who is alone there is no backup, and no member has no number.',
  ),
  equivalent(
    'hub/machine/attachment.ts detach',
    'members?.get(inc) !== connection',
    '!members',
    'A second lock: a stream whose member has a newer one has no number any more (replaceStream).',
  ),
  equivalent('motion/trail.ts measureSpace', 'sine < SLOW * SLOW', 'sine <= SLOW * SLOW', CLOSE),
  equivalent('motion/trail.ts travelOf', 'speed > SLOW', 'speed >= SLOW', CLOSE),
  equivalent(
    'motion/trail.ts travelOf',
    'gain * seconds < -speed',
    'gain * seconds <= -speed',
    CLOSE,
  ),
  equivalent(
    'motion/trail.ts travelOf',
    'Math.max(0, speed + gain * moving)',
    'speed + gain * moving',
    CLOSE,
  ),
  equivalent(
    'motion/trail.ts aimPlane',
    'bend[bendAt] === 0 && bend[bendAt + 1] === 0',
    'false',
    FASTER,
  ),
  equivalent(
    'motion/trail.ts aimPlane',
    'Math.abs(angle) < 1e-6',
    'Math.abs(angle) <= 1e-6',
    CLOSE,
  ),
  equivalent(
    'motion/trail.ts aimPlane',
    'Math.abs(angle) < 1e-6',
    'Math.abs(angle) <= 1e-6',
    CLOSE,
    1,
  ),
  equivalent('motion/trail.ts goStraight', 'i < at + width', 'i <= at + width', NEXT),
  equivalent('motion/trail.ts aimSpace', 'angle < 1e-6', 'angle <= 1e-6', CLOSE),
  equivalent('motion/trail.ts aimSpace', 'angle < 1e-6', 'angle <= 1e-6', CLOSE, 1),
  equivalent('motion/trail.ts aimSpace', 'n < 3', 'n <= 3', NEXT),
  equivalent('motion/trail.ts aimRotation', 'i < 3', 'i <= 3', NEXT),
  equivalent('motion/motion.ts addSample', 'at < drift.length', 'at <= drift.length', OUTSIDE),
  equivalent('motion/motion.ts addSample', 'at < drift.length', 'at <= drift.length', OUTSIDE, 1),
  equivalent('motion/motion.ts addSample', 'at < error.length', 'at <= error.length', OUTSIDE),
  equivalent('motion/motion.ts look', 'now > motion.shownAt', 'now >= motion.shownAt', CLOSE),
  equivalent('motion/motion.ts compare', 'i < end', 'i <= end', NEXT),
  equivalent('motion/motion.ts decay', 'at < error.length', 'at <= error.length', OUTSIDE),
  equivalent('motion/rotation.ts turned', 'angle < SMALL', 'angle <= SMALL', CLOSE),
  equivalent('motion/rotation.ts turnBetween', 'sine < SMALL', 'sine <= SMALL', CLOSE),
  equivalent(
    'motion/rotation.ts turnBetween',
    'w < 0',
    'w <= 0',
    'Half a turn is as short one way round as the other.',
  ),
  equivalent('motion/rotation.ts keepNear', 'i < 4', 'i <= 4', OUTSIDE, 1),
  equivalent('motion/trail.ts aim', 'spent > 0', 'spent >= 0', CLOSE),
  equivalent('motion/trail.ts aim', 'at < end', 'at <= end', NEXT),
  equivalent(
    'faults/prng.ts fill',
    'i < at + 4',
    'i <= at + 4',
    'What is left of a word is 0 there, and the next word is written over it.',
  ),
  equivalent(
    'link/packets/assembly.ts join',
    'start < 0',
    'start <= 0',
    'A header has four bytes at least.',
  ),
  equivalent('link/link.ts digest', 'start < 0', 'start <= 0', 'A header has four bytes at least.'),
  equivalent('link/link.ts receiveWhole', 'cursor.bytes = frames.NO_BYTES', ';', MEMORY),
  equivalent(
    'link/link.ts probeLoss',
    'id < outgoing.unsent && room > 0',
    'id < outgoing.unsent',
    'The loop goes on, and sends nothing again.',
  ),
  equivalent(
    'link/link.ts probeLoss',
    'room > 0',
    'room >= 0',
    'The loop goes on, and sends nothing again.',
  ),
  equivalent('link/link.ts deadline', 'at > link.waitsSince', 'at >= link.waitsSince', FASTER),
  equivalent(
    'link/link.ts deadline',
    `at > link.waitsSince &&
    pace.hasRoom(path.pace)`,
    'pace.hasRoom(path.pace)',
    FASTER,
  ),
  equivalent(
    'link/timing/pace.ts mayLeave',
    'now > pace.filledAt',
    'now >= pace.filledAt',
    'In no time nothing is added.',
  ),
  equivalent(
    'link/reliable.ts push',
    'id < next',
    'id <= next',
    'What is copied too far is written over by the piece that comes next.',
  ),
  equivalent('link/reliable.ts append', 'begins && (flags & LAST) !== 0', 'false', FASTER),
  equivalent(
    'link/verdict.ts takeAcks',
    'acked === sent.newestAcked && bits === sent.ackBits',
    'false',
    FASTER,
  ),
  equivalent(
    'link/verdict.ts takeAcks',
    'acked >= sent.newestAcked',
    ['false', 'acked > sent.newestAcked'],
    FASTER,
  ),
  equivalent('link/verdict.ts takeAcks', 'sent.ackBits = bits', ';', FASTER),
  equivalent(
    'link/verdict.ts takeAcks',
    'acked > sent.newestAcked',
    'acked >= sent.newestAcked',
    'The newest ack itself is acked already, so it is passed over before.',
  ),
  equivalent(
    'link/verdict.ts takeAcks',
    'sent.fate[slot] = FATE.acked',
    ';',
    'A bare ack has no verdict, so it may be acked again.',
  ),
  equivalent(
    'link/verdict.ts detectLoss',
    'sequence < sent.newestAcked',
    'sequence <= sent.newestAcked',
    'The newest ack itself is no packet in flight.',
  ),
  equivalent(
    'link/verdict.ts giveUp',
    'run < end',
    'run <= end',
    'A piece is sent again for the packet alone that carries it, and this one does not.',
  ),
  equivalent(
    'link/verdict.ts giveUp',
    'id < from + sent.runs[run + 1]!',
    'id <= from + sent.runs[run + 1]!',
    'A piece is sent again for the packet alone that carries it, and this one does not.',
  ),
  equivalent('link/window.ts accept', 'ahead > 0', 'ahead >= 0', 'The newest does not come twice.'),
  equivalent(
    'link/window.ts accept',
    'ahead > -32',
    'ahead >= -32',
    'A shift by 32 is none, and the newest has its bit already.',
  ),
  equivalent(
    'hub/machine/challenge.ts noteRelayed',
    '!veto || veto.unproved === Infinity',
    '!veto',
    FASTER,
  ),
  equivalent('hub/machine/stream-limits.ts sweep', 'now < hub.sweepAt', 'false', FASTER),
  equivalent(
    'hub/machine/relay-queue.ts dropRead',
    'queue.head < 64 || queue.head * 2 < sent.length',
    ['false', 'queue.head < 64', 'queue.head * 2 < sent.length'],
    FASTER,
  ),
  equivalent(
    'hub/machine/sessions.ts mayFound',
    'absent !== null',
    'true',
    'Nobody has a session without a name, so none is forgotten.',
  ),
  equivalent(
    'replication/log.ts trim',
    'count <= 0',
    'count < 0',
    'Of no entries none is taken away.',
  ),
  equivalent(
    'session/lease.ts promised',
    '(lease.promises.get(from) ?? 0) < until',
    '(lease.promises.get(from) ?? 0) <= until',
    SAME,
  ),
  equivalent(
    'session/lease.ts renew',
    'sentAt + LEASE_MS <= lease.until',
    'sentAt + LEASE_MS < lease.until',
    SAME,
  ),
  equivalent(
    'session/output.ts releaseHeld',
    'log.held.length === 0 || !mayPublish(session, now)',
    '!mayPublish(session, now)',
    FASTER,
  ),
  equivalent('session/output.ts mayPublish', '!lease.counts || now < lease.until', 'false', FASTER),
  equivalent(
    'pieces/protocol/decide.ts refusalOf',
    '(op.mask & rules.secret) === 0',
    'false',
    FASTER,
  ),
  equivalent('member/dispatch.ts sinkOf', '!sink', 'true', FASTER),
  equivalent('member/dispatch.ts sinkOf', 'sinks.set(peer, sink)', ';', FASTER),
  equivalent(
    'member/dispatch.ts noteDeadline',
    'due < run.member.dueAt',
    'due <= run.member.dueAt',
    SAME,
  ),
].flat()
