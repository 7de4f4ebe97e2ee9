/**
 * Requests about sessions: GET_ALL_SERVERS, GET_THIS_SERVER, ADD_SERVER, CHANGE_SERVER, and the
 * answer to a change once it is persisted.
 */

import {
  INC_MAX,
  mayLead,
  MEMBERS_MAX,
  type Millis,
  type PeerId,
} from '../../../holdfast/src/machine.ts'
import {
  asideOf,
  asideSession,
  type FromHub,
  LATER,
  NO_GAME,
  NOT_ADMITTED,
  SPENT,
  type ToHub,
  UNREADABLE,
  opensAgain,
} from '../../../holdfast/src/hub-protocol/messages.ts'
import { type Claims, INVITATION } from '../../../holdfast/src/hub-protocol/tickets.ts'
import { isName } from '../../../holdfast/src/wire/text/plain.ts'
import * as admission from './admission.ts'
import * as archive from './archive.ts'
import { closeAll, detach, detachAll, offerServers, takeSeat } from './attachment.ts'
import * as sessionExpiry from './session-expiry.ts'
import * as budgets from './budgets.ts'
import { closedReason, endIfClosed } from './closed-rooms.ts'
import * as challenge from './challenge.ts'
import * as elsewhere from './elsewhere.ts'
import * as persistence from './persistence.ts'
import * as listing from './listing.ts'
import * as moves from './moves.ts'
import * as places from './places.ts'
import { entrantOf } from './records.ts'
import * as refusals from './refusals.ts'
import * as register from './register.ts'
import { type Add, type Challenge, placeOf } from './register.ts'
import {
  type Applicant,
  type PendingRequest,
  type PlaceRecord,
  type At,
  type Call,
  callOf,
  MOVED,
  registerOut,
  type Hub,
  type HubOut,
  type Opening,
  load,
  refuse,
  send,
  broadcast,
  type Turn,
  wait,
  waitAgain,
} from './state.ts'

/** GET_ALL_SERVERS: one message per session of a page, then LAST_MESSAGE (T21). */
export function list(call: Call, message: ToHub & { kind: 'list' }): void {
  const { hub, now, connection, out } = call
  const { request, game, after } = message
  const page = listing.page(hub, now, game, after)
  const met = refusals.spend(call, 'lists', listing.costOf(page, 'stream'))
  if (met) return refusals.answer(call, request, met)
  for (const { entry } of page.items) send(connection, { kind: 'entry', request, entry }, out)
  send(connection, { kind: 'last', request, next: page.next }, out)
}

export function get(call: Call, message: ToHub & { kind: 'get' }): void {
  const { hub, connection, out } = call
  const { request, session } = message
  const row = register.find(hub.registers, session)
  if (!row) return refuse(connection, request, `no session ${session}`, out)
  if (row.pending) return wait(call, row.entry, message)
  send(connection, registerMessage(row, request, true, out), out)
}

// The register as a message.
function registerMessage(row: register.Row, request: number, ok: boolean, out: HubOut): FromHub {
  const { session, register: known } = row.entry
  const leader = challenge.leaderCertificate(row, out)
  return { kind: 'register', request, session, ok, register: known, leader }
}

/** ADD_SERVER: a ticket, if given, is read first. */
export function add(call: Call, message: Add): void {
  const { hub, now, connection, from, out } = call
  // A process that looks for a session is in none: its former session removed it.
  detach(call)
  const unfit = whyInvalid(hub, message)
  if (unfit) return refuse(connection, message.request, unfit, out)
  if (places.load(call, placeOf(message))) return wait(call, message, message)
  if (message.ticket === '') return admit(call, message, null)
  if (from.readTicket?.message === message) return admit(call, message, from.readTicket.claims)
  // A player admitted by ticket before needs none.
  const known = register.findAlive(hub.registers, now, message)
  if (known && entrantOf(known.entrants, message.key)) return admit(call, message, null)
  if (message.ticket.startsWith(INVITATION)) return admit(call, message, null)
  if (!hub.tickets) return admit(call, message, 'this hub takes no tickets')
  from.pendingAdd = message
  out.check(connection, message.ticket, message.game)
}

