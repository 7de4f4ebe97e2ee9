/** The scopes of the session's model. */

import type { Rows } from './rows.ts'
import type { Scope } from './session-scene.ts'

const THREE = { members: 3, operations: 1, offers: 2 } as const
const TWO = { members: 2, operations: 2, offers: 2 } as const

// One is put out on another's wish.
const KICKING = { members: 3, kicks: 1, suspicions: 1, crashes: 1 } as const
const KICK_PLAYER = {
  ...KICKING,
  start: { primary: 1, backup: 2 },
  kick: { by: 1, who: 3 },
} as const
const KICK_BACKUP = {
  ...{ ...KICKING, offers: 1, handovers: 1 },
  start: { primary: 1, backup: 2 },
  kick: { by: 1, who: 2 },
} as const
const KICK_PRIMARY = {
  ...{ ...KICKING, offers: 1, handovers: 1 },
  start: { primary: 2, backup: 3 },
  kick: { by: 1, who: 2 },
} as const

// Who was put out is let in again.
const PARDON = { ...KICK_PLAYER, pardons: 1, returns: 1 } as const

// Where players vote: of three or four, two put one out.
const VOTING = { suspicions: 1, crashes: 1, start: { primary: 1, backup: 2 } } as const
const VOTE_TAKEOVER = {
  ...{ ...VOTING, members: 4 },
  vote: { against: 4, by: [3, 2] },
} as const
const VOTE_HAND_OVER = {
  ...{ ...VOTING, members: 3, crashes: 0, handovers: 1 },
  vote: { against: 3, by: [1, 2] },
} as const
const VOTE_ALONE = {
  ...{ ...VOTING, members: 3, lies: 2, returns: 1 },
  vote: { against: 2, by: [], liar: 3 },
} as const
// The registered backup comes back by its key, while its row is still here.
const RETURN_BACKUP = {
  ...{ ...VOTING, members: 3, lies: 1, returns: 1 },
  vote: { against: 3, by: [], liar: 2 },
} as const
// The backup is put out, which the register has yet to drop.
const VOTE_OUT = {
  ...{ ...VOTING, members: 4, kicks: 1, lies: 2 },
  start: { primary: 1, backup: 3 },
  kick: { by: 1, who: 3 },
  vote: { against: 2, by: [4], liar: 3 },
} as const

