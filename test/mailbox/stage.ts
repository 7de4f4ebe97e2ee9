/**
 * Mailboxes with stores in memory, and a line for each message as the document reads it, each
 * letter that is handled and what is kept. A turn is kept as a whole, or a test kills the process
 * before. Lives are told by their owner and the opening, digests by their first two bytes.
 */

import { expect } from 'vitest'
import {
  applyTo,
  emptyContent,
  MailMemory,
} from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { MailContent } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Peer } from '../../packages/mailbox/src/machine/state.ts'
import { type MailMessage, mailLayout } from '../../packages/mailbox/src/machine/messages.ts'
import type { MailChange, MailStore } from '../../packages/holdfast/src/ports.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { readWhole } from '../standard/reader.ts'
import { Script, standardOf } from '../transcript.ts'

const STANDARD = standardOf()
const STEP_MS = 10
const LIFE_BYTES = 8
const DIGEST_BYTES = 16

interface End {
  name: string
  content: MailContent
  store: MailStore
  box: Mailbox
  openings: number
  /** What its turn has done so far. */
  changes: MailChange[]
  out: MailOut
}

/** How a turn goes: letters are handled, wait, throw, find an outbox full, or the store refuses. */
export type Mood = 'take' | 'wait' | 'throw' | 'full' | 'refuse'

/** What two prove to each other. */
export type Keys = readonly [one: Uint8Array | null, other: Uint8Array | null]

const NO_KEYS: Keys = [null, null]

/** See above. */
export class Stage {
  readonly script = new Script({ bytes: shown })
  readonly #ends = new Map<string, End>()
  #air: { from: string; to: string; bytes: Uint8Array }[] = []
  #links = new Set<string>()
  #now = 0
  #twice = false
  #dies = ''
  readonly #moods = new Map<string, Mood>()
  /** The key that one proved to another. */
  readonly #keys = new Map<string, Uint8Array | null>()

  /** A process with this mailbox begins, on what its store has. */
  open(name: string, content: MailContent = emptyContent()): void {
    const before = this.#ends.get(name)
    const openings = (before?.openings ?? 0) + 1
    const life = new Uint8Array(LIFE_BYTES)
    new TextEncoder().encodeInto(`${name}${openings}`, life)
    const store = new MailMemory(content, name)
    const changes: MailChange[] = []
    const box = mailbox.create(store.heads(), mailbox.LIMITS, life)
    const out: MailOut = {
      record: (change) => void changes.push(change),
      send: (to, message) => this.#say(name, to, encode(mailLayout, message)),
      emit: (event) => this.#tell(name, `is told: ${this.script.brief(event)}`),
    }
    this.#ends.set(name, { name, content, store, box, openings, changes, out })
  }

