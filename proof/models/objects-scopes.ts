/** The scopes of the objects' model: those in which it holds, and those with a mutant. */

import type { Scope } from './objects-scene.ts'
import type { Rows } from './rows.ts'

/** In all of these every claim holds. */
export const SCOPES = {
  G1: {
    proves: 'B23, B48',
    states: 14_000,
    says: 'two grants, a write',
    scope: { members: 3, grants: 2, writes: 1 },
  },
  G2: {
    proves: 'B45, B46, B47',
    states: 1_000,
    says: 'two grants, a destroy',
    scope: { members: 3, grants: 2, destroys: 1 },
  },
  G3: {
    proves: 'B23',
    states: 110_000,
    size: 'large',
    says: 'two grants, two writes',
    scope: { members: 3, grants: 2, writes: 2 },
  },
  G4: {
    says: 'four members, a grant, a write, a destroy',
    scope: { members: 4, grants: 1, writes: 1, destroys: 1 },
    size: 'deep',
  },
  G5: {
    proves: 'B53',
    states: 4_700,
    says: 'a grant, a write, a living member removed',
    scope: { members: 3, grants: 1, writes: 1, removals: 1 },
  },
  G6: {
    proves: 'B26, B53',
    states: 4_800,
    says: 'a grant, a dead member removed',
    scope: { members: 4, grants: 1, removals: 1, dies: true },
  },
  G7: {
    proves: 'B51',
    states: 33_000,
    size: 'large',
    says: 'grants of two primaries, the old one alive',
    scope: { members: 4, grants: 2, takeovers: 1 },
  },
  G8: {
    proves: 'B54',
    states: 100_000,
    size: 'large',
    says: 'a newcomer, a grant, a write',
    scope: { members: 4, grants: 1, writes: 1, joins: 1 },
  },
  G9: {
    proves: 'B49, B54',
    states: 8_900,
    says: 'a newcomer, a grant, a destroy',
    scope: { members: 4, grants: 1, destroys: 1, joins: 1 },
  },
  G14: {
    says: 'grants of two primaries, a destroy',
    scope: { members: 4, grants: 2, takeovers: 1, destroys: 1 },
    size: 'deep',
  },
  G15: {
    states: 3_000,
    says: 'hidden and revealed, a grant, a write, a destroy',
    scope: { members: 3, grants: 1, writes: 1, destroys: 1, hides: 3, star: true },
  },
  G16: {
    says: 'hidden from who owned it: two grants, a write, a member removed',
    scope: { members: 4, grants: 2, writes: 1, hides: 4, star: true, removals: 1 },
    size: 'deep',
  },
  G17: {
    states: 70_000,
    size: 'large',
    says: 'a mesh: hidden and revealed, two grants, a write',
    scope: { members: 3, grants: 2, writes: 1, hides: 3 },
  },
  'G17-deep': {
    says: 'a mesh: hidden and revealed, two grants, two writes',
    scope: { members: 3, grants: 2, writes: 2, hides: 3 },
    size: 'deep',
  },
  G18: {
    says: 'hidden and revealed, a grant, two writes, another primary',
    scope: { members: 4, grants: 1, writes: 2, hides: 4, star: true, takeovers: 1 },
    size: 'deep',
  },
  T2: {
    states: 400,
    says: 'a newcomer and the end of what never changed hands',
    scope: { members: 4, destroys: 1, joins: 1 },
  },
  S1: {
    states: 400,
    says: 'a star: a grant, a write',
    scope: { members: 4, star: true, grants: 1, writes: 1 },
  },
  S2: {
    states: 3_300,
    says: 'a star: two grants, a destroy',
    scope: { members: 4, star: true, grants: 2, destroys: 1 },
  },
  S6: {
    states: 5_700,
    says: 'a star: a grant, a destroy, a dead member removed',
    scope: { members: 4, star: true, grants: 1, destroys: 1, removals: 1, dies: true },
  },
  S7: {
    states: 20_000,
    size: 'large',
    says: 'a star: grants of two primaries, the old one alive',
    scope: { members: 4, star: true, grants: 2, takeovers: 1 },
  },
  S8: {
    says: 'a star: a newcomer, another primary, a grant, a destroy',
    scope: { members: 4, star: true, grants: 1, destroys: 1, takeovers: 1, joins: 1 },
    size: 'deep',
  },
  U1: {
    proves: 'B16, B18, B56',
    states: 16_000,
    says: 'two fields, two writes, five packets lost, doubled, late',
    scope: {
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      losses: 2,
      doubles: 1,
      doubts: 1,
    },
  },
  'U1-deep': {
    says: 'two fields, three writes, six packets',
    scope: {
      members: 2,
      star: true,
      writes: 3,
      fields: 2,
      packets: 6,
      losses: 2,
      doubles: 1,
      doubts: 2,
    },
    size: 'deep',
  },
  R1: {
    proves: 'B9, B11',
    states: 13_000,
    says: 'a star: two writes, another primary',
    scope: { members: 4, star: true, writes: 2, takeovers: 1, dies: true },
  },
  'R1-deep': {
    says: 'a star: two writes, another primary, a loss',
    scope: { members: 4, star: true, writes: 2, takeovers: 1, dies: true, losses: 1 },
    size: 'deep',
  },
} satisfies Rows<Scope>

