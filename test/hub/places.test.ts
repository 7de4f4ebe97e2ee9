// Goal: a place has one record, which changes only by compare-and-set: whatever the store answers,
// no request is answered by a change that is not in it, and none that is in it as one that lost.
// Method: hubs by hand on one disk that answers as the test says; random requests at two of them.
import { describe, expect, test } from 'vitest'
import {
  type FromHub,
  NOT_NEXT,
  type Register,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { StoreChange, StoreOutcome } from '../../packages/holdfast/src/ports.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { encodePlace, readPlace } from '../../packages/hub/src/machine/places.ts'
import { importRoom } from '../../packages/hub/src/machine/room-files.ts'
import { ASK_MS, GONE_MS, MISSED_MAX } from '../../packages/hub/src/machine/register.ts'
import { close } from '../../packages/hub/src/machine/closed-rooms.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { Desk, listed, OPEN, proof } from './desk.ts'
import { Kept } from './kept-room.ts'
import { PlainDisk } from './plain-disk.ts'

const PLACE = { game: 'g', room: 'main' }
const MAIN = '1 g main'
const NOBODY = { epoch: 0, primary: 0 }
const FULL = new HoldfastError('store', 'the disk is full')

const backup = (session: string, expected = 1): ToHub => {
  const change = { kind: 'change', request: 9, session, inc: 1, proof: proof(1) } as const
  return { ...change, expect: expected, primary: 1, backup: 2, why: 'add' }
}

/** Two hubs that have the same disk. */
function pair(): { disk: PlainDisk; one: Desk; two: Desk } {
  const disk = new PlainDisk()
  return { disk, one: new Desk({}, { disk, boot: 1 }), two: new Desk({}, { disk, boot: 1_001 }) }
}

function sessionsOn({ records }: PlainDisk): Record<string, string> {
  return Object.fromEntries(
    Array.from(records, ([key, { value }]) => [key, readPlace(value)!.session.entry.session]),
  )
}

describe('a change', () => {
  const answers: [string, (desk: Desk) => (change: StoreChange) => StoreOutcome][] = [
    [
      'whose answer is lost',
      ({ disk }) =>
        (change) => {
          disk.change(change)
          return 'unknown'
        },
    ],
    [
      'that the store loses twice',
      ({ disk }) => {
        let lost = 0
        return (change) => (++lost <= 2 ? 'unknown' : disk.change(change))
      },
    ],
    [
      'that the store repeats, and calls a defeat',
      ({ disk }) =>
        (change) => {
          disk.change(change)
          return 'conflict'
        },
    ],
  ]
  test.each(answers)('%s is answered once, as made', (_what, answer) => {
    const desk = new Desk()
    desk.store = answer(desk)
    const { id, streams } = desk.session(2)
    const before = desk.heard.get(streams[0]!)!.length
    desk.say(streams[0]!, backup(id))
    const told = desk.heard.get(streams[0]!)!.slice(before)
    expect(told).toMatchObject([
      { kind: 'register', request: 9, ok: true, register: { epoch: 2, backup: 2 } },
      { kind: 'register', request: 0, register: { epoch: 2, backup: 2 } },
    ])
    desk.restart()
    expect(desk.hub.registers.rows.get(id)!.entry.register).toMatchObject({ epoch: 2, backup: 2 })
    expect(desk.hub.counters.lost).toBe(0)
  })

  test('that lost against another hub is refused with the register that won, and all hear of it', () => {
    const { disk, one, two } = pair()
    const { id, streams } = one.session(2)
    two.restart()
    const elsewhere = two.open()
    two.attach(elsewhere, id, 1)
    two.say(elsewhere, {
      kind: 'members',
      session: id,
      members: [listed(1), listed(2)],
      players: 2,
    })
    two.say(elsewhere, backup(id))
    const before = one.heard.get(streams[1]!)!.length
    const drop = { ...backup(id), backup: 0, why: 'drop' } as const
    expect(one.say(streams[0]!, drop)).toMatchObject([
      { kind: 'register', request: 0, register: { epoch: 2, backup: 2 } },
      { kind: 'register', request: 9, ok: false, register: { epoch: 2, backup: 2 } },
    ])
    expect(one.heard.get(streams[1]!)!.slice(before)).toMatchObject([{ register: { epoch: 2 } }])
    expect([one.hub.counters.lost, disk.records.size]).toEqual([1, 1])
  })

  test('of the list of members that lost is written again, by the hub of the primary', () => {
    const { disk, one, two } = pair()
    const { id, streams } = one.session(1)
    two.restart()
    const invite = { kind: 'members', session: id, players: 2 } as const
    // A change of the other hub that the primary knows nothing of.
    const row = two.hub.registers.rows.get(id)!
    row.entrants.push({ id: 't', key: new Uint8Array(32).fill(7), rights: 1 })
    two.out.record(MAIN)
    two.write()
    one.say(streams[0]!, { ...invite, members: [listed(1), listed(2), listed(3)] })
    const { session } = readPlace(disk.records.get(MAIN)!.value)!
    expect([session.members.length, session.entrants.length]).toEqual([3, 1])
  })
})

test('a hub without the primary takes over its list of members', () => {
  const { one, two } = pair()
  const { id, streams } = one.session(1)
  two.restart()
  one.say(streams[0]!, {
    kind: 'members',
    session: id,
    members: [listed(1), listed(2)],
    players: 2,
  })
  two.out.record(MAIN)
  two.write()
  expect(two.hub.registers.rows.get(id)).toMatchObject({ entry: { players: 2 }, unsaved: [] })
  expect(two.attach(two.open(), id, 2)).toMatchObject([{ kind: 'attached' }])
})

test('who could not open a stored room ends nothing when it goes', () => {
  const room = new Kept()
  room.keep('whole ', 1)
  room.leaves()
  const { desk, id } = room
  const stream = desk.open()
  desk.store = () => FULL
  room.ask(stream, 2)
  expect(desk.heard.get(stream)!.at(-1)).toMatchObject({ why: 'the disk is full' })
  desk.store = (change) => desk.disk.change(change)
  desk.close(stream)
  expect([...desk.hub.registers.rows.keys()]).toEqual([id])
})

test('of two hubs that found one room at once one founds it, and the other leads its process there', () => {
  const { disk, one, two } = pair()
  one.atOnce = two.atOnce = false
  const [a, b] = [one.open(), two.open()]
  one.add(a)
  two.add(b, 'main', 2)
  two.write()
  one.write()
  const [loses] = one.heard.get(a)!.slice(-1)
  const [wins] = two.heard.get(b)!.slice(-1)
  expect(wins).toMatchObject({ kind: 'added', created: true })
  expect(loses).toMatchObject({ kind: 'added', created: false })
  const { session } = (wins as FromHub & { kind: 'added' }).entry
  expect((loses as FromHub & { kind: 'added' }).entry.session).toBe(session)
  expect(sessionsOn(disk)).toEqual({ [MAIN]: session })
  // What the loser spent on its session is given back.
  expect(one.hub.connections.get(a)).toMatchObject({ created: 0 })
})

test('of two hubs that open one stored room at once one opens it, and the other ends nothing', () => {
  const { disk, one, two } = pair()
  const room = new Kept(one)
  room.keep('whole ', 1)
  room.leaves()
  one.go(120_000)
  two.now = one.now
  two.restart()
  const there = Object.assign(Object.create(Kept.prototype) as Kept, { desk: two, room: 'main' })
  one.atOnce = two.atOnce = false
  const [a, b] = [one.open(), two.open()]
  room.ask(a, 2)
  there.ask(b, 3)
  one.write()
  two.write()
  const [wins, loses] = [room.added(one.heard.get(a)!), there.added(two.heard.get(b)!)]
  expect([wins?.created, loses?.created ?? false]).toEqual([true, false])
  one.atOnce = two.atOnce = true
  one.attach(a, room.id, wins!.entry.register.primary, 2)
  two.close(b)
  two.go(1_000)
  expect(readPlace(disk.records.get(MAIN)!.value)).toMatchObject({ lasts: true })
})

describe('a dead session in whose room somebody founds another', () => {
  const found = (desk: Desk): FromHub => desk.add(desk.open(), 'main', 2).at(-1)!
  const left = (): { desk: Desk; id: string } => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    desk.close(streams[0]!)
    desk.go(GONE_MS + 1)
    return { desk, id }
  }

  /** Its primary does not answer, but speaks. */
  const deaf = (): { desk: Desk; id: string; streams: number[] } => {
    const desk = new Desk()
    const made = desk.session(1)
    desk.go((MISSED_MAX + 2) * ASK_MS)
    return { desk, ...made }
  }

  test('goes on under another name when its members come back (PR-2)', () => {
    const { desk, id } = left()
    const added = found(desk) as FromHub & { kind: 'added' }
    expect(added).toMatchObject({ created: true, entry: { room: 'main' } })
    const aside = `1 g main~${id}`
    expect(sessionsOn(desk.disk)).toEqual({ [aside]: id, [MAIN]: added.entry.session })
    desk.restart()
    const back = desk.open()
    expect(desk.attach(back, id, 1)).toMatchObject([{ kind: 'attached', register: { epoch: 1 } }])
    expect(desk.say(back, backup(id))).toMatchObject([{ ok: false }])
    const drop = { ...backup(id), backup: 0, why: 'drop' } as const
    expect(desk.say(back, drop)[0]).toMatchObject({ ok: true, register: { epoch: 2 } })
  })

  test('stays where the disk refuses its new name, and whoever asked hears so', () => {
    const { desk, id } = left()
    desk.store = () => FULL
    expect(found(desk)).toMatchObject({ kind: 'refused', why: 'the disk is full' })
    desk.store = (change) => desk.disk.change(change)
    expect(sessionsOn(desk.disk)).toEqual({ [MAIN]: id })
    expect(desk.attach(desk.open(), id, 1)).toMatchObject([{ kind: 'attached' }])
  })

  test('has moved, where the hub dies between the two writes', () => {
    const { desk, id } = left()
    dying(desk)
    found(desk)
    expect(Object.values(sessionsOn(desk.disk))).toEqual([id, id])
    reborn(desk)
    expect(desk.attach(desk.open(), id, 1)).toMatchObject([{ kind: 'attached' }])
    expect(sessionsOn(desk.disk)).toEqual({ [`1 g main~${id}`]: id })
  })

  test('lets nobody in while the disk has it at two places', () => {
    const { desk, id } = left()
    desk.store = (change) => (change.value ? desk.disk.change(change) : FULL)
    desk.atOnce = false
    const founder = desk.open()
    desk.add(founder, 'main', 2)
    desk.write()
    expect(desk.heard.get(founder)!.at(-1)).toMatchObject({ why: 'the disk is full' })
    const back = desk.open()
    expect(desk.attach(back, id, 1)).toEqual([])
    desk.store = (change) => desk.disk.change(change)
    desk.write()
    expect(desk.heard.get(back)!.at(-1)).toMatchObject({ kind: 'attached' })
    expect(sessionsOn(desk.disk)).toEqual({ [`1 g main~${id}`]: id })
  })

  test('is written with whom its primary listed meanwhile', () => {
    const { desk, id, streams } = deaf()
    desk.atOnce = false
    desk.add(desk.open(), 'main', 2)
    const aside = hub.beginWrite(desk.hub, `1 g main~${id}`)!
    const members = [listed(1), listed(2)]
    desk.say(streams[0]!, { kind: 'members', session: id, members, players: 2 })
    hub.confirmWrite(desk, aside.key, (desk.disk.change(aside) as { rev: number }).rev)
    desk.write()
    desk.restart()
    expect(desk.hub.registers.rows.get(id)!.members).toHaveLength(2)
  })

  test('costs its founder one room, and of two requests the newest is answered', () => {
    const registrations = { max: 1, perSecond: 1 }
    const desk = new Desk({ address: { registrations } })
    const { streams } = desk.session(1)
    desk.close(streams[0]!)
    desk.go(GONE_MS + 1)
    const founder = desk.open()
    desk.atOnce = false
    desk.add(founder, 'main', 2)
    const { hash, link } = listed(2)
    const wish = { ...OPEN, game: 'g', room: 'main', playersMax: 4, recovers: false, terms: '' }
    desk.say(founder, { kind: 'add', request: 7, topology: 'star', ...wish, hash, link })
    desk.write()
    expect(desk.heard.get(founder)!.at(-1)).toMatchObject({ request: 7, created: true })
  })

  test('is asked for by its new name while it moves: that is answered then', () => {
    const { desk, id } = left()
    desk.atOnce = false
    desk.add(desk.open(), 'main', 2)
    const other = desk.open()
    desk.add(other, `main~${id}`, 3)
    expect(desk.heard.get(other)!.at(-1)).toMatchObject({ kind: 'signs' })
    desk.write()
    expect(desk.heard.get(other)!.at(-1)).toMatchObject({ kind: 'refused' })
  })

  test('waits while a write of its place is in progress, and is nowhere lost (N-2)', () => {
    const { desk, id, streams } = deaf()
    desk.atOnce = false
    const members = [listed(1), listed(2)]
    desk.say(streams[0]!, { kind: 'members', session: id, members, players: 2 })
    const change = hub.beginWrite(desk.hub, MAIN)!
    desk.owed.clear()
    const founder = desk.open()
    desk.add(founder, 'main', 2)
    expect([...desk.owed]).toEqual([])
    hub.confirmWrite(desk, MAIN, (desk.disk.change(change) as { rev: number }).rev)
    desk.write()
    expect(desk.heard.get(founder)!.at(-1)).toMatchObject({ kind: 'added', created: true })
    desk.restart()
    expect([...desk.hub.registers.rows.keys()]).toContain(id)
  })

  test('ends where its room is closed while it moves (SE-4)', () => {
    const { desk, id } = left()
    desk.atOnce = false
    desk.add(desk.open(), 'main', 2)
    close(desk, PLACE, { why: 'closed', until: desk.now + 60_000 })
    desk.write()
    expect([desk.hub.registers.rows.has(id), desk.disk.records.size]).toEqual([false, 0])
  })
})

