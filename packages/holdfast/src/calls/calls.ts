/** Procedures as a game defines them, the kind that a session opens for them, and its calls. */

import * as calls from './protocol/rpc.ts'
import { badValue, type ErrorCode, HoldfastError, type Millis, type PeerId } from '../machine.ts'
import {
  type Answered,
  type Outcome as Result,
  TIMEOUT_MS,
  RPC_CHANNEL,
} from './protocol/messages.ts'
import { type Rpc, type RpcEvent, create } from './protocol/state.ts'
import { shown } from '../wire/fields/fields.ts'
import { toJson } from '../wire/text/json.ts'
import { checkFunction, checkName } from '../api/options.ts'
import { isMistake } from '../api/reports.ts'
import {
  fitAnswer,
  fitArguments,
  givenAnswer,
  givenArguments,
  type Signature,
  ANY,
  type AnswerOptions,
  signatureOf,
  signatureText,
} from '../api/arguments.ts'
import { placeOf } from '../kind/definitions.ts'
import { type Stop, stopping } from '../api/emitter.ts'
import type { KindApi, Host, Kind, MemberInfo } from '../kind/kind.ts'
import { checkOpen, type CallOutcome, type Refused, refused, unfit } from '../kind/outcomes.ts'
import type { Part } from '../kind/protocol/part.ts'
import { rpcPart } from './protocol/rpc.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'

const proceduresKind: Kind<'procedure'> = {
  word: 'procedure',
  channel: RPC_CHANNEL,
  most: Infinity,
  text: (type) => signatureText(`${type.name}()`, (type as ProcedureType).signature),
  open: (definitions, host) => {
    const types = definitions as readonly ProcedureType[]
    const state = create()
    return { part: rpcPart as Part<never>, state, api: new CallsApi(types, state, host) }
  },
}

/**
 * A procedure: one member calls it at another, and waits for the answer. Prefer an object for state
 * that others see: it costs less, and nobody can miss it. Prefer an action for what must happen
 * exactly once: if a link or a machine is lost during a call, nobody knows whether it ran.
 *
 *     const roll = procedure('roll', { sides: u8 }, ({ sides }) => 1 + below(sides))
 *     const ask = procedure('ask', { question: text(200) }, null, { answer: bool })
 *
 * With fields, caller and receiver both check the arguments, and an answer that has a field.
 * Without fields, the arguments are any plain JSON that a member sends, unchecked.
 *
 * @param run  the function at every member; the caller gets what it throws. None or null if members
 *   set theirs by `session.answer`
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, for an invalid field
 *   and for fields of bytes: arguments travel as JSON
 */
export function procedure<Args, Answer>(
  name: string,
  run?: Procedure<Args, Answer> | null,
): ProcedureType<Args, Answer>
/** @param options  `answer`: a field that the answer fits */
export function procedure<F extends Fields, Answer>(
  name: string,
  fields: F,
  run: Procedure<Readonly<StateOf<F>>, NoInfer<Answer>> | null,
  options: Required<AnswerOptions<Answer>>,
): ProcedureType<StateOf<F>, Answer>
export function procedure<F extends Fields, Answer>(
  name: string,
  fields: F,
  run?: Procedure<Readonly<StateOf<F>>, Answer> | null,
): ProcedureType<StateOf<F>, Answer>
export function procedure(
  name: string,
  first: unknown = null,
  ...[second = null, options = {}]: [run?: unknown, options?: object]
): ProcedureType<never, unknown> {
  checkName(name)
  const what = `the procedure "${name}"`
  const hasFields = typeof first === 'object' && first !== null
  const run = hasFields ? second : first
  if (run !== null) checkFunction(what, run)
  const signature = hasFields ? signatureOf(what, first as Fields, options) : ANY
  return { kind: proceduresKind, name, signature, run: run as Procedure | null }
}

/** The function of a procedure: returns its answer, or a promise of it. */
export type Procedure<Args = never, Answer = unknown> = (
  args: Args,
  by: MemberInfo,
) => Answer | PromiseLike<Answer>

/** A procedure. */
export interface ProcedureType<Args = never, Answer = unknown> {
  /** The kind of all procedures. */
  readonly kind: Kind<'procedure'>
  /** 1 to 32 characters, the same in every build. */
  readonly name: string
  /** The fields of its arguments, and the field of its answer. */
  readonly signature: Signature
  /** The function at every member; null if members set theirs by `session.answer`. */
  readonly run: Procedure<Args, Answer> | null
}

/** The receiver of a call: a member, or the primary at the time of the call. */
export type CallTarget = MemberInfo | 'primary'
/** The receiver of a note: as for a call, or all others. */
export type NoteTarget = CallTarget | 'all'

/** Options of `call`. */
export interface CallOptions {
  /** How long to wait for the answer: up to 600,000 ms. Default 10,000. */
  readonly timeoutMs?: Millis
}

interface Waiting {
  readonly settle: (outcome: CallOutcome<unknown>) => void
  type: AnyProcedure
}

/** The code of each outcome that has no answer. */
const CODES = {
  failed: 'failed',
  'not-found': 'away',
  overloaded: 'overloaded',
  unreachable: 'unreachable',
  unknown: 'lost',
  timeout: 'timeout',
} as const satisfies Readonly<Record<Exclude<Result, 'ok'>, string>>

