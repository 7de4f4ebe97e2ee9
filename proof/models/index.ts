/**
 * All models by room and name, for tests, `explore` and soaks: of the shipped machines, and of a
 * register that no code has yet.
 */

import * as histories from './histories.ts'
import { keptModel } from './kept.ts'
import * as kept from './kept-scopes.ts'
import * as lease from './lease.ts'
import * as link from './link.ts'
import * as mailKeys from './mail-keys.ts'
import * as mailbox from './mailbox.ts'
import { objectsModel } from './objects.ts'
import * as objects from './objects-scopes.ts'
import * as pieces from './pieces.ts'
import * as recall from './recall.ts'
import * as places from './places.ts'
import * as register from './register.ts'
import * as restarts from './restarts.ts'
import * as rights from './rights.ts'
import * as roomKey from './room-key.ts'
import { inScopes, type NamedModel } from './rows.ts'
import * as seal from './seal.ts'
import { sessionModel } from './session.ts'
import * as session from './session-scopes.ts'
import * as slots from './slots.ts'
import * as tables from './tables.ts'
import * as takeover from './takeover.ts'
import * as tender from './tender.ts'

/** Rooms that have models, and each model in all its scopes. */
export const MODELS: Readonly<Record<string, Readonly<Record<string, readonly NamedModel[]>>>> = {
  hub: {
    kept: inScopes(keptModel, kept.SCOPES, kept.MUTANTS),
    places: inScopes(places.placesModel, places.SCOPES, places.MUTANTS),
    tender: inScopes(tender.tenderModel, tender.SCOPES, tender.MUTANTS),
    register: inScopes(register.registerModel, register.SCOPES, register.MUTANTS),
  },
  link: { link: inScopes(link.linkModel, link.SCOPES, link.MUTANTS) },
  seal: { seal: inScopes(seal.sealModel, seal.SCOPES, seal.MUTANTS) },
  session: {
    session: inScopes(sessionModel, session.SCOPES, session.MUTANTS),
    lease: inScopes(lease.leaseModel, lease.SCOPES, lease.MUTANTS),
    takeover: inScopes(takeover.takeoverModel, takeover.SCOPES, takeover.MUTANTS),
    recall: inScopes(recall.recallModel, recall.SCOPES, recall.MUTANTS),
    rights: inScopes(rights.rightsModel, rights.SCOPES, rights.MUTANTS),
    'room-key': inScopes(roomKey.roomKeyModel, roomKey.SCOPES, roomKey.MUTANTS),
  },
  objects: { objects: inScopes(objectsModel, objects.SCOPES, objects.REQUESTS, objects.MUTANTS) },
  pieces: { pieces: inScopes(pieces.piecesModel, pieces.SCOPES, pieces.MUTANTS) },
  actions: { tables: inScopes(tables.tablesModel, tables.SCOPES, tables.MUTANTS) },
  mailbox: {
    mailbox: inScopes(mailbox.mailboxModel, mailbox.SCOPES, mailbox.MUTANTS),
    histories: inScopes(histories.historyModel, histories.SCOPES, histories.MUTANTS),
    'mail-keys': inScopes(mailKeys.keyModel, mailKeys.SCOPES, mailKeys.MUTANTS),
    restarts: inScopes(restarts.restartModel, restarts.SCOPES, restarts.MUTANTS),
  },
  slots: { slots: inScopes(slots.slotsModel, slots.SCOPES, slots.MUTANTS) },
}

/** The same by room alone. */
export const ROOMS: Readonly<Record<string, readonly NamedModel[]>> = Object.fromEntries(
  Object.entries(MODELS).map(([room, models]) => [room, Object.values(models).flat()]),
)
