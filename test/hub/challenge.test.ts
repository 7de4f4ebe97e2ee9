// Goal: nobody takes a primary's place that lives, and one that does not serve is replaced.
// Method: the hub's machine with streams by hand, on a clock of the test.
import { describe, expect, test } from 'vitest'
import { boundOf } from '../../packages/hub/src/machine/challenge.ts'
import * as challenge from '../../packages/hub/src/machine/challenge.ts'
import type {
  FromHub,
  Register,
  ToHub,
  ChangeReason,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { ASK_MS } from '../../packages/hub/src/machine/register.ts'
import { frameRelay } from '../../packages/holdfast/src/wire/relay.ts'
import { calmly } from '../calmly.ts'
import { Desk, proof } from './desk.ts'

const AGAIN_MS = 250
const CHALLENGE_MAX_MS = 250
const CHALLENGE_MIN_MS = 100
const VETO_MS = 1_000

type Challenge = FromHub & { kind: 'challenge' }

/** A session of ada, bea and cy; bea is the backup since epoch 2. */
class Room {
  readonly desk = new Desk()
  readonly id: string
  readonly #streams: number[]
  #requests = 10

  constructor() {
    const { id, streams } = this.desk.session(3)
    this.id = id
    this.#streams = streams
    this.change(1, { expect: 1, primary: 1, backup: 2, why: 'add' })
  }

  stream(inc: number): number {
    return this.#streams[inc - 1]!
  }

  say(inc: number, message: ToHub): FromHub[] {
    return this.desk.say(this.stream(inc), message)
  }

  heard<Kind extends FromHub['kind']>(inc: number, kind: Kind): (FromHub & { kind: Kind })[] {
    const all = this.desk.heard.get(this.stream(inc))!
    return all.filter((message): message is FromHub & { kind: Kind } => message.kind === kind)
  }

  change(
    inc: number,
    wish: { expect: number; primary: number; backup: number; why: ChangeReason },
  ): FromHub[] {
    const request = ++this.#requests
    const own = { session: this.id, inc, proof: proof(inc) }
    return this.say(inc, { kind: 'change', request, ...own, ...wish })
  }

  /** The backup wants to take over. @returns what it hears in answer at once */
  take(): FromHub[] {
    return this.change(2, { expect: 2, primary: 2, backup: 0, why: 'takeover' })
  }

  get challenges(): Challenge[] {
    return this.heard(1, 'challenge')
  }

  /** @param from  the number of the member whose stream says it */
  answer(other: Partial<Challenge> = {}, from = 1): void {
    const { epoch, nonce } = { ...this.challenges.at(-1)!, ...other }
    this.say(from, { kind: 'alive', session: this.id, epoch, nonce })
  }

  /** A datagram goes through the relay. */
  relay(from: number, to: number): void {
    this.desk.bytes(this.stream(from), frameRelay(to, new Uint8Array(30)))
  }

  /** The primary says how fast it is. */
  measure(ms: number): void {
    this.desk.go(ASK_MS - (this.desk.now % ASK_MS))
    const { nonce } = this.heard(1, 'areYouAlive').at(-1)!
    this.desk.go(ms)
    this.say(1, { kind: 'yes', session: this.id, epoch: 2, nonce, players: 3 })
  }

  get register(): Register {
    return this.desk.hub.registers.rows.get(this.id)!.entry.register
  }

  attachAgain(inc: number): void {
    this.#streams[inc - 1] = this.desk.open()
    this.desk.attach(this.stream(inc), this.id, inc)
  }
}

const ADA = { epoch: 2, primary: 1, backup: 2 }
const BEA = { epoch: 3, primary: 2, backup: 0 }

describe('a takeover while the stream of the primary stands', () => {
  test('T23, T36: by a backup that lies, it is vetoed, however often it is asked for (SE-3)', () => {
    const room = new Room()
    for (let n = 0; n < 40; n++) {
      const asked = room.challenges.length
      room.take()
      if (room.challenges.length > asked) {
        room.answer()
        room.relay(1, 2)
      }
      room.desk.go(100)
    }
    expect(room.register).toEqual(ADA)
    expect(room.heard(2, 'alive').length).toBe(40)
    expect(room.challenges.length).toBeLessThanOrEqual((40 * 100) / AGAIN_MS + 1)
  })

  test('T36: by a backup that another floods, it is vetoed, each time that it is asked for (SE-3)', () => {
    const room = new Room()
    for (let n = 0; n < 10; n++) {
      for (let i = 0; i < 100; i++) room.relay(3, 2)
      room.take()
      room.answer()
      room.relay(1, 2)
      room.desk.go(VETO_MS)
    }
    expect(room.register).toEqual(ADA)
  })

  test('T36: of a primary that is frozen is granted after the bound, and not before (SE-3)', () => {
    const room = new Room()
    expect(room.take()).toEqual([])
    expect(room.challenges).toMatchObject([{ session: room.id, epoch: 2 }])
    room.desk.go(CHALLENGE_MAX_MS - 1)
    expect(room.register).toEqual(ADA)
    room.desk.go(1)
    expect(room.register).toEqual(BEA)
    expect(room.heard(2, 'register').at(-1)).toMatchObject({ ok: true, register: BEA })
    expect(room.heard(3, 'register').at(-1)).toMatchObject({ request: 0, register: BEA })
  })

  test.each([
    ['near', 1, CHALLENGE_MIN_MS],
    ['at some distance', 50, 170],
    ['far away', 400, CHALLENGE_MAX_MS],
  ])('a primary that is %s has a bound of its own (SE-3)', (_where, rtt, bound) => {
    const room = new Room()
    room.measure(rtt)
    room.take()
    room.desk.go(bound - 1)
    expect(room.register).toEqual(ADA)
    room.desk.go(1)
    expect(room.register).toEqual(BEA)
    expect(boundOf(rtt)).toBe(bound)
  })

  test('T36: is granted as soon as that stream closes (SE-3)', () => {
    const room = new Room()
    room.take()
    room.desk.go(10)
    room.desk.close(room.stream(1))
    expect(room.register).toEqual(BEA)
    expect(room.heard(2, 'register').at(-1)).toMatchObject({ ok: true, register: BEA })
  })

  test('asked for again and again it is one: one challenge, one answer, the newest (SE-3)', () => {
    const room = new Room()
    for (let n = 0; n < 5; n++) room.take()
    expect(room.challenges.length).toBe(1)
    room.answer()
    expect(room.heard(2, 'alive')).toEqual([{ kind: 'alive', request: 16, session: room.id }])
    room.answer()
    expect(room.heard(2, 'alive').length).toBe(1)
    expect(room.desk.hub.counters.vetoes).toBe(1)
  })

  test('requests do not put off the bound (SE-3)', () => {
    const room = new Room()
    for (let n = 0; n < 5; n++) {
      room.take()
      room.desk.go(CHALLENGE_MAX_MS / 5)
    }
    expect(room.register).toEqual(BEA)
  })
})

describe('an answer to a challenge', () => {
  test('counts from the stream of the primary alone, and of this challenge (SE-3)', () => {
    const room = new Room()
    room.take()
    const [{ nonce }] = room.challenges as [Challenge]
    room.answer({}, 3)
    room.answer({}, 2)
    room.answer({ epoch: 1 })
    room.answer({ nonce: nonce + 1 })
    expect(room.desk.hub.counters.forged).toBe(2)
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.heard(2, 'alive')).toEqual([])
    expect(room.register).toEqual(BEA)
  })

  test('unasked is worth nothing (SE-3)', () => {
    const room = new Room()
    room.say(1, { kind: 'alive', session: room.id, epoch: 2, nonce: 1 })
    room.take()
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.register).toEqual(BEA)
  })

  test('may come by the next stream of the primary, which is asked anew (SE-3)', () => {
    const room = new Room()
    room.take()
    const before = room.challenges.at(-1)!
    room.attachAgain(1)
    expect(room.challenges).toEqual([before])
    room.answer()
    room.desk.go(VETO_MS / 2)
    expect(room.register).toEqual(ADA)
  })
})