// Records of new places are made, and the hub dies before it hears so.
function dying(desk: Desk): void {
  desk.store = (change) => {
    const outcome = desk.disk.change(change)
    return change.key === MAIN ? outcome : FULL
  }
}

function reborn(desk: Desk): void {
  desk.store = (change) => desk.disk.change(change)
  desk.restart()
}

test('a stored room that was about to be renamed has its new name, and its segments', () => {
  const room = new Kept()
  room.keep('whole ', 1)
  room.leaves()
  const { desk, id } = room
  dying(desk)
  room.ask(desk.open(), 2, { fresh: true })
  expect(Object.keys(sessionsOn(desk.disk))).toHaveLength(2)
  reborn(desk)
  const [key, ...others] = Object.keys(sessionsOn(desk.disk))
  expect([key, others, desk.disk.blobs.size]).toEqual([`1 g main~${id}`, [], 1])
  expect(room.opens(3)).toMatchObject({ opened: null })
  const aside = desk.open()
  const segments = room
    .ask(aside, 4, { room: `main~${id}` })
    .filter(({ kind }) => kind === 'segment')
  expect(segments).toHaveLength(1)
})

test('a room is founded once the stored one before it is gone, and is free again then', () => {
  const room = new Kept()
  room.keep('whole ', 1)
  const { desk, founder, id } = room
  const end = { expect: 1, primary: 1, backup: 0, why: 'end' } as const
  desk.say(founder, { kind: 'change', request: 3, session: id, inc: 1, proof: proof(1), ...end })
  desk.atOnce = false
  close(desk, PLACE, { why: 'closed', until: desk.now })
  const next = desk.open()
  room.ask(next, 2)
  desk.write()
  const added = room.added(desk.heard.get(next)!)!
  expect([added.created, added.opened, desk.hub.archive.rooms.size]).toEqual([true, null, 0])
})

