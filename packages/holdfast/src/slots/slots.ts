/** The public handle of a world of slots. */

import * as machine from './protocol/slots.ts'
import { badValue, HoldfastError, type Millis } from '../machine.ts'
import type { Part, PartOut } from '../kind/protocol/part.ts'
import { fingerprint } from '../wire/digest.ts'
import { isJson, toJson } from '../wire/text/json.ts'
import {
  decodeState,
  encodeState,
  type Fields,
  schema,
  type StateOf,
} from '../wire/fields/schema.ts'
import { type Emitter, Listeners } from '../api/emitter.ts'
import { checkName, checkOptions } from '../api/options.ts'
import { placeOf } from '../kind/definitions.ts'
import { checkOpen } from '../kind/outcomes.ts'
import type { KindApi, Host, Kind } from '../kind/kind.ts'

/** Options of `slots`; builds that play together must have the same. */
export interface SlotsOptions<World, Act> {
  /** Milliseconds of a slot, 20 to 5,000. Default 200. */
  readonly ms?: Millis
  /** The world of the first member: plain values as in JSON, at most 48 KB. */
  readonly start: World
  /**
   * Computes the world after a slot from the world before and the acts in the slot. It must be pure
   * and deterministic on every machine; worlds are frozen. Acts are in the order of the tie-break,
   * those of one player in the order in which they were made: if two players want the same thing,
   * the first gets it. A rule that throws leaves the world unchanged.
   */
  readonly rule: (world: World, acts: readonly ActOf<Act>[], turn: SlotsTurn) => World
  /** The tie-break: the `highest` player acts first (default), or a random order, `fair`. */
  readonly order?: 'highest' | 'fair'
}

/** The slot, the players that left in it, and random draws. */
export type SlotsTurn = machine.Turn

/** An act, as the rule gets it. */
export interface ActOf<Act> {
  /** The number of the player. */
  readonly by: number
  /** The decoded act. */
  readonly act: Act
}

/** Events of a world of slots. */
export interface SlotsEvents<Act> {
  /** The world may have changed; emitted at least once a slot. */
  changed: void
  /**
   * Acts of ours that reached everybody too late: they did not happen. Emitted once all players
   * agree on that, so it is final.
   */
  void: readonly Act[]
  /**
   * Others have a world with different options (`ms`, `order`, `act`), so ours was closed. The
   * message names both. The world may be opened again.
   */
  refused: HoldfastError
  /** The rule threw, and that slot changed nothing. */
  failed: { readonly slot: number; readonly error: unknown }
  /**
   * A player has the same acts up to that slot, but another world: the rule is not deterministic.
   * Emitted at both members, once until their worlds are equal again after another act.
   */
  diverged: { readonly slot: number; readonly player: number }
}

/** `joining`: the world is on its way; `live`: it is here; `refused`: see the event. */
export type SlotsStatus = 'joining' | 'live' | 'refused'

/**
 * A world without an authority: every member has it, and folds the acts of all players into it. It
 * continues while the primary fails and another member takes over.
 */
export interface SlotsHandle<World, Act> extends Emitter<SlotsEvents<Act>> {
  /**
   * The world after the last whole slot. Acts that come late, within the horizon, are folded in
   * afterwards. While `joining`: the last world that we had, or `start`.
   */
  readonly state: World
  /** The same with the known acts of the current slot, so that our own show at once. */
  readonly ahead: World
  /** The current slot: session time divided by `ms`; NaN while session time is not known. */
  readonly slot: number
  /** See `SlotsStatus`. */
  readonly status: SlotsStatus
  /** How many other members have the same acts but another world: see `diverged`. */
  readonly disagreeing: number
  /** Counters for displays: late acts, slots folded again, worlds taken from others. */
  readonly counters: Readonly<machine.Slots['counters']>
  /**
   * Acts in the current slot.
   *
   * @throws HoldfastError `not-ready` while `joining`, `overloaded` after 8 acts in this slot,
   *   `bad-value` for an act that does not fit its fields or has over 64 bytes, `left`
   */
  act(act: Act): void
}