/** A member registers an invitation; answered once persisted. */
export function invite(call: Call, message: ToHub & { kind: 'invite' }): void {
  const { hub, connection, from, out } = call
  const row = register.find(hub.registers, from.session)
  const made = admission.invite(hub, row, from.inc, message)
  if (row && made === 'waits') {
    out.record(placeOf(row.entry))
    return wait(call, row.entry, message)
  }
  const why = typeof made === 'string' ? '' : made.why
  send(connection, { kind: 'invited', request: message.request, why }, out)
}

/** The ticket of a stream was read: its claims, or why it is invalid. */
export function receiveTicket(
  turn: Turn,
  { connection, ticket }: { connection: number; ticket: string },
  claims: Claims | string,
): void {
  const call = callOf(turn, connection)
  if (call?.from.pendingAdd?.ticket !== ticket) return
  const { pendingAdd } = call.from
  call.from.pendingAdd = null
  // A deferred request comes back to `add`, which must not read its ticket again.
  call.from.readTicket = { message: pendingAdd, claims }
  admit(call, pendingAdd, claims)
}

/** The application's verdict on an applicant. @param why  the reason to refuse; null admits */
export function receiveVerdict(
  turn: Turn,
  { connection, applicant }: { connection: number; applicant: Applicant },
  why: string | null,
): void {
  const call = callOf(turn, connection)
  const open = call && admission.receiveVerdict(call, applicant, why === null)
  if (!open) return
  if (why === null) return admit(call, open.message, open.claims)
  refuse(connection, open.message.request, `${NOT_ADMITTED}${why}`, turn.out)
}

// Joins the process to its session, or creates one once persisted.
function admit(call: Call, message: Add, claims: Claims | string | null): void {
  const { hub, connection, out } = call
  const { request, key } = message
  const place = placeOf(message)
  const isChanging = moves.at(hub, place) ?? register.rowAt(hub.registers, place)?.pending
  // The opener's answer comes first: its own repeated request must not overtake it.
  const isWaiting = isChanging || persistence.isOpening(hub, place) || hub.elsewhere.has(place)
  if (isWaiting || places.load(call, place)) {
    return wait(call, message, message)
  }
  const shut = closedReason(call, message)
  if (shut !== null) return refuse(connection, request, `${NOT_ADMITTED}${shut}`, out)
  const { known, opening } = found(call, message)
  // A write in flight decides whether the room may be opened.
  if (!known && archive.isPending(hub.archive, message)) return wait(call, message, message)
  if (typeof opening === 'number') {
    return refuse(connection, request, `${LATER}${opensAgain(opening)}`, out)
  }
  const entrance = admission.decide(hub, known ?? opening?.stored.session ?? null, message, claims)
  if ('refused' in entrance) {
    return refuse(connection, request, `${NOT_ADMITTED}${entrance.refused}`, out)
  }
  const founding = !known
  const { hosts } = opening?.stored.session ?? message
  const mayOpen = message.playersMax > 0 && mayLead(entrance.rights, hosts)
  if (founding && !mayOpen) return refuse(connection, request, 'nobody serves it', out)
  if (admission.consult(call, message, claims, { ...entrance, founding })) return
  if (opening && message.fresh) return replaceRoom(call, message, opening)
  if (!known) return create(call, message, entrance, opening)
  const full = takeSeat(call, known.entry.session)
  if (full) return refusals.answer(call, request, full)
  admission.enroll(known, key, entrance)
  if (admission.mustWait(known, key)) {
    out.record(placeOf(known.entry))
    return wait(call, known.entry, message)
  }
  call.from.foundSession = known.entry.session
  send(connection, welcome(call, known, message, false), out)
  offerServers(call, known.entry.session, key)
}

// The session of the room that is or will be served; or its stored room, or the ms until that may
// be opened. A session without attached members, as after a restart of the hub, is not awaited.
function found(
  { hub, now }: At,
  message: Add,
): { known: register.Row | null; opening: Opening | Millis | null } {
  const known = register.findAlive(hub.registers, now, message)
  if (known && known.present.size > 0) return { known, opening: null }
  const opening = persistence.openingOf({ hub, now }, message)
  if (typeof opening === 'number' && known) return { known, opening: null }
  return { known: opening ? null : known, opening }
}

const TAKEN = 'the former room of this name cannot be renamed: try again later'

const RESERVED = `${NOT_ADMITTED}this name is reserved for a former room: choose another`