test('a room that is imported and at once started over is kept under its other name', () => {
  const desk = new Desk()
  desk.atOnce = false
  const entrants = { recovers: true, hosts: false, entrants: [] }
  const played = { epoch: 9, next: 7, time: 5_000, index: 3, segments: [Uint8Array.of(1)] }
  const saved = {
    ...PLACE,
    session: 'abc-1',
    playersMax: 4,
    terms: 'keep=30',
    ...entrants,
    ...played,
  }
  expect(importRoom(desk, { ...saved, topology: 'star' }, PLACE)).toBe(null)
  const founder = desk.open()
  const { hash, link } = listed(2)
  const wish = { ...OPEN, ...PLACE, playersMax: 4, recovers: false, terms: '', hash, link }
  desk.say(founder, { kind: 'add', request: 7, topology: 'star', ...wish, fresh: true })
  desk.write()
  expect(desk.heard.get(founder)!.at(-1)).toMatchObject({ request: 7, created: true })
  expect(Object.keys(sessionsOn(desk.disk)).toSorted()).toEqual([MAIN, `${MAIN}~abc-1`])
  expect(desk.disk.blobs.size).toBe(1)
})

test('no epoch is given twice, where the hub dies as a session ends', () => {
  const room = new Kept()
  room.keep('whole ', 1)
  const { desk, founder, id } = room
  desk.say(founder, { kind: 'members', session: id, members: [listed(1), listed(2)], players: 2 })
  desk.say(founder, backup(id))
  const last = { expect: 2, primary: 1, backup: 0, why: 'end' } as const
  desk.atOnce = false
  desk.say(founder, { kind: 'change', request: 3, session: id, inc: 1, proof: proof(1), ...last })
  desk.disk.change(hub.beginWrite(desk.hub, MAIN)!)
  desk.atOnce = true
  desk.restart()
  desk.go(120_000)
  const { heard } = room.opens()
  expect(room.added(heard)!.entry.register.epoch).toBe(3)
})