interface Codec<Act> {
  readonly text: string
  encode(act: Act): Uint8Array
  decode(bytes: Uint8Array): Act | undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const json: Codec<unknown> = {
  text: 'json',
  encode: (act) => encoder.encode(toJson(act)),
  decode: (bytes) => {
    const text = decoder.decode(bytes)
    return isJson(text) ? (JSON.parse(text) as unknown) : undefined
  },
}

function codecOf<F extends Fields>(fields: F): Codec<StateOf<F>> {
  const type = schema(fields)
  return {
    text: type.text,
    encode: (act) => encodeState(type, act),
    decode: (bytes) => decodeState(type, bytes) ?? undefined,
  }
}

/** A definition of slots. */
export interface SlotsType<State = unknown, Act = unknown> {
  /** The kind of all that `slots` makes. */
  readonly kind: Kind<'world of slots'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** The text on which two builds must agree. */
  readonly text: string
  /** The game's definition of the world. */
  readonly game: machine.Game
  /** Encodes and decodes acts. */
  readonly codec: Codec<Act>
  /** Carries the types of world and act; never set. */
  readonly of?: { readonly world: State; readonly act: Act }
}

/** The kind of all worlds of slots; a session has at most one. */
const slotsKind: Kind<'world of slots'> = {
  word: 'world of slots',
  channel: machine.SLOTS_CHANNEL,
  most: 1,
  text: (definition) => `${definition.name} ${(definition as SlotsType).text}`,
  open: ([definition], host) => {
    const api = new SlotsApi(definition as SlotsType, host)
    return { part: machine.slotsPart(api.box) as Part<never>, state: api.state, api }
  },
}

/**
 * A world without an authority: see `SlotsHandle`. `session.part` opens it, and all members that
 * open it share it. The world comes within a few slots from a member that has it, or from `start`.
 * In a star the primary must have opened it; a mesh needs no primary.
 *
 * @throws HoldfastError `bad-value` for an option out of range
 */
export function slots<State, F extends Fields>(
  name: string,
  options: SlotsOptions<State, StateOf<F>> & { readonly act: F },
): SlotsType<State, StateOf<F>>
export function slots<State, Act>(
  name: string,
  options: SlotsOptions<State, Act>,
): SlotsType<State, Act>
export function slots<State, Act>(
  name: string,
  options: SlotsOptions<State, Act> & { readonly act?: Fields },
): SlotsType<State, Act> {
  checkName(name)
  checkOptions('slots', options, ['ms', 'start', 'rule', 'order', 'act'])
  const codec = (options.act ? codecOf(options.act) : json) as Codec<Act>
  const plain = options as unknown as SlotsOptions<unknown, unknown>
  const game = gameOf(plain, codec as Codec<unknown>)
  const acts = options.act ? codec.text : '{ act: json }'
  return { kind: slotsKind, name, text: `${acts} slots ${game.ms} ${game.order}`, game, codec }
}

export class SlotsApi implements KindApi {
  readonly state: machine.Slots = machine.create()
  readonly box: machine.GameBox = { game: null }
  readonly #type: SlotsType
  readonly #host: Host
  #handle: World | null = null

  constructor(type: SlotsType, host: Host) {
    this.#type = type
    this.#host = host
  }

  begin(random: (count: number) => Uint8Array): void {
    this.state.seed = new DataView(random(4).buffer).getUint32(0)
  }

