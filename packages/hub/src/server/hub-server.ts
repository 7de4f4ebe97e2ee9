/** The hub on streams and a store: the event loop around `machine/`. */

import * as hub from '../machine/hub.ts'
import type { Hub, HubOut } from '../machine/hub.ts'
import * as register from '../machine/register.ts'
import type { Place } from '../machine/register.ts'
import { segmentNames } from '../machine/archive.ts'
import { readPlace } from '../machine/places.ts'
import { close } from '../machine/closed-rooms.ts'
import type { Applicant } from '../machine/state.ts'
import { HoldfastError, type Millis } from '../../../holdfast/src/machine.ts'
import type {
  Alarm,
  Closing,
  HubLinks,
  Loop,
  Opening,
  Store,
  StoreChange,
  StoredRecord,
  StoreOutcome,
  Stream,
  StreamEvents,
} from '../../../holdfast/src/ports.ts'
import type { Claims } from '../../../holdfast/src/hub-protocol/tickets.ts'
import type { Saved } from '../../../holdfast/src/hub-protocol/saved-room.ts'
import { importRoom, type ImportRefusal, savedOf } from '../machine/room-files.ts'
import { sameBytes } from '../../../holdfast/src/wire/digest.ts'
import * as relayQueue from '../machine/relay-queue.ts'
import { PART_MAX } from '../../../holdfast/src/rounds.ts'
import { createReader, readU32 } from '../../../holdfast/src/wire/bytes.ts'
import { frameKnock, frameRelay, readFrame } from '../../../holdfast/src/wire/relay.ts'
import { STILL_MS } from '../machine/heartbeat.ts'
import { Passing } from './passing.ts'
import { AfterClose, readBeacon, replayBeacon } from './beacon.ts'
import { isClosedKey, LATE_MS, readClosed, removeClosed, writeClosed } from './closed-records.ts'
import { SEED_RECORD, seedOf, writeSeed } from './hub-key.ts'
import type { HubHealth, HubServerOptions, Report } from './hub-options.ts'

/** How often an idle store is checked, and a failed write retried. */
export const DISK_MS: Millis = 2_000
/** A failed write is retried no sooner than this, however many requests come. */
const RETRY_MS: Millis = 250
/** Streams hear that the store answers again once nothing has failed for this long. */
const CALM_MS: Millis = 1_000
/** Most readings of a room that is written meanwhile. */
const EXPORT_TRIES_MAX = 100

export class HubServer {
  readonly hub: Hub
  readonly #loop: Loop
  readonly #store: Store
  readonly #options: HubServerOptions
  readonly #report: Report
  readonly #streams = new Map<number, Stream>()
  /** Relayed datagrams waiting in each stream. */
  readonly #relayQueues = new Map<number, relayQueue.RelayQueue>()
  readonly #afterClose: AfterClose
  readonly #passing: Passing | null
  /** The address of each stream, where streams may be passed on. */
  readonly #remotes = new Map<number, string>()
  readonly #out: HubOut
  #sign: HubOut['sign']
  readonly #alarm: Alarm
  readonly #diskAlarm: Alarm
  /** The places whose records must be written. */
  readonly #owed = new Set<string>()
  /** Those whose write is in progress or has a result that is not reported yet, and since when. */
  readonly #writing = new Map<string, Millis>()
  /** Those of them that wait to ask the store again. */
  readonly #unsure = new Set<string>()
  #results: Result[] = []
  readonly #resultsAlarm: Alarm
  #trouble: HoldfastError | null = null
  #failedAt: Millis = -Infinity
  #isPlanned = false
  /** When the next retry or check is due. */
  #diskAt: Millis = Infinity
  /** Whether new streams are refused. */
  isDraining = false
  /** Whether requests are ignored as well. */
  #isClosing = false
  /** Callbacks for when a stored room is written, by session. */
  readonly #onStored = new Map<string, (error: HoldfastError | null) => void>()
  /** Called when results were reported. */
  readonly #onReported: (() => void)[] = []
  #isClosed = false
  #count = 0
  #armedAt: Millis = Infinity

