/** Members that call one another, without sockets: links are queues that can be cut anywhere. */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as calls from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import {
  type RpcMessage,
  rpcLayout,
  TIMEOUT_MS,
} from '../../packages/holdfast/src/calls/protocol/messages.ts'
import { rpcPart as shipped } from '../../packages/holdfast/src/calls/protocol/rpc.ts'
import {
  create,
  type Rpc,
  type RpcEvent,
} from '../../packages/holdfast/src/calls/protocol/state.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmPart } from '../calmly.ts'

const rpcPart = calmPart(shipped)

function pairOf(one: PeerId, other: PeerId): string {
  return `${Math.min(one, other)} ${Math.max(one, other)}`
}

/** Who has links. */
export type Topology = 'star' | 'mesh'

/** Members 1 to n; member 1 is the primary. */
export class Net {
  readonly members = new Map<PeerId, Rpc>()
  readonly links = new Map<string, Uint8Array[]>()
  readonly events = new Map<PeerId, RpcEvent[]>()
  readonly #numbers = new Map<string, number>()
  readonly topology: Topology
  primary = 1
  now = 0
  /** What is charged at the primary; nobody counts unless a test does. */
  charge: (from: PeerId) => boolean = () => true

  constructor(count: number, topology: Topology) {
    this.topology = topology
    for (let inc = 1; inc <= count; inc++) this.#add(inc)
    this.see()
  }

  #add(inc: PeerId): void {
    this.members.set(inc, create())
    this.events.set(inc, [])
  }

  /** All are told who is here. */
  see(
    members: readonly PeerId[] = [...this.members.keys()],
    to: readonly PeerId[] = members,
  ): void {
    for (const me of to) {
      const rpc = this.at(me)
      const here = members.map((inc) => ({ inc, player: inc }))
      const mesh = this.topology === 'mesh'
      const view = {
        session: 'a',
        me,
        primary: this.primary,
        epoch: 1,
        mesh,
        left: false,
        members: here,
      }
      rpcPart.view!(rpc, this.now, view, this.#out(me))
      this.flush(me)
    }
  }

  at(inc: PeerId): Rpc {
    return this.members.get(inc)!
  }

  #out(me: PeerId): Parameters<NonNullable<typeof rpcPart.flush>>[2] {
    return {
      send: (to, bytes) => {
        const key = `${me}>${to}`
        if (!this.linked(me, to)) return 0
        const queue = this.links.get(key) ?? []
        this.links.set(key, queue)
        queue.push(bytes)
        const number = (this.#numbers.get(key) ?? 0) + 1
        this.#numbers.set(key, number)
        return number
      },
      charge: (from) => me !== this.primary || this.charge(from),
      emit: (event) => void this.events.get(me)!.push(event as RpcEvent),
    }
  }

  readonly #cut = new Set<string>()

  linked(one: PeerId, other: PeerId): boolean {
    const star = this.topology === 'star' && one !== this.primary && other !== this.primary
    return !star && !this.#cut.has(pairOf(one, other))
  }

  /** The link is gone, with all that is on its way; for good or to be made anew. */
  sever(one: PeerId, other: PeerId, again = true): void {
    this.links.delete(`${one}>${other}`)
    this.links.delete(`${other}>${one}`)
    if (!again) this.#cut.add(pairOf(one, other))
    for (const [me, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      rpcPart.unlinked!(this.at(me), this.now, peer)
      this.flush(me)
    }
  }

  flush(me: PeerId): void {
    rpcPart.flush!(this.at(me), this.now, this.#out(me))
  }

  /** The oldest message of a link arrives. */
  arrive(from: PeerId, to: PeerId): void {
    const bytes = this.links.get(`${from}>${to}`)!.shift()!
    this.say(from, to, bytes)
  }

  /** Bytes come on the link, whoever made them. */
  say(from: PeerId, to: PeerId, bytes: Uint8Array): void {
    rpcPart.receive!(this.at(to), this.now, from, bytes, this.#out(to))
    this.flush(to)
  }

  lie(from: PeerId, to: PeerId, message: RpcMessage): void {
    this.say(from, to, encode(rpcLayout, message))
  }

  /** All that is on its way arrives; those asked answer with what they were given. */
  settle(answers = true): void {
    for (;;) {
      const next = [...this.links].find(([, queue]) => queue.length > 0)
      if (next) {
        const [from, to] = next[0].split('>').map(Number) as [PeerId, PeerId]
        this.arrive(from, to)
      } else if (!answers || !this.answerAll()) return
    }
  }

  answerAll(): boolean {
    let any = false
    for (const [inc, rpc] of this.members) {
      for (const { from, id } of [...rpc.running.values()]) {
        this.answer(inc, from, id)
        any = true
      }
    }
    return any
  }

  answer(me: PeerId, from: PeerId, id: number, text = '"done"'): void {
    calls.answer(this.at(me), from, id, 'ok', text)
    this.flush(me)
  }

  call(from: PeerId, to: PeerId, args = '1', timeoutMs = TIMEOUT_MS): number {
    const id = calls.call(this.at(from), this.now, to, { method: 'roll', args }, timeoutMs)
    this.flush(from)
    return id
  }

  note(from: PeerId, to: PeerId, args = '1'): void {
    calls.note(this.at(from), this.now, to, { method: 'tell', args })
    this.flush(from)
  }

  outcomes(of: PeerId): string[] {
    return this.events
      .get(of)!
      .flatMap((event) => (event.kind === 'settled' ? [event.outcome] : []))
  }

  why(of: PeerId): string {
    const [last] = this.events.get(of)!.flatMap((one) => (one.kind === 'settled' ? [one] : []))
    return last?.text ?? ''
  }

  ran(at: PeerId): number {
    return this.events.get(at)!.filter((event) => event.kind === 'call').length
  }

  told(at: PeerId): number {
    return this.events.get(at)!.filter((event) => event.kind === 'note').length
  }
}
