/** Custom parts: their definitions, and the kind that a session opens for them. */

import * as machine from './protocol/custom.ts'
import { badValue, HoldfastError } from '../machine.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkSync, checkName, checkOptions } from '../api/options.ts'
import { shown } from '../wire/fields/fields.ts'
import type { Definition, Kind, KindApi, Host, MemberInfo } from '../kind/kind.ts'
import { authorOf, bounded } from './author.ts'
import type {
  AnyPlan,
  PartPlan,
  PartType,
  OperationOutcome,
  PartEvents,
  PartHost,
} from './types.ts'
import { decode } from '../wire/layout.ts'
import { Listeners } from '../api/emitter.ts'
import { ANSWER_LOST, checkOpen, refused, unfit } from '../kind/outcomes.ts'

/** The lowest and the highest channel of custom parts. */
export const CHANNELS: readonly [number, number] = [64, 255]

interface CustomDefinition extends PartType {
  readonly text: string
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
 * Defines a kind of part. The result makes definitions, as `object` does; a game has at most one.
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
  const kind = kindOf(given.channel)
  return (name, ...[options]) => {
    checkName(name)
    const text: unknown = given.text(options)
    if (typeof text !== 'string') {
      throw badValue(`text of the part "${name}" gives a text: ${shown(text)}`)
    }
    const made: CustomDefinition = { kind, name, text, plan: given, options }
    return made as PartType as PartType<typeof name, Face>
  }
}

function textOf(definition: Definition, channel: number): string {
  const { name, text } = definition as CustomDefinition
  return `${name} part ${channel} ${JSON.stringify(text)}`
}

function kindOf(channel: number): Kind<'part'> {
  return {
    word: 'part',
    channel,
    most: 1,
    text: (definition) => textOf(definition, channel),
    keptText: (definition) => textOf(definition, channel),
    open: ([definition], host) => {
      const { plan, name, options } = definition as CustomDefinition
      const author = authorOf(plan, name, options, host.reports)
      const state = machine.create(author)
      const api = new CustomApi(definition as CustomDefinition, state, host)
      return { part: machine.customPart(channel, author) as Part<never>, state, api }
    },
  }
}

function checkPlan(plan: unknown): void {
  checkOptions('definePart', plan, ['channel', 'receive', ...VERBS, ...DURABLE])
  const given = plan as Record<string, unknown>
  const { channel } = given
  const [least, most] = CHANNELS
  const fits = Number.isInteger(channel) && Number(channel) >= least && Number(channel) <= most
  if (!fits) throw badValue(`the channel of a part is ${least} to ${most}: ${shown(channel)}`)
  for (const verb of VERBS) checkSync(`${verb} of a part`, given[verb])
  const has = DURABLE.filter((verb) => given[verb] !== undefined)
  const lacks = DURABLE.find((verb) => !has.includes(verb))
  if (has.length > 0 && lacks) {
    throw badValue(`a part with ${has.join(', ')} has ${lacks} too: what is kept takes all four`)
  }
  for (const verb of has) checkSync(`${verb} of a part`, given[verb])
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
  readonly #definition: CustomDefinition
  readonly #state: machine.Custom
  readonly #host: Host
  readonly #events: Listeners<PartEvents>
  #face: { readonly face: unknown } | null = null
  #changed = false

  constructor(definition: CustomDefinition, state: machine.Custom, host: Host) {
    this.#definition = definition
    this.#state = state
    this.#host = host
    this.#events = new Listeners(`the part "${definition.name}"`, ['changed'], host.reports)
  }

  /** The author's face, created on first use. @throws HoldfastError `left` */
  part(): unknown {
    if (this.#face) return this.#face.face
    checkOpen(this.#host, `no part "${this.#definition.name}"`)
    const { plan, options } = this.#definition
    this.#face = { face: plan.face(this.#hostOf(), options) }
    return this.#face.face
  }

  onEvent(event: machine.CustomEvent): void {
    if (event.kind === 'custom-changed') this.#changed = true
    else this.#receive(event.from, event.bytes)
  }

  settled(): void {
    if (!this.#changed) return
    this.#changed = false
    this.#events.emit('changed', undefined)
  }

  #receive(inc: number, bytes: Uint8Array): void {
    const { plan, name } = this.#definition
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
    const [host, state, what] = [this.#host, this.#state, `the part "${this.#definition.name}"`]
    return {
      get state() {
        return state.published.state as object
      },
      get me() {
        return host.findPlayer(host.player) ?? NOBODY
      },
      get members() {
        return host.members
      },
      now: () => host.time(),
      ask: (operation) => this.#ask(operation),
      send: (to, message) => this.#send(to, message),
      on: (name, listener, given) => this.#events.on(name, listener, given),
      events: (...names) => new Listeners(what, names, reports),
    }
  }

  // Invalid calls reject the promise; everything else is an outcome.
  async #ask(operation: Uint8Array): Promise<OperationOutcome> {
    checkOpen(this.#host, 'nothing is asked')
    this.#host.checkPlays('ask')
    let body: Uint8Array
    try {
      body = bounded('an operation', operation, machine.CUSTOM_BYTES_MAX).slice()
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
    const { name } = this.#definition
    const bytes = bounded('a message', message, machine.CUSTOM_SAID_MAX).slice()
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
