/** Custom parts: their definitions, and the kind that a session opens for them. */

import * as machine from './protocol/custom.ts'
import { badValue, type ErrorCode, HoldfastError, type Millis } from '../machine.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkCount, checkSync, checkName, checkOptions } from '../api/options.ts'
import { shown } from '../wire/fields/fields.ts'
import type { Definition, Kind, KindApi, Host, MemberInfo } from '../kind/kind.ts'
import { placeOf } from '../kind/definitions.ts'
import { authorOf, bounded } from './author.ts'
import { addressed, DEFINITIONS_MAX, rereadBy, several } from './several.ts'
import type {
  AnyPlan,
  PartPlan,
  PartType,
  OperationOutcome,
  PartEvents,
  PartHost,
} from './types.ts'
import { decode } from '../wire/layout.ts'
import { guarded, Listeners, type Stop, stopping } from '../api/emitter.ts'
import { ANSWER_LOST, checkOpen, refused, unfit } from '../kind/outcomes.ts'

/** The lowest and the highest channel of custom parts. */
export const CHANNELS: readonly [number, number] = [64, 255]

interface CustomDefinition extends PartType {
  readonly text: string
  readonly kept: string
  readonly plan: AnyPlan
  readonly options: unknown
}

/** Makes definitions of a custom part, from a name and the part's options. */
export type PartMaker<Options, Face> = <const Name extends string>(
  name: Name,
  ...options: unknown extends Options ? [] : [options: Options]
) => PartType<Name, Face>

const VERBS = ['text', 'create', 'face'] as const
const DURABLE = ['perform', 'apply', 'snapshot', 'restore'] as const

/**
 * Defines a kind of part. The result makes definitions, as `object` does; a game has `most` of
 * them, one by default.
 *
 *     const chat = definePart({ channel: 64, text: () => 'v1', create: …, face: … })
 *     const Lobby = chat('lobby')
 *     const session = await join({ game: 'talk', types: [Lobby] })
 *     session.part(Lobby).say('hello')
 *
 * @throws HoldfastError `bad-value` for a channel below 64 or above 255, for a value that is no
 *   function, or if only some of `perform`, `apply`, `snapshot` and `restore` are given
 */
export function definePart<Options, State extends object, Face>(
  plan: PartPlan<Options, State, Face>,
): PartMaker<Options, Face> {
  checkPlan(plan)
  const given = { ...plan } as unknown as AnyPlan
  const kind = kindOf(given)
  return (name, ...[options]) => {
    checkName(name)
    const textBy = (verb: 'text' | 'keptText'): string => {
      const text: unknown = given[verb] ? given[verb](options) : given.text(options)
      if (typeof text === 'string') return text
      throw badValue(`${verb} of the part "${name}" gives a text: ${shown(text)}`)
    }
    const [text, kept] = [textBy('text'), textBy('keptText')]
    const made: CustomDefinition = { kind, name, text, kept, plan: given, options }
    return made as PartType as PartType<typeof name, Face>
  }
}

function lineOf({ name }: Definition, channel: number, text: string): string {
  return `${name} part ${channel} ${JSON.stringify(text)}`
}

function kindOf({ channel, most }: AnyPlan): Kind<'part'> {
  return {
    word: 'part',
    channel,
    most: most ?? 1,
    text: (one) => lineOf(one, channel, (one as CustomDefinition).text),
    keptText: (one) => lineOf(one, channel, (one as CustomDefinition).kept),
    open: (given, host) => {
      const definitions = given as readonly CustomDefinition[]
      const authors = definitions.map(({ plan, name, options }) => {
        return authorOf(plan, name, options, host.reports)
      })
      const names = definitions.map(({ name }) => name)
      const report = (error: Error): void => {
        host.reports.report(error, 'snapshot of a part', definitions[0]!.plan)
      }
      const author = most === undefined ? authors[0]! : several(authors, names, report)
      const state = machine.create(author)
      const api = new CustomApi(definitions, state, host)
      const part = machine.customPart(channel, author) as Part<never>
      if (most === undefined) return { part, state, api }
      const lines = definitions.map((one) => lineOf(one, channel, one.kept))
      const reread = rereadBy(author, lines)
      return { part: { ...part, keptAs: ` part ${channel} `, reread }, state, api }
    },
  }
}

