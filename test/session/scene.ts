/** What tests of the session give to a process, and a sink that listens to one. */

import type { Input } from '../../src/proof/models/processes.ts'
import type { ToHub } from '../../src/register/messages.ts'
import type { PeerMessage } from '../../src/session/messages.ts'
import type { SessionEvent, SessionOut } from '../../src/session/state.ts'

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
    send: (to, message) => {
      sent.push([to, message.kind])
      messages.push(message)
    },
    emit: (event) => void events.push(event),
    hub: (message) => void asked.push(message),
    perform: () => null,
    change: () => {},
    keeps: () => false,
    collect: () => [],
    restore: () => {},
    news: () => {},
    show: (_part, news) => news,
    part: () => 0,
    told: () => [],
  }
  return { out, sent, messages, asked, events }
}