test('a segment whose write lost is answered, and the next one too', () => {
  const { disk, one } = pair()
  const room = new Kept(one)
  room.keep('whole ', 1)
  one.atOnce = false
  room.keep('one ', 2)
  const change = hub.beginWrite(one.hub, MAIN)!
  room.keep('two ', 3)
  const { value, rev } = disk.records.get(MAIN)!
  const known = readPlace(value)!
  disk.change({ key: MAIN, rev, value: encodePlace({ ...known, boot: 77 }), blobs: [] })
  const before = one.heard.get(room.founder)!.length
  expect(disk.change(change)).toBe('conflict')
  hub.settleWrite(one, MAIN, disk.records.get(MAIN)!)
  const kept = one.heard.get(room.founder)!.slice(before)
  expect(kept).toMatchObject([
    { kind: 'kept', index: 2, why: NOT_NEXT },
    { kind: 'kept', index: 3, why: NOT_NEXT },
  ])
})

test('a segment that comes while its room moves is not stored at two places', () => {
  const desk = new Desk()
  const room = new Kept(desk)
  desk.go((MISSED_MAX + 2) * ASK_MS)
  desk.atOnce = false
  room.ask(desk.open(), 2)
  room.keep('whole ', 1)
  desk.write()
  const records = [...desk.disk.records.values()].map(({ value }) => readPlace(value)!)
  expect([records.length, records.filter(({ stored }) => stored).length]).toEqual([2, 0])
})

