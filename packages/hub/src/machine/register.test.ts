// Goal: the register changes by compare-and-set alone, for those who may, and forgets nothing.
// Method: the machine by itself; a crash is a directory made anew from the records.
import { describe, expect, test } from 'vitest'
import { digest, proofOf } from '../../../holdfast/src/wire/digest.ts'
import { calmly } from '../../../../test/calmly.ts'
import { EPOCH_MAX, type Listed } from '../../../holdfast/src/hub-protocol/messages.ts'
import * as register from './register.ts'
import { type Demand, type Registers } from './register.ts'
import type { SessionRecord } from './records.ts'

const secret = (inc: number): Uint8Array => new Uint8Array(16).fill(inc)
const proof = (inc: number): Uint8Array => proofOf(secret(inc), 'register')
const hash = (inc: number): Uint8Array => digest(proof(inc))
const link = (inc: number): Uint8Array => new Uint8Array(32).fill(inc)

const listed = (inc: number): Listed => {
  return { inc, player: inc, hash: hash(inc), link: link(inc), key: link(inc) }
}

const QUIET = { send: () => {}, record: () => {} }
const WISH: register.SessionOptions = {
  game: 'g',
  room: 'r',
  playersMax: 3,
  recovers: false,
  topology: 'star',
  terms: '',
  hash: hash(1),
  link: link(1),
  key: link(1),
}

class Desk {
  directory: Registers = register.create(0)
  readonly records = new Map<string, SessionRecord>()
  readonly out: register.RegisterOut = {
    send: () => {},
    record: () => this.#keep('s'),
  }

  constructor() {
    register.add(this.directory, 0, WISH, 's', this.out)
    const members = [1, 2, 3].map((inc) => listed(inc))
    register.setMembers(this.directory, 's', 1, { members, players: 3 }, this.out)
  }

  // A disk that takes everything at once.
  #keep(session: string): void {
    const record = register.recordOf(this.directory, session)
    if (record) this.records.set(session, structuredClone(record))
    else this.records.delete(session)
    register.confirmWrite(this.directory, 0, session)
  }

  change(demand: Partial<Demand>): boolean {
    const inc = demand.inc ?? 1
    const whole = { session: 's', inc, proof: proof(inc), primary: inc, backup: 0, expect: 1 }
    const asked = { ...whole, why: 'drop' as const, ...demand }
    return register.change(this.directory, 0, asked, this.out)
  }

  now(): string {
    const { epoch, primary, backup } = register.find(this.directory, 's')!.entry.register
    return `${epoch} ${primary} ${backup}`
  }

  restart(): void {
    this.directory = register.create(0)
    for (const record of this.records.values()) register.restore(this.directory, 0, record)
  }
}