describe('a veto', () => {
  test('lapses when no datagram came to the backup for a second (SE-3)', () => {
    const room = new Room()
    room.take()
    room.answer()
    // None of these is one of the primary to its backup.
    room.relay(2, 1)
    room.relay(1, 3)
    room.relay(3, 2)
    room.desk.go(VETO_MS - 1)
    room.take()
    expect(room.register).toEqual(ADA)
    room.answer()
    room.desk.go(AGAIN_MS)
    expect(room.take().at(-1)).toMatchObject({ ok: true, register: BEA })
  })

  test('lapses also while the primary is being asked again (SE-3)', () => {
    const room = new Room()
    room.take()
    room.answer()
    room.desk.go(VETO_MS - 1)
    room.take()
    room.desk.go(1)
    room.answer()
    expect(room.register).toEqual(BEA)
  })

  test('holds when one came, also where nothing passes the relay for long after it (SE-3)', () => {
    const room = new Room()
    room.take()
    room.answer()
    room.relay(1, 2)
    for (let n = 0; n < 30; n++) room.measure(5)
    expect(room.take()).toEqual([])
    room.answer()
    room.desk.go(AGAIN_MS)
    expect(room.register).toEqual(ADA)
  })

  test('of one epoch says nothing of the next (SE-3)', () => {
    const room = new Room()
    room.take()
    room.answer()
    room.change(1, { expect: 2, primary: 1, backup: 0, why: 'drop' })
    room.change(1, { expect: 3, primary: 1, backup: 2, why: 'add' })
    room.desk.go(VETO_MS)
    expect(room.change(2, { expect: 4, primary: 2, backup: 0, why: 'takeover' })).toEqual([])
    expect(room.challenges.at(-1)).toMatchObject({ epoch: 4 })
  })
})