function replaceRoom(call: Call, message: Add, opening: Opening): void {
  const { hub, connection, out } = call
  const { request, room } = message
  if (isReserved(hub, room)) return refuse(connection, request, RESERVED, out)
  if (!persistence.replaceRoom(call, opening, message)) refuse(connection, request, TAKEN, out)
}

// A dead session makes room for a new one under another name, as a stored room does: its members
// may play on without the hub, and come back.
function moveAside(call: Call, message: Add, { entry }: register.Row): void {
  const { connection, out } = call
  const begun = moves.begin(call, entry.session, entry, { connection, message })
  if (begun === 'busy') return wait(call, message, message)
  if (begun === 'taken') refuse(connection, message.request, TAKEN, out)
}

function isReserved(
  { archive: { rooms }, registers, sessionsElsewhere }: Hub,
  room: string,
): boolean {
  const session = asideSession(room)
  if (session === null || sessionsElsewhere.has(session)) return session !== null
  return rooms.has(session) || registers.rows.has(session)
}

// Another hub may have moved the session to its reserved name: only the store knows.
function mayHaveMoved(hub: Hub, { game, room }: Add): boolean {
  const session = asideSession(room)!
  const { archive: known, elsewhere: others, registers, sessionsElsewhere } = hub
  if (!hub.heartbeat || registers.rows.has(session)) return false
  const { saved, unloaded } = known.rooms.get(session) ?? {}
  const { entry } = others.get(sessionsElsewhere.get(session) ?? '') ?? saved?.session ?? {}
  const place = entry ?? unloaded
  return place?.game === game && asideOf({ room: place.room, session }) === room
}

/** Refuses the requests for a reserved name that the store has no record of. */
export function refuseReserved(turn: Turn, place: string): void {
  const { hub, out } = turn
  const waiting = hub.waiting.get(place)
  if (!waiting) return
  const left = waiting.filter(({ connection, message }) => {
    if (message.kind !== 'add' || asideSession(message.room) === null) return true
    refuse(connection, message.request, RESERVED, out)
    return false
  })
  if (left.length === 0) hub.waiting.delete(place)
  else hub.waiting.set(place, left)
}

function create(
  call: Call,
  message: Add,
  entrance: admission.Entrance,
  opening: Opening | null,
): void {
  const { hub, now, connection, from } = call
  const { request } = message
  if (opening && opening.inc >= INC_MAX) return refuse(connection, request, SPENT, call.out)
  if (!opening && isReserved(hub, message.room)) {
    if (!mayHaveMoved(hub, message)) return refuse(connection, request, RESERVED, call.out)
    load(call, placeOf(message))
    return wait(call, message, message)
  }
  const met = mayFound(call)
  if (met) return refusals.answer(call, request, met)
  const dead = opening ? null : register.inRoom(hub.registers, message)
  if (dead) {
    budgets.giveBack(hub.budgets, from.account, 'registrations', 1)
    return moveAside(call, message, dead)
  }
  const newId = (): string => `${hub.boot.toString(36)}-${(++hub.created).toString(36)}`
  const row = opening
    ? persistence.open(call, opening, message)
    : register.add(hub.registers, now, message, newId(), call.out)
  const id = row.entry.session
  admission.enroll(row, message.key, entrance)
  from.created++
  from.founded.add(id)
  if (hub.expiries.has(id)) sessionExpiry.untrack(hub, id)
  sessionExpiry.track(hub, now, id, from.account)
  hub.pendingRequests.set(id, { connection, kind: 'add', message, opened: opening })
}

function welcome(
  turn: Turn,
  row: register.Row,
  message: Add,
  created: boolean,
  opening: Opening | null = null,
): FromHub {
  const leader = challenge.leaderCertificate(row, turn.out)
  const admitted = admission.admissionFor(row, message, turn.out)
  const opened = opening && persistence.openedOf(turn, opening)
  const { request } = message
  const { entry } = row
  return { kind: 'added', request, created, entry, leader, admission: admitted, opened }
}

