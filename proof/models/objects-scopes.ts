/** The scopes of the objects' model: those in which it holds, and those with a mutant. */

import type { Scope } from './objects-tables.ts'

/** A scope and what it is about. */
export interface Scoped {
  scope: Scope
  says: string
  deep?: boolean
}

/** In all of these every claim holds. */
export const GOOD: readonly Scoped[] = [
  { scope: { name: 'G1', members: 3, grants: 2, writes: 1 }, says: 'two grants, a write' },
  { scope: { name: 'G2', members: 3, grants: 2, destroys: 1 }, says: 'two grants, a destroy' },
  { scope: { name: 'G3', members: 3, grants: 2, writes: 2 }, says: 'two grants, two writes' },
  {
    scope: { name: 'G4', members: 4, grants: 1, writes: 1, destroys: 1 },
    says: 'four members, a grant, a write, a destroy',
    deep: true,
  },
  {
    scope: { name: 'G5', members: 3, grants: 1, writes: 1, removals: 1 },
    says: 'a grant, a write, a living member removed',
  },
  {
    scope: { name: 'G6', members: 4, grants: 1, removals: 1, dies: true },
    says: 'a grant, a dead member removed',
  },
  {
    scope: { name: 'G7', members: 4, grants: 2, takeovers: 1 },
    says: 'grants of two primaries, the old one alive',
  },
  {
    scope: { name: 'G8', members: 4, grants: 1, writes: 1, joins: 1 },
    says: 'a newcomer, a grant, a write',
  },
  {
    scope: { name: 'G9', members: 4, grants: 1, destroys: 1, joins: 1 },
    says: 'a newcomer, a grant, a destroy',
  },
  {
    scope: { name: 'G14', members: 4, grants: 2, takeovers: 1, destroys: 1 },
    says: 'grants of two primaries, a destroy',
    deep: true,
  },
  {
    scope: { name: 'G15', members: 3, grants: 1, writes: 1, destroys: 1, hides: 3, star: true },
    says: 'hidden and revealed, a grant, a write, a destroy',
  },
  {
    scope: { name: 'G16', members: 4, grants: 2, writes: 1, hides: 4, star: true, removals: 1 },
    says: 'hidden from who owned it: two grants, a write, a member removed',
    deep: true,
  },
  {
    scope: { name: 'G17', members: 3, grants: 2, writes: 1, hides: 3 },
    says: 'a mesh: hidden and revealed, two grants, a write',
  },
  {
    scope: { name: 'G17-deep', members: 3, grants: 2, writes: 2, hides: 3 },
    says: 'a mesh: hidden and revealed, two grants, two writes',
    deep: true,
  },
  {
    scope: { name: 'G18', members: 4, grants: 1, writes: 2, hides: 4, star: true, takeovers: 1 },
    says: 'hidden and revealed, a grant, two writes, another primary',
    deep: true,
  },
  {
    scope: { name: 'T2', members: 4, destroys: 1, joins: 1 },
    says: 'a newcomer and the end of what never changed hands',
  },
  {
    scope: { name: 'S1', members: 4, star: true, grants: 1, writes: 1 },
    says: 'a star: a grant, a write',
  },
  {
    scope: { name: 'S2', members: 4, star: true, grants: 2, destroys: 1 },
    says: 'a star: two grants, a destroy',
  },
  {
    scope: { name: 'S6', members: 4, star: true, grants: 1, destroys: 1, removals: 1, dies: true },
    says: 'a star: a grant, a destroy, a dead member removed',
  },
  {
    scope: { name: 'S7', members: 4, star: true, grants: 2, takeovers: 1 },
    says: 'a star: grants of two primaries, the old one alive',
  },
  {
    scope: { name: 'S8', members: 4, star: true, grants: 1, destroys: 1, takeovers: 1, joins: 1 },
    says: 'a star: a newcomer, another primary, a grant, a destroy',
    deep: true,
  },
  {
    scope: {
      name: 'U1',
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      losses: 2,
      doubles: 1,
      doubts: 1,
    },
    says: 'two fields, two writes, five packets lost, doubled, late',
  },
  {
    scope: {
      name: 'U1-deep',
      members: 2,
      star: true,
      writes: 3,
      fields: 2,
      packets: 6,
      losses: 2,
      doubles: 1,
      doubts: 2,
    },
    says: 'two fields, three writes, six packets',
    deep: true,
  },
  {
    scope: { name: 'R1', members: 4, star: true, writes: 2, takeovers: 1, dies: true },
    says: 'a star: two writes, another primary',
  },
  {
    scope: {
      name: 'R1-deep',
      members: 4,
      star: true,
      writes: 2,
      takeovers: 1,
      dies: true,
      losses: 1,
    },
    says: 'a star: two writes, another primary, a loss',
    deep: true,
  },
]