  /** Starts from what the store holds. @throws HoldfastError code `store` for a foreign record */
  constructor(loop: Loop, store: Store, options: HubServerOptions) {
    const { curves, wrapRelay = (deliver) => deliver, report = () => {} } = options
    const { games = null, budgets, servers } = options
    this.#loop = loop
    this.#afterClose = new AfterClose(loop)
    this.#store = store
    this.#options = options
    this.#report = report
    const boot = bootOf(loop)
    const records = new Map(store.entries())
    const seed = seedOf(records.get(SEED_RECORD), loop)
    if (!records.has(SEED_RECORD)) writeSeed(store, seed, (other) => this.setSeed(other))
    this.#sign = curves.signing(seed)
    this.hub = hub.create(loop.now(), boot, curves.signer(seed), games, budgets)
    this.hub.tickets = options.tickets ?? null
    this.hub.consults = Boolean(options.consult)
    this.hub.archive.wallOffset = options.wall() - loop.now()
    if (store.isShared) hub.startSharing(this.hub, loop.now())
    for (const [key, found] of records) {
      if (key === SEED_RECORD || isClosedKey(key)) continue
      if (hub.restore(this.hub, loop.now(), key, found)) continue
      throw new HoldfastError('store', `the store's record "${key}" was not written by a hub`)
    }
    this.#alarm = loop.alarm(() => this.#wake())
    this.#diskAlarm = loop.alarm(() => this.#write())
    this.#resultsAlarm = loop.alarm(() => this.#reportResults())
    this.#out = {
      send: (connection, bytes) => void this.#streams.get(connection)?.send(bytes),
      relay: wrapRelay((to, from, datagram) => {
        this.#sendRelayed(to, `member ${from}`, frameRelay(from, datagram))
      }),
      knock: (to, caller, datagram) => this.#knock(to, caller, datagram),
      sign: (message) => this.#sign(message),
      ...(servers && { servers: (player: string) => servers(player, options.wall()) }),
      roomChanged: (event) => options.onRoomChange?.(event),
      consult: (connection, applicant) => this.#consult(connection, applicant),
      check: (connection, ticket, game) => this.#check(connection, ticket, game),
      record: (place) => this.#record(place),
      pass: (connection, to, bytes) => this.#pass(connection, to, bytes),
      unpass: (connection) => this.#passing?.stop(connection),
      load: (place) => this.#load(place),
      read: (read, place, names) => this.#readSegments(read, place, names),
      close: (connection, closing) => this.#close(connection, closing),
      roomStored: (session, why) => {
        this.#onStored.get(session)?.(why === '' ? null : new HoldfastError('store', why))
        this.#onStored.delete(session)
      },
    }
    this.#passing = options.links ? this.#passingOver(options.links) : null
    this.#passing?.listen(boot)
    for (const place of hub.restored(this.hub)) this.#record(place)
    for (const [key, found] of records) this.#hearClosed(key, found)
    store.watch?.((key, found) => this.#hear(key, found))
    this.#arm()
    this.#writeIn(DISK_MS)
  }