describe('the register', () => {
  test('T23: it changes only for whoever knows the epoch, and the epoch rises by one', () => {
    const desk = new Desk()
    expect(desk.change({ why: 'add', backup: 2, expect: 2 })).toBe(false)
    expect(desk.change({ why: 'add', backup: 2 })).toBe(true)
    expect(desk.change({ why: 'add', backup: 2 })).toBe(false)
    expect(desk.now()).toBe('2 1 2')
  })

  test('T28: nobody changes it without the secret of a member that may', () => {
    const desk = new Desk()
    desk.change({ why: 'add', backup: 2 })
    const tried: Partial<Demand>[] = [
      { why: 'takeover', inc: 2, proof: proof(3) },
      { why: 'takeover', inc: 3 },
      { why: 'takeover', inc: 1 },
      { why: 'takeover', inc: 2, primary: 3 },
      { why: 'takeover', inc: 2, backup: 3 },
      { why: 'drop', inc: 2 },
      { why: 'drop', inc: 1, primary: 2 },
      { why: 'add', inc: 1, backup: 9 },
      { why: 'add', inc: 2, backup: 3 },
      { why: 'end', inc: 2 },
      { why: 'handover', inc: 2, primary: 2 },
      { why: 'handover', inc: 1, primary: 3 },
      { why: 'handover', inc: 1, primary: 2, backup: 3 },
      { why: 'recover', inc: 3 },
    ]
    for (const demand of tried) expect(desk.change({ expect: 2, ...demand })).toBe(false)
    expect(desk.now()).toBe('2 1 2')
    expect(desk.change({ why: 'takeover', inc: 2, expect: 2 })).toBe(true)
    expect(desk.now()).toBe('3 2 0')
  })

  test('T4: a primary may hand over to its backup, and to nobody else', () => {
    const desk = new Desk()
    desk.change({ why: 'add', backup: 2 })
    expect(desk.change({ why: 'handover', inc: 1, primary: 2, expect: 2 })).toBe(true)
    expect(desk.now()).toBe('3 2 0')
    expect(desk.change({ why: 'handover', inc: 2, primary: 3, expect: 3 })).toBe(false)
  })

  test('T4: without a backup there is nobody to hand over to (PR-2)', () => {
    const desk = new Desk()
    expect(desk.change({ why: 'handover', inc: 1, primary: 0 })).toBe(false)
    expect(desk.now()).toBe('1 1 0')
  })

  test('T23: a change that the disk refuses never was, and a session that it refuses is gone (PR-2)', () => {
    const refuse = (directory: Registers, session: string): void => {
      register.recordOf(directory, session)
      expect(register.failWrite(directory, session)).toBe(true)
    }
    const desk = new Desk()
    const out = { ...desk.out, record: () => {} }
    const demand = { session: 's', inc: 1, proof: proof(1), primary: 1, backup: 2, expect: 1 }
    const add = (): boolean => {
      return register.change(desk.directory, 0, { ...demand, why: 'add' }, out)
    }
    expect(add()).toBe(true)
    refuse(desk.directory, 's')
    expect(register.find(desk.directory, 's')?.entry.register).toMatchObject({
      epoch: 1,
      backup: 0,
    })
    expect(add()).toBe(true)
    register.add(desk.directory, 0, { ...WISH, room: 'other' }, 't', out)
    refuse(desk.directory, 't')
    expect(register.find(desk.directory, 't')).toBe(null)
  })

  test('the list of members is written as it is while no change waits (PR-2)', () => {
    const directory = register.create(0)
    const out = { send: () => {}, record: () => {} }
    register.add(directory, 0, WISH, 't', out)
    register.recordOf(directory, 't')
    register.confirmWrite(directory, 0, 't')
    const members = [1, 2].map((inc) => listed(inc))
    register.setMembers(directory, 't', 1, { members, players: 2 }, out)
    const written = (): register.Row | null => {
      const again = register.create(0)
      register.restore(again, 0, register.recordOf(directory, 't')!)
      return register.find(again, 't')
    }
    expect(written).not.toThrow()
    expect(written()!.members).toEqual(members)
    expect(written()!.entry.register).toEqual({ epoch: 1, primary: 1, backup: 0 })
  })

  test('all that was answered is there after a crash', () => {
    const desk = new Desk()
    desk.change({ why: 'add', backup: 2 })
    desk.restart()
    expect(desk.now()).toBe('2 1 2')
    expect(desk.change({ why: 'takeover', inc: 2, expect: 2 })).toBe(true)
    desk.restart()
    expect(desk.now()).toBe('3 2 0')
    expect(desk.change({ why: 'drop', inc: 1, expect: 3 })).toBe(false)
  })

  test('epochs end below the largest', () => {
    const desk = new Desk()
    register.find(desk.directory, 's')!.entry.register.epoch = EPOCH_MAX
    expect(desk.change({ why: 'drop', expect: EPOCH_MAX })).toBe(false)
  })

  test('the list of members is taken from the registered primary alone', () => {
    const desk = new Desk()
    const row = register.find(desk.directory, 's')!
    const members = [listed(9)]
    expect(register.setMembers(desk.directory, 's', 2, { members, players: 1 }, desk.out)).toBe(
      false,
    )
    expect(register.admits(row, 9, proof(9))).toBe(false)
    expect(register.admits(row, 2, proof(2))).toBe(true)
  })
})

