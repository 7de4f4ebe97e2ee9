// Goal: the register changes by compare-and-set alone, for those who may, and forgets nothing.
// Method: the machine by itself; a crash is a directory made anew from the records.
import { describe, expect, test } from 'vitest'
import { digest, proofOf } from '../wire/digest.ts'
import type { Listed } from './messages.ts'
import * as register from './register.ts'
import { type Demand, type Directory, EPOCH_MAX } from './register.ts'

const secret = (inc: number): Uint8Array => new Uint8Array(16).fill(inc)
const proof = (inc: number): Uint8Array => proofOf(secret(inc), 'register')
const hash = (inc: number): Uint8Array => digest(proof(inc))
const link = (inc: number): Uint8Array => new Uint8Array(32).fill(inc)

const listed = (inc: number): Listed => {
  return { inc, player: inc, hash: hash(inc), link: link(inc), key: link(inc) }
}

const WISH: register.Wish = {
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
  directory: Directory = register.create(0)
  readonly records = new Map<string, Uint8Array>()
  readonly out: register.DirectoryOut = {
    send: () => {},
    record: (session) => this.#keep(session),
    emit: () => {},
  }

  constructor() {
    register.add(this.directory, 0, WISH, 's', this.out)
    const members = [1, 2, 3].map((inc) => listed(inc))
    register.setMembers(this.directory, 's', 1, members, this.out)
  }

  // A disk that takes everything at once.
  #keep(session: string): void {
    const bytes = register.recordOf(this.directory, session)
    if (bytes) this.records.set(session, bytes)
    else this.records.delete(session)
    register.kept(this.directory, 0, session, this.out)
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
    for (const bytes of this.records.values()) register.restore(this.directory, 0, bytes)
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
    const refuse = (directory: Directory, session: string): void => {
      register.recordOf(directory, session)
      expect(register.unkept(directory, session)).toBe(true)
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
    const out = { send: () => {}, record: () => {}, emit: () => {} }
    register.add(directory, 0, WISH, 't', out)
    register.recordOf(directory, 't')
    register.kept(directory, 0, 't', out)
    const members = [1, 2].map((inc) => listed(inc))
    register.setMembers(directory, 't', 1, members, out)
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

  test('a record that is none of ours is refused', () => {
    expect(register.restore(register.create(0), 0, Uint8Array.of(1, 2, 3))).toBe(false)
  })

  test('epochs end below the largest', () => {
    const desk = new Desk()
    register.find(desk.directory, 's')!.entry.register.epoch = EPOCH_MAX
    expect(desk.change({ why: 'drop', expect: EPOCH_MAX })).toBe(false)
  })

  test('the list of members is taken from the registered primary alone', () => {
    const desk = new Desk()
    const members = [listed(9)]
    expect(register.setMembers(desk.directory, 's', 2, members, desk.out)).toBe(false)
    expect(register.admits(desk.directory, 's', 9, proof(9))).toBe(false)
    expect(register.admits(desk.directory, 's', 2, proof(2))).toBe(true)
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
    for (const inc of [1, 2, 3]) register.present(desk.directory, AT, 's', inc, true)
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
    register.present(desk.directory, AT, 's', 3, false)
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
    register.kept(desk.directory, later, 's', desk.out)
    expect(row.entry.register).toEqual({ epoch: 2, primary: 2, backup: 0 })
    expect(recover(desk, later + register.RECOVER_MS, 3, 2)).toBe(false)
    expect(recover(desk, later + register.RECOVER_MS + 1, 3, 2)).toBe(true)
  })
  test('T24: YES_I_AM counts from the primary of this epoch alone (PR-2)', () => {
    const desk = recoverable(true)
    const answer = { session: 's', epoch: 1, nonce: 5, players: 1 }
    const yes = (epoch: number, from: number): boolean =>
      register.yes(desk.directory, AT + 1, { ...answer, epoch }, from)
    expect([yes(0, 1), yes(2, 1), yes(1, 2)]).toEqual([false, false, false])
    expect(register.find(desk.directory, 's')!.lastYes).toBe(AT)
    expect(yes(1, 1)).toBe(true)
    expect(register.find(desk.directory, 's')!).toMatchObject({ lastYes: AT + 1, heard: 5 })
  })
})

test('a room is free again when its primary is gone and no backup is there (PR-2)', () => {
  const opens = (backedUp: boolean): boolean => {
    const desk = new Desk()
    register.present(desk.directory, 0, 's', 1, true)
    if (backedUp) desk.change({ why: 'add', backup: 2 })
    register.present(desk.directory, 0, 's', 1, false)
    register.add(desk.directory, register.GONE_MS + 1, WISH, 't', desk.out)
    return desk.directory.rows.has('t')
  }
  expect(opens(false)).toBe(true)
  expect(opens(true)).toBe(false)
})
