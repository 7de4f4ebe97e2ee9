/** The decisions of the session as it really runs; tests replace them (proof/models/twists.ts). */

import * as commit from '../replication/log.ts'
import { rulesOf } from '../machine.ts'
import * as quotas from './operations.ts'
import { retry } from './attempts.ts'
import * as durable from '../replication/durable.ts'
import { enforce, hasVoice } from './expelling.ts'
import * as keeping from './keeping.ts'
import * as leases from './lease.ts'
import * as lineage from './lineage.ts'
import { comesBackAs, mayReturn } from './membership.ts'
import { recalls } from './recovery.ts'
import type { SessionRules } from './state.ts'

/** The rules of every real session. */
export const RULES: SessionRules = rulesOf<SessionRules>({
  safeLength: (role, log) => (role === 'alone' ? commit.lengthOf(log) : log.acked),
  keptLength: keeping.limitOf,
  mayTell: leases.holds,
  // A member that has asked the register already cannot promise that it will not be granted.
  mayPromise: (role) => role !== 'recovering',
  mayAdd: (held, length) => held === length,
  mayHandOver: (lacking) => lacking === 0,
  // The register may name its backup, or is asked to: such a follower could still take over.
  mayRemove: (role, follows) => role === 'alone' || !follows,
  enforce,
  hasVoice,
  comesBackAs,
  mayReturn,
  recalls,
  lacks: lineage.lacks,
  make: (own, delta) => durable.apply(own, delta),
  account: ({ player }) => player,
  cost: (what) => quotas.COSTS[what],
  seek: retry,
})
