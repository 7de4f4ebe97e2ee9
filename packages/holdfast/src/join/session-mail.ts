/**
 * Letters over a session: connects a member's mailbox with one that a Node member offers, where
 * there is no other path.
 *
 *     const session = await join({ game: 'duel', types: [Pot, letters] })
 *     offerMail(session, await openMailbox({ id: 'bank', store: 'bank.db' }))   // a Node member
 *     box.connect('bank', overSession(session))                                 // everybody else
 *
 * The stream is cut into calls: the dialer opens it, both ends send parts in order, and a failed
 * call ends it. The mailboxes then dial again and find what is missing, so nothing depends on the
 * outcome of a call. Their handshake is the one they use over a socket, so nobody can pose as a
 * mailbox without its key. In a star the primary forwards the parts, and could read and change
 * everything after the handshake.
 */

import { HoldfastError } from '../machine.ts'
import type { Stream, StreamEvents } from '../ports.ts'
import type { Dialer } from '../../../mailbox/src/runtime/connections.ts'
import { type Stop, stopping } from '../api/emitter.ts'
import type { Mailbox } from '../../../mailbox/src/mailbox-types.ts'
import type { Session } from './session.ts'
import type { MemberInfo } from '../kind/kind.ts'
import { procedure, type ProcedureType } from '../calls/calls.ts'

/** One frame of a stream. `n` counts the frames of one end from 1. */
interface Word {
  what: 'open' | 'say' | 'close'
  /** The dialer's name for it. */
  stream: string
  n: number
  /** Whether more parts of this message follow. */
  more: boolean
  /** A part of a message in base 64; for `open` the id of the dialed mailbox. */
  text: string
}

/** The procedure that carries letters: give it to `join` with the game's types. */
export const letters: ProcedureType<Word, boolean> = /* @__PURE__ */ procedure<Word, boolean>(
  'holdfast letters',
)

// A call takes 8 KB of JSON, and base 64 makes four bytes of three.
const PART_BYTES = 5_400
/** Most frames of one end in flight. */
const UNDER_WAY_MAX = 8
/** Most bytes queued at one end; more end the stream, and the mailboxes dial again. */
const BACKLOG_MAX: number = 1024 * 1024
const MESSAGE_MAX: number = 1024 * 1024
/** Most streams of one member to one offered mailbox. */
const STREAMS_MAX = 4

/** Offers a Node member's mailbox to members that dial its id. @returns a function that ends it */
export function offerMail(session: Session, box: Mailbox): Stop {
  if (session.me.kind !== 'node' || !box.durable) {
    const who = session.me.kind === 'guest' ? 'a guest' : 'a page'
    const what = box.durable ? `${who} cannot offer` : 'a mailbox in memory cannot be offered as'
    throw new HoldfastError('bad-value', `${what} the mail of a session: it must outlive a crash`)
  }
  const desk = deskOf(session)
  desk.offered = box
  return stopping(() => {
    if (desk.offered === box) desk.offered = null
    for (const end of desk.ends.values()) if (!end.dialled) end.hangUp('it is no longer offered')
  })
}

/** A dialer for `box.connect`: reaches a mailbox that a Node member of the session offers. */
export function overSession(session: Session): Dialer {
  const desk = deskOf(session)
  return (events, peer) => {
    const end = new End(desk, `${session.me.inc}.${++desk.dialled}`, true, events)
    void end.dial(peer)
    return end
  }
}

interface Desk {
  session: Session
  offered: Mailbox | null
  dialled: number
  /** By member and stream. */
  ends: Map<string, End>
}

const desks = new WeakMap<Session, Desk>()

function deskOf(session: Session): Desk {
  const known = desks.get(session)
  if (known) return known
  const desk: Desk = { session, offered: null, dialled: 0, ends: new Map() }
  desks.set(session, desk)
  session.answer(letters, (word, by) => receive(desk, word, by))
  session.on('members', (members) => {
    for (const end of desk.ends.values()) {
      if (!members.some(({ inc }) => inc === end.to?.inc)) end.hangUp('that member left')
    }
  })
  return desk
}

function receive(desk: Desk, word: Word, by: MemberInfo): boolean {
  if (!isWord(word)) return false
  if (word.what === 'open') return open(desk, word, by)
  const end = desk.ends.get(`${by.inc} ${word.stream}`)
  // A frame of an ended stream is answered no, without an error: no function here is at fault.
  if (!end) return word.what === 'close'
  if (word.what === 'say') return end.receive(word)
  end.hangUp('the other end closed it')
  return true
}

const BASE_64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

// Frames come from the network, so any shape is possible.
function isWord(word: Partial<Word> | null): boolean {
  if (typeof word !== 'object' || word === null) return false
  const { what, stream, n, more, text } = word
  if (typeof stream !== 'string' || typeof text !== 'string') return false
  if (what === 'open') return true
  const isSaid = typeof n === 'number' && typeof more === 'boolean' && BASE_64.test(text)
  return isSaid && (what === 'say' || what === 'close')
}

