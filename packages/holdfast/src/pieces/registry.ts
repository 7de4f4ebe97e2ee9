/** The handles and collections of a session's pieces, and the promises of operations on them. */

import type { Fields } from '../wire/fields/schema.ts'
import { HoldfastError } from '../machine.ts'
import * as pieces from './protocol/pieces.ts'
import type { Op, PieceEvent, Row } from './protocol/pieces.ts'
import { Collections, type Listing } from '../kind/listing.ts'
import { lowestFirst, Piece, type PieceHandle, type PieceOwner } from './handles.ts'
import { idOf, type PieceType } from './types.ts'
import { placeOf } from '../kind/definitions.ts'
import { type PieceOutcome, refused } from '../kind/outcomes.ts'
import type { KindApi, Host } from '../kind/kind.ts'

// Enough bytes that nobody can guess the seed of random draws.
const SEED_BYTES = 32

export class PieceRegistry implements KindApi, PieceOwner {
  readonly host: Host
  readonly #types: readonly PieceType[]
  readonly state: pieces.Pieces
  readonly #handles = new Map<number, Piece>()
  // Handles that changed in this turn.
  readonly #changed = new Set<Piece>()
  readonly #collections: Collections<PieceType, PieceHandle>
  readonly #rules: pieces.PieceTypes
  // Players who left holding pieces, and whether an operation that frees some is pending.
  #absentHolders: readonly number[] = []
  #isFreeing = false
  #reportedLost = ''

  constructor(
    types: readonly PieceType[],
    rules: pieces.PieceTypes,
    state: pieces.Pieces,
    host: Host,
  ) {
    this.#types = types
    this.#rules = rules
    this.state = state
    this.host = host
    this.#collections = new Collections(types, host.reports, lowestFirst)
  }

  shown(id: number): Row | null {
    return pieces.shown(this.state, this.#rules, id)
  }

  *rows(): Iterable<Row> {
    for (const { row } of this.#handles.values()) yield row
  }

  onTouched(handle: PieceHandle): void {
    this.#collections.note(handle.type, handle, 'changed')
    this.host.notify()
  }

  begin(random: (count: number) => Uint8Array): void {
    this.state.committed.seed = random(SEED_BYTES)
  }

  /** All pieces of a type, lowest first. @throws HoldfastError code `not-found` */
  all<F extends Fields>(type: PieceType<F>): Listing<PieceHandle<F>> {
    const place = placeOf(this.#types, type as unknown as PieceType)
    const collection = this.#collections.of(this.#types[place]!)
    return collection.snapshot() as unknown as Listing<PieceHandle<F>>
  }

  onEvent(event: PieceEvent): void {
    if (event.kind === 'pieces-held') {
      this.#absentHolders = event.players
      return this.#free()
    }
    if (event.kind === 'pieces-lost') return this.#lost(event.ids)
    const { id } = event
    const handle = this.#handles.get(id)
    const row = this.state.published.get(id)
    if (event.kind === 'piece-went') return this.#remove(id)
    if (event.kind === 'piece-lost') return handle?.onLost(event.by, event.why)
    // The piece was removed since: a later event reports that.
    if (!row) return
    if (!handle) return this.#add(row)
    const isSeen = handle.onPublished(row)
    if (event.kind === 'piece-conflict') handle.onConflict(event.by)
    else if (event.kind === 'piece-refused') handle.onRefused(event.reason, event.heldBy)
    else if (!isSeen && !handle.pending) return
    this.#note(handle)
  }

  #note(handle: Piece): void {
    handle.onChanged()
    this.#changed.add(handle)
    this.#collections.note(handle.type, handle, 'changed')
  }

  #add(row: Row): void {
    const type = this.#types[row.type]!
    const handle = new Piece(this, type, row)
    this.#handles.set(row.id, handle)
    this.#collections.note(type, handle, 'added')
  }

  #remove(id: number): void {
    const handle = this.#handles.get(id)
    if (!handle) return
    this.#handles.delete(id)
    this.#collections.note(handle.type, handle, 'removed')
    handle.onGone()
  }