// Even a short-lived room costs a record on disk.
function mayFound(call: Call): budgets.Exceeded | null {
  const { hub, now, from, out } = call
  const { stream, address, hub: all } = hub.budgets.limits
  if (from.created >= stream.registrations) {
    return budgets.refuse(hub.budgets, 'stream', 'registrations')
  }
  if (from.account.rooms >= address.rooms) return budgets.refuse(hub.budgets, 'address', 'rooms')
  if (hub.registers.rows.size >= all.rooms) {
    // Frees the place of the session without members for longest, for a retry.
    const absent = sessionExpiry.longestAbsent(hub, now)
    if (absent !== null) register.endSession(hub.registers, absent, out)
    return budgets.refuse(hub.budgets, 'hub', 'rooms')
  }
  return refusals.spend(call, 'registrations', 1)
}

function whyInvalid({ games }: Hub, wish: ToHub & { kind: 'add' }): string | null {
  const { game, room, playersMax } = wish
  if (game === '' || room === '') return 'a session needs a game and a room'
  if (!isName(game) || !isName(room)) return 'a name of a game or a room has no control characters'
  if (games && !games.has(game)) {
    return `${NO_GAME}"${game}" on this hub: it has ${[...games].join(', ')}`
  }
  // 0 asks for an existing session.
  if (playersMax <= MEMBERS_MAX) return null
  return `a session takes 1 to ${MEMBERS_MAX} players: ${playersMax}`
}

/**
 * CHANGE_SERVER: refused at once, or answered once persisted. Before a takeover the primary is
 * challenged: it may be alive.
 */
export function change(call: Call, message: ToHub & { kind: 'change' }): void {
  const { hub, now, connection } = call
  const { session, why, inc } = message
  const isTakeover = why === 'takeover' && hub.attached.get(session)?.get(inc) === connection
  if (!isTakeover || !register.allows(hub.registers, now, message)) {
    return compareAndSet(call, message)
  }
  const asked = challenge.ask(hub.registers, now, connection, message, registerOut(call))
  if (asked === 'vetoed') veto(call, connection, message)
  else if (asked === 'free') compareAndSet(call, message)
}

function veto({ hub, out }: Turn, connection: number, demand: Challenge['demand']): void {
  const { request, session } = demand
  hub.counters.vetoes++
  send(connection, { kind: 'alive', request, session }, out)
}

/** The primary answers a challenge: it keeps its role, unless its veto has lapsed. */
export function alive(call: Call, message: ToHub & { kind: 'alive' }): void {
  const { hub, now, from } = call
  const { session } = message
  const primary = register.find(hub.registers, session)?.entry.register.primary
  if (from.session !== session || from.inc === 0 || from.inc !== primary) {
    hub.counters.forged++
    return
  }
  const answered = challenge.answer(hub.registers, now, message, from.inc)
  if (!answered) return
  const { connection, demand } = answered.challenge
  if (answered.isVeto) veto(call, connection, demand)
  else proceed(call, answered.challenge)
}

/** Makes the compare-and-set for takeovers whose primary did not answer in time. */
export function proceedDue(turn: Turn): void {
  for (const due of challenge.takeDue(turn.hub.registers, turn.now)) proceed(turn, due)
}

function proceed(turn: Turn, { connection, demand }: Challenge): void {
  const call = callOf(turn, connection)
  if (call) compareAndSet(call, demand)
}

function compareAndSet(call: Call, message: ToHub & { kind: 'change' }): void {
  const { hub, now, connection, out } = call
  const { request, session } = message
  const row = register.find(hub.registers, session)
  if (!row) return refuse(connection, request, `no session ${session}`, out)
  if (row.pending) return wait(call, row.entry, message)
  const speaks = hub.attached.get(session)?.get(message.inc) === connection
  const no = registerMessage(row, request, false, out)
  // An attached stream has no earlier request pending, so a refusal settles this one.
  if (!speaks && message.why !== 'end' && message.why !== 'drop') {
    hub.counters.conflicts++
    return send(connection, no, out)
  }
  // The cost of notifying all attached members.
  const crowd = refusals.spend(call, 'rows', hub.attached.get(session)?.size ?? 0)
  if (crowd) return refusals.answer(call, request, crowd)
  if (register.change(hub.registers, now, message, out)) {
    hub.pendingRequests.set(session, { connection, message, kind: 'change' })
    return
  }
  hub.counters.conflicts++
  send(connection, no, out)
}