/** Scopes in which all holds. */
export const SCOPES: Rows<Scope> = {
  F1: {
    size: 'large',
    says: 'three processes, one operation, one crash, two suspicions',
    scope: { ...THREE, suspicions: 2, crashes: 1 },
    states: 521_000,
  },
  F2: {
    says: 'two processes, two operations, one crash, three suspicions',
    scope: { ...TWO, suspicions: 3, crashes: 1 },
    states: 76_000,
  },
  'F2-clients': {
    says: 'the two operations are of two clients, in either order',
    scope: { ...TWO, clients: 2, suspicions: 2, crashes: 1 },
    states: 50_000,
  },
  F3: {
    says: 'a process starts again and is let in under a new number',
    scope: {
      members: 2,
      operations: 1,
      resends: 1,
      suspicions: 2,
      offers: 2,
      crashes: 1,
      restarts: 1,
      joins: 2,
    },
    states: 47_000,
  },
  F4: {
    size: 'large',
    says: 'a primary removes members, the registered backup among them',
    scope: { ...THREE, offers: 1, suspicions: 2, removals: 1 },
    states: 102_000,
  },
  F5: {
    size: 'large',
    says: 'a network that does more harm than a link lets through',
    scope: { ...TWO, operations: 1, suspicions: 2, losses: 1, doubles: 1, relinks: 1 },
    states: 104_000,
  },
  F6: {
    says: 'streams to the hub break, with requests and answers under way',
    scope: { ...TWO, operations: 1, suspicions: 2, breaks: 1 },
    states: 52_000,
  },
  'hand-over': {
    says: 'a primary gives its role to the backup, which is given it back',
    scope: { ...TWO, operations: 1, suspicions: 1, handovers: 2, relinks: 1 },
    states: 24_000,
  },
  'hand-over-3': {
    says: 'a primary hands over and somebody dies meanwhile',
    scope: { ...THREE, offers: 1, suspicions: 1, handovers: 1, crashes: 1 },
    states: 23_000,
  },
  'hand-over-hub': {
    says: 'a primary hands over while streams to the hub break',
    scope: { ...TWO, operations: 1, suspicions: 1, handovers: 1, breaks: 1 },
    states: 63_000,
  },
  refused: {
    says: 'the hub refuses a backup, or to hand over, and what was asked for twice',
    scope: { ...{ ...TWO, operations: 1, suspicions: 2, handovers: 1, refusals: 2, repeats: 1 } },
    states: 266_000,
  },
  'refused-3': {
    says: 'the hub refuses a backup that dies, and another takes over',
    scope: { ...{ ...THREE, offers: 2 }, suspicions: 1, crashes: 1, refusals: 1 },
    states: 173_000,
  },
  'refused-late': {
    says: 'a refusal on a new stream, with requests of the old one still on their way',
    scope: {
      ...{ ...TWO, operations: 1, suspicions: 1, handovers: 1, refusals: 1, breaks: 1, late: true },
    },
    states: 234_000,
  },
  veto: {
    says: 'a backup that is told that its primary lives, suspects it again, and takes over',
    scope: { ...TWO, offers: 1, suspicions: 3, vetoes: 2, crashes: 1 },
    states: 31_000,
  },
  'veto-hub': {
    says: 'the same while streams to the hub break',
    scope: { ...TWO, operations: 1, suspicions: 2, vetoes: 1, breaks: 1 },
    states: 74_000,
  },
  'kick-player': {
    says: 'a player is put out by the founder, who serves, is asked twice, and may die',
    scope: { ...KICK_PLAYER, offers: 1, resends: 1 },
    states: 94_000,
  },
  'kick-return': {
    says: 'a player who is out comes again by its key, beside an operation',
    scope: { ...KICK_PLAYER, operations: 1, resends: 1, returns: 1 },
    states: 289_000,
  },
  'kick-backup': {
    says: 'the registered backup is put out, which may take over before it is dropped',
    scope: { ...KICK_BACKUP },
    states: 333_000,
  },
  'kick-primary': {
    says: 'the primary is put out by the founder, who does not serve',
    scope: { ...KICK_PRIMARY },
    states: 365_000,
  },
  pardon: {
    says: 'a player who was banned is pardoned, and comes again before and after that',
    scope: { ...PARDON },
    states: 141_000,
  },
  'vote-takeover': {
    says: 'two of four vote a third out, and the primary dies meanwhile',
    scope: { ...VOTE_TAKEOVER, resends: 1 },
    states: 98_000,
  },
  'vote-hand-over': {
    says: 'two of three vote the third out, and the primary hands over meanwhile',
    scope: { ...VOTE_HAND_OVER },
    states: 16_000,
  },
  'vote-liar': {
    says: 'one whose program lies votes again and again, and joins again to vote as another',
    scope: { ...VOTE_ALONE },
    states: 196_000,
  },
  'return-backup': {
    says: 'the registered backup comes back by its key, which the register has yet to drop',
    scope: { ...RETURN_BACKUP },
    states: 6_900,
  },
  'vote-out': {
    says: 'a backup that was put out votes while the register has yet to drop it',
    scope: { ...VOTE_OUT },
    states: 135_000,
  },
  'F1-deep': {
    says: 'F1 with operations sent again',
    scope: { ...THREE, resends: 1, suspicions: 2, crashes: 1 },
    states: 1_198_000,
    size: 'deep',
  },
  'F2-deep': {
    says: 'F2 with more candidates, and operations sent again',
    scope: { ...TWO, offers: 3, resends: 1, suspicions: 3, crashes: 1 },
    states: 558_000,
    size: 'deep',
  },
  'F4-deep': {
    says: 'F4 with a second candidate',
    scope: { ...THREE, suspicions: 1, removals: 1 },
    states: 795_000,
    size: 'deep',
  },
  'F5-deep': {
    says: 'F5 with two operations',
    scope: { ...TWO, suspicions: 2, losses: 1, doubles: 1, relinks: 1 },
    states: 543_000,
    size: 'deep',
  },
  'F6-deep': {
    says: 'F6 with a crash, two breaks and operations sent again',
    scope: { ...TWO, operations: 1, resends: 1, suspicions: 2, breaks: 2, crashes: 1 },
    states: 574_000,
    size: 'deep',
  },
  'kick-player-deep': {
    says: 'kick-player, and the player comes again',
    scope: { ...KICK_PLAYER, offers: 1, resends: 1, returns: 1 },
    states: 420_000,
    size: 'deep',
  },
  'kick-backup-deep': {
    says: 'kick-backup, and the backup comes again',
    scope: { ...KICK_BACKUP, returns: 1 },
    states: 2_491_000,
    size: 'deep',
  },
  'kick-primary-deep': {
    says: 'kick-primary, beside an operation',
    scope: { ...KICK_PRIMARY, operations: 1 },
    states: 3_559_000,
    size: 'deep',
  },
  'pardon-deep': {
    says: 'pardon, with a hand-over and what is asked twice',
    scope: { ...PARDON, resends: 1, handovers: 1 },
    states: 2_629_000,
    size: 'deep',
  },
  'vote-hand-over-deep': {
    says: 'vote-hand-over, with a candidate and votes that are asked twice',
    scope: { ...VOTE_HAND_OVER, resends: 1, offers: 1 },
    states: 4_242_000,
    size: 'deep',
  },
  'vote-liar-deep': {
    says: 'vote-liar with one lie more',
    scope: { ...VOTE_ALONE, lies: 3 },
    states: 946_000,
    size: 'deep',
  },
  'kick-primary-twice': {
    says: 'kick-primary with a second hand-over, should the first come to nothing',
    scope: { ...KICK_PRIMARY, handovers: 2 },
    states: 1_354_000,
    size: 'deep',
  },
}

