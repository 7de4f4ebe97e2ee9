/** What tests of the session give to a process, and a sink that listens to one. */

import { type Input, NO_PARTS, type Process, step } from '../../src/proof/models/processes.ts'
import type { ToHub } from '../../src/directory/messages.ts'
import type { PeerMessage } from '../../src/session/messages.ts'
import type { Session, SessionEvent, SessionOut } from '../../src/session/state.ts'

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
    const { process, effects } = step(this.process, input)
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
