/** One process by hand, from before it is a member: what it asks, sends and tells is kept. */

import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type Leader,
  type Register,
  toHub,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import {
  create,
  type CurveQuestion,
  type MemberEvent,
} from '../../packages/holdfast/src/member/state.ts'
import type {
  CurveAnswer,
  Runtime,
  MountedPart,
  MemberOptions,
} from '../../packages/holdfast/src/member/state.ts'
import { BASE_POINT, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { calmly } from '../calmly.ts'
import { openCiphers } from '../open-ciphers.ts'

/** The session that the hub names. */
export const SESSION = 's'

/** What a process wants that wants nothing special. */
export const WISH: MemberOptions = {
  game: 'g',
  room: 'r',
  playersMax: 8,
  name: 'p',
  kind: 'node',
  addresses: [],
  hub: 'wss://hub',
  types: '',
  recovers: false,
  hosts: false,
  watches: false,
  hides: false,
  ticket: '',
  roomKey: null,
  saved: null,
  fresh: false,
  keptTypes: '',
  terms: '',
  topology: 'star',
  identity: { seed: new Uint8Array(32), key: new Uint8Array(32) },
  ...{ resume: null, point: null },
}

/** The link key of somebody, by the byte that it is drawn from. */
export function pointOf(byte: number): Uint8Array {
  return toyCurves.agree(new Uint8Array(32).fill(byte), BASE_POINT)!
}

/** See above. Curves answer at once, unless `isHeld`. */
export class Bare {
  now = 0
  readonly run: Runtime
  readonly sent: { to: string; bytes: Uint8Array }[] = []
  readonly asked: ToHub[] = []
  readonly events: MemberEvent[] = []
  readonly jobs: [job: number, question: CurveQuestion][] = []
  isHeld = false
  /** How often it left the hub for another address, if it has one. */
  left = 0
  hasOthers = false

  constructor(wish: Partial<MemberOptions> = {}, slots: MountedPart[] = []) {
    const own = create(0, { ...WISH, ...wish }, new Uint8Array(16).fill(1), slots)
    this.run = member.wire(own, {
      datagram: (to, bytes) => void this.sent.push({ to, bytes: bytes.slice() }),
      reaches: (address) => address.startsWith('sim:'),
      hub: (bytes) => void this.asked.push(decode(toHub, bytes)!),
      ciphers: openCiphers,
      elsewhere: () => {
        if (this.hasOthers) this.left++
        return this.hasOthers
      },
      compute: (job, question) => void this.jobs.push([job, question]),
      emit: (event) => void this.events.push(event),
    })
  }

  /** Does something, and what follows of it. */
  do<Value>(verb: (run: Runtime) => Value): Value {
    const value = calmly(() => verb(this.run))
    if (!this.isHeld) this.compute()
    return value
  }

  compute(): void {
    for (let next = this.jobs.shift(); next; next = this.jobs.shift()) {
      const [job, question] = next
      calmly(() => member.computed(this.run, this.now, job, answerOf(question)))
    }
  }

  /** The stream to the hub opens, and the hub says hello too. */
  opens(version = HUB_VERSION): void {
    this.do((run) => member.hubOpened(run, this.now))
    this.hears({ kind: 'welcome', version, boot: 1 })
  }

  closes(): void {
    this.do((run) => member.hubClosed(run, this.now))
  }

  hears(message: FromHub): void {
    this.do((run) => member.hubMessage(run, this.now, encode(fromHub, message)))
  }

  wake(now: number): void {
    this.now = now
    this.do((run) => member.wake(run, now))
  }

  /** The hub has opened the session for it, or names one that member `primary` leads. */
  added(created: boolean, other: Partial<FromHub & { kind: 'added' }> = {}, primary = 1): void {
    const register: Register = { epoch: 1, primary, backup: 0 }
    const named = { session: SESSION, game: 'g', room: 'r', register, players: 1, playersMax: 8 }
    const entry = { ...named, standing: 'open', topology: 'star', terms: '' } as const
    const leader: Leader = { link: pointOf(7), grant: new Uint8Array(SIGNATURE_BYTES) }
    const admission = { rights: RIGHTS.play, signature: new Uint8Array(SIGNATURE_BYTES) }
    this.hears({
      kind: 'added',
      request: 1,
      created,
      entry,
      leader,
      admission,
      opened: null,
      ...other,
    })
  }

  /** It founded the session, and is attached. */
  founds(): void {
    this.opens()
    this.added(true)
    this.attached()
  }

  attached(other: Partial<FromHub & { kind: 'attached' }> = {}): void {
    const register = { epoch: 1, primary: 1, backup: 0 }
    const said = { request: 2, session: SESSION, register, leader: null, present: [1] }
    this.hears({ kind: 'attached', ...said, ...other })
  }

  /** What it asked the hub for since the last time, by name. */
  words(): string[] {
    return this.asked.splice(0).map(({ kind }) => kind)
  }

  /** What it told since the last time, by name. */
  told(): string[] {
    return this.events.splice(0).map(({ kind }) => kind)
  }

  /** How it failed, if it did. */
  failure(): { code: string; why: string } | null {
    const failed = this.events.find((event) => event.kind === 'failed')
    return failed?.kind === 'failed' ? { code: failed.code, why: failed.why } : null
  }
}

function answerOf(question: CurveQuestion): CurveAnswer {
  if (question.kind === 'sign') return new Uint8Array(SIGNATURE_BYTES)
  if (question.kind === 'verify') {
    return toyCurves.verify(question.key, question.message, question.signature)
  }
  return question.pairs.map(([secret, point]) => toyCurves.agree(secret, point))
}
