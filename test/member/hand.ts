/** One member by hand: what a hub and other members would say to it, at instants that are given. */

import { handshakeLayout, type Handshake } from '../../src/link/handshake.ts'
import type { PeerId } from '../../src/machine.ts'
import { SIGNATURE_BYTES } from '../../src/ports.ts'
import * as member from '../../src/member/member.ts'
import {
  create,
  type MemberEvent,
  type Peer,
  type Runtime,
  type Wish,
} from '../../src/member/state.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  toHub,
  type Topology,
} from '../../src/directory/messages.ts'
import { joinedLayout } from '../../src/session/messages.ts'
import type { Member } from '../../src/replication/layouts.ts'
import { decode, encode } from '../../src/wire/layout.ts'

const SESSION = 's'

/** A member of a session that others opened; it is `inc` of as many, and 1 serves. */
export class Hand {
  now = 0
  readonly sent: { to: string; bytes: Uint8Array }[] = []
  readonly events: MemberEvent[] = []
  /** What the hub was asked for. */
  readonly asked: string[] = []
  readonly run: Runtime
  #links = 0
  readonly #jobs: number[] = []

  constructor(inc: PeerId, members: number, topology: Topology, backup: PeerId = 0) {
    const own = create(0, wishOf(topology), new Uint8Array(16).fill(inc), [])
    this.run = member.wire(own, {
      datagram: (to, bytes) => void this.sent.push({ to, bytes: bytes.slice() }),
      reaches: (address) => address.startsWith('sim:'),
      hub: (bytes) => void this.asked.push(decode(toHub, bytes)!.kind),
      compute: (job) => void this.#jobs.push(job),
      emit: (event) => void this.events.push(event),
    })
    const register = { epoch: 1, primary: 1, backup }
    member.hubOpened(this.run, 0)
    this.hears({ kind: 'welcome', version: HUB_VERSION, boot: 1 })
    const entry = {
      session: SESSION,
      game: 'g',
      room: 'r',
      register,
      players: members,
      playersMax: 8,
    }
    const more = { standing: 'open', topology, terms: '' } as const
    this.hears({ kind: 'added', request: 1, created: false, entry: { ...entry, ...more } })
    const view = {
      epoch: 1,
      mv: members,
      primary: 1,
      backup,
      members: Array.from({ length: members }, (_, at) => shownAs(at + 1)),
    }
    const blob = encode(joinedLayout, { kind: 'joined', inc, player: inc, lastSeq: 0, view })
    this.hears({ kind: 'reply', session: SESSION, blob })
    const present = view.members.map((one) => one.inc)
    this.hears({ kind: 'attached', request: 2, session: SESSION, register, present })
  }

  hears(message: FromHub): void {
    member.hubSaid(this.run, this.now, encode(fromHub, message))
    for (const job of this.#jobs.splice(0)) {
      member.computed(this.run, this.now, job, new Uint8Array(SIGNATURE_BYTES))
    }
  }

  /** Time passes, in steps of 50 ms. */
  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until;) {
      this.now += 50
      member.wake(this.run, this.now)
    }
  }

  /** The greetings that left, and when each peer was greeted first is the order. */
  greeted(): PeerId[] {
    const hellos = this.sent.flatMap(({ bytes }) => {
      const message = decode(handshakeLayout, bytes.subarray(4))
      return message?.kind === 'hello' ? [message.to] : []
    })
    return [...new Set(hellos)]
  }

  peer(inc: PeerId): Peer {
    return this.run.member.peers.get(inc)!
  }

  /** An answer to its greeting comes from there. */
  answer(from: string, message: Handshake): void {
    const bytes = encode(handshakeLayout, message)
    member.datagram(this.run, this.now, from, Uint8Array.of(0, 0, 0, 0, ...bytes))
  }

  /** The peer takes the link, on that way. */
  link(inc: PeerId, from: string): Peer {
    const { nonce } = this.peer(inc)
    this.answer(from, { kind: 'accept', nonce, connection: ++this.#links })
    return this.peer(inc)
  }
}

function wishOf(topology: Topology): Wish {
  return {
    game: 'g',
    room: 'r',
    playersMax: 8,
    name: 'p',
    kind: 'node',
    addresses: [],
    hub: 'hub',
    types: '',
    recovers: false,
    hosts: false,
    terms: '',
    topology,
    identity: { seed: new Uint8Array(32), key: new Uint8Array(32) },
    resume: null,
  }
}

function shownAs(inc: PeerId): Member {
  const hash = new Uint8Array(16).fill(inc)
  return {
    inc,
    player: inc,
    name: 'p',
    kind: 'node',
    addresses: [`sim:${inc}`],
    linkHash: hash,
    registerHash: hash,
    key: Uint8Array.of(...hash, ...hash),
  }
}