  settled(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const handle of changed) handle.pump()
    this.#free()
    this.#collections.emit()
  }

  ask(id: number, op: Op, regrab: boolean): Promise<PieceOutcome> {
    const state = this.state
    const row = state.published.get(id)
    if (!row) return Promise.resolve(refused('gone', pieces.GONE))
    return new Promise((resolve, reject) => {
      let seq = 0
      const clear = (): void => {
        // What is shown changes although nothing was published, as after the outcome `lost`.
        const emit = (): void => {
          const handle = this.#handles.get(id)
          if (handle) this.#note(handle)
        }
        pieces.removePending(state, id, seq, { emit })
        this.host.touch()
      }
      const body = (): Uint8Array => {
        seq = state.nextSeq
        return pieces.update(state, this.#rules, row, op, regrab)
      }
      const settle = (bytes: Uint8Array): void => {
        clear()
        this.#settle(id, bytes, resolve, reject)
      }
      const failed = (error: Error): void => {
        clear()
        reject(error)
      }
      const lost = (why: string): void => {
        clear()
        resolve(refused('lost', why))
      }
      this.host.ask({ body, settle, lost, reject: failed })
    })
  }

  #settle(
    id: number,
    bytes: Uint8Array,
    resolve: (outcome: PieceOutcome) => void,
    reject: (error: Error) => void,
  ): void {
    const outcome = pieces.decodeOutcome(bytes)
    switch (outcome?.kind) {
      case 'recorded':
      case 'clamped':
        return resolve({ ok: true, value: { clamped: outcome.kind === 'clamped' } })
      case 'conflict':
        return resolve(this.#lateOutcome(id, outcome.by))
      case 'refused':
        return resolve(this.#refusedOutcome(id, outcome.reason))
      case 'held':
        return resolve(this.#refusedOutcome(id, pieces.HELD, outcome.by))
      case 'bogus':
        return reject(new HoldfastError('bad-value', `piece ${id}: ${outcome.reason}`))
      default: {
        const why = bytes.length === 0 ? 'its answer was lost' : 'the server knows no pieces'
        resolve(refused('lost', `not known what came of it: ${why}`))
      }
    }
  }

  #lateOutcome(id: number, by: number): PieceOutcome {
    const handle = this.#handles.get(id)
    return handle ? handle.lateOutcome(by) : this.#refusedOutcome(id, pieces.GONE)
  }

  #refusedOutcome(id: number, reason: string, heldBy = 0): PieceOutcome {
    const handle = this.#handles.get(id)
    if (handle) return handle.refusedOutcome(reason, heldBy)
    return refused(reason === pieces.GONE ? 'gone' : 'refused', reason)
  }

  // Releases the pieces of players who left, one operation at a time. If it cannot be sent, or more
  // players leave meanwhile, the end of a turn tries again.
  #free(): void {
    if (this.#isFreeing || this.#absentHolders.length === 0) return
    const players = this.#absentHolders
    this.#absentHolders = []
    this.#isFreeing = true
    const settle = (bytes: Uint8Array): void => {
      this.#isFreeing = false
      // One operation could not free all of their pieces.
      if (pieces.decodeOutcome(bytes)?.kind === 'clamped') this.#freeAgain(players)
      this.#free()
    }
    const reject = (): void => {
      this.#isFreeing = false
      this.#freeAgain(players)
    }
    const body = (): Uint8Array => pieces.encodeFree(players)
    this.host.ask({ body, settle, lost: reject, reject })
  }

  #freeAgain(players: readonly number[]): void {
    const { me, primary } = this.state
    if (this.#absentHolders.length === 0 && me === primary) this.#absentHolders = players
  }

  #lost(ids: readonly number[]): void {
    const text = ids.join()
    if (text === this.#reportedLost) return
    this.#reportedLost = text
    this.host.emit('lostSecrets', ids.map(idOf))
  }
}