/** Requests: every one ends, without a clock; the mutants are twisted decisions. */
const ASKED = { star: true, asks: true, members: 4 } as const

/** In all of these every request ends, and of two who ask one is told that it is granted. */
export const REQUESTS = {
  Q1: {
    proves: 'B29',
    states: 250,
    says: 'two ask an owner',
    scope: { ...ASKED, takes: 2, takers: [3, 4] },
  },
  Q2: {
    proves: 'B29',
    states: 190,
    says: 'one asks, the owner gives it to another',
    scope: { ...ASKED, takes: 1, takers: [4], gives: 1, givees: [3] },
  },
  Q3: {
    proves: 'B29',
    states: 2_100,
    says: 'one asks, the owner gives it to another, who dies',
    scope: {
      ...{ ...ASKED, takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true },
    },
  },
  Q4: {
    proves: 'B30',
    states: 680,
    says: 'one asks, a link is lost',
    scope: { ...ASKED, takes: 1, takers: [4], relinks: 1 },
  },
  Q5: {
    proves: 'B30',
    states: 2_100,
    says: 'one asks, the primary dies',
    scope: { ...ASKED, takes: 1, takers: [4], takeovers: 1, dies: true },
  },
  Q6: {
    proves: 'B30',
    states: 70_000,
    size: 'large',
    says: 'two take, the primary dies',
    scope: {
      ...{ star: true, members: 5, takes: 2, takers: [4, 5] },
      ...{ takeovers: 1, dies: true },
    },
  },
  Q7: {
    proves: 'B29',
    states: 3_700,
    says: 'a mesh: two take, a destroy',
    scope: { members: 4, takes: 2, takers: [3, 4], destroys: 1 },
  },
  Q8: {
    says: 'a mesh: one asks, the primary dies',
    scope: { members: 4, asks: true, takes: 1, takers: [4], takeovers: 1, dies: true },
    size: 'deep',
  },
  Q9: {
    says: 'two ask, the owner gives it, a link is lost',
    scope: { ...ASKED, takes: 2, takers: [3, 4], gives: 1, givees: [3], relinks: 1 },
    // Who was granted it may give it to who asked.
    claims: ['obj.converge', 'obj.unique', 'obj.forward', 'request.ends'],
    size: 'deep',
  },
} satisfies Rows<Scope>

