/** The states of the model in recall.ts, and by what they are told apart. */

import type { Millis } from '../../packages/holdfast/src/machine.ts'
import { find, type Registers } from '../../packages/hub/src/machine/register.ts'
import type { Register, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import type { Session } from '../../packages/holdfast/src/session/state.ts'
import { SESSION_ID } from './processes.ts'

/**
 * Everything at one instant, up to the one in which somebody goes on. What a step changes of it is
 * a copy.
 */
export interface RecallScene {
  now: Millis
  directory: Registers
  sessions: Session[]
  /** From the one at i to the one at j, at i * MEMBERS + j. */
  links: PeerMessage[][]
  up: ToHub[][]
  down: Register[][]
  /** The newest that each has heard of the primary, and what that was as it was asked. */
  heard: number[]
  asked: number[]
  notes: Notes
  left: { words: number; seeks: number[]; lies: number; ticks: number; joins: number }
}

interface Notes {
  dead: boolean
  /** The hub has the list without the one who is out. */
  listed: boolean
  /** Whoever recovered has looked its members over; and let in the one who is out. */
  looked: boolean
  entered: boolean
  /** The newest that one of those who go on has heard of the primary. */
  known: number
  wrong: string
}

/** All that a later step could read. */
export function essence(scene: RecallScene): unknown {
  const { now, directory, sessions, links, up, down, heard, asked, notes, left } = scene
  const row = find(directory, SESSION_ID)!
  const hub = [row.entry.register.epoch, row.entry.register.primary, row.members.length]
  const words = links.map((queue) => queue.map(ofMessage).join(' '))
  const asks = up.map((queue) => queue.map((said) => ofRequest(said)).join(' '))
  const news = down.map((queue) => queue.map(({ epoch }) => epoch).join(' '))
  const counts = [Object.values(notes), left.words, left.seeks, left.lies, left.ticks, left.joins]
  return [now, hub, sessions.map(ofSession), words, asks, news, heard, asked, counts]
}

// No session changes any more that a step has left: what tells it apart is found once.
const KNOWN = new WeakMap<Session, string>()

function ofSession(session: Session): string {
  const known = KNOWN.get(session) ?? JSON.stringify(partsOf(session))
  KNOWN.set(session, known)
  return known
}

function partsOf({ server, client, requests }: Session): unknown {
  const { epoch, mv, cv, primary, members, banned } = client.view
  const view = [epoch, mv, cv, primary, members.map(({ inc }) => inc).join(), banned.length]
  const { durable } = server
  const here = [...durable.members.keys()].join()
  const out = durable.moderation.expelled.map(({ player }) => player).join()
  const own = [server.role, server.epoch, here, durable.moderation.cv, out, requests]
  if (server.role !== 'gathering') return [view, client.register.epoch, own]
  const answers = [...server.answers].map(([inc, { moderation }]) => {
    return `${inc} ${moderation.cv} ${moderation.expelled.map(({ player }) => player).join()}`
  })
  return [view, client.register.epoch, own, answers.toSorted().join(';'), server.witness]
}

function ofMessage(message: PeerMessage): string {
  switch (message.kind) {
    case 'view': {
      const { epoch, mv, cv, banned, members } = message.view
      return `view ${epoch} ${mv} ${cv} ${banned.length} ${members.length}`
    }
    case 'witness':
      return `witness ${message.cv} ${message.banned.map(({ player }) => player).join()}`
    case 'inquire':
      return `inquire ${message.epoch} ${message.whole}`
    case 'change':
      return `change ${message.epoch} ${message.mv} ${message.remove}`
    default:
      return message.kind
  }
}

function ofRequest(said: RecallScene['up'][number][number]): string {
  if (said.kind === 'members') return `members ${said.members.length}`
  return said.kind === 'change' ? `${said.why} ${said.expect} ${said.primary} ${said.request}` : ''
}