  /** Accepts a stream from `acceptStreams`. */
  accept(stream: Stream, { remote }: Opening, isPassed = false): StreamEvents {
    if (this.isDraining) {
      return { opened: () => stream.close(DRAINING), message: () => {}, closed: () => {} }
    }
    const connection = ++this.#count
    this.#streams.set(connection, stream)
    if (this.#passing) this.#remotes.set(connection, remote)
    const open = (): void => hub.addStream(this.turn, connection, remote, isPassed)
    return {
      opened: () => this.#act(connection, open),
      message: (bytes) => {
        // Members repeat requests at the next hub. Datagrams are still relayed.
        if (this.#isClosing && readFrame(bytes)?.kind === 'message') return
        try {
          hub.receive(this.turn, connection, bytes)
          this.#arm()
        } catch (error) {
          this.#threw(connection, error)
        }
      },
      closed: () => this.#guard(connection, () => this.#forget(connection)),
    }
  }

  #passingOver(links: HubLinks): Passing {
    return new Passing(links, (stream, opening) => this.accept(stream, opening, true), {
      said: (connection, bytes) => {
        this.#act(connection, () => hub.receivePassed(this.turn, connection, bytes))
      },
      ended: (connection, closing) => {
        this.#act(connection, () => hub.endPassed(this.turn, connection, closing))
      },
      failed: (boot) => {
        hub.suspect(this.hub, this.#loop.now(), boot)
        this.#arm()
      },
    })
  }

  #pass(connection: number, to: number, bytes: Uint8Array): void {
    const remote = this.#remotes.get(connection) ?? ''
    if (this.#passing) return this.#passing.pass(connection, remote, to, bytes)
    this.#loop.soon(() => this.#act(connection, () => hub.endPassed(this.turn, connection)))
  }

  /** Replays the last messages of a page as a stream. @returns false if the body is no beacon */
  beacon(body: Uint8Array, opening: Opening): boolean {
    const beacon = readBeacon(body)
    if (!beacon) return false
    const { session, inc } = beacon.from
    const accept = (stream: Stream): StreamEvents => this.accept(stream, opening)
    const behind = (run: () => void): void => {
      const older = this.hub.attached.get(session)?.get(inc)
      if (older === undefined) run()
      else this.#afterClose.add(older, run)
    }
    replayBeacon(beacon, accept, behind, (run) => this.#loop.soon(run))
    return true
  }

  health(): HubHealth {
    const { registers, connections } = this.hub
    const isSilent = hub.isCutOff(this.hub, this.#loop.now()) || this.#isLate
    const silent = isSilent ? SILENT : null
    const trouble = this.#trouble?.message ?? silent
    return {
      ok: trouble === null,
      trouble,
      sessions: registers.rows.size,
      connections: connections.size,
    }
  }

  /**
   * Stops the loop once all requested records are written, and leaves the rooms to the other hubs
   * of a shared store. The caller then closes streams and store: so members who come to another hub
   * find their room free.
   */
  async close(): Promise<void> {
    this.isDraining = true
    this.#isClosing = true
    await this.#settled()
    hub.leave(this.turn)
    await this.#settled()
    this.#isClosed = true
    this.#alarm.cancel()
    this.#diskAlarm.cancel()
    this.#resultsAlarm.cancel()
  }

  async #settled(): Promise<void> {
    while (this.#isBusy) {
      const reported = new Promise<void>((resolve) => void this.#onReported.push(resolve))
      this.#write()
      // There may have been nothing to write.
      if (this.#isBusy) await reported
    }
  }

  // A room that is to be removed is loaded first.
  get #isBusy(): boolean {
    if (this.#writing.size > this.#unsure.size || this.hub.loads.size > 0) return true
    return this.#owed.size > 0 && !this.#trouble
  }

  get turn(): hub.Turn {
    return { hub: this.hub, now: this.#loop.now(), out: this.#out }
  }

  /** Closes a room for that long. @returns how many sessions end */
  closeRoom(place: Place, why: string, forMs: Millis): number {
    const { turn } = this
    const { elsewhere, archive } = turn.hub
    const isElsewhere = elsewhere.has(register.placeOf(place))
    const ended = close(turn, place, { why, until: turn.now + forMs })
    this.#arm()
    const closed = { ...place, why, until: Math.ceil(turn.now + forMs + archive.wallOffset) }
    const failed = (error: HoldfastError): void =>
      this.#report(error, 'the record of a closed room')
    if (!this.#isClosed) writeClosed(this.#store, closed, failed)
    return isElsewhere ? 1 : ended
  }

  // @returns whether the record is that of a closed room
  #hearClosed(key: string, found: StoredRecord | null): boolean {
    if (!isClosedKey(key)) return false
    const closed = found && readClosed(found)
    if (!closed) return true
    const { turn } = this
    const { game, room, why } = closed
    const until = closed.until - turn.hub.archive.wallOffset
    const known = turn.hub.closedRooms.get(register.placeOf(closed))?.until ?? -Infinity
    if (until < turn.now - LATE_MS) removeClosed(this.#store, closed, found)
    // The news of its own change must not end a later session.
    else if (Math.abs(known - until) > 1) close(turn, { game, room }, { why, until })
    return true
  }

  /** Stores a saved room. Resolves once it is persisted, or with the reason why it is not. */
  async restoreRoom(saved: Saved, as: Place): Promise<ImportRefusal | HoldfastError | null> {
    const unfit = importRoom(this.turn, saved, as)
    if (unfit !== null) return unfit
    return new Promise((resolve) => this.#onStored.set(saved.session, resolve))
  }

  /** A room as the store has it; null if it stores none. Rejects with HoldfastError `store` */
  async exportRoom(place: Place): Promise<Saved | null> {
    for (let left = EXPORT_TRIES_MAX; left > 0; left--) {
      const found = await this.#get(place)
      const { session, stored = null } = (found && readPlace(found.value)) ?? {}
      if (!found || !session || !stored) return null
      const names = segmentNames(session.entry.session, stored.segments)
      const key = register.placeOf(place)
      const segments = whole(await this.#ask((done) => this.#store.blobs(key, names, done)))
      // The segments are those of the record if nothing was written meanwhile.
      if ((await this.#get(place))?.rev !== found.rev) continue
      if (segments) return savedOf(session, stored, segments)
      throw new HoldfastError('store', `a segment of ${place.game}/${place.room} is missing`)
    }
    const why = 'is written more often than it can be read: try again'
    throw new HoldfastError('store', `${place.game}/${place.room} ${why}`)
  }

  #get(place: Place): Promise<StoredRecord | null> {
    return this.#ask((done) => this.#store.get(register.placeOf(place), done))
  }

  #ask<Found>(ask: (done: (found: Found | HoldfastError) => void) => void): Promise<Found> {
    return new Promise((resolve, reject) => {
      ask((found) => (found instanceof HoldfastError ? reject(found) : resolve(found)))
    })
  }

  // For an invalid ticket the reader rejects with the reason.
  #check(connection: number, ticket: string, game: string): void {
    const settle = (claims: Claims | string): void => {
      this.#act(connection, () => hub.receiveTicket(this.turn, { connection, ticket }, claims))
    }
    this.#options.tickets!.read(ticket, game).then(settle, (error: Error) => settle(error.message))
  }

  // Without a verdict the applicant is refused.
  #consult(connection: number, applicant: Applicant): void {
    const settle = (why: string | null): void => {
      this.#act(connection, () => hub.receiveVerdict(this.turn, { connection, applicant }, why))
    }
    this.#options.consult!(applicant).then(settle, (error: unknown) => {
      this.#report(error, 'onJoin')
      settle('the application could not be asked: try again later')
    })
  }

  #act(connection: number, act: () => void): void {
    this.#guard(connection, () => {
      act()
      this.#arm()
    })
  }

  #guard(connection: number, act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#threw(connection, error)
    }
  }