describe('a takeover that is asked for', () => {
  test('T77: is lost when the primary drops its backup before it is granted (SE-3)', () => {
    const room = new Room()
    room.take()
    room.change(1, { expect: 2, primary: 1, backup: 0, why: 'drop' })
    expect(room.heard(2, 'register').at(-1)).toMatchObject({
      ok: false,
      register: { epoch: 3, primary: 1, backup: 0 },
    })
    room.desk.go(VETO_MS)
    expect(room.register).toEqual({ epoch: 3, primary: 1, backup: 0 })
  })

  test('T77: waits for a disk that has a change of the primary, and is lost then (SE-3)', () => {
    const room = new Room()
    room.desk.atOnce = false
    room.take()
    room.change(1, { expect: 2, primary: 1, backup: 0, why: 'drop' })
    room.desk.close(room.stream(1))
    room.desk.write()
    expect(room.register).toEqual({ epoch: 3, primary: 1, backup: 0 })
    expect(room.heard(2, 'register').at(-1)).toMatchObject({ ok: false })
  })

  test('T77: holds only once the disk has it (SE-3)', () => {
    const room = new Room()
    room.desk.atOnce = false
    room.take()
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.register).toEqual(ADA)
    room.answer()
    expect(room.heard(2, 'alive')).toEqual([])
    room.desk.write()
    expect(room.register).toEqual(BEA)
  })

  test('ends with the stream that asked for it (SE-3)', () => {
    const room = new Room()
    room.take()
    room.desk.close(room.stream(2))
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.register).toEqual(ADA)
    room.attachAgain(2)
    room.take()
    expect(room.challenges.length).toBe(2)
  })

  test('counts only by the stream of the backup (SE-3)', () => {
    const room = new Room()
    room.desk.close(room.stream(1))
    const own = { session: room.id, inc: 2, proof: proof(2), expect: 2, primary: 2, backup: 0 }
    const message = { kind: 'change', request: 1, ...own, why: 'takeover' } as const
    const answers = room.desk.say(room.desk.open(), message)
    expect(answers).toMatchObject([{ kind: 'register', ok: false }])
  })

  test('needs nobody to be asked where the stream of the primary is gone (SE-3)', () => {
    const room = new Room()
    room.desk.close(room.stream(1))
    expect(room.take().at(-1)).toMatchObject({ ok: true, register: BEA })
  })

  test('T25: of a hub that was killed meanwhile is forgotten, and asked for anew (SE-3)', () => {
    const room = new Room()
    room.take()
    room.desk.restart()
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.register).toEqual(ADA)
    room.attachAgain(1)
    room.attachAgain(2)
    room.take()
    expect(room.challenges.length).toBe(1)
    room.answer()
    expect(room.register).toEqual(ADA)
  })

  test('T25: at a hub that does not know the stream of the primary yet is granted (SE-3)', () => {
    const room = new Room()
    room.desk.restart()
    room.attachAgain(2)
    expect(room.take().at(-1)).toMatchObject({ ok: true, register: BEA })
    room.attachAgain(1)
    expect(room.heard(1, 'attached').at(-1)).toMatchObject({ register: BEA })
  })

  test.each([
    ['hand-over', { expect: 2, primary: 2, backup: 0, why: 'handover' }],
    ['end', { expect: 2, primary: 1, backup: 0, why: 'end' }],
  ] as const)('a %s of the primary is granted as ever (SE-3)', (_what, wish) => {
    const room = new Room()
    expect(room.change(1, wish).find(({ kind }) => kind === 'register')).toMatchObject({ ok: true })
    expect(room.challenges).toEqual([])
  })
})