function checkPlan(plan: unknown): void {
  checkOptions('definePart', plan, ['channel', 'most', 'keptText', 'receive', ...VERBS, ...DURABLE])
  const given = plan as Record<string, unknown>
  const { channel } = given
  const [least, most] = CHANNELS
  const fits = Number.isInteger(channel) && Number(channel) >= least && Number(channel) <= most
  if (!fits) throw badValue(`the channel of a part is ${least} to ${most}: ${shown(channel)}`)
  if (given['most'] !== undefined) {
    checkCount('most of a part', given['most'], 1, DEFINITIONS_MAX)
  }
  for (const verb of VERBS) checkSync(`${verb} of a part`, given[verb])
  const has = DURABLE.filter((verb) => given[verb] !== undefined)
  const lacks = DURABLE.find((verb) => !has.includes(verb))
  if (has.length > 0 && lacks) {
    throw badValue(`a part with ${has.join(', ')} has ${lacks} too: what is kept takes all four`)
  }
  for (const verb of has) checkSync(`${verb} of a part`, given[verb])
  if (given['keptText'] !== undefined) checkSync('keptText of a part', given['keptText'])
  if (given['receive'] !== undefined) checkSync('receive of a part', given['receive'])
}

const NOBODY = Object.freeze<MemberInfo>({
  player: 0,
  inc: 0,
  name: '',
  kind: 'guest',
  watches: false,
})

export class CustomApi implements KindApi {
  readonly #faces: readonly OwnFace[]
  readonly #timers: Timers
  #changed = false