const HANDING = { ...TWO, suspicions: 1, crashes: 1, handovers: 1 } as const
const BASE = { ...THREE, resends: 1, suspicions: 2, crashes: 1 } as const

/** Planted bugs. */
export const MUTANTS: Rows<Scope> = {
  'F-X1': {
    proves: 'T78',
    says: 'the primary acknowledges before the backup has it',
    scope: { ...BASE, bug: 'ack-early' },
    violates: [
      ['commit.hidden', 5],
      ['commit.kept', 9],
    ],
  },
  'F-X1-fork': {
    says: 'as F-X1, with operations of two clients',
    scope: { ...BASE, operations: 2, clients: 2, bug: 'ack-early' },
    violates: [['commit.fork', 10]],
  },
  'F-X1-view': {
    says: 'as F-X1, with the removal of a member in place of an operation',
    scope: { ...BASE, operations: 0, removals: 1, bug: 'ack-early' },
    violates: [['view.linear', 9]],
  },
  'F-X2': {
    proves: 'T77',
    says: 'the primary drops its backup without the register',
    scope: { ...BASE, bug: 'drop-without-cas' },
    violates: [
      ['commit.hidden', 7],
      ['commit.kept', 11],
    ],
  },
  'F-X3': {
    proves: 'T77',
    says: 'the backup takes over without the register',
    scope: { ...BASE, bug: 'take-without-cas' },
    violates: [
      ['role.register', 6],
      ['commit.hidden', 7],
      ['role.unique', 10],
      ['commit.kept', 11],
    ],
  },
  'F-X4': {
    says: 'a backup is registered before it has caught up',
    scope: { ...BASE, bug: 'add-unsynced' },
    violates: [['commit.hidden', 6]],
  },
  'F-X5': {
    says: 'the primary commits alone while a backup is being added',
    scope: { ...BASE, bug: 'commit-while-adding' },
    violates: [
      ['commit.hidden', 5],
      ['commit.kept', 9],
    ],
  },
  'F-X6': {
    proves: 'T80',
    says: 'the numbers of what was done are not replicated',
    scope: { ...BASE, bug: 'dedup-not-replicated' },
    violates: [['once', 11]],
  },
  'hand-over-early': {
    says: 'a primary hands over before the backup has its whole log',
    scope: { ...HANDING, bug: 'hand-over-early' },
    violates: [
      ['commit.hidden', 9],
      ['commit.kept', 11],
    ],
  },
  'late-add': {
    says: 'the hub takes a backup from a stream that the primary gave up',
    scope: {
      ...{ ...TWO, operations: 1, suspicions: 1, refusals: 1, breaks: 1, late: true },
      bug: 'late-add',
    },
    violates: [
      ['commit.hidden', 11],
      ['commit.kept', 15],
    ],
  },
  'older-refusal': {
    says: 'a primary commits alone because an older request of its was refused',
    scope: {
      ...{ ...TWO, operations: 1, suspicions: 1, refusals: 1, repeats: 1 },
      bug: 'older-refusal',
    },
    violates: [['commit.hidden', 8]],
  },
  'F-X7': {
    proves: 'T79',
    says: 'a process that starts again empty keeps its identity',
    scope: { ...TWO, operations: 1, suspicions: 2, crashes: 1, restarts: 1, bug: 'keep-identity' },
    violates: [['commit.kept', 4]],
  },
  'expel-not-replicated': {
    says: 'a player is removed, and the backup is not told why',
    scope: { ...KICK_PLAYER, returns: 1, bug: 'expel-not-replicated' },
    violates: [['kick.kept', 16]],
  },
  'removed-before-dropped': {
    says: 'a registered backup is removed before the register has dropped it',
    scope: { ...KICK_BACKUP, bug: 'removed-before-dropped' },
    violates: [['kick.kept', 8]],
  },
  'ban-not-enforced': {
    says: 'the next primary does not look for who was put out',
    scope: { ...KICK_PRIMARY, bug: 'ban-not-enforced' },
    violates: [['kick.kept', 14]],
  },
  'kick-not-counted': {
    says: 'as F-X6, with the operation that puts the primary out',
    scope: { ...KICK_PRIMARY, resends: 1, bug: 'dedup-not-replicated' },
    violates: [['kick.once', 7]],
  },
  'pardon-not-replicated': {
    says: 'a player is let in again, and the backup is not told',
    scope: { ...PARDON, bug: 'pardon-not-replicated' },
    violates: [['pardon.kept', 12]],
  },
  'vote-not-replicated': {
    says: 'the backup is not told of votes',
    scope: { ...VOTE_TAKEOVER, bug: 'vote-not-replicated' },
    violates: [['vote.kept', 13]],
  },
  'votes-of-one-count': {
    says: 'each vote that comes counts, and not each player',
    scope: { ...VOTE_ALONE, bug: 'votes-of-one-count' },
    violates: [['vote.fair', 2]],
  },
  'player-by-its-word': {
    says: 'who joins again by its key, and says that it is new, has a second vote',
    scope: { ...VOTE_ALONE, bug: 'player-by-its-word' },
    violates: [['vote.fair', 3]],
  },
  'beside-its-row': {
    says: 'who comes back is let in beside its row, which the register has yet to drop',
    scope: { ...RETURN_BACKUP, bug: 'beside-its-row' },
    violates: [['row.once', 1]],
  },
  'votes-of-who-is-out': {
    says: 'a backup that was put out votes until the register has dropped it',
    scope: { ...VOTE_OUT, bug: 'votes-of-who-is-out' },
    violates: [['vote.fair', 7]],
  },
}