  /** Opens the world, or returns the open one. @throws HoldfastError `left`, `not-found` */
  part(type: SlotsType): SlotsHandle<unknown, unknown> {
    placeOf([this.#type], type)
    if (this.#handle) return this.#handle
    checkOpen(this.#host, 'cannot open a world of slots')
    const { game, codec } = this.#type
    machine.open(this.state, game)
    this.#handle = new World(this.state, game, codec as Codec<unknown>, this.#host)
    this.box.game = game
    this.#host.do((now, out) =>
      machine.tick(this.state, game, now, out as PartOut<machine.SlotsEvent>),
    )
    this.#host.touch()
    return this.#handle
  }

  onEvent(event: machine.SlotsEvent): void {
    const handle = this.#handle
    // The application may open it again.
    if (event.kind === 'slots-refused') [this.#handle, this.box.game] = [null, null]
    handle?.onEvent(event)
  }
}

function gameOf(options: SlotsOptions<unknown, unknown>, codec: Codec<unknown>): machine.Game {
  const { ms = 200, start, rule, order = 'highest' } = options
  const { min, max } = machine.SLOT_MS
  if (!(ms >= min && ms <= max)) throw badValue(`a slot has ${min} to ${max} ms: ${ms}`)
  if (order !== 'highest' && order !== 'fair')
    throw badValue(`order is highest or fair: "${String(order)}"`)
  if (typeof rule !== 'function') throw badValue('rule is a function of world, acts and turn')
  sendable('start', () => machine.seal(start))
  const says = `${ms} ${order} ${codec.text}`
  const decode = (body: Uint8Array): unknown => codec.decode(body)
  return { ms, start, order, print: fingerprint(says), says, rule, decode }
}

// Turns an exception about an unsendable value into `bad-value`.
function sendable<Value>(what: string, run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    throw badValue(
      `${what} cannot be told: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

class World implements SlotsHandle<unknown, unknown> {
  readonly #state: machine.Slots
  readonly #game: machine.Game
  readonly #codec: Codec<unknown>
  readonly #host: Host
  readonly #events: Listeners<SlotsEvents<unknown>>
  #refusal: HoldfastError | null = null

  constructor(state: machine.Slots, game: machine.Game, codec: Codec<unknown>, host: Host) {
    this.#state = state
    this.#game = game
    this.#codec = codec
    this.#host = host
    const names = ['changed', 'void', 'refused', 'failed', 'diverged'] as const
    this.#events = new Listeners('a world of slots', names, host.reports)
  }

  get state(): unknown {
    if (this.#refusal) return this.#game.start
    return machine.shown(this.#state, this.#game)
  }

  get ahead(): unknown {
    if (this.#refusal) return this.#game.start
    return machine.ahead(this.#state, this.#game)
  }

  get slot(): number {
    return this.#state.slot
  }

  get status(): SlotsStatus {
    if (this.#refusal) return 'refused'
    return this.#state.standing === 'live' ? 'live' : 'joining'
  }

  get disagreeing(): number {
    return machine.diverging(this.#state)
  }

  get counters(): Readonly<machine.Slots['counters']> {
    return this.#state.counters
  }

  act(act: unknown): void {
    const body = sendable('this act', () => this.#codec.encode(act))
    const limit = machine.ACT_BYTES_MAX
    if (body.length > limit) throw badValue(`an act has at most ${limit} bytes: ${body.length}`)
    checkOpen(this.#host, 'cannot act')
    this.#host.checkPlays('act')
    if (this.#refusal) throw this.#refusal
    if (this.status !== 'live') {
      throw new HoldfastError('not-ready', 'cannot act: the world is still on its way to us')
    }
    this.#host.do((now, out) => {
      machine.tick(this.#state, this.#game, now, out as PartOut<machine.SlotsEvent>)
      if (!machine.hasRoom(this.#state)) {
        const limit = `a player acts at most ${machine.ACTS_PER_SLOT} times in a slot`
        throw new HoldfastError('overloaded', limit)
      }
      machine.makeEvent(this.#state, now, this.#game, body, 0)
    })
    this.#host.touch()
  }

  readonly on: Emitter<SlotsEvents<unknown>>['on'] = (name, listener, options) => {
    return this.#events.on(name, listener, options)
  }

  onEvent(event: machine.SlotsEvent): void {
    if (event.kind === 'slots') this.#events.emit('changed', undefined)
    else if (event.kind === 'slots-discarded') this.#events.emit('void', event.acts)
    else if (event.kind === 'slots-refused') this.#refused(event.why)
    else if (event.kind === 'slots-diverged') this.#diverged(event.slot, event.player)
    else this.#report('failed', { slot: event.slot, error: event.error }, event.error)
  }

  #refused(why: string): void {
    this.#refusal = new HoldfastError('schema', why)
    this.#report('refused', this.#refusal, this.#refusal, 'a world of slots')
  }

  #diverged(slot: number, player: number): void {
    const what = `after slot ${slot} player ${player} has another world of the same acts`
    const error = new HoldfastError('bad-value', `${what}: the rule does not give the same for all`)
    this.#report('diverged', { slot, player }, error)
  }

  // Without a listener the event is reported as an error.
  #report<Name extends 'refused' | 'diverged' | 'failed'>(
    name: Name,
    value: SlotsEvents<unknown>[Name],
    error: unknown,
    where = 'the rule of a world of slots',
  ): void {
    this.#events.emit(name, value)
    if (!this.#events.hasListeners(name)) this.#host.reports.report(error, where, this.#game)
  }
}