describe('a register whose session may be recovered', () => {
  const AT = 20_000

  /** Its primary said YES_I_AM at such a time; 2 is its backup where one is wanted. */
  function recoverable(backedUp: boolean): Desk {
    const desk = new Desk()
    const row = register.find(desk.directory, 's')!
    row.recovers = true
    row.lastYes = AT
    for (const inc of [1, 2, 3]) register.setPresent(desk.directory, AT, 's', inc, true)
    if (backedUp) Object.assign(row.entry.register, { epoch: 1, backup: 2 })
    return desk
  }

  function recover(desk: Desk, now: number, inc: number, expected = 1): boolean {
    const whole = { session: 's', inc, proof: proof(inc), primary: inc, backup: 0 }
    const demand = { ...whole, expect: expected, why: 'recover' as const }
    return register.change(desk.directory, now, demand, desk.out)
  }

  test('T43: only when the primary was silent for longer than the time, to the millisecond (PR-1)', () => {
    expect(recover(recoverable(false), AT + register.RECOVER_MS, 3)).toBe(false)
    expect(recover(recoverable(false), AT + register.RECOVER_MS + 1, 3)).toBe(true)
  })
  test('T30: only by a member whose stream is here (PR-2)', () => {
    const desk = recoverable(false)
    register.setPresent(desk.directory, AT, 's', 3, false)
    expect(recover(desk, AT + register.RECOVER_MS + 1, 3)).toBe(false)
    expect(recover(desk, AT + register.RECOVER_MS + 1, 2)).toBe(true)
  })
  test('T43: a takeover puts off a recovery: the new primary tells from then on (PR-1)', () => {
    const desk = recoverable(true)
    const row = register.find(desk.directory, 's')!
    const takeover = { session: 's', inc: 2, proof: proof(2), primary: 2, backup: 0, expect: 1 }
    const later = AT + register.RECOVER_MS
    const out = { ...desk.out, record: () => {} }
    register.change(desk.directory, later, { ...takeover, why: 'takeover' }, out)
    register.recordOf(desk.directory, 's')
    register.confirmWrite(desk.directory, later, 's')
    expect(row.entry.register).toEqual({ epoch: 2, primary: 2, backup: 0 })
    expect(recover(desk, later + register.RECOVER_MS, 3, 2)).toBe(false)
    expect(recover(desk, later + register.RECOVER_MS + 1, 3, 2)).toBe(true)
  })
  test('T24: YES_I_AM counts from the primary of this epoch alone (PR-2)', () => {
    const desk = recoverable(true)
    const answer = { session: 's', epoch: 1, nonce: 5, players: 1 }
    const yes = (epoch: number, from: number): boolean =>
      register.receiveYes(desk.directory, AT + 1, { ...answer, epoch }, from)
    expect([yes(0, 1), yes(2, 1), yes(1, 2)]).toEqual([false, false, false])
    expect(register.find(desk.directory, 's')!.lastYes).toBe(AT)
    expect(yes(1, 1)).toBe(true)
    expect(register.find(desk.directory, 's')!).toMatchObject({ lastYes: AT + 1, heard: 5 })
  })
})

test('a room is free again when its primary is gone and no backup is there (PR-2)', () => {
  const opens = (backedUp: boolean): boolean => {
    const desk = new Desk()
    register.setPresent(desk.directory, 0, 's', 1, true)
    if (backedUp) desk.change({ why: 'add', backup: 2 })
    register.setPresent(desk.directory, 0, 's', 1, false)
    return register.findAlive(desk.directory, register.GONE_MS + 1, WISH) === null
  }
  expect(opens(false)).toBe(true)
  expect(opens(true)).toBe(false)
})