  /** Its process dies, with what was not kept, and its connections. Another begins on its store. */
  restart(name: string, content = this.#end(name).content): void {
    this.#tell(name, 'is killed, and begins anew')
    for (const link of this.#links) if (link.split(' ').includes(name)) this.#cut(link, name)
    this.open(name, content)
  }

  /** What its store has now, as a copy of its file would. */
  copy(name: string): MailContent {
    this.#tell(name, 'is copied')
    return structuredClone(this.#end(name).content)
  }

  /** @param keys  that both prove on it; null for a carrier without a greeting */
  connect(one: string, other: string, keys: Keys = NO_KEYS): void {
    this.#tell(one, `has a connection to ${other}`)
    this.#links.add(`${one} ${other}`)
    this.#keys.set(`${one}>${other}`, keys[0])
    this.#keys.set(`${other}>${one}`, keys[1])
    mailbox.connected(this.#end(one).box, this.#now, other, keys[1])
    mailbox.connected(this.#end(other).box, this.#now, one, keys[0])
    this.#pump()
  }

  /** Their connection breaks, if there is one, with all that is under way; they have another. */
  reconnect(one: string, other: string, keys: Keys = NO_KEYS): void {
    for (const link of this.#links) {
      const names = link.split(' ')
      if (!names.includes(one) || !names.includes(other)) continue
      this.#cut(link, one)
      mailbox.disconnected(this.#end(one).box, other)
    }
    this.connect(one, other, keys)
  }

  post(from: string, to: string, text: string): void {
    const end = this.#end(from)
    const n = mailbox.post(end.box, to, new TextEncoder().encode(text), end.out)
    this.#tell(from, `posts ${n} to ${to}: "${text}"`)
    this.#keep(end)
    this.#pump()
  }

  /** The next batch with letters comes twice. */
  twice(): void {
    this.#twice = true
  }

  /** It dies in its next turn with letters, before that is kept. */
  dies(name: string): void {
    this.#dies = name
  }

  /** Its next turn with letters goes so. */
  turns(name: string, mood: Mood): void {
    this.#moods.set(name, mood)
  }

  /** All that is on its way comes, and time passes. */
  pass(ms: number): void {
    for (const until = this.#now + ms; this.#now < until;) {
      this.#now += STEP_MS
      for (const { from, to, bytes } of this.#air.splice(0)) this.#hear(from, to, bytes)
      for (const name of this.#ends.keys()) this.#late(name)
      this.#pump()
    }
  }

  /** Somebody who has the connection of one says something that the mailbox would not. */
  lies(from: string, to: string, message: MailMessage): void {
    if (!this.#end(from).box.peers.get(to)?.link) return
    this.#tell(from, `-> ${to}  a lie, ${this.script.brief(message)}`)
    this.#air.push({ from, to, bytes: encode(mailLayout, message) })
  }

  /** What a mailbox knows of another, in memory. */
  known(name: string, other: string): Peer | null {
    return this.#end(name).box.peers.get(other) ?? null
  }

  /** Whether its owner can go on from what the other has: it has heard that. */
  mayAdopt(name: string, other: string): boolean {
    return !!this.known(name, other)?.link?.theirs
  }

  /** Its owner goes on from what the other has. */
  adopt(name: string, other: string): void {
    const end = this.#end(name)
    const theirs = end.box.peers.get(other)?.link?.theirs
    if (!theirs) return expect.fail(`${name} has not heard what ${other} has`)
    const adopted = mailbox.adopt(end.box, other, theirs, null, end.store, end.out)
    this.#tell(name, `adopts what ${other} has: ${this.script.brief(adopted)}`)
    this.#keep(end)
  }

  /** What a mailbox has durably of another. */
  stands(name: string, other: string): void {
    const head = this.#end(name).store.head(other)
    const numbers = head && { posted: head.posted, acked: head.acked, heard: head.heard }
    this.#tell(name, `has of ${other}: ${this.script.brief(numbers)}`)
  }

  #hear(from: string, to: string, bytes: Uint8Array): void {
    const end = this.#end(to)
    const key = this.#keys.get(`${from}>${to}`) ?? null
    const message = decode(mailLayout, bytes)!
    mailbox.receive(end.box, this.#now, from, message, end.store, end.out, key)
    this.#handle(end, from)
  }

  /** Letters that waited are handled, if it is their time. */
  #late(name: string): void {
    const end = this.#end(name)
    for (const [from, peer] of end.box.peers) {
      if (mailbox.waits(peer) && this.#moods.get(name) !== 'wait') this.#handle(end, from)
    }
  }

  #handle(end: End, from: string): void {
    const to = end.name
    const mood = this.#moods.get(to) ?? 'take'
    for (let letter; mood !== 'wait' && (letter = mailbox.next(end.box, this.#now, from));) {
      const text = new TextDecoder().decode(letter.body)
      this.#tell(to, `handles ${letter.n} of ${from}: "${text}"`)
      if (mood === 'throw') mailbox.failed(end.box, this.#now, from, 'it threw', end.out)
      if (mood === 'full') mailbox.postpone(end.box, this.#now, from)
      if (mood === 'throw' || mood === 'full') continue
      if (text.endsWith('?')) this.#answer(end, from, text)
      mailbox.done(end.box, this.#now, from, end.out)
      if (this.#dies !== to) continue
      this.#dies = ''
      return this.restart(to)
    }
    this.#moods.delete(to)
    if (mood === 'refuse') return this.#drop(end)
    this.#keep(end)
    mailbox.settle(end.box, from)
  }

  /** Its store refuses the turn, of which nothing was. */
  #drop(end: End): void {
    this.#tell(end.name, 'is refused by its store')
    const peers = new Set(end.changes.splice(0).map((one) => ('peer' in one ? one.peer : '')))
    for (const peer of peers) mailbox.rewind(end.box, peer, end.store.head(peer))
  }

  #answer(end: End, to: string, question: string): void {
    const n = mailbox.post(end.box, to, new TextEncoder().encode(`re ${question}!`), end.out)
    this.#tell(end.name, `posts ${n} to ${to}: "re ${question}!"`)
  }

  #keep(end: End): void {
    const changes = end.changes.splice(0)
    for (const change of changes) applyTo(end.content, change)
    const said = changes.map((change) =>
      'n' in change ? `${change.kind} ${change.n}` : change.kind,
    )
    if (said.length > 0) this.#tell(end.name, `keeps [${said.join(', ')}]`)
  }

  #pump(): void {
    for (const { box, store, out } of this.#ends.values()) mailbox.pump(box, this.#now, store, out)
  }

  #say(from: string, to: string, bytes: Uint8Array): void {
    const read = readWhole(STANDARD, 'Mail', bytes)
    const again = this.#twice && this.script.brief(read).includes('n=')
    this.#tell(from, `-> ${to}  ${this.script.brief(read)}${again ? '   COMES TWICE' : ''}`)
    for (let n = again ? 2 : 1; n > 0; n--) this.#air.push({ from, to, bytes: bytes.slice() })
    if (again) this.#twice = false
  }

  #cut(link: string, dead: string): void {
    this.#links.delete(link)
    const [one, other] = link.split(' ') as [string, string]
    this.#air = this.#air.filter(
      ({ from, to }) => `${from} ${to}` !== link && `${to} ${from}` !== link,
    )
    const left = one === dead ? other : one
    mailbox.disconnected(this.#end(left).box, dead)
  }

  #end(name: string): End {
    return this.#ends.get(name)!
  }

  #tell(name: string, what: string): void {
    this.script.tell(this.#now, name, what)
  }
}

function shown(bytes: Uint8Array): string {
  if (bytes.every((byte) => byte === 0)) return '-'
  if (bytes.length === DIGEST_BYTES) return `#${Buffer.from(bytes.subarray(0, 2)).toString('hex')}`
  return `"${new TextDecoder().decode(bytes).replaceAll('\0', '')}"`
}
