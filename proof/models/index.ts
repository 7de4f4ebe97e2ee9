/**
 * All models of the shipped machines, by room and name, for tests and for `npm run explore`.
 */

import { check, type Model, type Report } from '../../packages/sim/src/checker/checker.ts'
import * as histories from './histories.ts'
import { leaseModel } from './lease.ts'
import { keptModel } from './kept.ts'
import * as kept from './kept-scopes.ts'
import * as lease from './lease-scopes.ts'
import * as link from './link.ts'
import { mailboxModel } from './mailbox.ts'
import { keyModel } from './mail-keys.ts'
import * as mailKeys from './mail-keys-scopes.ts'
import * as mailbox from './mailbox-scopes.ts'
import { objectsModel } from './objects.ts'
import * as objects from './objects-scopes.ts'
import { piecesModel } from './pieces.ts'
import * as pieces from './pieces-scopes.ts'
import { recallModel } from './recall.ts'
import * as recall from './recall-scopes.ts'
import * as restarts from './restarts.ts'
import { rightsModel } from './rights.ts'
import * as rights from './rights-scopes.ts'
import { roomKeyModel } from './room-key.ts'
import * as roomKey from './room-key-scopes.ts'
import { sealModel } from './seal.ts'
import * as seal from './seal-scopes.ts'
import { createModel } from './session.ts'
import * as session from './session-scopes.ts'
import { slotsModel } from './slots.ts'
import * as slots from './slots-scopes.ts'
import { tablesModel } from './tables.ts'
import * as tables from './tables-scopes.ts'
import { takeoverModel } from './takeover.ts'
import * as takeover from './takeover-scopes.ts'

/** One model with its scope. */
export interface NamedModel {
  name: string
  says: string
  /** Takes minutes: explored only when asked for. */
  deep: boolean
  /** The claim that a mutant breaks first. */
  violates: string | null
  /** Explores it. @param now a clock in milliseconds, to fill in `ms` */
  explore(now?: () => number): Report
}

/** Scopes that take more than some seconds, but not minutes: `npm run test:wide`. */
export const LARGE: ReadonlySet<string> = new Set([
  ...['F1', 'F4', 'F5'],
  ...['G3', 'G7', 'G8', 'G17', 'Q6', 'S7'],
  'SL2',
])

/** Most states of one exploration. */
export const STATES_MAX = 10_000_000

/** Rooms that have models, and those. */
export const ROOMS: Readonly<Record<string, readonly NamedModel[]>> = {
  hub: keptModels(),
  link: linkModels(),
  seal: sealModels(),
  session: [
    ...sessionModels(),
    ...leaseModels(),
    ...takeoverModels(),
    ...recallModels(),
    ...rightsModels(),
    ...roomKeyModels(),
  ],
  objects: objectsModels(),
  pieces: piecesModels(),
  actions: tablesModels(),
  mailbox: [...mailboxModels(), ...historyModels(), ...keyModels(), ...restartModels()],
  slots: slotsModels(),
}

function linkModels(): NamedModel[] {
  const mutants = Object.entries(link.MUTANTS).map(([name, { scope, violates }]) =>
    named(name, `${scope.bug}`, () => link.linkModel(name, scope), { violates }),
  )
  return [
    named('L1', 'two messages, a loss and a double', () => link.linkModel('L1', link.GOOD)),
    named('L1-deep', 'three messages, a loss', () => link.linkModel('L1-deep', link.DEEP), {
      deep: true,
    }),
    ...mutants,
  ]
}