describe('what a change of the register does besides (PR-2)', () => {
  /** A session on disk whose primary answered in 40 ms, and was missed since. */
  function known(backup = 2): { directory: Registers; row: register.Row } {
    const directory = register.create(0)
    register.add(directory, 0, WISH, 's', QUIET)
    register.recordOf(directory, 's')
    register.confirmWrite(directory, 0, 's')
    const row = register.find(directory, 's')!
    row.members = [1, 2, 3].map((inc) => listed(inc))
    Object.assign(row.entry.register, { backup })
    Object.assign(row, { rttMs: 40, missed: 9, goneAt: 5 })
    row.entry.standing = 'unreachable'
    return { directory, row }
  }

  function change(directory: Registers, demand: Partial<Demand>, now = 100): boolean {
    const inc = demand.inc ?? 1
    const whole = { session: 's', inc, proof: proof(inc), primary: inc, backup: 0, expect: 1 }
    const asked = { ...whole, why: 'drop' as const, ...demand }
    return calmly(() => register.change(directory, now, asked, QUIET))
  }

  test.each([
    ['drop', 1, 40],
    ['takeover', 2, null],
  ] as const)(
    '%s is a word of the primary, whose round trip stays as long as it serves',
    (why, inc, rtt) => {
      const { directory, row } = known()
      expect(change(directory, { why, inc })).toBe(true)
      register.recordOf(directory, 's')
      expect(register.confirmWrite(directory, 100, 's')).toBe('changed')
      const now = { epoch: 2, primary: inc, backup: 0 }
      expect(row).toMatchObject({ rttMs: rtt, missed: 0, goneAt: Infinity, lastYes: 100 })
      expect([row.entry.register, row.entry.standing]).toEqual([now, 'open'])
    },
  )
  test('an end is told, and leaves nothing of the session but others of its game (PR-2)', () => {
    const { directory } = known()
    const others = [{ ...WISH, room: 'other' }, WISH]
    register.add(directory, 0, others[0]!, 't', QUIET)
    expect(directory.places.size).toBe(3)
    expect(change(directory, { why: 'end' })).toBe(true)
    register.recordOf(directory, 's')
    expect(calmly(() => register.confirmWrite(directory, 0, 's'))).toBe('ended')
    expect([...directory.places.values()].map((ids) => [...ids])).toEqual([['t'], ['t']])
    expect(register.inRoom(directory, WISH)).toBe(null)
    expect(register.inRoom(directory, others[0]!)?.entry.session).toBe('t')
  })
  test('a new session is no news, for nobody is there yet (PR-2)', () => {
    const directory = register.create(0)
    register.add(directory, 0, WISH, 's', QUIET)
    // The disk has not been asked yet.
    expect(register.confirmWrite(directory, 0, 's')).toBe(null)
    expect(register.failWrite(directory, 's')).toBe(false)
    register.recordOf(directory, 's')
    expect(register.confirmWrite(directory, 0, 's')).toBe('begun')
  })
  test('T23: while one waits for the disk no other is taken, and no question is asked (PR-2)', () => {
    const { directory, row } = known()
    expect(change(directory, {})).toBe(true)
    expect(change(directory, {})).toBe(false)
    expect(calmly(() => register.endSession(directory, 's', QUIET))).toBe(false)
    const asked: register.Question[] = []
    const out = {
      ...QUIET,
      send: (_to: number, question: register.Question) => void asked.push(question),
    }
    register.wake(directory, register.ASK_MS, out)
    expect(asked).toEqual([])
    row.pending = null
    register.wake(directory, 2 * register.ASK_MS, out)
    expect(asked).toEqual([{ kind: 'areYouAlive', session: 's', nonce: 1, heard: 0 }])
  })
  test('of a session that is not there nothing can be changed or said (PR-2)', () => {
    const { directory } = known()
    const none = { session: 'none', epoch: 1, nonce: 0, players: 1 }
    const nothing = (run: () => unknown): void => expect(calmly(run)).toBeFalsy()
    nothing(() => change(directory, { session: 'none' }))
    nothing(() => register.endSession(directory, 'none', QUIET))
    nothing(() => register.recordOf(directory, 'none'))
    nothing(() => register.confirmWrite(directory, 0, 'none'))
    nothing(() => register.failWrite(directory, 'none'))
    nothing(() => register.setMembers(directory, 'none', 1, { members: [], players: 0 }, QUIET))
    nothing(() => register.receiveYes(directory, 0, none, 1))
    nothing(() => register.setPresent(directory, 0, 'none', 1, true))
    nothing(() => change(directory, { inc: 9 }))
  })
  test.each<[string, Partial<Demand>]>([
    ['adds in the name of another', { why: 'add', primary: 2, backup: 2 }],
    ['adds nobody that is a member', { why: 'add', backup: 9 }],
    ['drops and names another', { why: 'drop', backup: 3 }],
    ['drops in the name of another', { why: 'drop', primary: 2 }],
    ['hands over to nobody', { why: 'handover', primary: 0 }],
    ['takes over and keeps a backup', { why: 'takeover', inc: 2, backup: 3 }],
    ['takes over for another', { why: 'takeover', inc: 2, primary: 1 }],
    ['ends what it backs', { why: 'end', inc: 2 }],
    ['takes over with the secret of another', { why: 'takeover', inc: 2, proof: proof(1) }],
  ])('T28: whoever %s is refused (PR-2)', (_who, demand) => {
    const { directory } = known()
    expect(change(directory, demand)).toBe(false)
  })
  test('T43: who recovers is here, is not the primary, speaks for itself, and where it may be (PR-2)', () => {
    const late = register.RECOVER_MS + 101
    const recovers = (demand: Partial<Demand>, allowed = true, inc = 3): boolean => {
      const { directory, row } = known()
      row.recovers = allowed
      row.lastYes = 100
      row.present = new Set([1, 2, 3])
      return change(directory, { why: 'recover', inc, ...demand }, late)
    }
    expect(recovers({})).toBe(true)
    expect(recovers({}, false)).toBe(false)
    expect(recovers({ backup: 2 })).toBe(false)
    expect(recovers({ primary: 2 })).toBe(false)
    expect(recovers({}, true, 1)).toBe(false)
    expect(recovers({}, true, 2)).toBe(true)
  })
})