describe('what is kept of a takeover (PR-2)', () => {
  test('one that is free ends what was asked before: it is made once, and not again (PR-2)', () => {
    const room = new Room()
    room.take()
    room.answer()
    room.desk.go(VETO_MS - 1)
    room.take()
    room.desk.go(1)
    expect(room.take().at(-1)).toMatchObject({ ok: true, register: BEA })
    room.desk.go(CHALLENGE_MAX_MS)
    expect(room.heard(2, 'register').filter(({ ok }) => !ok)).toEqual([])
    expect(room.desk.hub.counters.conflicts).toBe(0)
  })
  test('a veto is the answer until a quarter of a second is over, to the millisecond (PR-2)', () => {
    const room = new Room()
    room.take()
    room.answer()
    room.relay(1, 2)
    room.desk.go(AGAIN_MS - 1)
    room.take()
    expect(room.challenges.length).toBe(1)
    room.desk.go(1)
    room.take()
    expect(room.challenges.length).toBe(2)
  })
  test('each veto obliges anew: what was sent before it was asked proves nothing (PR-2)', () => {
    const room = new Room()
    room.relay(1, 2)
    room.take()
    room.answer()
    room.relay(1, 2)
    room.desk.go(AGAIN_MS)
    room.take()
    room.answer()
    room.desk.go(VETO_MS - 1)
    expect(room.take()).toEqual([])
    room.answer()
    room.desk.go(1)
    expect(room.take().at(-1)).toMatchObject({ ok: true, register: BEA })
  })
  test('who asked asks anew by its next stream, and others change nothing of it (PR-2)', () => {
    const room = new Room()
    room.take()
    room.attachAgain(3)
    room.desk.close(room.stream(3))
    expect([room.register, room.challenges.length]).toEqual([ADA, 1])
    room.attachAgain(2)
    room.take()
    expect(room.challenges.length).toBe(2)
    expect(room.challenges[0]!.nonce).not.toBe(room.challenges[1]!.nonce)
  })
  test('nothing is kept of an epoch that is over (PR-2)', () => {
    const room = new Room()
    room.take()
    room.answer()
    expect(room.desk.hub.registers.vetoes.size).toBe(1)
    room.change(1, { expect: 2, primary: 1, backup: 0, why: 'drop' })
    const { vetoes, challenges } = room.desk.hub.registers
    expect([vetoes.size, challenges.size]).toEqual([0, 0])
  })
  test('by a stream that does not speak for the backup nobody is asked (PR-2)', () => {
    const room = new Room()
    const own = { session: room.id, inc: 2, proof: proof(2), expect: 2, primary: 2, backup: 0 }
    const message = { kind: 'change', request: 1, ...own, why: 'takeover' } as const
    expect(room.desk.say(room.desk.open(), message)).toMatchObject([{ ok: false }])
    expect(room.challenges).toEqual([])
  })
  test('T23: a primary changes its own register on whatever stream (PR-2)', () => {
    const room = new Room()
    const own = { session: room.id, inc: 1, proof: proof(1), expect: 2, primary: 1, backup: 0 }
    const message = { kind: 'change', request: 1, ...own, why: 'drop' } as const
    expect(room.desk.say(room.desk.open(), message)).toMatchObject([{ ok: true }])
  })
  test('of many that are asked the first that is due says when (PR-2)', () => {
    const { registers } = new Desk().hub
    expect(challenge.deadline(registers)).toBe(Infinity)
    const demand = { kind: 'change', request: 1, inc: 2, proof: proof(2), expect: 2 } as const
    for (const [session, until] of Object.entries({ a: 300, b: 200, c: 400 })) {
      const wish = { ...demand, session, primary: 2, backup: 0, why: 'takeover' } as const
      const asked = { nonce: 1, askedAt: 0, until, connection: 1, demand: wish }
      registers.challenges.set(session, asked)
    }
    expect(challenge.deadline(registers)).toBe(200)
    const due = challenge.takeDue(registers, 300).map(({ demand: { session } }) => session)
    expect(due).toEqual(['a', 'b'])
    expect(challenge.deadline(registers)).toBe(400)
  })
})

describe('an answer that the machine hears', () => {
  type Said = { session: string; epoch: number; nonce: number }

  /** bea has asked; the register may have gone on since. */
  function heard(said: Partial<Said>, from: number, epoch = 2, asked = true): unknown {
    const room = new Room()
    if (asked) room.take()
    const { registers } = room.desk.hub
    room.register.epoch = epoch
    const nonce = room.challenges.at(-1)?.nonce ?? 1
    const whole = { session: room.id, epoch, nonce, ...said }
    return calmly(() => challenge.answer(registers, 5, whole, from))
  }
  test('is the veto of the primary, in that epoch, with that nonce (PR-2)', () => {
    expect(heard({}, 1)).toMatchObject({ isVeto: true, challenge: { demand: { inc: 2 } } })
  })
  test.each<[string, Partial<Said>, number, number?, boolean?]>([
    ['of another member', {}, 2],
    ['of another session', { session: 'none' }, 1],
    ['of another epoch', { epoch: 1 }, 1],
    ['with another nonce', { nonce: 99 }, 1],
    ['of an epoch that came since', {}, 1, 3],
    ['that nobody asked for', {}, 1, 2, false],
  ])('%s is none (PR-2)', (_what, said, from, epoch, asked) => {
    expect(heard(said, from, epoch, asked)).toBe(null)
  })
})