function sealModels(): NamedModel[] {
  const good = seal.GOOD.map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => sealModel(scope), { deep }),
  )
  const mutants = seal.MUTANTS.map(({ scope, violates }) =>
    named(scope.name, scope.bug!, () => sealModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function sessionModels(): NamedModel[] {
  const good = Object.entries(session.GOOD).map(([name, { scope, says, deep }]) =>
    named(name, says, () => createModel(scope), { deep }),
  )
  const mutants = Object.entries(session.MUTANTS).map(([name, { scope, says, violates }]) => {
    const [first] = violates[0]!
    return named(name, says, () => createModel({ ...scope, claims: [first] }), { violates: first })
  })
  return [...good, ...mutants]
}

function leaseModels(): NamedModel[] {
  const good = lease.GOOD.map(({ scope, says, deep }) =>
    named(scope.name, says, () => leaseModel(scope), { deep }),
  )
  const mutants = lease.MUTANTS.map(({ scope, says }) =>
    named(scope.name, says, () => leaseModel(scope), { violates: 'lease.safe' }),
  )
  return [...good, ...mutants]
}

function takeoverModels(): NamedModel[] {
  const good = takeover.GOOD.map(({ scope, says }) =>
    named(scope.name, says, () => takeoverModel(scope)),
  )
  const mutants = takeover.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => takeoverModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function recallModels(): NamedModel[] {
  const good = recall.GOOD.map(({ scope, says, deep }) =>
    named(scope.name, says, () => recallModel(scope), { deep }),
  )
  const mutants = recall.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => recallModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function rightsModels(): NamedModel[] {
  const good = rights.GOOD.map(({ scope, says }) =>
    named(scope.name, says, () => rightsModel(scope)),
  )
  const mutants = rights.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => rightsModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function roomKeyModels(): NamedModel[] {
  const good = roomKey.GOOD.map(({ scope, says }) =>
    named(scope.name, says, () => roomKeyModel(scope)),
  )
  const mutants = roomKey.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => roomKeyModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function keptModels(): NamedModel[] {
  const good = kept.GOOD.map(({ scope, says }) =>
    named(scope.name, says, () => keptModel(scope), { deep: scope.deep ?? false }),
  )
  const mutants = kept.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => keptModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function objectsModels(): NamedModel[] {
  const good = [...objects.GOOD, ...objects.REQUESTS].map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => objectsModel(scope), { deep }),
  )
  const mutants = objects.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => objectsModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function piecesModels(): NamedModel[] {
  const good = pieces.GOOD.map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => piecesModel(scope), { deep }),
  )
  const mutants = pieces.MUTANTS.map(({ scope, says, violates }) =>
    named(scope.name, says, () => piecesModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function tablesModels(): NamedModel[] {
  const good = Object.entries(tables.GOOD).map(([name, { scope, says, deep = false }]) =>
    named(name, says, () => tablesModel(name, scope), { deep }),
  )
  const mutants = Object.entries(tables.MUTANTS).map(([name, { scope, says, violates }]) =>
    named(name, says, () => tablesModel(name, scope), { violates }),
  )
  return [...good, ...mutants]
}

function mailboxModels(): NamedModel[] {
  const good = mailbox.GOOD.map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => mailboxModel(scope), { deep }),
  )
  const mutants = mailbox.MUTANTS.map(({ scope, violates }) =>
    named(scope.name, `${scope.bug}`, () => mailboxModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function historyModels(): NamedModel[] {
  const good = histories.GOOD.map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => histories.historyModel(scope), { deep }),
  )
  const mutants = histories.MUTANTS.map(({ scope, violates }) =>
    named(scope.name, scope.bug!, () => histories.historyModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function keyModels(): NamedModel[] {
  const good = mailKeys.GOOD.map(({ scope, says, deep = false }) =>
    named(scope.name, says, () => keyModel(scope), { deep }),
  )
  const mutants = mailKeys.MUTANTS.map(({ scope, violates }) =>
    named(scope.name, scope.bug!, () => keyModel(scope), { violates }),
  )
  return [...good, ...mutants]
}

function restartModels(): NamedModel[] {
  const good = restarts.GOOD.map(({ scope, says }) =>
    named(scope.name, says, () => restarts.restartModel(scope)),
  )
  const mutants = restarts.MUTANTS.map(({ scope, says }) =>
    named(scope.name, says, () => restarts.restartModel(scope), { violates: 'mail.det' }),
  )
  return [...good, ...mutants]
}

function slotsModels(): NamedModel[] {
  const good = Object.entries(slots.GOOD).map(([name, { scope, says, deep }]) =>
    named(name, says, () => slotsModel(name, scope), { deep }),
  )
  const mutants = Object.entries(slots.MUTANTS).map(([name, { scope, says, violates }]) =>
    named(name, says, () => slotsModel(name, scope), { violates }),
  )
  return [...good, ...mutants]
}

function named<State>(
  name: string,
  says: string,
  model: () => Model<State>,
  more: { deep?: boolean; violates?: string } = {},
): NamedModel {
  const { deep = false, violates = null } = more
  const explore = (now?: () => number): Report =>
    check(model(), now ? { statesMax: STATES_MAX, now } : { statesMax: STATES_MAX })
  return { name, says, deep, violates, explore }
}