/** The record is persisted: answers the request for the change, then notifies the others. */
export function confirmWrite(turn: Turn, session: string): void {
  const { hub, now, out } = turn
  const row = register.find(hub.registers, session)
  const before = row?.entry.register.primary ?? 0
  const became = register.confirmWrite(hub.registers, now, session)
  if (became !== 'ended') endIfClosed(turn, session)
  if (!row || became === null) return
  const asked = hub.pendingRequests.get(session)
  hub.pendingRequests.delete(session)
  challenge.closeChallenge(hub.registers, now, session)
  if (became === 'ended') {
    listing.notifySession(row, 'ended', out)
    persistence.retain(turn, row)
    sessionExpiry.untrack(hub, session)
  } else sessionExpiry.endIfExpired(turn, session)
  if (asked?.kind === 'add') {
    if (asked.opened) persistence.read(turn, { session, asked })
    else answerFounder(turn, row, asked)
    return
  }
  hub.counters.changes++
  const isReading = asked?.message.why === 'recover' && readsStored(turn, row, before)
  if (asked && isReading) persistence.read(turn, { session, asked })
  else if (asked) answerChange(turn, row, asked)
  if (became !== 'ended') listing.notifyMoved(row, before, out)
  const but = isReading ? asked.message.inc : 0
  if (became === 'changed') broadcast(turn, session, registerMessage(row, 0, true, out), but)
}

// When a session ends, its last register is the answer. A member that recovers a session gets the
// segments with it.
function answerChange(
  { out }: Turn,
  row: register.Row,
  { connection, message }: PendingRequest & { kind: 'change' },
  segments: Segments = [],
): void {
  const { session, register: known } = row.entry
  const isRecovery = message.why === 'recover'
  // Another change may have come while the segments were read.
  const ok = !isRecovery || (known.primary === message.inc && known.epoch === message.expect + 1)
  send(connection, registerMessage(row, message.request, ok, out), out)
  if (!isRecovery || !ok) return
  send(connection, { kind: 'stored', session, segments: segments.length }, out)
  persistence.sendSegments(connection, session, segments, out)
}

function removeSession(turn: Turn, row: register.Row): void {
  const { hub, now, out } = turn
  const { session } = row.entry
  detachAll(turn, session)
  challenge.closeChallenge(hub.registers, now, session)
  register.remove(hub.registers, row)
  sessionExpiry.untrack(hub, session)
  listing.notifySession(row, 'ended', out)
}

/**
 * Another hub changed the record of a place: this hub takes over that record, and decides again
 * about the requests that its own changes were for.
 */
export function adopt(turn: Turn, place: string, known: PlaceRecord | null, rev: number): void {
  const { hub, now } = turn
  hub.counters.lost++
  const moving = moves.at(hub, place)
  if (moving) moves.cancel(turn, moving.session)
  const pending = register.rowAt(hub.registers, place)
  if (pending) withdraw(turn, pending)
  const isElsewhere = known !== null && elsewhere.isElsewhere(hub, known)
  const next = known?.lasts && !isElsewhere ? known.session : null
  // It may have moved.
  if (next) register.rename(hub.registers, next.entry.session, next.entry)
  const own = register.rowAt(hub.registers, place)
  const isSame = own?.entry.session === next?.entry.session
  if (own && !isSame) {
    // This hub was fenced: its members are not removed, but must come again.
    if (isElsewhere) closeAll(turn, own.entry.session, MOVED)
    removeSession(turn, own)
  }
  const stored = isElsewhere ? null : known?.stored
  persistence.adopt(turn, place, stored ? { ...stored, session: known!.session } : null)
  if (isElsewhere) elsewhere.note(hub, now, known, rev)
  if (!next) return
  if (!own || !isSame) return register.restore(hub.registers, now, next)
  const { session } = next.entry
  const isMoved = register.adopt(hub.registers, now, next)
  if (own.members !== next.members) turn.out.record(place)
  if (!isMoved) return
  challenge.closeChallenge(hub.registers, now, session)
  broadcast(turn, session, registerMessage(own, 0, true, turn.out))
}

// The request of a change that lost waits, to be decided by what won.
function withdraw({ hub }: Turn, row: register.Row): void {
  const { session } = row.entry
  register.withdraw(hub.registers, row)
  const asked = hub.pendingRequests.get(session)
  hub.pendingRequests.delete(session)
  if (!hub.registers.rows.has(session)) sessionExpiry.untrack(hub, session)
  if (!asked) return
  if (asked.kind === 'add') giveBackFounding(hub, asked.connection, session)
  waitAgain(hub, placeOf(row.entry), asked)
}

