/** A world of slots as a user holds it. */

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
import * as machine from './protocol/slots.ts'
import { type Emitter, Listeners } from '../api/emitter.ts'
import { checkName, checkOptions } from '../api/options.ts'
import { placeOf } from '../kind/definitions.ts'
import type { Face, Host, Kind } from '../kind/kind.ts'

/** What `slots` takes besides its name. The same in every build that shall fit. */
export interface SlotsOptions<World, Act> {
  /** Milliseconds of a slot, 20 to 5,000. Default 200. */
  readonly ms?: Millis
  /** The world of whoever is first: plain values as in JSON, at most 48 KB of it. */
  readonly start: World
  /**
   * The world after a slot, of the world before and what was done in it. Pure, and the same on
   * every machine: it takes nothing from elsewhere, and changes no world that it is given (they
   * are frozen). Acts come in the order of the tie-break, those of one player as they were made:
   * where two want the same, the first has it. One that throws leaves the world as it was.
   */
  readonly rule: (world: World, acts: readonly ActOf<Act>[], turn: SlotsTurn) => World
  /** Whose acts come first: of the `highest` player (default), or by turns of chance, `fair`. */
  readonly order?: 'highest' | 'fair'
}

/** What a rule may know besides: the slot, the players that went in it, and chance. */
export type SlotsTurn = machine.Turn

/** An act as a rule gets it. */
export interface ActOf<Act> {
  /** The number of the player. */
  readonly by: number
  /** What they did, as the codec of the type has it. */
  readonly act: Act
}

/** What is told about a world of slots. */
export interface SlotsEvents<Act> {
  /** The world may be another; told once a slot at least. */
  changed: void
  /**
   * Acts of ours that came too late for everybody else: they did not happen. Told when all who
   * play agree on it, so that it is never taken back.
   */
  void: readonly Act[]
  /**
   * Others have a world with other options (`ms`, `order`, `act`): ours is closed for good. The
   * sentence names both. It may be opened again.
   */
  refused: HoldfastError
  /** The rule threw: that slot changed nothing. */
  failed: { readonly slot: number; readonly error: unknown }
  /**
   * A player has the same acts up to that slot, and another world: the rule does not give the same
   * there as here. Told at both ends, once until worlds are the same again after another act.
   */
  diverged: { readonly slot: number; readonly player: number }
}

/** How we stand to the world: it is on its way, or here, or others have one that does not fit. */
export type SlotsStatus = 'joining' | 'live' | 'refused'

/**
 * A world that nobody decides on: everybody has it, and folds in what everybody did. It goes on
 * while a server dies and another takes over.
 */
export interface SlotsHandle<World, Act> extends Emitter<SlotsEvents<Act>> {
  /**
   * The world after the last whole slot. What comes late within the horizon is put right in it.
   * While the world is on its way to us: the last that we had, or `start`.
   */
  readonly state: World
  /** The same with what is known of the slot under way: what we did shows at once. */
  readonly ahead: World
  /** The slot under way: session time divided by its length; NaN while that is not known. */
  readonly slot: number
  /** Whether the world is on its way, here, or cannot be. */
  readonly status: SlotsStatus
  /** How many other members have the same acts and another world: see `diverged`. */
  readonly disagreeing: number
  /** For displays: late acts, slots folded again for them, worlds taken of others. */
  readonly counters: Readonly<machine.Slots['counters']>
  /**
   * Does something, in the slot under way.
   *
   * @throws HoldfastError `not-ready` while the world is on its way, `overloaded` with 8 acts in
   *   this slot already, `bad-value` for what the fields do not take or over 64 bytes, `left`
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
  /** What two builds must agree on of it. */
  readonly text: string
  /** What is folded, and the acts in bytes. */
  readonly game: machine.Game
  /** Acts as bytes, and back. */
  readonly codec: Codec<Act>
  /** The types of world and act alone. */
  readonly of?: { readonly world: State; readonly act: Act }
}

/** The kind of all that `slots` makes: a session has one world of slots. */
export const slotsKind: Kind<'world of slots'> = {
  word: 'world of slots',
  channel: machine.SLOTS_CHANNEL,
  most: 1,
  text: (definition) => `${definition.name} ${(definition as SlotsType).text}`,
  open: ([definition], host) => {
    const face = new SlotsApi(definition as SlotsType, host)
    return { part: machine.slotsPart(face.box) as Part<never>, state: face.state, face }
  },
}

/**
 * A world that nobody decides on, as `SlotsHandle` says: every member folds in what everybody did.
 * `session.part` of it opens it: whoever is in the session and opens it too is in it. It comes with
 * one of the next slots, of somebody who has it, or from `start`. In a star the server must be in
 * it; in a mesh no server is needed.
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

/** The worlds of a session, of which there is one. */
export class SlotsApi implements Face {
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

  /** Opens it, or gives what is open. @throws HoldfastError `left`, `not-found` */
  part(type: SlotsType): SlotsHandle<unknown, unknown> {
    placeOf([this.#type], type)
    if (this.#handle) return this.#handle
    if (this.#host.over) {
      throw new HoldfastError('left', 'cannot open a world of slots: the session was left')
    }
    const { game, codec } = type
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
    // It may be opened again.
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
  told('start', () => machine.seal(start))
  const says = `${ms} ${order} ${codec.text}`
  const decode = (body: Uint8Array): unknown => codec.decode(body)
  return { ms, start, order, print: fingerprint(says), says, rule, decode }
}

// What cannot be sent is no value for it.
function told<Value>(what: string, run: () => Value): Value {
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
    const body = told('this act', () => this.#codec.encode(act))
    const limit = machine.ACT_BYTES_MAX
    if (body.length > limit) throw badValue(`an act has at most ${limit} bytes: ${body.length}`)
    if (this.#host.over) throw new HoldfastError('left', 'cannot act: the session was left')
    this.#host.checkPlays('act')
    if (this.#refusal) throw this.#refusal
    if (this.status !== 'live') {
      throw new HoldfastError('not-ready', 'cannot act: the world is still on its way to us')
    }
    this.#host.do((now, out) => {
      machine.tick(this.#state, this.#game, now, out as PartOut<machine.SlotsEvent>)
      if (!machine.hasRoom(this.#state)) {
        const says = `a player acts at most ${machine.ACTS_PER_SLOT} times in a slot`
        throw new HoldfastError('overloaded', says)
      }
      machine.say(this.#state, now, this.#game, body, 0)
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
    else this.#tell('failed', { slot: event.slot, error: event.error }, event.error)
  }

  #refused(why: string): void {
    this.#refusal = new HoldfastError('schema', why)
    this.#tell('refused', this.#refusal, this.#refusal, 'a world of slots')
  }

  #diverged(slot: number, player: number): void {
    const says = `after slot ${slot} player ${player} has another world of the same acts`
    const error = new HoldfastError('bad-value', `${says}: the rule does not give the same for all`)
    this.#tell('diverged', { slot, player }, error)
  }

  // What nobody listens to is reported.
  #tell<Name extends 'refused' | 'diverged' | 'failed'>(
    name: Name,
    value: SlotsEvents<unknown>[Name],
    error: unknown,
    where = 'the rule of a world of slots',
  ): void {
    this.#events.emit(name, value)
    if (!this.#events.hasListeners(name)) this.#host.reports.report(error, where, this.#game)
  }
}
