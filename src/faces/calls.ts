/** Calls as a user makes and answers them: procedures, promises, and what becomes of both. */

import { badValue, HoldfastError, type Millis, type PeerId } from '../machine.ts'
import * as member from '../member/member.ts'
import * as calls from '../rpc/calls.ts'
import { type Answered, type Outcome, RPC_CHANNEL, TIMEOUT_MS } from '../rpc/messages.ts'
import type { Rpc, RpcEvent } from '../rpc/state.ts'
import { shown } from '../wire/fields.ts'
import { toJson } from '../wire/json.ts'
import type { Status } from './events.ts'
import { checkFunction } from '../runtime/options.ts'
import { isMistake, type Report, type Reports } from '../runtime/reports.ts'
import type { Runner } from '../runtime/member/runner.ts'
import type { MemberInfo } from './member-info.ts'
import type { Procedure, ProcedureType } from './procedures.ts'

/** Who is called: a member, or whoever serves when the call is made. */
export type CallTarget = MemberInfo | 'primary'
/** Who is told: as with a call, or all others. */
export type NoteTarget = CallTarget | 'all'

/** What `call` takes besides. */
export interface CallOptions {
  /** How long to wait for the answer: up to 600,000 ms. Default 10,000. */
  readonly timeoutMs?: Millis
}

interface Waiting {
  resolve(answer: unknown): void
  reject(error: Error): void
  name: string
}

type AnyProcedure = ProcedureType<never, unknown>

/** The face of calls: a session is one that calls and is called. */
export abstract class Caller {
  abstract readonly members: readonly MemberInfo[]
  abstract readonly primary: MemberInfo | null
  abstract readonly status: Status
  readonly #rpc: Rpc
  readonly #report: Report
  readonly #procedures: ReadonlyMap<string, AnyProcedure>
  readonly #handlers = new Map<string, Procedure>()
  readonly #waiting = new Map<number, Waiting>()
  #runner: Runner | null = null

  /** Not for users. */
  constructor(rpc: Rpc, procedures: ReadonlyMap<string, AnyProcedure>, { report }: Reports) {
    this.#rpc = rpc
    this.#report = report
    this.#procedures = procedures
    for (const { name, run } of procedures.values()) if (run) this.#handlers.set(name, run)
  }

  /**
   * Has a member run a procedure, at most once, and waits for its answer. Prefer an object for
   * what others shall see, and `act` for what must happen: a call is lost with any link or machine
   * on its way, and nobody knows then whether it ran.
   *
   * @throws HoldfastError `unknown` when a link on the way, the member or the server was lost;
   *   `timeout` when there was no answer in time, for it may still run; `failed` with what it
   *   threw. In the others nothing ran: `not-found` for a member that is not here or does not
   *   answer to it, `unreachable` without a link just now, `overloaded` with 64 under way, over 200
   *   a second or on a link that is full, `bad-value` for more than 8 KB, `left`
   */
  async call<Args, Answer>(
    target: CallTarget,
    type: ProcedureType<Args, Answer>,
    args: Args,
    { timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<Answer> {
    const said = this.#said(type, args)
    const inc = this.#incOf(target)
    return new Promise((resolve, reject) => {
      this.#use((now) => {
        const id = calls.call(this.#rpc, now, inc, said, timeoutMs)
        const settle = resolve as (answer: unknown) => void
        this.#waiting.set(id, { resolve: settle, reject, name: type.name })
      })
    })
  }

  /**
   * Has a member run a procedure, or `all` others, and does not wait for an answer: nobody says
   * whether it ran. An object that says the same costs less.
   *
   * @throws HoldfastError `not-found`, `overloaded`, `bad-value`, `left`
   */
  note<Args>(target: NoteTarget, type: ProcedureType<Args>, args: Args): void {
    const said = this.#said(type, args)
    const inc = target === 'all' ? 0 : this.#incOf(target)
    this.#use((now) => calls.note(this.#rpc, now, inc, said))
  }

  /**
   * Says what this member does when a procedure is called here, in place of what it did before.
   *
   * @returns stops it: then nothing answers to it here
   * @throws HoldfastError `not-found` for one that was not given to join
   */
  answer<Args, Answer>(
    type: ProcedureType<Args, Answer>,
    handler: Procedure<Args, Answer>,
  ): () => void {
    this.#checkGiven(type)
    checkFunction(`the answer to "${type.name}"`, handler)
    this.#handlers.set(type.name, handler)
    return () => {
      if (this.#handlers.get(type.name) === handler) this.#handlers.delete(type.name)
    }
  }

  /** The member whose calls these are. */
  protected bindCalls(runner: Runner): void {
    this.#runner = runner
  }

  /** Something happened at a part. @returns whether it was that of calls */
  protected callTold({ channel, event }: { channel: number; event: unknown }): boolean {
    if (channel !== RPC_CHANNEL) return false
    this.#told(event as RpcEvent)
    return true
  }

  /** The session is over: of what is under way nobody knows. */
  protected endCalls(why: string): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#settled(id, 'unknown', `${why}: it may have run or not`)
    }
  }

