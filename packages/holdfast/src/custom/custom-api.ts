/** A custom part in one session: the host that its face gets, and the delivery of its events. */

import * as machine from './protocol/custom.ts'
import { HoldfastError } from '../machine.ts'
import { shown } from '../wire/fields/fields.ts'
import { decode } from '../wire/layout.ts'
import { Listeners } from '../api/emitter.ts'
import type { Face, Host, MemberInfo } from '../kind/kind.ts'
import { bounded } from './author.ts'
import { refused, unfit } from '../kind/outcomes.ts'
import type { AnyPlan, OperationOutcome, PartEvents, PartHost } from './types.ts'

interface Given {
  readonly plan: AnyPlan
  readonly name: string
  readonly options: unknown
}

const NOBODY = Object.freeze<MemberInfo>({
  player: 0,
  inc: 0,
  name: '',
  kind: 'guest',
  watches: false,
})

export class CustomApi implements Face {
  readonly #given: Given
  readonly #state: machine.Custom
  readonly #host: Host
  readonly #events: Listeners<PartEvents>
  #face: { readonly face: unknown } | null = null
  #changed = false

  constructor(given: Given, state: machine.Custom, host: Host) {
    this.#given = given
    this.#state = state
    this.#host = host
    this.#events = new Listeners(`the part "${given.name}"`, ['changed'], host.reports)
  }

  /** The author's face, created on first use. @throws HoldfastError `left` */
  part(): unknown {
    if (this.#face) return this.#face.face
    if (this.#host.over) {
      throw new HoldfastError('left', `no part "${this.#given.name}": the session was left`)
    }
    const { plan, options } = this.#given
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
    const { plan, name } = this.#given
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
    const [host, state, what] = [this.#host, this.#state, `the part "${this.#given.name}"`]
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

  #checkOpen(what: string): void {
    if (!this.#host.over) return
    throw new HoldfastError('left', `nothing is ${what}: the session was left`)
  }

  // Invalid calls reject the promise; everything else is an outcome.
  async #ask(operation: Uint8Array): Promise<OperationOutcome> {
    this.#checkOpen('asked')
    this.#host.checkPlays('ask')
    let body: Uint8Array
    try {
      body = bounded('an operation', operation, machine.CUSTOM_BYTES_MAX).slice()
    } catch (error) {
      return unfit(error)
    }
    return new Promise((resolve, reject: (error: Error) => void) => {
      this.#host.ask({
        body: () => body,
        settle: (bytes) => resolve(outcomeOf(bytes)),
        lost: (why) => resolve(refused('lost', why)),
        reject,
      })
    })
  }

  #send(to: MemberInfo | 'all', message: Uint8Array): void {
    this.#checkOpen('sent')
    this.#host.checkPlays('send')
    const { name } = this.#given
    const bytes = bounded('a message', message, machine.CUSTOM_SAID_MAX).slice()
    const inc = this.#recipient(to)
    const sent = this.#host.doNow((now, out) =>
      machine.sendMessage(this.#state, now, inc, bytes, out),
    )
    if (sent) return
    const { perSecond } = machine.MESSAGE_RATE
    const says = `the part "${name}" sends ${perSecond} messages a second at most`
    throw new HoldfastError('overloaded', `${says}, and one counts for each 256 bytes of it`)
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
  if (bytes.length === 0) {
    return refused('lost', 'it was done, but its answer was lost with the server and its backup')
  }
  const said = decode(machine.customAnswer, bytes)
  if (said?.kind === 'done') return { ok: true, value: said.answer }
  if (said) return refused(said.kind, said.reason)
  return refused('failed', 'the server knows no such part')
}
