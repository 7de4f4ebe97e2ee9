/**
 * A handful of sessions and the register that they share, on a clock that the test moves, and a
 * line for all that is said and told. What only repeats by the clock is left out: heartbeats,
 * questions whether somebody lives, promises, and who asks the hub for what did not change.
 */

import * as register from '../../packages/hub/src/machine/register.ts'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  MEMBERS_MAX,
  type Millis,
  type PeerId,
  RIGHTS,
} from '../../packages/holdfast/src/machine.ts'
import { NO_PARTS } from '../../proof/models/processes.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import {
  SESSION_VERSION,
  type Join,
  type Joined,
  type PeerMessage,
} from '../../packages/holdfast/src/session/messages.ts'
import {
  renumber,
  completeSnapshot,
  submit,
} from '../../packages/holdfast/src/session/operations.ts'
import { settledOf } from '../../packages/holdfast/src/session/recovery.ts'
import * as roles from '../../packages/holdfast/src/session/roles.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { RULES } from '../../packages/holdfast/src/session/session.ts'
import {
  create,
  type Session,
  type SessionEvent,
  type SessionOut,
} from '../../packages/holdfast/src/session/state.ts'
import { SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { digest, fingerprint, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { Script } from '../transcript.ts'

const ID = 's'
const STEP_MS: Millis = 50
const CHATTER = ['yes', 'areYouAlive', 'askPromise', 'promise', 'get', 'resync']
const UNTOLD = ['session', 'proof', 'request']
// The numbers by which the hub knows who is no member yet begin behind those of members.
const STRANGER = MEMBERS_MAX

type Done = () => void

/** See above. */
export class Stage {
  readonly script = new Script({ decimals: 2, untold: UNTOLD })
  now: Millis = 0
  readonly #directory = register.create(0)
  readonly #alive = new Map<string, Session>()
  readonly #linked = new Set<string>()
  readonly #air: Done[] = []

  session(name: string): Session {
    return this.#alive.get(name)!
  }

  found(name: string): void {
    const own = this.#create(name)
    const { registerHash: hash, link, key } = describe(name, own.secret)
    const place = { game: 'g', room: 'r', playersMax: 8, recovers: true, terms: '' }
    const wish = { ...place, hash, link, key }
    register.add(this.#directory, this.now, { ...wish, topology: 'star' }, ID, this.#toPrimary)
    this.#settle()
    const out = this.#outOf(name)
    Object.assign(own, { id: ID, me: 1, player: 1 })
    renumber(own, false, 0, out)
    register.setPresent(this.#directory, this.now, ID, 1, true)
    roles.found({ session: own, now: this.now, out })
    membership.enter(
      { session: own, now: this.now, out },
      { inc: 1, player: 1, ...describe(name, own.secret) },
      0,
    )
    this.deliver()
  }

  /** @param before  who it was, if it comes back */
  join(name: string, before: Session | null = null): void {
    const own = this.#create(name)
    const resume = before && {
      player: before.player,
      inc: before.me,
      settled: settledOf(before.client),
    }
    const schema = fingerprint('')
    const signature = new Uint8Array(SIGNATURE_BYTES)
    const described = { ...describe(name, own.secret), key: keyOf(before?.secret ?? own.secret) }
    const signed = { watches: false, admission: signature, signature }
    const wish: Join = { version: SESSION_VERSION, schema, ...described, resume, ...signed }
    const from = STRANGER + name.charCodeAt(0)
    const { primary } = register.find(this.#directory, ID)!.entry.register
    this.#air.push(() => {
      const host = this.#nameOf(primary)
      if (host !== '')
        membership.join(
          { session: this.session(host), now: this.now, out: this.#outOf(host) },
          from,
          wish,
        )
    })
    this.deliver()
  }

  /** A process ends; to the others it is silent. */
  kill(name: string): void {
    const own = this.session(name)
    this.#tell(name, 'is killed')
    this.#alive.delete(name)
    register.setPresent(this.#directory, this.now, ID, own.me, false)
    for (const pair of this.#linked) {
      if (pair.split(' ').includes(`${own.me}`)) this.#linked.delete(pair)
    }
  }

  do(name: string, verb: (own: Session, out: SessionOut) => void): void {
    verb(this.session(name), this.#outOf(name))
    this.deliver()
  }

  operate(name: string): void {
    this.do(
      name,
      (own, out) => void submit({ session: own, now: this.now, out }, 5, Uint8Array.of(1)),
    )
  }

  /** Time passes, in steps. */
  pass(ms: Millis): void {
    const until = this.now + ms
    while (this.now < until) {
      this.now += STEP_MS
      for (const pair of this.#linked) {
        const [one, other] = pair.split(' ').map(Number) as [PeerId, PeerId]
        const name = this.#nameOf(one)
        machine.markAlive(
          { session: this.session(name), now: this.now, out: this.#outOf(name) },
          other,
        )
      }
      register.wake(this.#directory, this.now, this.#toPrimary)
      for (const [name, own] of this.#alive)
        machine.wake({ session: own, now: this.now, out: this.#outOf(name) })
      this.deliver()
    }
  }

  /** Everything under way arrives, with all that it leads to. */
  deliver(): void {
    do {
      for (let next = this.#air.shift(); next; next = this.#air.shift()) next()
      this.#link()
    } while (this.#air.length > 0)
  }

  #create(name: string): Session {
    const secret = new Uint8Array(16).fill(name.charCodeAt(0) + this.#alive.size + this.now)
    const own = create(this.now, { secret, playersMax: 8, types: '', recovers: true, rules: RULES })
    own.hub = { up: true, since: this.now }
    this.#alive.set(name, own)
    return own
  }

  // Who wants a link has one at once, and both say so.
  #link(): void {
    for (const [name, own] of this.#alive) {
      for (const peer of own.me === 0 ? [] : machine.wanted(own)) {
        const other = this.#nameOf(peer)
        if (other === '' || this.#linked.has(`${own.me} ${peer}`)) continue
        this.#linked.add(`${own.me} ${peer}`).add(`${peer} ${own.me}`)
        this.#tell(name, `links with ${peer}`)
        machine.onLinked({ session: own, now: this.now, out: this.#outOf(name) }, peer, 'udp')
        machine.onLinked(
          { session: this.session(other), now: this.now, out: this.#outOf(other) },
          own.me,
          'udp',
        )
      }
    }
  }

  #nameOf(inc: PeerId): string {
    return [...this.#alive].find(([, own]) => own.me === inc)?.[0] ?? ''
  }

  #tell(name: string, what: string, message?: unknown): void {
    const who = name === 'hub' ? 'hub' : `${name}(${this.#alive.get(name)?.me ?? 0})`
    this.script.tell(
      this.now,
      who,
      message === undefined ? what : what + this.script.brief(message),
    )
  }

  #outOf(name: string): SessionOut {
    return {
      send: (to, message) => this.#send(name, to, message),
      hub: (message) => {
        if (!CHATTER.includes(message.kind)) this.#tell(name, '-> hub  ', message)
        const { me } = this.session(name)
        this.#air.push(() => this.#hear(me, message))
      },
      time: () => 0,
      seal: (segment) => segment,
      answer: (asker, joined) => {
        const who = String.fromCharCode(asker - STRANGER)
        this.#tell(name, joined.kind === 'joined' ? `lets ${who} in` : `does not let ${who} in`)
        this.#air.push(() => this.#joined(asker, joined))
      },
      emit: (event) => this.#happened(name, event),
      parts: {
        ...NO_PARTS,
        perform: (part, body) => {
          return { outcome: body, changes: [{ part, bytes: body }], news: [{ part, bytes: body }] }
        },
      },
    }
  }

  #send(name: string, to: PeerId, message: PeerMessage): void {
    const own = this.session(name)
    const { me: from } = own
    // To ourselves everything goes too, and is told once only.
    if (to !== from && !CHATTER.includes(message.kind)) this.#tell(name, `-> ${to}  `, message)
    this.#air.push(() => {
      const other = this.#nameOf(to)
      if (other === '') return
      machine.receive(
        { session: this.session(other), now: this.now, out: this.#outOf(other) },
        from,
        message,
      )
    })
  }

  #happened(name: string, event: SessionEvent): void {
    if (event.kind === 'role') this.#tell(name, `= ${event.role}`)
    else if (event.kind !== 'view' && event.kind !== 'welcome') this.#tell(name, '', event)
    if (event.kind !== 'welcome') return
    for (const to of event.to)
      completeSnapshot({ session: this.session(name), now: this.now, out: this.#outOf(name) }, to)
  }

  #hear(from: PeerId, message: ToHub): void {
    const { now } = this
    switch (message.kind) {
      case 'change': {
        const ok = register.change(this.#directory, now, message, this.#toPrimary)
        if (ok) this.#settle()
        const { register: known } = register.find(this.#directory, ID)!.entry
        this.#tell('hub', `${ok ? 'takes' : 'refuses'} it: R = ${Object.values(known).join(' ')}`)
        this.#answer(from, message.request, ok)
        if (!ok) return
        for (const { me } of this.#alive.values())
          if (me !== from && me !== 0) this.#answer(me, 0, true)
        return
      }
      case 'get':
        return this.#answer(from, message.request, true)
      case 'members':
        register.setMembers(this.#directory, ID, from, message, this.#toPrimary)
        return
      case 'yes':
        return void register.receiveYes(this.#directory, now, message, from)
      default:
    }
  }

  #answer(to: PeerId, request: number, ok: boolean): void {
    const known = { ...register.find(this.#directory, ID)!.entry.register }
    this.#fromHub(to, { kind: 'register', request, session: ID, ok, register: known, leader: null })
  }

  #joined(asker: number, answer: Joined): void {
    const name = String.fromCharCode(asker - STRANGER)
    if (answer.kind !== 'joined') return this.#tell(name, 'is denied: ', answer)
    const own = this.session(name)
    Object.assign(own, { id: ID, me: answer.inc, player: answer.player })
    this.#tell(name, `is in: player ${answer.player}, done up to ${answer.lastSeq}`)
    renumber(own, false, answer.lastSeq, this.#outOf(name))
    client.follow({ session: own, now: this.now, out: this.#outOf(name) }, answer.view, null)
    register.setPresent(this.#directory, this.now, ID, answer.inc, true)
  }

  #fromHub(to: PeerId, message: FromHub): void {
    this.#air.push(() => {
      const name = this.#nameOf(to)
      if (name === '') return
      machine.receiveFromHub(
        { session: this.session(name), now: this.now, out: this.#outOf(name) },
        message,
      )
    })
  }

  readonly #toPrimary: register.RegisterOut = {
    send: (to, message) => this.#fromHub(to, message),
    record: () => {},
  }

  #settle(): void {
    register.recordOf(this.#directory, ID)
    register.confirmWrite(this.#directory, this.now, ID)
  }
}

function describe(name: string, secret: Uint8Array): Omit<Member, 'inc' | 'player'> {
  return {
    name,
    kind: 'node',
    addresses: [],
    link: keyOf(secret),
    registerHash: digest(proofOf(secret, 'register')),
    key: keyOf(secret),
    rights: RIGHTS.play,
  }
}

function keyOf(secret: Uint8Array): Uint8Array {
  return Uint8Array.of(...secret, ...secret)
}