type AnyProcedure = ProcedureType<never, unknown>

export class CallsApi implements KindApi {
  readonly #types: readonly AnyProcedure[]
  readonly #rpc: Rpc
  readonly #host: Host
  readonly #handlers = new Map<string, Procedure>()
  readonly #waiting = new Map<number, Waiting>()

  constructor(types: readonly AnyProcedure[], rpc: Rpc, host: Host) {
    this.#types = types
    this.#rpc = rpc
    this.#host = host
    for (const { name, run } of types) if (run) this.#handlers.set(name, run)
  }

  /** Calls a member. @throws HoldfastError, see `Session` */
  async call<Args, Answer>(
    type: ProcedureType<Args, Answer>,
    target: CallTarget,
    args: Args,
    { timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<CallOutcome<Answer>> {
    try {
      const invocation = this.#encode(type, args)
      const found = this.#find(target)
      if (!('inc' in found)) return found
      // If `doNow` throws, the promise rejects: nobody was asked.
      return await new Promise((resolve) => {
        this.#host.doNow((now) => {
          const id = calls.call(this.#rpc, now, found.inc, invocation, timeoutMs)
          this.#waiting.set(id, { settle: resolve as Waiting['settle'], type })
        })
      })
    } catch (error) {
      return unfit(error)
    }
  }

  /** Sends a note to a member, or to all others. @throws HoldfastError, see `Session` */
  note<Args>(type: ProcedureType<Args>, target: NoteTarget, args: Args): void {
    const invocation = this.#encode(type, args)
    const found = target === 'all' ? { inc: 0 } : this.#find(target)
    if (!('inc' in found)) throw new HoldfastError('not-found', found.reason)
    const { inc } = found
    this.#host.doNow((now) => calls.note(this.#rpc, now, inc, invocation))
  }

  /** Sets the function that runs here for calls of a procedure. @returns removes it */
  answer<Args, Answer>(type: ProcedureType<Args, Answer>, handler: Procedure<Args, Answer>): Stop {
    placeOf(this.#types, type)
    checkFunction(`the answer to "${type.name}"`, handler)
    this.#handlers.set(type.name, handler)
    return stopping(() => {
      if (this.#handlers.get(type.name) === handler) this.#handlers.delete(type.name)
    })
  }

  /** The session is over: the fate of open calls is unknown. */
  end(_code: ErrorCode, why: string): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#settled(id, 'unknown', `${why}: it may have run or not`)
    }
  }

  /** A call of ours is settled, or another member calls. */
  onEvent(event: RpcEvent): void {
    if (event.kind === 'settled') return this.#settled(event.id, event.outcome, event.text)
    const type = this.#types.find(({ name }) => name === event.method)
    const run = this.#handlers.get(event.method)
    const by = this.#host.members.find(({ inc }) => inc === event.from)
    const reply = (outcome: Answered, text: string): void => {
      if (event.kind === 'note') return
      const { from, id } = event
      this.#host.doNow(() => calls.answer(this.#rpc, from, id, outcome, text))
    }
    if (!type || !run || !by)
      return reply('not-found', `nothing answers to "${event.method}" there`)
    const where = `the procedure "${event.method}"`
    const args = fitArguments(type.signature, JSON.parse(event.args))
    if (!args.ok) {
      calls.unfit(this.#rpc)
      return reply('not-found', `nothing answers to such arguments there: ${args.why}`)
    }
    // An exception goes to the caller; one in a note, or a bug, is also reported.
    new Promise((resolve) => resolve(run(args.value as never, by)))
      .then((answer) => toJson(givenAnswer(where, type.signature, answer), `what ${where} gave`))
      .then(
        (answer) => reply('ok', answer),
        (error: unknown) => {
          if (event.kind === 'note' || isMistake(error))
            this.#host.reports.report(error, where, run)
          reply('failed', error instanceof Error ? error.message : String(error))
        },
      )
  }

  #settled(id: number, result: Result, text: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    const { settle, type } = waiting
    if (result !== 'ok') return settle(refused(CODES[result], text))
    const answer = fitAnswer(type.signature, JSON.parse(text))
    if (answer.ok) return settle(answer)
    settle(refused('failed', `it ran, and what came back does not fit: ${answer.why}`))
  }

  #encode(type: AnyProcedure, args: unknown): calls.Invocation {
    placeOf(this.#types, type)
    checkOpen(this.#host, `cannot call ${type.name}`)
    this.#host.checkPlays(`call ${type.name}`)
    const given = givenArguments(`the procedure "${type.name}"`, type.signature, args)
    return { method: type.name, args: toJson(given, `the argument of "${type.name}"`) }
  }

  // A player keeps its number over all incarnations.
  #find(target: CallTarget): { readonly inc: PeerId } | Refused<'away'> {
    if (target !== 'primary' && typeof (target as MemberInfo | null)?.player !== 'number') {
      throw badValue(`who is called is a member, or "primary": ${shown(target)}`)
    }
    if (target === 'primary') {
      return this.#host.primary ?? refused('away', 'nobody serves just now')
    }
    const found = this.#host.members.find(({ player }) => player === target.player)
    return found ?? refused('away', `"${target.name}" is not here`)
  }
}
