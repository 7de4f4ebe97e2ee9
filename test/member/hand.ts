/** One member by hand: what a hub and other members would say to it, at instants that are given. */

import { type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import * as seal from '../../packages/holdfast/src/seal/seal.ts'
import type { Verdict } from '../../packages/holdfast/src/seal/state.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { calmly } from '../calmly.ts'
import { openCiphers } from '../open-ciphers.ts'
import { readDatagram } from '../standard/reader.ts'
import type { Read } from '../standard/values.ts'
import { standardOf } from '../transcript.ts'
import { WISH } from './bare.ts'
import { Far, pointOf } from './far.ts'
import { framePart } from '../../packages/holdfast/src/member/dispatch.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import * as peers from '../../packages/holdfast/src/member/peers.ts'
import { knocking } from '../../packages/holdfast/src/wire/relay.ts'
import {
  create,
  type CurveAnswer,
  type CurveQuestion,
  JOIN_CHANNEL,
  type MemberEvent,
  type Peer,
  type Runtime,
  type MemberOptions,
} from '../../packages/holdfast/src/member/state.ts'
import {
  type FromHub,
  fromHub,
  leaderCertificateOf,
  HUB_VERSION,
  type Leader,
  toHub,
  type Topology,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { type Joined, joinedLayout } from '../../packages/holdfast/src/session/messages.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'

const SESSION = 's'
const STANDARD = standardOf()
const DOOR = knocking(0)
const HUB_SEED = new Uint8Array(32).fill(99)

/** A member of a session that others opened; it is `inc` of as many, and 1 serves. */
export class Hand {
  now = 0
  readonly sent: { to: string; bytes: Uint8Array }[] = []
  readonly events: MemberEvent[] = []
  /** What the hub was asked for. */
  readonly asked: string[] = []
  readonly run: Runtime
  readonly #fars = new Map<PeerId, Far>()
  readonly #jobs: [job: number, question: CurveQuestion][] = []

  constructor(inc: PeerId, members: number, topology: Topology, backup: PeerId = 0) {
    const own = create(0, wishOf(topology), new Uint8Array(16).fill(inc), [])
    for (let other = 1; other <= members; other++) {
      this.#fars.set(other, new Far(other, SESSION, secretOf(other)))
    }
    this.run = member.wire(own, {
      datagram: (to, bytes) => void this.sent.push({ to, bytes: bytes.slice() }),
      reaches: (address) => address.startsWith('sim:'),
      hub: (bytes) => void this.asked.push(decode(toHub, bytes)!.kind),
      ciphers: openCiphers,
      compute: (job, question) => void this.#jobs.push([job, question]),
      emit: (event) => void this.events.push(event),
    })
    const register = { epoch: 1, primary: 1, backup }
    member.hubOpened(this.run, 0)
    this.hears({ kind: 'welcome', version: HUB_VERSION, boot: 1 })
    this.hears({ kind: 'signs', key: toyCurves.signer(HUB_SEED) })
    const place = { session: SESSION, game: 'g', room: 'r' }
    const entry = { ...place, register, players: members, playersMax: 8 }
    const more = { standing: 'open', topology, terms: '' } as const
    const leader = this.leaderAs(1, 1)
    const admission = { rights: RIGHTS.play, signature: new Uint8Array(64) }
    const found = { request: 1, created: false, entry: { ...entry, ...more }, leader, admission }
    this.hears({ kind: 'added', ...found, opened: null })
    const view = {
      ...NO_VIEW,
      ...{ epoch: 1, mv: members, primary: 1, backup },
      members: Array.from({ length: members }, (_, at) => shownAs(at + 1)),
      grant: leader.grant,
      settings: { ...NO_VIEW.settings, topology },
    }
    this.#comeIn({ kind: 'joined', inc, player: inc, lastSeq: 0, view })
    const present = view.members.map((one) => one.inc)
    this.hears({ kind: 'attached', request: 2, session: SESSION, register, leader, present })
  }

  // The link with who lets it in is lost as soon as it is in, so that its tests see links begin.
  #comeIn(joined: Joined): void {
    const far = this.far(1)
    for (let turn = 0; turn < 2; turn++) {
      for (const { bytes } of this.sent.splice(0)) far.hears(0, bytes)
      this.#carry(far, DOOR)
    }
    const message = framePart(JOIN_CHANNEL, encode(joinedLayout, joined))
    far.begins(0, seal.nameOf(this.run.member.linkKey.point!), message)
    this.#carry(far, DOOR)
    peers.forget(this.run, this.peer(1))
    this.sent.length = 0
  }

  /** What the hub says of who leads. */
  leaderAs(inc: PeerId, epoch: number, keyOf: PeerId = inc): Leader {
    const link = this.pointOf(keyOf)
    const message = leaderCertificateOf({ session: SESSION, epoch, primary: inc, link })
    return { link, grant: toyCurves.sign(HUB_SEED, message) }
  }

  /** The link key of the member with that number. */
  pointOf(inc: PeerId): Uint8Array {
    return this.far(inc).seal.point
  }

  hears(message: FromHub): void {
    calmly(() => member.hubMessage(this.run, this.now, encode(fromHub, message)))
    this.#compute()
  }

  /** Does what is due at that time. */
  wake(now: number): void {
    this.now = now
    calmly(() => member.wake(this.run, now))
    this.#compute()
  }

  /** Time passes, in steps of 50 ms. */
  pass(ms: number): void {
    for (const until = this.now + ms; this.now < until;) {
      this.wake(this.now + 50)
    }
  }

  /** Whom it asked for a link, in the order of the first times. */
  greeted(): PeerId[] {
    const asked = this.sent.flatMap(({ bytes }) => {
      return bytes[0] === 1 ? [(readDatagram(STANDARD, bytes)['said'] as Read)['to'] as PeerId] : []
    })
    return [...new Set(asked)]
  }

  peer(inc: PeerId): Peer {
    return this.run.member.peers.get(inc)!
  }

  /** The other end of its link with a peer. */
  far(inc: PeerId): Far {
    return this.#fars.get(inc)!
  }

  /** A datagram comes from there. */
  comes(from: string, bytes: Uint8Array): void {
    calmly(() => member.datagram(this.run, this.now, from, bytes))
    this.#compute()
  }

  /** The peer answers its newest question from there, and gets what follows. */
  answer(inc: PeerId, from: string, verdict: Verdict): Peer {
    const far = this.far(inc)
    far.verdict = verdict
    const asked = this.sent.filter(({ to, bytes }) => to.endsWith(`:${inc}`) && bytes[0] === 1)
    far.hears(this.now, asked.at(-1)!.bytes)
    const before = this.sent.length
    this.#carry(far, from)
    for (const { to, bytes } of this.sent.slice(before)) {
      if (to.endsWith(`:${inc}`) && bytes[0]! >= 16) far.hears(this.now, bytes)
    }
    this.#carry(far, from)
    return this.peer(inc)
  }

  /** The peer takes the link, on that way. */
  link(inc: PeerId, from: string): Peer {
    return this.answer(inc, from, null)
  }

  /** The peer says a packet on its link. */
  says(inc: PeerId, from: string, text: Uint8Array): void {
    const far = this.far(inc)
    far.says(this.now, seal.nameOf(this.run.member.linkKey.point!), text)
    this.#carry(far, from)
  }

  /** The peer says messages, on a link that begins with them. */
  tells(inc: PeerId, from: string, ...messages: Uint8Array[]): void {
    const far = this.far(inc)
    far.begins(this.now, seal.nameOf(this.run.member.linkKey.point!), ...messages)
    this.#carry(far, from)
  }

  #carry(far: Far, from: string): void {
    for (const bytes of far.sent.splice(0)) this.comes(from, bytes)
  }

  #compute(): void {
    for (let next = this.#jobs.shift(); next; next = this.#jobs.shift()) {
      const [job, question] = next
      calmly(() => member.computed(this.run, this.now, job, answerOf(question)))
    }
  }
}