describe('two hubs that change the same places while the store loses answers', () => {
  const SEEDS = 300
  const STEPS = 60

  test(`say nothing that is not so, in ${SEEDS} random runs`, () => {
    let lost = 0
    for (let seed = 1; seed <= SEEDS; seed++) lost += run(seed, faulty)
    expect(lost).toBeGreaterThan(SEEDS / 2)
  })

  test.each([
    ['a change that ignores the revision', careless],
    ['a lost change that is called made', hopeful],
  ])('a planted fault is found: %s', (_what, store) => {
    const all = (): void => {
      for (let seed = 1; seed <= SEEDS; seed++) run(seed, store)
    }
    expect(all).toThrow(/is told of|is not on the disk/)
  })

  type Store = (disk: PlainDisk, random: prng.Prng) => Desk['store']

  function faulty(disk: PlainDisk, random: prng.Prng): Desk['store'] {
    return (change) => {
      const dice = prng.below(random, 10)
      if (dice === 0) return 'unknown'
      if (dice === 1) return FULL
      const outcome = disk.change(change)
      if (dice === 2) return 'unknown'
      return dice === 3 ? 'conflict' : outcome
    }
  }

  function careless(disk: PlainDisk, random: prng.Prng): Desk['store'] {
    const store = faulty(disk, random)
    return (change) => store({ ...change, rev: disk.records.get(change.key)?.rev ?? 0 })
  }

  function hopeful(disk: PlainDisk, random: prng.Prng): Desk['store'] {
    const store = faulty(disk, random)
    return (change) => {
      const outcome = store(change)
      return outcome === 'conflict' ? { rev: disk.records.get(change.key)?.rev ?? 1 } : outcome
    }
  }

  /** @returns how many changes lost */
  function run(seed: number, store: Store): number {
    const random = prng.create(seed)
    const { disk, one, two } = pair()
    const desks = [one, two]
    for (const desk of desks) desk.store = store(disk, random)
    const told = new Told()
    const streams = desks.map((desk) => [1, 2, 3].map(() => desk.open()))
    for (let step = 0; step < STEPS; step++) {
      const at = prng.below(random, 2)
      const inc = 1 + prng.below(random, 3)
      if (prng.chance(random, 0.03)) {
        desks[at]!.restart()
        streams[at] = [1, 2, 3].map(() => desks[at]!.open())
      }
      ask(desks[at]!, streams[at]![inc - 1]!, inc, random)
      for (const { heard } of desks) for (const said of heard.values()) told.hear(said.splice(0))
    }
    told.compare(disk)
    return one.hub.counters.lost + two.hub.counters.lost
  }
})