/** Requests: every one ends, without a clock; the mutants are twisted decisions. */
const ASKED = { star: true, asks: true, members: 4 } as const

/** In all of these every request ends, and of two who ask one is told that it is granted. */
export const REQUESTS: readonly Scoped[] = [
  {
    scope: { ...ASKED, name: 'Q1', takes: 2, takers: [3, 4] },
    says: 'two ask an owner',
  },
  {
    scope: { ...ASKED, name: 'Q2', takes: 1, takers: [4], gives: 1, givees: [3] },
    says: 'one asks, the owner gives it to another',
  },
  {
    scope: {
      ...{ ...ASKED, name: 'Q3', takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true },
    },
    says: 'one asks, the owner gives it to another, who dies',
  },
  {
    scope: { ...ASKED, name: 'Q4', takes: 1, takers: [4], relinks: 1 },
    says: 'one asks, a link is lost',
  },
  {
    scope: { ...ASKED, name: 'Q5', takes: 1, takers: [4], takeovers: 1, dies: true },
    says: 'one asks, the primary dies',
  },
  {
    scope: {
      ...{ name: 'Q6', star: true, members: 5, takes: 2, takers: [4, 5] },
      ...{ takeovers: 1, dies: true },
    },
    says: 'two take, the primary dies',
  },
  {
    scope: { name: 'Q7', members: 4, takes: 2, takers: [3, 4], destroys: 1 },
    says: 'a mesh: two take, a destroy',
  },
  {
    scope: { name: 'Q8', members: 4, asks: true, takes: 1, takers: [4], takeovers: 1, dies: true },
    says: 'a mesh: one asks, the primary dies',
    deep: true,
  },
  {
    scope: {
      ...{ ...ASKED, name: 'Q9', takes: 2, takers: [3, 4], gives: 1, givees: [3], relinks: 1 },
      // Who was granted it may give it to who asked.
      claims: ['obj.converge', 'obj.unique', 'obj.forward', 'request.ends'],
    },
    says: 'two ask, the owner gives it, a link is lost',
    deep: true,
  },
]