function answerOf(question: CurveQuestion): CurveAnswer {
  if (question.kind === 'sign') return new Uint8Array(SIGNATURE_BYTES)
  if (question.kind === 'verify') {
    return toyCurves.verify(question.key, question.message, question.signature)
  }
  return question.pairs.map(([secret, point]) => toyCurves.agree(secret, point))
}

/** The link key of whoever is that by hand. */
function secretOf(inc: PeerId): Uint8Array {
  return create(0, wishOf('star'), new Uint8Array(16).fill(inc), []).linkKey.secret
}

const wishOf = (topology: Topology): MemberOptions => ({ ...WISH, topology })

function shownAs(inc: PeerId): Member {
  const hash = new Uint8Array(16).fill(inc)
  return {
    inc,
    player: inc,
    name: 'p',
    kind: 'node',
    addresses: [`sim:${inc}`],
    link: pointOf(secretOf(inc)),
    registerHash: hash,
    key: Uint8Array.of(...hash, ...hash),
    rights: RIGHTS.play,
  }
}

/** Member 2, whose link with 1 goes that way. */
export function linked(
  way: 'sim:1' | 'relay:1' = 'sim:1',
  members = 2,
): { hand: Hand; peer: Peer } {
  const hand = new Hand(2, members, 'star')
  hand.pass(50)
  const peer = hand.link(1, way)
  hand.sent.length = 0
  return { hand, peer }
}

/** It is the backup of 1. */
export function standsBy({ run }: Hand): void {
  const own = { role: 'backup', primary: 1, ackedAt: 0 }
  Object.assign(run.member.session.server, own)
}

/** Its role in the session. */
export const roleOf = ({ run }: Hand): string => run.member.session.server.role