  constructor(definitions: readonly CustomDefinition[], state: machine.Custom, host: Host) {
    this.#timers = new Timers(state, host)
    this.#faces = definitions.map((definition, place) => {
      return new OwnFace(definition, place, state, host, this.#timers)
    })
  }

  /** The author's face of a definition. @throws HoldfastError `left`, `not-found` */
  part(type: PartType): unknown {
    const definitions = this.#faces.map(({ definition }) => definition)
    return this.#faces[placeOf(definitions, type as CustomDefinition)]!.part()
  }

  onEvent(event: machine.CustomEvent): void {
    if (event.kind === 'custom-changed') this.#changed = true
    else if (event.kind === 'custom-due') this.#timers.due()
    else this.#receive(event.from, event.bytes)
  }

  settled(): void {
    if (!this.#changed) return
    this.#changed = false
    for (const face of this.#faces) face.events.emit('changed', undefined)
  }

  viewed(): void {
    for (const face of this.#faces) face.events.emit('members', undefined)
  }

  end(code: ErrorCode, reason: string): void {
    for (const face of this.#faces) face.events.emit('end', { code, reason })
  }

  #receive(inc: number, bytes: Uint8Array): void {
    const [first] = this.#faces
    if (first?.isAlone) return first.receive(inc, bytes)
    this.#faces[bytes[0] ?? this.#faces.length]?.receive(inc, bytes.slice(1))
  }
}

/** The timers of all faces of a part, of which the machine knows the next. */
class Timers {
  readonly #state: machine.Custom
  readonly #host: Host
  readonly #waiting = new Set<{ at: Millis; run: () => void }>()

  constructor(state: machine.Custom, host: Host) {
    this.#state = state
    this.#host = host
  }

  after(ms: Millis, run: () => void): Stop {
    const now = this.#host.clock()
    const timer = { at: now + ms, run }
    // There is no clock once the session ended.
    if (Number.isNaN(now)) return stopping(() => {})
    this.#waiting.add(timer)
    this.#arm()
    return stopping(() => void this.#waiting.delete(timer))
  }

  due(): void {
    const now = this.#host.clock()
    for (const timer of [...this.#waiting].toSorted((one, other) => one.at - other.at)) {
      if (timer.at > now || !this.#waiting.delete(timer)) continue
      timer.run()
    }
    this.#arm()
  }

  // Any call into the member sets its alarm again.
  #arm(): void {
    const dueAt = Math.min(Infinity, ...[...this.#waiting].map(({ at }) => at))
    this.#host.do(() => void (this.#state.dueAt = dueAt))
  }
}

/** The author's face of one definition. */
class OwnFace {
  readonly definition: CustomDefinition
  readonly events: Listeners<PartEvents>
  /** Whether the part takes one definition only, so its bytes name none. */
  readonly isAlone: boolean
  readonly #place: number
  readonly #state: machine.Custom
  readonly #host: Host
  readonly #timers: Timers
  #face: { readonly face: unknown } | null = null

  constructor(
    definition: CustomDefinition,
    place: number,
    state: machine.Custom,
    host: Host,
    timers: Timers,
  ) {
    this.definition = definition
    this.isAlone = definition.plan.most === undefined
    this.#place = place
    this.#state = state
    this.#host = host
    this.#timers = timers
    const what = `the part "${definition.name}"`
    this.events = new Listeners(what, ['changed', 'members', 'end'], host.reports)
  }

  /** Created on first use. @throws HoldfastError `left` */
  part(): unknown {
    if (this.#face) return this.#face.face
    checkOpen(this.#host, `no part "${this.definition.name}"`)
    const { plan, options } = this.definition
    this.#face = { face: plan.face(this.#hostOf(), options) }
    return this.#face.face
  }

  receive(inc: number, bytes: Uint8Array): void {
    const { plan, name } = this.definition
    const from = this.#host.find(inc)
    if (!plan.receive || !from) return
    try {
      plan.receive(this.part(), from, bytes)
    } catch (error) {
      this.#host.reports.report(error, `receive of the part "${name}"`, plan)
    }
  }

  #hostOf(): PartHost<object> {
    const { reports } = this.#host
    const [host, state, what] = [this.#host, this.#state, `the part "${this.definition.name}"`]
    const [isAlone, place] = [this.isAlone, this.#place]
    return {
      get state() {
        const all = state.published.state as object
        return isAlone ? all : (all as readonly object[])[place]!
      },
      get me() {
        return host.findPlayer(host.player) ?? NOBODY
      },
      get members() {
        return host.members
      },
      get primary() {
        return host.primary
      },
      now: () => host.time(),
      after: (ms, run) => this.#after(ms, run),
      ask: (operation) => this.#ask(operation),
      send: (to, message) => this.#send(to, message),
      on: (name, listener, given) => this.events.on(name, listener, given),
      events: (...names) => new Listeners(what, names, reports),
    }
  }

  #after(ms: number, run: () => void): Stop {
    const { name } = this.definition
    const what = `after of the part "${name}"`
    if (!(ms >= 0)) throw badValue(`${what} takes milliseconds, 0 or more: ${shown(ms)}`)
    checkSync(what, run)
    return this.#timers.after(ms, guarded(this.#host.reports, `a timer of the part "${name}"`, run))
  }

  /** Bytes of the author as they are sent. @throws HoldfastError */
  #bytes(what: string, given: Uint8Array, most: number): Uint8Array {
    if (this.isAlone) return bounded(what, given, most).slice()
    return addressed(this.#place, bounded(what, given, most - 1))
  }

  // Invalid calls reject the promise; everything else is an outcome.
  async #ask(operation: Uint8Array): Promise<OperationOutcome> {
    checkOpen(this.#host, 'nothing is asked')
    this.#host.checkPlays('ask')
    let body: Uint8Array
    try {
      body = this.#bytes('an operation', operation, machine.CUSTOM_BYTES_MAX)
    } catch (error) {
      return unfit(error)
    }
    return new Promise((resolve, reject) => {
      const settle = (answer: Uint8Array): void => resolve(outcomeOf(answer))
      const lost = (why: string): void => resolve(refused('lost', why))
      this.#host.ask({ body: () => body, settle, lost, reject })
    })
  }

  #send(to: MemberInfo | 'all', message: Uint8Array): void {
    checkOpen(this.#host, 'nothing is sent')
    this.#host.checkPlays('send')
    const { name } = this.definition
    const bytes = this.#bytes('a message', message, machine.CUSTOM_SAID_MAX)
    const inc = this.#recipient(to)
    const sent = this.#host.doNow((now, out) =>
      machine.sendMessage(this.#state, now, inc, bytes, out),
    )
    if (sent) return
    const { perSecond } = machine.MESSAGE_RATE
    const limit = `the part "${name}" sends ${perSecond} messages a second at most`
    throw new HoldfastError('overloaded', `${limit}, and one counts for each 256 bytes of it`)
  }

  #recipient(to: MemberInfo | 'all'): number {
    if (to === 'all') return 0
    const { player } = (to as MemberInfo | null) ?? NOBODY
    const found = this.#host.findPlayer(player)
    if (found) return found.inc
    throw new HoldfastError('not-found', `no member to send to, and not 'all': ${shown(to)}`)
  }
}

function outcomeOf(bytes: Uint8Array): OperationOutcome {
  if (bytes.length === 0) return refused('lost', ANSWER_LOST)
  const decoded = decode(machine.customAnswer, bytes)
  if (decoded?.kind === 'done') return { ok: true, value: decoded.answer }
  if (decoded) return refused(decoded.kind, decoded.reason)
  return refused('failed', 'the server knows no such part')
}