  #told(event: RpcEvent): void {
    if (event.kind === 'settled') return this.#settled(event.id, event.outcome, event.text)
    const run = this.#handlers.get(event.method)
    const by = this.members.find(({ inc }) => inc === event.from)
    const reply = (outcome: Answered, text: string): void => {
      if (event.kind === 'note') return
      const { from, id } = event
      this.#use(() => calls.answer(this.#rpc, from, id, outcome, text))
    }
    if (!run || !by) return reply('not-found', `nothing answers to "${event.method}" there`)
    const where = `the procedure "${event.method}"`
    // What a game's function throws harms nobody: who called is told, and of a note its author.
    new Promise((resolve) => resolve(run(JSON.parse(event.args) as never, by)))
      .then((answer) => toJson(answer, `what ${where} gave`))
      .then(
        (answer) => reply('ok', answer),
        (error: unknown) => {
          if (event.kind === 'note' || isMistake(error)) this.#report(error, where, run)
          reply('failed', whyOf(error))
        },
      )
  }

  #settled(id: number, outcome: Outcome, text: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    if (outcome === 'ok') return waiting.resolve(JSON.parse(text))
    waiting.reject(new HoldfastError(outcome, `procedure "${waiting.name}": ${text}`))
  }

  #said(type: AnyProcedure, args: unknown): calls.Said {
    this.#checkGiven(type)
    if (this.status === 'lost') {
      throw new HoldfastError('left', `cannot call ${type.name}: the session was left`)
    }
    return { method: type.name, args: toJson(args, `the argument of "${type.name}"`) }
  }

  #checkGiven(type: AnyProcedure): void {
    if ((type as AnyProcedure | undefined)?.kind !== 'procedure') {
      throw badValue(`a procedure is made by procedure(): ${shown(type)}`)
    }
    if (this.#procedures.get(type.name) === type) return
    throw new HoldfastError('not-found', `the procedure "${type.name}" was not given to join`)
  }

  // A player is the same over all its incarnations.
  #incOf(target: CallTarget): PeerId {
    if (target !== 'primary' && typeof (target as MemberInfo | null)?.player !== 'number') {
      throw badValue(`who is called is a member, or "primary": ${shown(target)}`)
    }
    if (target === 'primary') {
      if (this.primary) return this.primary.inc
      throw new HoldfastError('not-found', 'nobody serves just now')
    }
    const found = this.members.find(({ player }) => player === target.player)
    if (found) return found.inc
    throw new HoldfastError('not-found', `"${target.name}" is not here`)
  }

  // Runs a verb of the machine, and sends what that leaves to be sent.
  #use(verb: (now: Millis) => void): void {
    this.#runner?.do((now, run) => {
      verb(now)
      member.touched(run, now)
    })
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
