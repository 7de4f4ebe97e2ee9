/**
 * The scopes in which the session is explored, and the mutants that show that the claims
 * can fail. The numbers of states are what was counted when the scope was written down.
 */

import type { Scope } from './session-tables.ts'

/** A scope in which all holds. */
export interface GoodScope {
  scope: Scope
  /** It says less than it seems if fewer are seen. */
  states: number
  /** Minutes rather than seconds. */
  deep: boolean
  says: string
}

/** A bug on purpose, and what finds it. */
export interface SessionMutant {
  scope: Scope
  says: string
  /** Each claim that breaks and after how many steps, judged alone; the first is the nearest. */
  violates: readonly (readonly [claim: string, steps: number])[]
}

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

/** Scopes that hold, by name. */
export const GOOD: Record<string, GoodScope> = {
  F1: {
    says: 'three processes, one operation, one crash, two suspicions',
    scope: { name: 'F1', ...THREE, suspicions: 2, crashes: 1 },
    states: 521_000,
    deep: false,
  },
  F2: {
    says: 'two processes, two operations, one crash, three suspicions',
    scope: { name: 'F2', ...TWO, suspicions: 3, crashes: 1 },
    states: 76_000,
    deep: false,
  },
  'F2-clients': {
    says: 'the two operations are of two clients, in either order',
    scope: { name: 'F2-clients', ...TWO, clients: 2, suspicions: 2, crashes: 1 },
    states: 50_000,
    deep: false,
  },
  F3: {
    says: 'a process starts again and is let in under a new number',
    scope: {
      name: 'F3',
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
    deep: false,
  },
  F4: {
    says: 'a primary removes members, the registered backup among them',
    scope: { name: 'F4', ...THREE, offers: 1, suspicions: 2, removals: 1 },
    states: 102_000,
    deep: false,
  },
  F5: {
    says: 'a network that does more harm than a link lets through',
    scope: { name: 'F5', ...TWO, operations: 1, suspicions: 2, losses: 1, doubles: 1, relinks: 1 },
    states: 104_000,
    deep: false,
  },
  F6: {
    says: 'streams to the hub break, with requests and answers under way',
    scope: { name: 'F6', ...TWO, operations: 1, suspicions: 2, breaks: 1 },
    states: 52_000,
    deep: false,
  },
  'hand-over': {
    says: 'a primary gives its role to the backup, which is given it back',
    scope: { name: 'hand-over', ...TWO, operations: 1, suspicions: 1, handovers: 2, relinks: 1 },
    states: 24_000,
    deep: false,
  },
  'hand-over-3': {
    says: 'a primary hands over and somebody dies meanwhile',
    scope: { name: 'hand-over-3', ...THREE, offers: 1, suspicions: 1, handovers: 1, crashes: 1 },
    states: 23_000,
    deep: false,
  },
  'hand-over-hub': {
    says: 'a primary hands over while streams to the hub break',
    scope: { name: 'hand-over-hub', ...TWO, operations: 1, suspicions: 1, handovers: 1, breaks: 1 },
    states: 63_000,
    deep: false,
  },
  refused: {
    says: 'the hub refuses a backup, or to hand over, and what was asked for twice',
    scope: {
      name: 'refused',
      ...{ ...TWO, operations: 1, suspicions: 2, handovers: 1, refusals: 2, repeats: 1 },
    },
    states: 266_000,
    deep: false,
  },
  'refused-3': {
    says: 'the hub refuses a backup that dies, and another takes over',
    scope: {
      name: 'refused-3',
      ...{ ...THREE, offers: 2 },
      suspicions: 1,
      crashes: 1,
      refusals: 1,
    },
    states: 173_000,
    deep: false,
  },
  'refused-late': {
    says: 'a refusal on a new stream, with requests of the old one still on their way',
    scope: {
      name: 'refused-late',
      ...{ ...TWO, operations: 1, suspicions: 1, handovers: 1, refusals: 1, breaks: 1, late: true },
    },
    states: 234_000,
    deep: false,
  },
  veto: {
    says: 'a backup that is told that its primary lives, suspects it again, and takes over',
    scope: { name: 'veto', ...TWO, offers: 1, suspicions: 3, vetoes: 2, crashes: 1 },
    states: 31_000,
    deep: false,
  },
  'veto-hub': {
    says: 'the same while streams to the hub break',
    scope: { name: 'veto-hub', ...TWO, operations: 1, suspicions: 2, vetoes: 1, breaks: 1 },
    states: 74_000,
    deep: false,
  },
  'kick-player': {
    says: 'a player is put out by the founder, who serves, is asked twice, and may die',
    scope: { name: 'kick-player', ...KICK_PLAYER, offers: 1, resends: 1 },
    states: 94_000,
    deep: false,
  },
  'kick-return': {
    says: 'a player who is out comes again by its key, beside an operation',
    scope: { name: 'kick-return', ...KICK_PLAYER, operations: 1, resends: 1, returns: 1 },
    states: 289_000,
    deep: false,
  },
  'kick-backup': {
    says: 'the registered backup is put out, which may take over before it is dropped',
    scope: { name: 'kick-backup', ...KICK_BACKUP },
    states: 333_000,
    deep: false,
  },
  'kick-primary': {
    says: 'the primary is put out by the founder, who does not serve',
    scope: { name: 'kick-primary', ...KICK_PRIMARY },
    states: 365_000,
    deep: false,
  },
  pardon: {
    says: 'a player who was banned is pardoned, and comes again before and after that',
    scope: { name: 'pardon', ...PARDON },
    states: 141_000,
    deep: false,
  },
  'vote-takeover': {
    says: 'two of four vote a third out, and the primary dies meanwhile',
    scope: { name: 'vote-takeover', ...VOTE_TAKEOVER, resends: 1 },
    states: 98_000,
    deep: false,
  },
  'vote-hand-over': {
    says: 'two of three vote the third out, and the primary hands over meanwhile',
    scope: { name: 'vote-hand-over', ...VOTE_HAND_OVER },
    states: 16_000,
    deep: false,
  },
  'vote-liar': {
    says: 'one whose program lies votes again and again, and joins again to vote as another',
    scope: { name: 'vote-liar', ...VOTE_ALONE },
    states: 196_000,
    deep: false,
  },
  'return-backup': {
    says: 'the registered backup comes back by its key, which the register has yet to drop',
    scope: { name: 'return-backup', ...RETURN_BACKUP },
    states: 6_900,
    deep: false,
  },
  'vote-out': {
    says: 'a backup that was put out votes while the register has yet to drop it',
    scope: { name: 'vote-out', ...VOTE_OUT },
    states: 135_000,
    deep: false,
  },
  'F1-deep': {
    says: 'F1 with operations sent again',
    scope: { name: 'F1-deep', ...THREE, resends: 1, suspicions: 2, crashes: 1 },
    states: 1_198_000,
    deep: true,
  },
  'F2-deep': {
    says: 'F2 with more candidates, and operations sent again',
    scope: { name: 'F2-deep', ...TWO, offers: 3, resends: 1, suspicions: 3, crashes: 1 },
    states: 558_000,
    deep: true,
  },
  'F4-deep': {
    says: 'F4 with a second candidate',
    scope: { name: 'F4-deep', ...THREE, suspicions: 1, removals: 1 },
    states: 795_000,
    deep: true,
  },
  'F5-deep': {
    says: 'F5 with two operations',
    scope: { name: 'F5-deep', ...TWO, suspicions: 2, losses: 1, doubles: 1, relinks: 1 },
    states: 543_000,
    deep: true,
  },
  'F6-deep': {
    says: 'F6 with a crash, two breaks and operations sent again',
    scope: {
      name: 'F6-deep',
      ...TWO,
      operations: 1,
      resends: 1,
      suspicions: 2,
      breaks: 2,
      crashes: 1,
    },
    states: 574_000,
    deep: true,
  },
  'kick-player-deep': {
    says: 'kick-player, and the player comes again',
    scope: { name: 'kick-player-deep', ...KICK_PLAYER, offers: 1, resends: 1, returns: 1 },
    states: 1_380_000,
    deep: true,
  },
  'kick-backup-deep': {
    says: 'kick-backup, and the backup comes again',
    scope: { name: 'kick-backup-deep', ...KICK_BACKUP, returns: 1 },
    states: 4_067_000,
    deep: true,
  },
  'kick-primary-deep': {
    says: 'kick-primary, beside an operation',
    scope: { name: 'kick-primary-deep', ...KICK_PRIMARY, operations: 1 },
    states: 3_559_000,
    deep: true,
  },
  'pardon-deep': {
    says: 'pardon, with a hand-over and what is asked twice',
    scope: { name: 'pardon-deep', ...PARDON, resends: 1, handovers: 1 },
    states: 2_629_000,
    deep: true,
  },
  'vote-hand-over-deep': {
    says: 'vote-hand-over, with a candidate and votes that are asked twice',
    scope: { name: 'vote-hand-over-deep', ...VOTE_HAND_OVER, resends: 1, offers: 1 },
    states: 4_242_000,
    deep: true,
  },
  'vote-liar-deep': {
    says: 'vote-liar with one lie more',
    scope: { name: 'vote-liar-deep', ...VOTE_ALONE, lies: 3 },
    states: 946_000,
    deep: true,
  },
  'kick-primary-twice': {
    says: 'kick-primary with a second hand-over, should the first come to nothing',
    scope: { name: 'kick-primary-twice', ...KICK_PRIMARY, handovers: 2 },
    states: 1_354_000,
    deep: true,
  },
}

const HANDING = { ...TWO, suspicions: 1, crashes: 1, handovers: 1 } as const
const BASE = { ...THREE, resends: 1, suspicions: 2, crashes: 1 } as const

/** Mutants by name. */
export const MUTANTS: Record<string, SessionMutant> = {
  'F-X1': {
    says: 'the primary acknowledges before the backup has it',
    scope: { name: 'F-X1', ...BASE, bug: 'ack-early' },
    violates: [
      ['commit.hidden', 5],
      ['commit.kept', 9],
    ],
  },
  'F-X1-fork': {
    says: 'as F-X1, with operations of two clients',
    scope: { name: 'F-X1-fork', ...BASE, operations: 2, clients: 2, bug: 'ack-early' },
    violates: [['commit.fork', 10]],
  },
  'F-X1-view': {
    says: 'as F-X1, with the removal of a member in place of an operation',
    scope: { name: 'F-X1-view', ...BASE, operations: 0, removals: 1, bug: 'ack-early' },
    violates: [['view.linear', 9]],
  },
  'F-X2': {
    says: 'the primary drops its backup without the register',
    scope: { name: 'F-X2', ...BASE, bug: 'drop-without-cas' },
    violates: [
      ['commit.hidden', 7],
      ['commit.kept', 11],
    ],
  },
  'F-X3': {
    says: 'the backup takes over without the register',
    scope: { name: 'F-X3', ...BASE, bug: 'take-without-cas' },
    violates: [
      ['role.register', 6],
      ['commit.hidden', 7],
      ['role.unique', 10],
      ['commit.kept', 11],
    ],
  },
  'F-X4': {
    says: 'a backup is registered before it has caught up',
    scope: { name: 'F-X4', ...BASE, bug: 'add-unsynced' },
    violates: [['commit.hidden', 6]],
  },
  'F-X5': {
    says: 'the primary commits alone while a backup is being added',
    scope: { name: 'F-X5', ...BASE, bug: 'commit-while-adding' },
    violates: [
      ['commit.hidden', 5],
      ['commit.kept', 9],
    ],
  },
  'F-X6': {
    says: 'the numbers of what was done are not replicated',
    scope: { name: 'F-X6', ...BASE, bug: 'dedup-not-replicated' },
    violates: [['once', 11]],
  },
  'hand-over-early': {
    says: 'a primary hands over before the backup has its whole log',
    scope: { name: 'hand-over-early', ...HANDING, bug: 'hand-over-early' },
    violates: [
      ['commit.hidden', 9],
      ['commit.kept', 11],
    ],
  },
  'late-add': {
    says: 'the hub takes a backup from a stream that the primary gave up',
    scope: {
      name: 'late-add',
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
      name: 'older-refusal',
      ...{ ...TWO, operations: 1, suspicions: 1, refusals: 1, repeats: 1 },
      bug: 'older-refusal',
    },
    violates: [['commit.hidden', 8]],
  },
  'F-X7': {
    says: 'a process that starts again empty keeps its identity',
    scope: {
      name: 'F-X7',
      ...TWO,
      operations: 1,
      suspicions: 2,
      crashes: 1,
      restarts: 1,
      bug: 'keep-identity',
    },
    violates: [['commit.kept', 4]],
  },
  'expel-not-replicated': {
    says: 'a player is removed, and the backup is not told why',
    scope: {
      name: 'expel-not-replicated',
      ...KICK_PLAYER,
      returns: 1,
      bug: 'expel-not-replicated',
    },
    violates: [['kick.kept', 16]],
  },
  'removed-before-dropped': {
    says: 'a registered backup is removed before the register has dropped it',
    scope: { name: 'removed-before-dropped', ...KICK_BACKUP, bug: 'removed-before-dropped' },
    violates: [['kick.kept', 8]],
  },
  'ban-not-enforced': {
    says: 'the next primary does not look for who was put out',
    scope: { name: 'ban-not-enforced', ...KICK_PRIMARY, bug: 'ban-not-enforced' },
    violates: [['kick.kept', 14]],
  },
  'kick-not-counted': {
    says: 'as F-X6, with the operation that puts the primary out',
    scope: {
      name: 'kick-not-counted',
      ...KICK_PRIMARY,
      resends: 1,
      bug: 'dedup-not-replicated',
    },
    violates: [['kick.once', 7]],
  },
  'pardon-not-replicated': {
    says: 'a player is let in again, and the backup is not told',
    scope: { name: 'pardon-not-replicated', ...PARDON, bug: 'pardon-not-replicated' },
    violates: [['pardon.kept', 12]],
  },
  'vote-not-replicated': {
    says: 'the backup is not told of votes',
    scope: { name: 'vote-not-replicated', ...VOTE_TAKEOVER, bug: 'vote-not-replicated' },
    violates: [['vote.kept', 13]],
  },
  'votes-of-one-count': {
    says: 'each vote that comes counts, and not each player',
    scope: { name: 'votes-of-one-count', ...VOTE_ALONE, bug: 'votes-of-one-count' },
    violates: [['vote.fair', 2]],
  },
  'player-by-its-word': {
    says: 'who joins again by its key, and says that it is new, has a second vote',
    scope: { name: 'player-by-its-word', ...VOTE_ALONE, bug: 'player-by-its-word' },
    violates: [['vote.fair', 3]],
  },
  'beside-its-row': {
    says: 'who comes back is let in beside its row, which the register has yet to drop',
    scope: { name: 'beside-its-row', ...RETURN_BACKUP, bug: 'beside-its-row' },
    violates: [['row.once', 1]],
  },
  'votes-of-who-is-out': {
    says: 'a backup that was put out votes until the register has dropped it',
    scope: { name: 'votes-of-who-is-out', ...VOTE_OUT, bug: 'votes-of-who-is-out' },
    violates: [['vote.fair', 7]],
  },
}
