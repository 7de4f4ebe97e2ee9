/** Rules of objects that are wrong on purpose, by the name of the bug; see mutants.ts. */

import { rulesOf } from '../packages/holdfast/src/machine.ts'
import { ensureCapacity } from '../packages/holdfast/src/objects/protocol/fan-out.ts'
import * as objects from '../packages/holdfast/src/objects/protocol/objects.ts'
import {
  BARRIER,
  leads,
  type ObjectsRules,
} from '../packages/holdfast/src/objects/protocol/state.ts'
import { FIRST_FORM } from '../packages/sim/src/enact.ts'

/** What ships, but for some of it. */
export function mutate<Rules extends object>(shipped: Rules, some: Partial<Rules> | null): Rules {
  return some === null ? shipped : rulesOf({ ...shipped, ...some })
}

/** Bugs of objects, by their names in docs/protocols/objects.md. */
export type ObjectsBug =
  | 'host-sends-migrate'
  | 'no-counter'
  | 'no-tombstone'
  | 'migrate-creates-nothing'
  | 'update-without-version'
  | 'no-epoch'
  | 'no-unowned'
  | 'no-tombstone-duty'
  | 'no-tombstone-adoption'
  | 'deaf-to-strangers'
  | 'only-fresh'
  | 'accept-older'
  | 'order-by-link'
  | 'inherited-acks'

// Without the counter a member can go only by whether it has the object.
const NO_COUNTER: Partial<ObjectsRules> = { order: FIRST_FORM.order! }
const CREATES_NOTHING: Partial<ObjectsRules> = { creates: FIRST_FORM.creates! }

const OBJECTS: Readonly<Record<ObjectsBug, Partial<ObjectsRules>>> = {
  // The source's first form (B31).
  'host-sends-migrate': FIRST_FORM,
  'no-counter': NO_COUNTER,
  'no-tombstone': { tombstone: (use) => use !== 'keep' && use !== 'report' },
  'migrate-creates-nothing': CREATES_NOTHING,
  'update-without-version': { fits: () => true },
  'no-epoch': { isFromEarlierTerm: () => true, epochOf: () => 0 },
  'no-unowned': { reports: () => false },
  'no-tombstone-duty': { tombstone: (use) => use === 'keep' },
  'no-tombstone-adoption': { tombstone: (use) => use === 'keep' || use === 'send' },
  'deaf-to-strangers': { accepts: ({ here }, from) => here.has(from) },
  'only-fresh': { base: ({ sent }, slot) => sent[slot]! },
  'accept-older': { isOld: () => false },
  // What another primary told counts for nothing under the next.
  'order-by-link': {
    follow: (turn) => {
      const { objects: own } = turn
      for (const replica of leads(own) ? [] : own.replicas.values()) {
        if (replica.owner !== own.me) replica.oseq = 0
      }
      objects.RULES.follow(turn)
    },
  },
  // As if the peer had from us what it had from the primary before.
  'inherited-acks': {
    oweAll: (turn, subscriber) => {
      objects.RULES.oweAll(turn, subscriber)
      for (const replica of turn.objects.replicas.values()) {
        if (replica.owner === subscriber.peer) continue
        ensureCapacity(subscriber, replica.index)
        subscriber.barrier[replica.index] = BARRIER.open
        subscriber.acked[replica.index] = replica.oseq
      }
    },
  },
}

/** The rules of objects, with that bug if one is named; then no frame goes to several peers. */
export function objectsRules(bug: ObjectsBug | null): ObjectsRules {
  return mutate(objects.RULES, bug && { shares: () => false, ...OBJECTS[bug] })
}