// A member, or who wants to be one, says one of the things that change a record.
function ask(desk: Desk, stream: number, inc: number, random: prng.Prng): void {
  const { rows } = desk.hub.registers
  const session = rows.size > 0 ? prng.pick(random, [...rows.keys()]) : ''
  const { epoch, primary } = rows.get(session)?.entry.register ?? NOBODY
  const members = [1, 2, 3].map((each) => listed(each))
  const own = { kind: 'change', request: 9, session, inc, proof: proof(inc) } as const
  const why = primary === inc ? 'drop' : 'takeover'
  const says = [
    () => desk.add(stream, prng.pick(random, ['main', 'other']), inc),
    () => desk.attach(stream, session, inc),
    () => desk.say(stream, { kind: 'members', session, members, players: 3 }),
    () =>
      desk.say(stream, { ...own, expect: epoch, primary: inc, backup: (inc % 3) + 1, why: 'add' }),
    () => desk.say(stream, { ...own, expect: epoch, primary: inc, backup: 0, why }),
  ]
  prng.pick(random, says)()
}

/** What both hubs told of sessions. */
class Told {
  readonly #roles = new Map<string, string>()
  readonly #newest = new Map<string, number>()

  hear(said: readonly FromHub[]): void {
    for (const message of said) {
      if (message.kind === 'register') this.#take(message.session, message.register)
      if (message.kind === 'added') this.#take(message.entry.session, message.entry.register)
    }
  }

  /** It is on the disk, or something newer of the same session. */
  compare({ records }: PlainDisk): void {
    const entries = Array.from(records.values(), ({ value }) => readPlace(value)!.session.entry)
    for (const [session, epoch] of this.#newest) {
      const known = entries.find((entry) => entry.session === session)?.register.epoch ?? 0
      if (known < epoch) throw new Error(`epoch ${epoch} of ${session} is not on the disk`)
    }
  }

  #take(session: string, { epoch, primary, backup: second }: Register): void {
    const roles = `${primary} ${second}`
    const known = this.#roles.get(`${session} ${epoch}`) ?? roles
    if (known !== roles) throw new Error(`${session} is told of ${known} and ${roles}`)
    this.#roles.set(`${session} ${epoch}`, roles)
    this.#newest.set(session, Math.max(this.#newest.get(session) ?? 0, epoch))
  }
}