/** Planted bugs. */
export const MUTANTS = {
  'host-sends-migrate': {
    proves: 'B31, B32',
    says: 'X1: the host (1) tells of the new owner (3), as the source first did; 2 creates, 4 is X',
    scope: {
      members: 4,
      grants: 1,
      destroys: 1,
      grantees: [3],
      destroyers: [3],
      bug: 'host-sends-migrate',
    },
    violates: [['obj.converge', 8]],
  },
  X2: {
    says: 'no migration counter',
    scope: { members: 4, grants: 1, destroys: 1, bug: 'no-counter' },
    violates: [['obj.converge', 12]],
  },
  X3: {
    says: 'nothing is remembered of what is gone',
    scope: { members: 4, grants: 1, destroys: 1, bug: 'no-tombstone' },
    violates: [['obj.converge', 5]],
  },
  X4: {
    proves: 'B41',
    says: 'a migration of an unknown object is ignored',
    scope: { members: 4, grants: 1, bug: 'migrate-creates-nothing' },
    violates: [['obj.converge', 8]],
  },
  X5: {
    proves: 'B50',
    says: 'an update counts for any version of its owner',
    scope: {
      grantees: [2, 3],
      members: 3,
      grants: 2,
      writes: 2,
      bug: 'update-without-version',
    },
    violates: [['obj.converge', 19]],
  },
  X6: {
    proves: 'B51',
    says: 'two primaries count alike',
    scope: { members: 4, grants: 2, takeovers: 1, bug: 'no-epoch' },
    violates: [['obj.unique', 6]],
  },
  X7: {
    says: 'what a member that went has told some is not reported',
    scope: { members: 4, grants: 1, removals: 1, dies: true, bug: 'no-unowned' },
    violates: [['obj.converge', 7]],
  },
  X8: {
    says: 'what a stranger says is acked and ignored',
    scope: {
      members: 4,
      grants: 1,
      joins: 1,
      around: 'opens-early',
      bug: 'deaf-to-strangers',
    },
    violates: [['obj.converge', 14]],
  },
  X9: {
    says: 'newcomers are not told of what is gone',
    scope: { members: 4, grants: 1, destroys: 1, joins: 1, bug: 'no-tombstone-duty' },
    violates: [['obj.converge', 14]],
  },
  X10: {
    says: 'what is gone by a member that went is told by nobody',
    scope: {
      members: 4,
      grants: 1,
      destroys: 1,
      removals: 1,
      dies: true,
      bug: 'no-tombstone-adoption',
    },
    violates: [['obj.converge', 11]],
  },
  X11: {
    says: 'a new primary tells only who went',
    scope: {
      members: 4,
      grants: 1,
      removals: 1,
      takeovers: 1,
      around: 'takeover-tells-difference',
    },
    violates: [['obj.converge', 7]],
  },
  X12: {
    says: 'a removal is told before the backup has it',
    scope: {
      members: 4,
      grants: 1,
      removals: 1,
      takeovers: 1,
      around: 'view-not-committed',
    },
    violates: [['obj.converge', 12]],
  },
  U2b: {
    proves: 'B55',
    says: 'the ack of a packet opens the gate',
    scope: {
      members: 2,
      star: true,
      writes: 1,
      fields: 2,
      packets: 3,
      losses: 1,
      around: 'gate-by-packet',
    },
    violates: [['obj.truth', 2]],
  },
  U3: {
    proves: 'B56',
    says: 'an update carries only what changed since the last one',
    scope: {
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      losses: 1,
      doubts: 1,
      bug: 'only-fresh',
    },
    violates: [['obj.truth', 6]],
  },
  U4: {
    says: 'an older update counts',
    scope: {
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      doubts: 1,
      bug: 'accept-older',
    },
    violates: [['obj.forward', 7]],
  },
  'R-X1': {
    says: 'order holds for each link alone',
    scope: { members: 4, star: true, writes: 2, takeovers: 1, dies: true, bug: 'order-by-link' },
    violates: [['obj.forward', 13]],
  },
  'R-X2': {
    says: 'a new primary believes what the old one knew',
    scope: { members: 4, star: true, writes: 2, takeovers: 1, dies: true, bug: 'inherited-acks' },
    violates: [['obj.truth', 6]],
  },
  'Q-X1': {
    says: 'an ask that was lost with its link is not said again',
    scope: {
      ...{ ...ASKED, takes: 1, takers: [4], relinks: 1 },
      rules: { asksAgain: () => false },
    },
    violates: [['request.ends', 10]],
  },
  'Q-X2': {
    says: 'an answer is dropped while the object is given to another',
    scope: {
      ...{ ...ASKED, takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true, rules: { declines: (mine) => mine } },
    },
    violates: [['request.ends', 15]],
  },
  'Q-X3': {
    says: 'who asked does not hear that it was given to another, who dies',
    scope: {
      ...{ ...ASKED, takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true, rules: { endsByGive: () => false } },
    },
    violates: [['request.ends', 16]],
  },
  'Q-X4': {
    says: 'a new primary decides before it has heard what the one before granted',
    scope: {
      ...{ star: true, members: 5, takes: 2, takers: [4, 5] },
      ...{ takeovers: 1, dies: true, rules: { waitsForAll: () => false } },
    },
    violates: [['request.one', 15]],
  },
} satisfies Rows<Scope>