  // An error in here is a bug of ours: it costs only the stream whose message caused it.
  #threw(connection: number, error: unknown): void {
    this.hub.counters.thrown++
    this.#report(error, `stream ${connection}`)
    try {
      this.#close(connection)
    } catch (closing) {
      this.#report(closing, `the end of stream ${connection}`)
    }
  }

  #attempt(where: string, act: () => void): boolean {
    try {
      act()
      return true
    } catch (error) {
      this.hub.counters.thrown++
      this.#report(error, where)
      return false
    }
  }

  #sendRelayed(connection: number, source: string, frame: Uint8Array): void {
    const stream = this.#streams.get(connection)
    if (stream && this.#hasRoom(connection, stream.backlog(), source, frame)) stream.send(frame)
    else this.hub.counters.congested++
  }

  // All callers of one address are one source.
  #knock(connection: number, caller: number, datagram: Uint8Array): void {
    const place = this.hub.connections.get(caller)?.account.place ?? ''
    this.#sendRelayed(connection, `caller ${place}`, frameKnock(caller, datagram))
  }

  #hasRoom(connection: number, backlog: number, source: string, frame: Uint8Array): boolean {
    const known = this.#relayQueues.get(connection)
    // Most streams are read as fast as they are written.
    if (backlog === 0) {
      if (known) this.#relayQueues.delete(connection)
      return true
    }
    const own = known ?? relayQueue.create()
    this.#relayQueues.set(connection, own)
    return relayQueue.admit(own, backlog, source, frame.length)
  }

  #close(connection: number, closing?: Closing): void {
    this.#streams.get(connection)?.close(closing)
    this.#forget(connection)
  }

  #forget(connection: number): void {
    this.#streams.delete(connection)
    this.#remotes.delete(connection)
    this.#relayQueues.delete(connection)
    hub.removeStream(this.turn, connection)
    this.#afterClose.gone(connection)
  }

  #wake(): void {
    this.#armedAt = Infinity
    this.#attempt('the clock', () => hub.wake(this.turn))
    this.#noteStore()
    this.#arm()
  }

  #arm(): void {
    const due = hub.deadline(this.hub)
    if (due >= this.#armedAt || this.#isClosed) return
    this.#armedAt = due
    this.#alarm.set(due)
  }

  /** Signs by another hub's key from now on: who has heard of this one's comes again. */
  setSeed(seed: Uint8Array): void {
    if (this.#isClosed) return
    const { curves } = this.#options
    const key = curves.signer(seed)
    if (sameBytes(key, this.hub.key)) return
    this.hub.key = key
    this.#sign = curves.signing(seed)
    for (const connection of this.#streams.keys()) this.#close(connection, FENCED)
  }

  #hear(key: string, found: StoredRecord | null): void {
    if (this.#isClosed || key === SEED_RECORD) return
    this.#attempt('the store', () => {
      if (!this.#hearClosed(key, found)) hub.receiveNews(this.turn, key, found)
    })
    this.#arm()
  }

  #load(place: string): void {
    const done = (found: StoredRecord | HoldfastError | null): void => {
      if (this.#isClosed) return
      const why = found instanceof HoldfastError ? found.message : found
      this.#attempt('the store', () => hub.receiveRecord(this.turn, place, why))
      this.#arm()
      this.#resume()
    }
    this.#askStore(done, () => this.#store.get(place, done))
  }

  #readSegments(read: number, place: string, names: readonly string[]): void {
    const done = (found: (Uint8Array | null)[] | HoldfastError): void => {
      if (this.#isClosed) return
      if (found instanceof HoldfastError) this.#report(found, `the segment "${names[0]}"`)
      const segments = found instanceof HoldfastError ? null : whole(found)
      this.#attempt('the store', () => hub.receiveSegments(this.turn, read, segments))
      this.#arm()
    }
    this.#askStore(done, () => this.#store.blobs(place, names, done))
  }

  #record(place: string): void {
    this.#owed.add(place)
    if (this.#trouble) this.#writeIn(RETRY_MS)
    else this.#writeSoon()
  }

  // Once what runs now has changed all that it changes.
  #writeSoon(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#loop.soon(() => {
      this.#isPlanned = false
      this.#write()
    })
  }

  #writeIn(wait: Millis): void {
    const at = this.#loop.now() + wait
    if (at >= this.#diskAt) return
    this.#diskAt = at
    this.#diskAlarm.set(at)
  }

  // A place has one write in progress; what is requested meanwhile goes into its next one.
  #write(): void {
    this.#diskAt = Infinity
    // Results are reported first: what they request goes into the same write.
    if (this.#isClosed || this.#results.length > 0) return
    if (this.#owed.size === 0 && this.#writing.size === 0) {
      const done = (error: HoldfastError | null): void => this.#checked(error)
      return this.#askStore(done, () => this.#store.check(done))
    }
    for (const place of [...this.#owed]) {
      if (this.#writing.has(place)) continue
      this.#owed.delete(place)
      this.#attempt('the store', () => this.#begin(place))
    }
  }

  #begin(place: string): void {
    const change = hub.beginWrite(this.hub, place)
    if (!change) return
    this.#writing.set(place, this.#loop.now())
    this.#change(change)
  }

  #checked(error: HoldfastError | null): void {
    if (this.#isClosed) return
    this.#setTrouble(error)
    this.#noteStore()
    this.#writeIn(DISK_MS)
  }

  #setTrouble(error: HoldfastError | null): void {
    this.#trouble = error
    if (error) this.#failedAt = this.#loop.now()
  }

  // If some writes fail and others succeed, streams hear of it once.
  #noteStore(): void {
    const failed = this.#loop.now() < this.#failedAt + CALM_MS
    const fails = failed || this.#trouble !== null || this.#isLate
    if (fails === this.hub.store.fails) return
    this.#attempt('the store', () => hub.noteFailure(this.turn, fails))
  }

  // A store may acknowledge heartbeats, and not the segments of rooms.
  get #isLate(): boolean {
    const due = this.#loop.now() - STILL_MS
    for (const since of this.#writing.values()) if (since <= due) return true
    return false
  }

  #change(change: StoreChange): void {
    const { key: place } = change
    const done = (outcome: StoreOutcome): void => {
      this.#unsure.delete(place)
      if (outcome === 'conflict' || outcome === 'unknown') this.#look(change)
      else this.#result({ place, outcome })
    }
    this.#askStore(done, () => this.#store.cas(change, done))
  }

  // Only the record can tell whether a change was made, or which change won.
  #look(change: StoreChange): void {
    const { key: place } = change
    const done = (found: StoredRecord | HoldfastError | null): void => {
      this.#unsure.delete(place)
      if (!(found instanceof HoldfastError)) return this.#result({ place, change, found })
      this.#setTrouble(found)
      this.#noteStore()
      this.#retry(place, () => this.#look(change))
    }
    this.#askStore(done, () => this.#store.get(place, done))
  }

  // An error that the store throws is its answer.
  #askStore(done: (error: HoldfastError) => void, ask: () => void): void {
    try {
      ask()
    } catch (error) {
      this.#loop.soon(() => done(asError(error)))
    }
  }

  // Until then nobody waits for the end of this write, such as `close`.
  #retry(place: string, run: () => void): void {
    this.#unsure.add(place)
    const again = (): void => void (this.#isClosed || run())
    this.#loop.alarm(again).set(this.#loop.now() + RETRY_MS)
    this.#resume()
  }

  #resume(): void {
    for (const resolve of this.#onReported.splice(0)) resolve()
  }

  #result(result: Result): void {
    this.#results.push(result)
    if (this.#results.length === 1) this.#loop.soon(() => this.#reportResults())
  }

  // Results cost signatures: they are reported in parts, one per turn.
  #reportResults(): void {
    const { turn } = this
    for (const result of this.#results.splice(0, PART_MAX)) {
      // An error in one place does not affect the others.
      this.#attempt('the store', () => this.#settle(turn, result))
    }
    if (this.hub.heartbeat?.isFenced && !this.#isClosing) this.#startOver()
    this.#noteStore()
    this.#arm()
    if (this.#results.length > 0) this.#resultsAlarm.set(turn.now)
    else if (this.#owed.size > 0 && !this.#trouble) this.#writeSoon()
    else this.#writeIn(DISK_MS)
    this.#resume()
  }

  // Another hub fenced this one: to its members it was killed, and is a new one.
  #startOver(): void {
    for (const connection of this.#streams.keys()) this.#close(connection, FENCED)
    this.#owed.clear()
    const why = new HoldfastError('store', 'nobody knows whether it was written: look again')
    for (const done of this.#onStored.values()) done(why)
    this.#onStored.clear()
    hub.startOver(this.turn, bootOf(this.#loop))
    this.#passing?.listen(this.hub.boot)
    this.#arm()
  }

  #settle(turn: hub.Turn, result: Result): void {
    const { place } = result
    if ('change' in result) {
      this.#setTrouble(null)
      const since = this.#writing.get(place) ?? turn.now
      this.#writing.delete(place)
      const isOpen = hub.settleWrite(turn, place, result.found)
      if (!isOpen) return
      this.#writing.set(place, since)
      return this.#retry(place, () => this.#change(result.change))
    }
    const { outcome } = result
    const error = outcome instanceof HoldfastError ? outcome : null
    this.#setTrouble(error)
    this.#writing.delete(place)
    if (!(outcome instanceof HoldfastError)) return hub.confirmWrite(turn, place, outcome.rev)
    hub.failWrite(turn, place, outcome.message)
    // Changes already in effect, such as a list of members, must still be written.
    if (register.rowAt(this.hub.registers, place)) this.#owed.add(place)
  }
}

/** The outcome of a write, or the record that the store has after one with an unknown outcome. */
type Result = { readonly place: string } & (
  | { readonly outcome: Exclude<StoreOutcome, string> }
  | { readonly change: StoreChange; readonly found: StoredRecord | null }
)

// Null if one is missing.
function whole(blobs: readonly (Uint8Array | null)[]): Uint8Array[] | null {
  const found = blobs.filter((one) => one !== null)
  return found.length === blobs.length ? found : null
}

function asError(error: unknown): HoldfastError {
  return error instanceof HoldfastError ? error : new HoldfastError('store', String(error))
}

const DRAINING: Closing = { kind: 'full', why: 'this hub is about to be restarted' }
const FENCED: Closing = { kind: 'again', why: 'the other hubs took this one for dead: join again' }
const SILENT = 'the store does not answer: nobody founds a room or takes over until it does'

function bootOf(loop: Loop): number {
  return readU32(createReader(loop.random(4)))
}