function open(desk: Desk, { stream, text }: Word, by: MemberInfo): boolean {
  const { offered, ends } = desk
  if (offered?.id !== text || !stream.startsWith(`${by.inc}.`)) return false
  const theirs = [...ends.values()].filter(({ to }) => to?.inc === by.inc)
  // A new stream replaces the oldest, which may hang.
  if (theirs.length >= STREAMS_MAX) theirs[0]!.hangUp('too many streams of one member')
  const end = new End(desk, stream, false, null)
  end.join(by)
  end.listen(offered.accept(end))
  return true
}

class End implements Stream {
  readonly dialled: boolean
  to: MemberInfo | null = null
  readonly #desk: Desk
  readonly #stream: string
  #events: StreamEvents | null
  #closed = false
  readonly #queue: Word[] = []
  #waiting = 0
  #underWay = 0
  #sent = 0
  #received = 0
  #parts: Uint8Array[] = []
  #size = 0

  constructor(desk: Desk, stream: string, dialled: boolean, events: StreamEvents | null) {
    this.#desk = desk
    this.#stream = stream
    this.dialled = dialled
    this.#events = events
  }

  /** Asks Node members in turn whether they offer that mailbox. */
  async dial(peer: string): Promise<void> {
    const { session } = this.#desk
    const hosts = session.members.filter(
      ({ kind, inc }) => kind === 'node' && inc !== session.me.inc,
    )
    for (const host of hosts) {
      this.join(host)
      const word: Word = { what: 'open', stream: this.#stream, n: 0, more: false, text: peer }
      const taken = await session.call(host, letters, word).catch(() => null)
      if (this.#closed) return
      if (taken?.ok && taken.value) return this.#events!.opened()
      this.#part()
    }
    this.hangUp(`no Node member of the session offers the mailbox "${peer}"`)
  }

  join(member: MemberInfo): void {
    this.to = member
    this.#desk.ends.set(`${member.inc} ${this.#stream}`, this)
  }

  /** Sets the receiver of events, and opens it. */
  listen(events: StreamEvents): void {
    this.#events = events
    events.opened()
  }

  send(bytes: Uint8Array): boolean {
    if (this.#closed || this.#waiting + bytes.length > BACKLOG_MAX) return false
    for (let at = 0; at === 0 || at < bytes.length; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES)
      const more = at + PART_BYTES < bytes.length
      const text = btoa(String.fromCharCode(...part))
      this.#queue.push({ what: 'say', stream: this.#stream, n: ++this.#sent, more, text })
    }
    this.#waiting += bytes.length
    this.#pump()
    return true
  }

  #pump(): void {
    const { session } = this.#desk
    while (this.#underWay < UNDER_WAY_MAX && this.#queue.length > 0 && !this.#closed) {
      const word = this.#queue.shift()!
      this.#underWay++
      session.call(this.to!, letters, word).then(
        (taken) => {
          if (!taken.ok) return this.hangUp(taken.reason)
          if (!taken.value) return this.hangUp('the other end no longer knows it')
          this.#underWay--
          this.#waiting -= (word.text.length * 3) / 4
          if (this.#queue.length === 0 && this.#underWay === 0) this.#waiting = 0
          this.#pump()
        },
        (error: unknown) => this.hangUp(error instanceof Error ? error.message : String(error)),
      )
    }
  }

  /** Takes a frame. @returns false if it ends the stream */
  receive({ n, more, text }: Word): boolean {
    if (n !== this.#received + 1) return this.#fault('a part of it is missing')
    this.#received = n
    const part = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    this.#parts.push(part)
    this.#size += part.length
    if (this.#size > MESSAGE_MAX) return this.#fault(`a message has over ${MESSAGE_MAX} bytes`)
    if (more) return true
    const whole = new Uint8Array(this.#size)
    let at = 0
    for (const one of this.#parts) {
      whole.set(one, at)
      at += one.length
    }
    this.#parts = []
    this.#size = 0
    this.#events?.message(whole)
    return true
  }

  #fault(why: string): false {
    this.hangUp(why)
    return false
  }

  backlog(): number {
    return this.#waiting
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#part()
    if (!this.to || this.#desk.session.status === 'lost') return
    const word: Word = { what: 'close', stream: this.#stream, n: 0, more: false, text: '' }
    try {
      this.#desk.session.note(this.to, letters, word)
    } catch {
      // An absent member detects the end on its own.
    }
  }

  hangUp(why: string): void {
    if (this.#closed) return
    this.close()
    this.#events?.closed(why)
  }

  #part(): void {
    if (this.to) this.#desk.ends.delete(`${this.to.inc} ${this.#stream}`)
  }
}
