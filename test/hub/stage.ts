/**
 * A hub and streams to it, each with a name, and a line for each message, each close and each
 * record that the disk takes. A member's number is the place of its name; a session's id is the
 * hub's.
 */

import { expect } from 'vitest'
import type { ChangeReason } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { frameKnock, frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { Script } from '../transcript.ts'
import { Desk, listed, proof, OPEN } from './desk.ts'

const UNTOLD = ['proof', 'hash', 'link', 'boot', 'version', 'terms']

/** What a member wants the register to become. */
export interface Wish {
  expect: number
  primary: string
  backup: string
  why: ChangeReason
}

/** See above. */
export class Stage {
  readonly script = new Script({ decimals: 1, untold: UNTOLD })
  readonly desk = new Desk()
  readonly #streams = new Map<string, number>()
  readonly #numbers = new Map<string, number>()
  #session = ''

  constructor() {
    this.desk.recovers = true
    this.desk.ear = {
      said: (connection, message) => {
        const { kind } = message
        if (kind !== 'hello')
          this.#tell(this.#nameOf(connection), `-> hub  ${this.#brief(message)}`)
      },
      heard: (connection, message) => {
        if (message.kind === 'added') this.#session = message.entry.session
        if (message.kind !== 'welcome' && message.kind !== 'signs')
          this.#tell('hub', `-> ${this.#nameOf(connection)}  ${this.#brief(message)}`)
      },
      closed: (connection, why) => this.#tell('hub', `closes ${this.#nameOf(connection)}: ${why}`),
      kept: (session) => this.#tell('disk', `has ${session}`),
    }
  }

  /** A process has a stream to the hub. */
  opens(name: string): void {
    this.#streams.set(name, this.desk.open())
  }

  /** It founds the session, or finds it. */
  adds(name: string): void {
    const wish = { game: 'g', room: 'main', playersMax: 4, recovers: true, terms: '' }
    const { hash, link } = listed(1)
    this.#say(name, { kind: 'add', request: 1, ...wish, topology: 'star', hash, link, ...OPEN })
  }

  /** Numbers of members, in the order of their names. */
  numbers(...names: string[]): void {
    for (const [at, name] of names.entries()) this.#numbers.set(name, at + 1)
  }

  /** A primary says who is here. */
  lists(name: string, ...names: string[]): void {
    const members = names.map((one) => listed(this.#numberOf(one)))
    this.#say(name, { kind: 'members', session: this.#session, members, players: members.length })
  }

  /** @param secret  whose it proves itself with, if not its own */
  attaches(name: string, secret = name): void {
    const inc = this.#numberOf(name)
    const own = { session: this.#session, inc, proof: proof(this.#numberOf(secret)) }
    this.#say(name, { kind: 'attach', request: 2, ...own })
  }

  changes(name: string, { primary, backup, ...wish }: Wish): void {
    const inc = this.#numberOf(name)
    const places = { primary: this.#numberOf(primary), backup: this.#numberOf(backup) }
    const own = { session: this.#session, inc, proof: proof(inc) }
    this.#say(name, { kind: 'change', request: 3, ...own, ...wish, ...places })
  }

  asks(name: string): void {
    this.#say(name, { kind: 'get', request: 4, session: this.#session })
  }

  /** Who is no member yet sends the primary a datagram. */
  knocks(name: string): void {
    this.#tell(name, '-> hub  a datagram, to the primary')
    this.desk.knock(this.#streams.get(name)!, new Uint8Array(9))
  }

  /** A primary answers it. */
  answersCaller(name: string, to: string): void {
    this.#tell(name, `-> hub  a datagram, to ${to}, who knocked`)
    this.desk.bytes(
      this.#streams.get(name)!,
      frameKnock(this.#streams.get(to)!, new Uint8Array(12)),
    )
  }

  /** It answers the last challenge. @param from  whose stream says it, if not its own */
  answers(name: string, from = name): void {
    const heard = this.desk.heard.get(this.#streams.get(name)!)!
    const asked = heard.findLast(({ kind }) => kind === 'challenge')
    if (asked?.kind !== 'challenge') return expect.fail(`${name} was not challenged`)
    const { epoch, nonce } = asked
    this.#say(from, { kind: 'alive', session: this.#session, epoch, nonce })
  }

  /** One sends another a datagram through the hub. */
  relays(name: string, to: string): void {
    this.#tell(name, `-> ${to}  a datagram, by the relay`)
    this.desk.bytes(this.#streams.get(name)!, frameRelay(this.#numberOf(to), new Uint8Array(9)))
  }

  /** It says that it lives, in answer to the last question. */
  lives(name: string): void {
    const row = this.desk.hub.registers.rows.get(this.#session)!
    const { nonce, entry } = row
    const { epoch } = entry.register
    this.#say(name, { kind: 'yes', session: this.#session, epoch, nonce, players: 1 })
  }

  /** Its process dies. */
  dies(name: string): void {
    this.#tell(name, 'dies')
    this.desk.close(this.#streams.get(name)!)
  }

  /** The disk takes its time, until `disk` is called. */
  slow(): void {
    this.desk.atOnce = false
  }

  /** The disk takes what it was given, or says why not. */
  disk(trouble: string | null = null): void {
    if (trouble !== null) this.#tell('disk', `refuses: ${trouble}`)
    this.desk.write(trouble)
    this.desk.atOnce = true
  }

  restart(): void {
    this.#tell('hub', 'is killed, and begins anew')
    this.desk.restart()
  }

  pass(ms: number): void {
    this.desk.pass(ms)
  }

  /** The same, to the millisecond. */
  go(ms: number): void {
    this.desk.go(ms)
  }

  #say(name: string, message: Parameters<Desk['say']>[1]): void {
    this.desk.say(this.#streams.get(name)!, message)
  }

  #numberOf(name: string): number {
    return this.#numbers.get(name) ?? 0
  }

  #nameOf(connection: number): string {
    return [...this.#streams].find(([, one]) => one === connection)?.[0] ?? ''
  }

  #brief(message: unknown): string {
    return this.script.brief(message)
  }

  #tell(who: string, what: string): void {
    this.script.tell(this.desk.now, who, what)
  }
}