describe('the standing of a session (PR-2)', () => {
  test('is full with as many players as it has places, however many members those are (PR-2)', () => {
    const desk = new Desk()
    const list = (players: number[], said: number): [number, string] => {
      const members = players.map((player, at) => ({ ...listed(at + 1), player }))
      register.setMembers(desk.directory, 's', 1, { members, players: said }, QUIET)
      const { players: count, standing } = register.find(desk.directory, 's')!.entry
      return [count, standing]
    }
    expect(list([1, 2], 2)).toEqual([2, 'open'])
    // The primary says how many players those are: others watch.
    expect(list([1, 2, 2], 2)).toEqual([2, 'open'])
    expect(list([1, 2, 3], 3)).toEqual([3, 'full'])
    expect(list([1, 2, 3, 4], 4)).toEqual([4, 'full'])
    expect(list([1, 2], 9)).toEqual([2, 'open'])
  })
  test('T24: is unreachable after three questions without an answer, and not after two (PR-2)', () => {
    const desk = new Desk()
    const row = register.find(desk.directory, 's')!
    const standings = [1, 2, 3, 4].map((count) => {
      register.wake(desk.directory, count * register.ASK_MS - 1, desk.out)
      const before = row.missed
      register.wake(desk.directory, count * register.ASK_MS, desk.out)
      return [before, row.missed, row.entry.standing]
    })
    expect(standings).toEqual([
      [0, 1, 'full'],
      [1, 2, 'full'],
      [2, 3, 'full'],
      [3, 4, 'unreachable'],
    ])
  })
  test('is none any more after an hour of silence, and not a moment before (PR-2)', () => {
    const removed = (now: number): boolean => {
      const desk = new Desk()
      desk.directory.asking.dueAt = now
      register.wake(desk.directory, now, { ...desk.out, record: () => {} })
      return register.find(desk.directory, 's')!.pending?.register === null
    }
    expect([removed(register.FORGET_MS), removed(register.FORGET_MS + 1)]).toEqual([false, true])
  })
  test('the hub need not wake for sessions that are not there (PR-2)', () => {
    const directory = register.create(0)
    expect(register.deadline(directory)).toBe(Infinity)
    register.add(directory, 0, WISH, 's', QUIET)
    expect(register.deadline(directory)).toBe(register.ASK_MS)
  })
})

describe('the round trip to a primary (PR-2)', () => {
  test('is the first, and of later ones an eighth each; only an answer in time measures it (PR-2)', () => {
    const desk = new Desk()
    const row = register.find(desk.directory, 's')!
    const says = (nonce: number, now: number): number | null => {
      register.receiveYes(desk.directory, now, { session: 's', epoch: 1, nonce, players: 1 }, 1)
      return row.rttMs
    }
    // Nobody has asked.
    expect(says(0, 5)).toBe(null)
    const asks = (now: number): number => {
      register.wake(desk.directory, (desk.directory.asking.dueAt = now), desk.out)
      return row.nonce
    }
    const first = asks(1_000)
    expect(says(first + 1, 1_500)).toBe(null)
    expect(says(asks(2_000), 2_080)).toBe(80)
    // Said again it measures nothing.
    expect(says(row.nonce, 2_500)).toBe(80)
    expect(says(asks(3_000), 3_160)).toBe(90)
  })
})

describe('a room whose primary is gone', () => {
  type Case = { recovers?: boolean; here?: number[]; ms?: number; unreachable?: boolean }

  /** Whether somebody who asks gets it, and opens no other. */
  function lives({
    recovers = false,
    here = [],
    ms = register.GONE_MS,
    unreachable = false,
  }: Case): boolean {
    const desk = new Desk()
    const row = register.find(desk.directory, 's')!
    row.recovers = recovers
    for (const inc of here) register.setPresent(desk.directory, 0, 's', inc, true)
    register.setPresent(desk.directory, 0, 's', 1, true)
    register.setPresent(desk.directory, 0, 's', 2, false)
    expect(row.goneAt).toBe(Infinity)
    if (!here.includes(1)) register.setPresent(desk.directory, 0, 's', 1, false)
    if (unreachable) row.entry.standing = 'unreachable'
    return register.findAlive(desk.directory, ms, WISH) !== null
  }
  test('lives for three seconds, to the millisecond (PR-2)', () => {
    expect(lives({})).toBe(true)
    expect(lives({ ms: register.GONE_MS + 1 })).toBe(false)
  })
  test('lives on while another member is here that may recover it (PR-2)', () => {
    const late = { ms: register.GONE_MS + 1, unreachable: true }
    expect(lives({ ...late, here: [3], recovers: true })).toBe(true)
    expect(lives({ ...late, here: [3], recovers: false })).toBe(false)
    expect(lives({ ...late, here: [1], recovers: true })).toBe(false)
    expect(lives({ ...late, recovers: true })).toBe(false)
  })
  test('does not when it is unreachable, though its stream stands (PR-2)', () => {
    expect(lives({ here: [1] })).toBe(true)
    expect(lives({ here: [1], unreachable: true })).toBe(false)
  })
})