// A process that retries until there is room has created nothing so far.
function giveBackFounding(hub: Hub, connection: number, session: string): void {
  const from = hub.connections.get(connection)
  if (!from) return
  from.created--
  from.founded.delete(session)
  budgets.giveBack(hub.budgets, from.account, 'registrations', 1)
}

// A member that recovers a session continues from the former primary's segments if they contain
// more than was published.
function readsStored({ hub }: Turn, { entry }: register.Row, before: PeerId): boolean {
  return hub.archive.rooms.get(entry.session)?.saved?.by === before
}

/** The segments of a room, in order. */
type Segments = readonly Uint8Array[]

/** Takes the segments, null if unreadable. @returns the place whose requests waited, or null */
export function receiveSegments(turn: Turn, read: number, found: Segments | null): string | null {
  const { hub, out } = turn
  const pending = hub.pendingReads.get(read)
  hub.pendingReads.delete(read)
  if (!pending) return null
  const { session, asked } = pending
  if (asked.kind === 'add') {
    answerOpener(turn, session, asked, found)
    return placeOf(asked.message)
  }
  const row = register.find(hub.registers, session)
  if (row) answerChange(turn, row, asked, found ?? [])
  else refuse(asked.connection, asked.message.request, `no session ${session}`, out)
  return null
}

// The opener of a stored room gets its segments, or learns that they cannot be read.
function answerOpener(
  turn: Turn,
  session: string,
  asked: PendingRequest & { kind: 'add' },
  found: Segments | null,
): void {
  const { hub, out } = turn
  const { connection, message, opened } = asked
  const call = callOf(turn, connection)
  if (!call) return
  const row = register.find(hub.registers, session)
  // Meanwhile the session ended, or somebody else opened the room.
  if (!row || row.pending || row.entry.register.epoch !== opened!.epoch) {
    giveBackFounding(hub, connection, session)
    return add(call, message)
  }
  if (!found || found.length === 0) {
    refuse(connection, message.request, UNREADABLE, out)
    register.endSession(hub.registers, session, out)
    return
  }
  // The opener has until BACK_MS from now to attach.
  row.lastYes = turn.now
  answerFounder(turn, row, asked)
  persistence.sendSegments(connection, session, found, out)
}

function answerFounder(
  turn: Turn,
  row: register.Row,
  { connection, message, opened }: PendingRequest & { kind: 'add' },
): void {
  const call = callOf(turn, connection)
  if (!call) return
  send(connection, welcome(turn, row, message, true, opened), turn.out)
  offerServers(call, row.entry.session, message.key)
  listing.notifySession(row, 'founded', turn.out)
}

/** The write of an entrant, an invitation or a replaced room failed: refuses their requests. */
export function refuseEntrants({ hub, out }: Turn, place: string, why: string): void {
  const row = register.rowAt(hub.registers, place)
  const waiting = hub.waiting.get(place)
  if (!waiting) return
  const left = waiting.filter(({ connection, message }) => {
    if (message.kind === 'invite') {
      send(connection, { kind: 'invited', request: message.request, why }, out)
      return false
    }
    if (message.kind !== 'add') return true
    if (!message.fresh && !(row && admission.mustWait(row, message.key))) return true
    refuse(connection, message.request, why, out)
    return false
  })
  hub.waiting.set(place, left)
}

/** The record of a place cannot be read: refuses the requests that need it. */
export function refuseWaiting({ hub, out }: Turn, place: string, why: string): void {
  const waiting = hub.waiting.get(place) ?? []
  hub.waiting.delete(place)
  for (const { connection, message } of waiting) {
    if (message.kind === 'add') refuse(connection, message.request, why, out)
  }
}

/** The write failed: refuses the request for its change. */
export function failWrite(turn: Turn, session: string, why: string): void {
  const { hub, out } = turn
  if (!register.failWrite(hub.registers, session)) return
  hub.counters.unkept++
  if (!hub.registers.rows.has(session)) sessionExpiry.untrack(hub, session)
  const asked = hub.pendingRequests.get(session)
  hub.pendingRequests.delete(session)
  if (!asked) return
  if (asked.kind === 'add') giveBackFounding(hub, asked.connection, session)
  refuse(asked.connection, asked.message.request, why, out)
}