/** Each of these is caught, as a violation of the claim; where named, that alone is judged. */
export const MUTANTS: readonly (Scoped & { violates: string })[] = [
  {
    scope: {
      name: 'host-sends-migrate',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      destroys: 1,
      grantees: [3],
      destroyers: [3],
      bug: 'host-sends-migrate',
    },
    says: 'X1: the host (1) tells of the new owner (3), as the source first did; 2 creates, 4 is X',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X2',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      destroys: 1,
      bug: 'no-counter',
    },
    says: 'no migration counter',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X3',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      destroys: 1,
      bug: 'no-tombstone',
    },
    says: 'nothing is remembered of what is gone',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X4',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      bug: 'migrate-creates-nothing',
    },
    says: 'a migration of an unknown object is ignored',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X5',
      grantees: [2, 3],
      claims: ['obj.converge'],
      members: 3,
      grants: 2,
      writes: 2,
      bug: 'update-without-version',
    },
    says: 'an update counts for any version of its owner',
    violates: 'obj.converge',
  },
  {
    scope: { name: 'X6', members: 4, grants: 2, takeovers: 1, bug: 'no-epoch' },
    says: 'two primaries count alike',
    violates: 'obj.unique',
  },
  {
    scope: { name: 'X7', members: 4, grants: 1, removals: 1, dies: true, bug: 'no-unowned' },
    says: 'what a member that went has told some is not reported',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X8',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      joins: 1,
      around: 'opens-early',
      bug: 'deaf-to-strangers',
    },
    says: 'what a stranger says is acked and ignored',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X9',
      members: 4,
      grants: 1,
      destroys: 1,
      joins: 1,
      bug: 'no-tombstone-duty',
    },
    says: 'newcomers are not told of what is gone',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X10',
      members: 4,
      grants: 1,
      destroys: 1,
      removals: 1,
      dies: true,
      bug: 'no-tombstone-adoption',
    },
    says: 'what is gone by a member that went is told by nobody',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X11',
      members: 4,
      grants: 1,
      removals: 1,
      takeovers: 1,
      around: 'takeover-tells-difference',
    },
    says: 'a new primary tells only who went',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'X12',
      claims: ['obj.converge'],
      members: 4,
      grants: 1,
      removals: 1,
      takeovers: 1,
      around: 'view-not-committed',
    },
    says: 'a removal is told before the backup has it',
    violates: 'obj.converge',
  },
  {
    scope: {
      name: 'U2b',
      members: 2,
      star: true,
      writes: 1,
      fields: 2,
      packets: 3,
      losses: 1,
      around: 'gate-by-packet',
    },
    says: 'the ack of a packet opens the gate',
    violates: 'obj.truth',
  },
  {
    scope: {
      name: 'U3',
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      losses: 1,
      doubts: 1,
      bug: 'only-fresh',
    },
    says: 'an update carries only what changed since the last one',
    violates: 'obj.truth',
  },
  {
    scope: {
      name: 'U4',
      members: 2,
      star: true,
      writes: 2,
      fields: 2,
      packets: 5,
      doubts: 1,
      bug: 'accept-older',
    },
    says: 'an older update counts',
    violates: 'obj.forward',
  },
  {
    scope: {
      name: 'R-X1',
      members: 4,
      star: true,
      writes: 2,
      takeovers: 1,
      dies: true,
      bug: 'order-by-link',
    },
    says: 'order holds for each link alone',
    violates: 'obj.forward',
  },
  {
    scope: {
      name: 'R-X2',
      members: 4,
      star: true,
      writes: 2,
      takeovers: 1,
      dies: true,
      bug: 'inherited-acks',
    },
    says: 'a new primary believes what the old one knew',
    violates: 'obj.truth',
  },
  {
    scope: {
      ...{ ...ASKED, name: 'Q-X1', takes: 1, takers: [4], relinks: 1 },
      rules: { asksAgain: () => false },
    },
    says: 'an ask that was lost with its link is not said again',
    violates: 'request.ends',
  },
  {
    scope: {
      ...{ ...ASKED, name: 'Q-X2', takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true, rules: { declines: (mine) => mine } },
    },
    says: 'an answer is dropped while the object is given to another',
    violates: 'request.ends',
  },
  {
    scope: {
      ...{ ...ASKED, name: 'Q-X3', takes: 1, takers: [4], gives: 1, givees: [3] },
      ...{ removals: 1, removed: [3], dies: true, rules: { endsByGive: () => false } },
    },
    says: 'who asked does not hear that it was given to another, who dies',
    violates: 'request.ends',
  },
  {
    scope: {
      ...{ name: 'Q-X4', star: true, members: 5, takes: 2, takers: [4, 5] },
      ...{ takeovers: 1, dies: true, rules: { waitsForAll: () => false } },
    },
    says: 'a new primary decides before it has heard what the one before granted',
    violates: 'request.one',
  },
]
