/**
 * Rules that are wrong on purpose, by the name of the bug: each breaks one claim, and so shows that
 * the claim can be broken.
 */

import * as commit from '../packages/holdfast/src/replication/log.ts'
import { append } from '../packages/holdfast/src/link/reliable.ts'
import * as link from '../packages/holdfast/src/link/link.ts'
import type { LinkRules } from '../packages/holdfast/src/link/state.ts'
import * as seal from '../packages/holdfast/src/seal/rules.ts'
import type { SealRules } from '../packages/holdfast/src/seal/rules.ts'
import { prologueOf } from '../packages/holdfast/src/seal/messages.ts'
import { byPrimary } from '../packages/holdfast/src/pieces/protocol/decide.ts'
import * as pieces from '../packages/holdfast/src/pieces/protocol/pieces.ts'
import { copyRow, type PiecesRules } from '../packages/holdfast/src/pieces/protocol/state.ts'
import * as slots from '../packages/holdfast/src/slots/protocol/slots.ts'
import type { SlotsRules } from '../packages/holdfast/src/slots/protocol/slots.ts'
import { retry, become } from '../packages/holdfast/src/session/output.ts'
import * as durable from '../packages/holdfast/src/replication/durable.ts'
import { lead } from '../packages/holdfast/src/session/roles.ts'
import { RULES } from '../packages/holdfast/src/session/session.ts'
import type { SessionRules } from '../packages/holdfast/src/session/state.ts'
import { mutate } from './object-mutants.ts'

export * from './object-mutants.ts'

/** Bugs of links. */
export type LinkBug = 'no-message-ids' | 'window-ignored' | 'dropped-but-acked'

const LINK: Readonly<Record<LinkBug, Partial<LinkRules>>> = {
  'no-message-ids': {
    take: ({ incoming }, _id, flags, bytes, arrivals) => append(incoming, flags, bytes, arrivals),
  },
  'window-ignored': { hasNumber: () => true },
  'dropped-but-acked': {
    refuses: () => false,
    take: (own, id, flags, bytes, arrivals) => {
      const tooFar = id >= own.incoming.next + own.limits.reorder
      return tooFar || link.RULES.take(own, id, flags, bytes, arrivals)
    },
  },
}

/** The rules of links, with that bug if one is named. */
export function linkRules(bug: LinkBug | null): LinkRules {
  return mutate(link.RULES, bug && LINK[bug])
}

/** Bugs of sealing. */
export type SealBug =
  | 'no-replay-window'
  | 'stands-by-handshake'
  | 'counter-ignored'
  | 'moved-without-challenge'
  | 'both-stand'
  | 'epoch-in-prologue'

const SEAL: Readonly<Record<SealBug, Partial<SealRules>>> = {
  'no-replay-window': { isNew: () => true },
  'stands-by-handshake': { stands: () => true },
  'counter-ignored': { isNewer: () => true },
  'moved-without-challenge': { moves: () => true },
  'both-stand': { oursStands: () => false },
  'epoch-in-prologue': { prologue: (session, mv) => prologueOf(`${session} ${mv}`) },
}

/** The rules of sealing, with that bug if one is named. */
export function sealRules(bug: SealBug | null): SealRules {
  return mutate(seal.RULES, bug && SEAL[bug])
}

/** Bugs of the session. */
export type SessionBug =
  | 'ack-early'
  | 'answered-before-kept'
  | 'drop-without-cas'
  | 'take-without-cas'
  | 'add-unsynced'
  | 'commit-while-adding'
  | 'dedup-not-replicated'
  | 'hand-over-early'
  | 'older-refusal'
  | 'expel-not-replicated'
  | 'removed-before-dropped'
  | 'ban-not-enforced'
  | 'pardon-not-replicated'
  | 'vote-not-replicated'
  | 'votes-of-one-count'
  | 'votes-of-who-is-out'
  | 'player-by-its-word'
  | 'beside-its-row'
  | 'recalls-its-own'
  | 'recalls-the-newest'
  | 'recalls-of-anybody'
  | 'no-lease'
  | 'promise-for-ever'
  | 'promise-while-asking'

