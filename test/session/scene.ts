/** What tests of the session give to a process, and a sink that listens to one. */

import {
  founder,
  fresh,
  type Input,
  NO_PARTS,
  type Process,
  step,
} from '../../proof/models/processes.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { calmly } from '../calmly.ts'
import type { ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { PeerMessage, View } from '../../packages/holdfast/src/session/messages.ts'
import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import type {
  Session,
  SessionEvent,
  SessionOut,
} from '../../packages/holdfast/src/session/state.ts'

/** An operation of the founder reaches it. */
export const operation = (seq: number): Input => ({ kind: 'operation', from: 1, seq, id: seq })

/** Member 2 acks so much of the log. */
export const ackOf = (epoch: number, length: number): Input => {
  return { kind: 'receive', from: 2, message: { kind: 'acknowledge', epoch, length } }
}

/** The hub says who serves. */
export const registerOf = (epoch: number, primary: number, backup: number): Input => {
  return { kind: 'register', register: { epoch, primary, backup } }
}

/** A process that is given one input after the other, and what it said, asked and told. */
export class One {
  readonly sent: PeerMessage[] = []
  readonly asked: ToHub[] = []
  readonly told: string[] = []
  process: Process

  constructor(process: Process) {
    this.process = process
  }

  get session(): Session {
    return this.process.session
  }

  get length(): number {
    const { log } = this.session.server
    return log.base + log.entries.length
  }

  give(input: Input): void {
    const { process, effects } = calmly(() => step(this.process, input))
    this.process = process
    this.sent.push(...effects.sent.map(({ message }) => message))
    this.asked.push(...effects.hub)
    this.told.push(...effects.told.map(({ kind }) => kind))
  }
}

/** A sink that hears nothing. */
export const silent: SessionOut = {
  send: () => {},
  emit: () => {},
  hub: () => {},
  time: () => 0,
  seal: (segment) => segment,
  answer: () => {},
  parts: NO_PARTS,
}

/** A sink, and what came out of it. */
export function listening(): {
  out: SessionOut
  sent: [to: number, kind: string][]
  messages: PeerMessage[]
  asked: ToHub[]
  events: SessionEvent[]
} {
  const sent: [number, string][] = []
  const messages: PeerMessage[] = []
  const asked: ToHub[] = []
  const events: SessionEvent[] = []
  const out: SessionOut = {
    ...silent,
    send: (to, message) => {
      sent.push([to, message.kind])
      messages.push(message)
    },
    emit: (event) => void events.push(event),
    hub: (message) => void asked.push(message),
  }
  return { out, sent, messages, asked, events }
}

/** The primary, 1, of so many members. */
export function primaryOf(count: number): One {
  const one = new One(founder(null).process)
  for (let asker = 1; asker < count; asker++) one.give({ kind: 'join', asker })
  return one
}

/** The same with 2 as its registered backup, at epoch 2; nothing was said yet. */
export function backedUpOf(count: number): One {
  const one = primaryOf(count)
  one.give({ kind: 'offer', peer: 2 })
  one.give(ackOf(1, one.length))
  one.give(registerOf(2, 1, 2))
  for (const list of [one.sent, one.asked, one.told]) list.length = 0
  return one
}

/** Member `me` of such a session of `count`, which follows 1 and has all that it was told. */
export function memberOf(me: number, count = 3): { own: Session; view: View } {
  const own = fresh(me - 1, null).session
  Object.assign(own, { me, player: me })
  const members = [...primaryOf(count).session.server.published.values()]
  const view = { ...NO_VIEW, epoch: 2, mv: count, primary: 1, backup: 2, members }
  client.follow({ session: own, now: 0, out: silent }, view, null)
  own.client.published.waiting = false
  return { own, view }
}

/** A peer that was heard last at that instant, and once before. */
export function heardAt(now: number, relayed = false): watch.FailureDetector {
  const seen = watch.create(now, relayed ? 'relay' : 'udp')
  seen.samples = 1
  return seen
}

/** What the hub says of the register. */
export function saidOf(epoch: number, primary: number, backup = 0, request = 0) {
  const register = { epoch, primary, backup }
  const more = { request, session: 's', ok: true, leader: null } as const
  return { kind: 'register', ...more, register } as const
}