const SESSION: Readonly<Record<SessionBug, Partial<SessionRules>>> = {
  'ack-early': { safeLength: (_role, log) => commit.lengthOf(log) },
  'answered-before-kept': { keptLength: () => Infinity },
  'commit-while-adding': {
    safeLength: (role, log) =>
      role === 'adding' ? commit.lengthOf(log) : RULES.safeLength(role, log),
  },
  'drop-without-cas': {
    seek: (turn) => {
      const { server } = turn.session
      if (server.role !== 'dropping') return retry(turn)
      const alone = { lead: server.lead, candidate: 0, candidateSince: turn.now }
      become(turn, 'dropped', alone)
    },
  },
  'take-without-cas': {
    seek: (turn) => {
      const { server } = turn.session
      if (server.role !== 'taking') return retry(turn)
      server.epoch++
      lead(turn, 'failed')
    },
  },
  'add-unsynced': { mayAdd: () => true },
  'dedup-not-replicated': {
    make: (own, delta, serves) => {
      const forgets = delta.kind === 'operation' && !serves
      durable.apply(own, forgets ? { ...delta, seq: 0 } : delta)
    },
  },
  'hand-over-early': { mayHandOver: () => true },
  // The newest request is under way, and may be granted.
  'older-refusal': { isAnswered: () => true },
  // The member is removed, and the next primary knows nothing of why.
  'expel-not-replicated': {
    make: (own, delta, serves) => {
      if (serves || delta.kind !== 'expel') durable.apply(own, delta)
    },
  },
  'removed-before-dropped': { mayRemove: () => true },
  // Who was asked removes; who serves next does not look.
  'ban-not-enforced': { enforce: () => {} },
  'pardon-not-replicated': {
    make: (own, delta, serves) => {
      if (serves || delta.kind !== 'pardon') durable.apply(own, delta)
    },
  },
  'vote-not-replicated': {
    make: (own, delta, serves) => {
      if (serves || delta.kind !== 'vote') durable.apply(own, delta)
    },
  },
  // Each vote that comes counts, not each player.
  'votes-of-one-count': {
    make: (own, delta) => {
      const before = own.moderation.votes
      durable.apply(own, delta)
      if (delta.kind === 'vote') own.moderation.votes = [...before, delta]
    },
  },
  'votes-of-who-is-out': { mayVote: () => true },
  // Who says no number is somebody new, whatever its key.
  'player-by-its-word': {
    comesBackAs: (own, wish) => wish.resume && RULES.comesBackAs(own, wish),
  },
  // Whoever comes back gets in at once, beside a row that waits for the register.
  'beside-its-row': { mayReturn: () => true },
  'recalls-its-own': { recalls: ({ server }) => server.durable.moderation },
  'recalls-the-newest': {
    recalls: (_session, answers) => {
      const all = [...answers.values()].map(({ moderation }) => moderation)
      return all.reduce((best, one) => (one.cv > best.cv ? one : best))
    },
  },
  'recalls-of-anybody': {
    recalls: (session, answers) => RULES.recalls({ ...session, hosts: false }, answers),
  },
  'no-lease': { mayPublish: () => true },
  // A promise that was made once is taken for one that is kept.
  'promise-for-ever': {
    mayPublish: (lease, now, others) => {
      if (!lease.counts || now < lease.until) return true
      if (!lease.known || lease.removed.size > 0) return false
      return [...others].every((inc) => lease.promises.has(inc))
    },
  },
  'promise-while-asking': { mayPromise: () => true },
}

/** The rules of the session, with that bug if one is named. */
export function sessionRules(bug: SessionBug | null): SessionRules {
  return mutate(RULES, bug && SESSION[bug])
}

/** Bugs of pieces, by their names in docs/protocols/pieces.md. */
export type PiecesBug =
  | 'tag-newer'
  | 'strict'
  | 'no-gen-before'
  | 'naive-resume'
  | 'silent-loose'
  | 'secret-to-all'
  | 'zg-stays'
  | 'refusal-to-nobody'
  | 'refusal-to-all'
  | 'loss-untold'
  | 'loss-to-others'
  | 'loose-of-all'

const PIECES: Readonly<Record<PiecesBug, Partial<PiecesRules>>> = {
  'tag-newer': { tagOf: ({ committed }) => committed.gen },
  strict: { lacks: (tag, gen) => tag <= gen },
  'no-gen-before': { predecessor: (row) => row },
  'naive-resume': { isComplete: () => true },
  // In the source nothing is said.
  'silent-loose': {
    conflict: (loose, by) => (loose ? new Uint8Array(0) : pieces.RULES.conflict(loose, by)),
  },
  'secret-to-all': { hides: () => 0 },
  'zg-stays': { levelGen: (zg) => zg },
  'refusal-to-nobody': { refused: (row) => copyRow(row) },
  'refusal-to-all': { refused: (row, player, gen) => byPrimary(row, gen, player) },
  'loss-untold': {
    isLoss: (own, before, row) => pieces.RULES.isLoss(own, before, row) && row?.heldBy !== 0,
  },
  'loss-to-others': {
    isLoss: ({ player }, before, row) => before.heldBy !== 0 && row?.heldBy !== player,
  },
  'loose-of-all': { mayRegrab: (row) => row.heldBy === 0 },
}

/** The rules of pieces, with that bug if one is named. */
export function piecesRules(bug: PiecesBug | null): PiecesRules {
  return mutate(pieces.RULES, bug && PIECES[bug])
}

/** Bugs of slots. */
export type SlotsBug =
  | 'drops-late'
  | 'slot-of-arrival'
  | 'order-of-arrival'
  | 'never-asks'
  | 'void-unagreed'

// A world taken from another would hide what these three make of one's own.
const ALONE: Partial<SlotsRules> = { mayAsk: () => false }

const SLOTS: Readonly<Record<SlotsBug, Partial<SlotsRules>>> = {
  'drops-late': {
    ...ALONE,
    isLate: (own, slot) => slots.RULES.isLate(own, slot) || slot < own.slot,
  },
  'slot-of-arrival': { ...ALONE, counted: ({ slot }, said) => ({ ...said, slot }) },
  'order-of-arrival': { ...ALONE, sorted: (_own, _game, _slot, events) => events },
  'never-asks': ALONE,
  'void-unagreed': { haveAllReported: () => true },
}

/** The rules of slots, with that bug if one is named. */
export function slotsRules(bug: SlotsBug | null): SlotsRules {
  return mutate(slots.RULES, bug && SLOTS[bug])
}
