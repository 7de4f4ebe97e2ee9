// Goal: of the hubs of a shared store one decides about a place at a time, and no lease rests on
// what a hub said that the others had taken for dead.
// Method: hubs by hand on one disk, which are killed, stand still, come back and lose answers.
import { describe, expect, test } from 'vitest'
import {
  type FromHub,
  HUB_VERSION,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { BEAT_MS, STILL_MS, SUSPECT_MS } from '../../packages/hub/src/machine/heartbeat.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { importRoom } from '../../packages/hub/src/machine/room-files.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { ASK_MS, GONE_MS, RECOVER_MS } from '../../packages/hub/src/machine/register.ts'
import { ABANDONED_MS } from '../../packages/hub/src/machine/tender.ts'
import { Desk, listed, proof } from './desk.ts'
import { Kept } from './kept-room.ts'
import { PlainDisk } from './plain-disk.ts'
import {
  GONE,
  halfMoved,
  heartbeatsOn,
  hubs,
  lastOf,
  MAIN,
  pass,
  reads,
  recovery,
  tenderOf,
  wakes,
} from './shared-hubs.ts'

describe('a heartbeat', () => {
  /** A primary that answers each question at once. @returns what it was told that it was heard */
  function answering(desk: Desk): { told: () => number; answers: (ms: number) => void } {
    const { id, streams } = desk.session(1)
    const [stream] = streams
    const asked = (): FromHub[] => desk.heard.get(stream!)!
    let answered = 0
    const answers = (ms: number): void => {
      for (let left = ms; left > 0; left -= 100) {
        desk.go(100)
        for (const one of asked().slice(answered)) {
          if (one.kind !== 'areYouAlive') continue
          desk.say(stream!, { kind: 'yes', session: id, epoch: 1, nonce: one.nonce, players: 1 })
        }
        answered = asked().length
      }
    }
    const told = (): number => {
      const last = asked().findLast(({ kind }) => kind === 'areYouAlive')
      return last?.kind === 'areYouAlive' ? last.heard : 0
    }
    return { told, answers }
  }

  test('that begins later confirms what the hub heard of a primary', () => {
    const [one] = hubs(1)
    const { told, answers } = answering(one!)
    answers(2 * ASK_MS)
    expect(told()).toBe(1)
    one!.store = () => GONE
    answers(3 * ASK_MS)
    // What came before the store went away counts, and nothing that came after.
    expect(told()).toBe(2)
    expect(hub.isCutOff(one!.hub, one!.now)).toBe(true)
    one!.store = (change) => one!.disk.change(change)
    answers(2 * ASK_MS)
    expect([told(), hub.isCutOff(one!.hub, one!.now)]).toEqual([6, false])
  })

  test('comes before the first room of a hub', () => {
    const disk = new PlainDisk()
    const desk = new Desk({}, { disk, isShared: true })
    const stream = desk.open()
    expect(desk.add(stream)).toEqual([])
    expect([...disk.records.keys()]).toEqual([])
    desk.go(0)
    expect(lastOf(desk, stream)).toMatchObject({ kind: 'added', created: true })
  })

  test('whose answer is lost is the same one again', () => {
    const [one, two] = hubs()
    let lost = 0
    one!.store = (change) => {
      const made = one!.disk.change(change)
      return lost++ % 2 === 0 ? 'unknown' : made
    }
    pass(5 * STILL_MS, one!, two!)
    expect([one!.hub.counters.fenced, heartbeatsOn(one!)]).toEqual([0, ['hub 1', 'hub rt']])
  })

  test('a hub that leaves removes it, and its rooms are free at once', () => {
    const [one, two] = hubs()
    const { id, streams } = one!.session(2)
    reads(two!)
    pass(BEAT_MS, one!, two!)
    hub.leave(one!)
    one!.write()
    expect(heartbeatsOn(one!)).toEqual(['hub rt'])
    const stream = two!.open()
    two!.attach(stream, id, 2)
    pass(BEAT_MS, two!)
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'attached' })
    pass(5 * BEAT_MS, one!)
    expect(heartbeatsOn(one!)).toEqual(['hub rt'])
    // It does not tell its streams that the store is gone.
    expect(one!.heard.get(streams[0]!)).not.toContainEqual({ kind: 'store', answers: false })
  })

  test('is removed by a hub that leaves, also if the store takes that only later', () => {
    const [one] = hubs(1)
    one!.store = () => GONE
    hub.leave(one!)
    one!.write()
    expect(heartbeatsOn(one!)).toEqual(['hub 1'])
    one!.store = (change) => one!.disk.change(change)
    pass(2 * BEAT_MS, one!)
    expect(heartbeatsOn(one!)).toEqual([])
  })

  test('waits for its answer until the next one, so one lost answer fences nobody', () => {
    const [one] = hubs(1)
    one!.atOnce = false
    one!.go(BEAT_MS)
    expect(hub.beginWrite(one!.hub, 'hub 1')!.within).toBe(BEAT_MS)
  })

  test('that is on its way as its hub leaves is made, and removed then', () => {
    const [one] = hubs(1)
    one!.atOnce = false
    one!.go(BEAT_MS)
    one!.owed.delete('hub 1')
    const change = hub.beginWrite(one!.hub, 'hub 1')!
    hub.leave(one!)
    hub.confirmWrite(one!, 'hub 1', (one!.disk.change(change) as { rev: number }).rev)
    one!.write()
    expect(heartbeatsOn(one!)).toEqual([])
  })
})

describe('a hub that was killed', () => {
  test('is fenced, and its rooms go to the hub that is asked for them', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    expect(two!.attach(stream, id, 2)).toEqual([])
    pass(STILL_MS - BEAT_MS, two!)
    expect([tenderOf(two!), heartbeatsOn(two!).length]).toEqual([1, 2])
    pass(3 * BEAT_MS, two!)
    expect([tenderOf(two!), heartbeatsOn(two!)]).toEqual([1_001, ['hub rt']])
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'attached', register: { epoch: 1 } })
  })

  test('is fenced within 0.7 s of its last heartbeat if streams to it fail', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    pass(BEAT_MS, one!, two!)
    hub.receiveNews(two!, 'hub 1', two!.disk.records.get('hub 1')!)
    hub.suspect(two!.hub, two!.now, 1)
    pass(SUSPECT_MS - 100, two!)
    expect(tenderOf(two!)).toBe(1)
    pass(100, two!)
    expect([tenderOf(two!), heartbeatsOn(two!)]).toEqual([1_001, ['hub rt']])
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'attached', register: { epoch: 1 } })
  })

  test('leaves its lease: a room that was claimed can be recovered no sooner', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    pass(STILL_MS + 2 * BEAT_MS, two!)
    pass(RECOVER_MS - BEAT_MS, two!)
    expect(two!.say(stream, recovery(id))).toMatchObject([{ ok: false }])
    pass(2 * BEAT_MS, two!)
    expect(two!.say(stream, recovery(id))[0]).toMatchObject({ ok: true, register: { epoch: 2 } })
  })

  test('leaves rooms that nobody asks for: they end as after a restart', () => {
    const [one, two] = hubs()
    one!.session(1)
    reads(two!)
    pass(ABANDONED_MS, two!)
    expect(tenderOf(two!)).toBe(1)
    pass(STILL_MS + 2 * BEAT_MS, two!)
    expect(tenderOf(two!)).toBe(1_001)
    pass(200_000, two!)
    expect([...two!.disk.records.keys()]).toEqual(['hub rt'])
    expect([two!.hub.heartbeat!.hubs.size, two!.hub.elsewhere.size]).toEqual([0, 0])
  })

  test('in a move leaves a session at two places: both are claimed, and it has moved', () => {
    const { two, id, aside } = halfMoved()
    expect(tenderOf(two, aside)).toBe(1)
    const stream = two.open()
    two.attach(stream, id, 1)
    pass(STILL_MS + 3 * BEAT_MS, two)
    expect(lastOf(two, stream)).toMatchObject({ kind: 'attached' })
    expect([...two.disk.records.keys()]).toEqual(['hub rt', aside])
  })

  test('leaves a stored room, which is opened with its segments', () => {
    const [one, two] = hubs()
    const room = new Kept(one)
    room.keep('whole ', 1)
    reads(two!)
    pass(STILL_MS + 2 * BEAT_MS, two!)
    const there = Object.assign(Object.create(Kept.prototype) as Kept, { desk: two, room: 'main' })
    const stream = two!.open()
    there.ask(stream, 2)
    // As after a restart, its members may come back first.
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'added', created: false })
    pass(60_000, two!)
    expect(there.opens(3)).toMatchObject({ text: 'whole ' })
  })
})

test('a hub that nobody can reach any more is fenced by one hub only, and both may claim', () => {
  const [one, two, three] = hubs(3)
  const { id } = one!.session(3)
  for (const desk of [two!, three!]) reads(desk)
  const [a, b] = [two!.open(), three!.open()]
  two!.attach(a, id, 2)
  three!.attach(b, id, 3)
  pass(STILL_MS + 4 * BEAT_MS, two!, three!)
  const answered = [lastOf(two!, a), lastOf(three!, b)].map((last) => last?.kind)
  expect(answered).toEqual(['attached', 'signs'])
  expect([tenderOf(two!), three!.hub.elsewhere.get(MAIN)]).toMatchObject([1_001, { tender: 1_001 }])
})

test('while its tender lives, nobody takes a room over at another hub (SE-3)', () => {
  const [one, two] = hubs()
  const { id } = one!.session(2)
  reads(two!)
  const [stream, founder] = [two!.open(), two!.open()]
  two!.attach(stream, id, 2)
  two!.say(stream, recovery(id))
  two!.add(founder, 'main', 2)
  pass(4 * RECOVER_MS, one!, two!)
  expect([lastOf(two!, stream)?.kind, lastOf(two!, founder)?.kind]).toEqual(['signs', 'signs'])
  expect([tenderOf(two!), two!.hub.registers.rows.size]).toEqual([1, 0])
})

test('a room that another hub has founded is not founded again, nor imported over', () => {
  const [one, two] = hubs()
  one!.session(1)
  const stream = two!.open()
  expect(two!.add(stream, 'main', 2)).toEqual([])
  expect(two!.hub.connections.get(stream)).toMatchObject({ created: 0 })
  expect([tenderOf(two!), two!.hub.registers.rows.size]).toEqual([1, 0])
  const played = { epoch: 9, next: 7, time: 5_000, index: 3, segments: [], entrants: [] }
  const terms = { playersMax: 4, topology: 'star', terms: 'keep=30', recovers: true } as const
  const place = { game: 'g', room: 'main' }
  const saved = { ...place, session: 'abc-1', hosts: false, ...terms, ...played }
  expect(importRoom(two!, saved, place)).toBe('is there')
})

test('a stream that another hub passed on is not passed on again', () => {
  const [one, two] = hubs()
  one!.session(1)
  reads(two!)
  const guest = 999
  two!.heard.set(guest, [])
  hub.addStream(two!, guest, '10.1.1.1', true)
  two!.say(guest, { kind: 'hello', version: HUB_VERSION })
  two!.add(guest, 'main', 2)
  expect(two!.closed.get(guest)).toMatch(/another hub has this room/)
})

test('a hub tells of its store neither streams that another hub passed on, nor those without a hello', () => {
  const [, two] = hubs()
  const guest = (connection: number): FromHub[] => {
    const heard: FromHub[] = []
    two!.heard.set(connection, heard)
    hub.addStream(two!, connection, '10.1.1.1', true)
    two!.say(connection, { kind: 'hello', version: HUB_VERSION })
    return heard
  }
  const before = guest(998)
  const [own, mute] = [two!.open(), two!.dial()]
  two!.store = () => GONE
  pass(STILL_MS, two!)
  const after = guest(999)
  expect(lastOf(two!, own)).toEqual({ kind: 'store', answers: false })
  expect([before, after].map((heard) => heard.at(-1)?.kind)).toEqual(['signs', 'signs'])
  expect(two!.heard.get(mute)).toEqual([])
})

test('news that are older than what a hub has read change nothing', () => {
  const [one, two] = hubs()
  const { streams } = one!.session(1)
  const old = one!.disk.records.get(MAIN)!
  one!.say(streams[0]!, {
    ...{ kind: 'members', session: one!.hub.registers.rows.keys().next().value!, players: 2 },
    members: [listed(1), listed(2)],
  })
  reads(two!)
  hub.receiveNews(two!, MAIN, old)
  expect(two!.hub.elsewhere.get(MAIN)!.entry.players).toBe(2)
})

/** A stored room that one hub has renamed, and the other has under its former name. */
function renamed(): { two: Desk; room: Kept; there: Kept; aside: string } {
  const [one, two] = hubs()
  const room = new Kept(one)
  room.keep('whole ', 1)
  const end = { ...recovery(room.id), inc: 1, proof: proof(1), primary: 1, why: 'end' } as ToHub
  one!.say(room.founder, end)
  reads(two!)
  // A request for it fails, so that its record is in memory.
  const there = Object.assign(Object.create(Kept.prototype) as Kept, { desk: two, room: 'main' })
  there.ask(two!.open(), 5, { playersMax: 0 })
  expect(two!.hub.places.has(MAIN)).toBe(true)
  one!.go(60_000)
  two!.go(60_000)
  room.ask(one!.open(), 3, { fresh: true })
  return { two: two!, room, there, aside: `main~${room.id}` }
}

test('a stored room that another hub renamed is known by its new name alone', () => {
  const { two, room, aside } = renamed()
  for (const key of [`1 g ${aside}`, MAIN]) {
    hub.receiveNews(two, key, two.disk.records.get(key) ?? null)
  }
  expect([two.hub.moves.size, two.hub.archive.rooms.get(room.id)?.place]).toEqual([
    0,
    `1 g ${aside}`,
  ])
  expect(two.hub.elsewhere.get(MAIN)?.entry.session).not.toBe(room.id)
})

test('a room is found by the name that another hub gave it before any news of that', () => {
  const { two, room, there, aside } = renamed()
  const stream = two.open()
  there.ask(stream, 6, { room: aside })
  // The hub reads the record once more to open the room, and then its segments.
  for (let reads = 0; reads < 2; reads++) {
    two.read()
    two.write()
  }
  const heard = two.heard.get(stream)!
  expect(there.added(heard)?.entry).toMatchObject({ session: room.id, room: aside })
  expect(heard.at(-1)).toMatchObject({ kind: 'segment', of: 1 })
})

test('a name that is reserved for a former room is refused once the store has been read', () => {
  const { two, room, there, aside } = renamed()
  const refused = { kind: 'refused', why: expect.stringMatching(/reserved for a former room/) }
  const ask = (room: string): number => {
    const stream = two.open()
    there.ask(stream, 6, { room })
    return stream
  }
  // No hub moves the session to another name than its own, so the store is not asked.
  two.isRead = false
  expect(lastOf(two, ask(`other~${room.id}`))).toMatchObject(refused)
  expect(two.loads).toEqual([])
  // The store has nothing under that name, or something that no hub wrote.
  const key = `1 g ${aside}`
  for (const found of [null, { value: Uint8Array.of(1), rev: 1_000 }]) {
    two.disk.records.delete(key)
    if (found) two.disk.records.set(key, found)
    const stream = ask(aside)
    expect([lastOf(two, stream)?.kind, two.loads]).toEqual(['signs', [key]])
    two.read()
    expect(lastOf(two, stream)).toMatchObject(refused)
    expect([two.loads, two.hub.waiting.size]).toEqual([[], 0])
  }
})

describe('a request for a reserved name', () => {
  const keyOf = (id: string): string => `${MAIN}~${id}`
  const kinds = (desk: Desk, stream: number): string[] => desk.heard.get(stream)!.map((m) => m.kind)

  /** A dead session of one hub, which another one knows; `moves` founds a room in its place. */
  function dead(): { one: Desk; two: Desk; id: string; moves: () => void } {
    const [one, two] = hubs()
    const { id, streams } = one!.session(1)
    reads(two!)
    one!.recovers = false
    one!.close(streams[0]!)
    pass(GONE_MS + 100, one!, two!)
    const moves = (): void => void one!.add(one!.open(), 'main', 2)
    return { one: one!, two: two!, id, moves }
  }

  /** A hub with a stored room, whose record is in memory. */
  function stored(desk: Desk): Kept {
    const room = new Kept(desk)
    room.keep('whole ', 1)
    const end = { ...recovery(room.id), inc: 1, proof: proof(1), primary: 1, why: 'end' } as ToHub
    desk.say(room.founder, end)
    return room
  }

  test('finds a session that another hub moved before any news of that', () => {
    const { two, id, moves } = dead()
    moves()
    const stream = two.open()
    two.add(stream, `main~${id}`, 1)
    expect(two.hub.elsewhere.get(keyOf(id))).toMatchObject({ tender: 1 })
    // That hub is not reached, which refuses nothing.
    expect(kinds(two, stream)).toEqual(['welcome', 'signs'])
    pass(STILL_MS + 3 * BEAT_MS, two)
    expect(lastOf(two, stream)).toMatchObject({ kind: 'added', created: false })
  })

  test('finds a stored room, whose record is in memory, that another hub moved', () => {
    const [one, two] = hubs()
    const room = stored(one!)
    reads(two!)
    const there = Object.assign(Object.create(Kept.prototype) as Kept, { desk: two, room: 'main' })
    there.ask(two!.open(), 5, { playersMax: 0 })
    expect(two!.hub.archive.rooms.get(room.id)?.saved).not.toBe(null)
    one!.go(60_000)
    room.ask(one!.open(), 3, { fresh: true })
    const stream = two!.open()
    there.ask(stream, 6, { room: `main~${room.id}` })
    two!.write()
    expect(there.added(two!.heard.get(stream)!)?.entry).toMatchObject({
      session: room.id,
      room: `main~${room.id}`,
    })
  })

  test('waits for the hub that has it, if that is not reached', () => {
    const { two, id, moves } = dead()
    moves()
    reads(two)
    const stream = two.open()
    two.add(stream, `main~${id}`, 1)
    expect(two.loads).toEqual([keyOf(id)])
    two.read()
    expect(kinds(two, stream)).toEqual(['welcome', 'signs'])
    pass(STILL_MS + 3 * BEAT_MS, two)
    expect(lastOf(two, stream)).toMatchObject({ kind: 'added', created: false })
  })

  test('waits for the claim that reads it as well', () => {
    const { one, two, id, moves } = dead()
    // The hub dies in the middle of the move.
    one.store = (change) => (change.value ? one.disk.change(change) : GONE)
    moves()
    pass(STILL_MS + 2 * BEAT_MS, two)
    two.isRead = false
    const [former, member] = [two.open(), two.open()]
    two.add(former, `main~${id}`, 1)
    two.attach(member, id, 1)
    expect(two.loads).toEqual([keyOf(id), MAIN])
    two.read()
    two.write()
    expect(lastOf(two, former)).toMatchObject({ kind: 'added', created: false })
    expect(lastOf(two, member)).toMatchObject({ kind: 'attached' })
  })

  test('waits for the room that is being founded under it', () => {
    const { two, id } = dead()
    two.isRead = false
    const [one, next] = [two.open(), two.open()]
    two.add(one, `main~${id}`, 1)
    // The session ends, and with it the reservation.
    hub.receiveNews(two, MAIN, null)
    two.atOnce = false
    two.add(next, `main~${id}`, 2)
    two.read()
    two.write()
    expect(lastOf(two, next)).toMatchObject({ kind: 'added', created: true })
    expect(lastOf(two, one)).toMatchObject({ kind: 'added', created: false })
  })

  test('waits for the move of its room by this hub', () => {
    const [one] = hubs()
    const room = stored(one!)
    one!.go(60_000)
    room.ask(one!.open(), 5, { playersMax: 0 })
    one!.isRead = one!.atOnce = false
    const [former, fresh] = [one!.open(), one!.open()]
    room.ask(former, 2, { room: `main~${room.id}` })
    expect(one!.loads).toEqual([keyOf(room.id)])
    room.ask(fresh, 3, { fresh: true })
    expect(one!.hub.moves.size).toBe(1)
    one!.read()
    one!.isRead = true
    one!.write()
    expect(lastOf(one!, fresh)).toMatchObject({ kind: 'added', created: true })
    expect(room.added(one!.heard.get(former)!)?.entry).toMatchObject({ session: room.id })
  })

  test('waits for the removal of what a fenced hub wrote under it', () => {
    const { two, id, moves } = dead()
    const key = keyOf(id)
    two.disk.records.set(key, { value: Uint8Array.of(1), rev: 900 })
    two.hub.places.set(key, { rev: 900, writing: null })
    const removal = hub.beginWrite(two.hub, key)!
    expect(removal).toMatchObject({ rev: 900, value: null })
    const stream = two.open()
    two.add(stream, `main~${id}`, 1)
    expect(kinds(two, stream)).toEqual(['welcome', 'signs'])
    // Meanwhile another hub has moved the room to that name again.
    two.disk.records.delete(key)
    moves()
    hub.settleWrite(two, key, two.disk.records.get(key)!)
    two.write()
    pass(STILL_MS + 3 * BEAT_MS, two)
    expect(lastOf(two, stream)).toMatchObject({ kind: 'added', created: false })
  })
})

describe('a hub that stood still', () => {
  test('starts over under another name: its streams are closed, its rooms are not its own', () => {
    const [one, two] = hubs()
    const { id, streams } = one!.session(2)
    reads(two!)
    pass(2 * STILL_MS, two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    pass(BEAT_MS, two!)
    wakes(one!, two!)
    expect([one!.hub.counters.fenced, one!.hub.boot]).toEqual([1, 101])
    expect([one!.hub.expiries.size, one!.hub.connections.size]).toEqual([0, 0])
    expect(streams.map((each) => one!.closed.has(each))).toEqual([true, true])
    pass(2 * BEAT_MS, one!, two!)
    const back = one!.open()
    expect(one!.attach(back, id, 1)).toEqual([])
    expect([tenderOf(one!), heartbeatsOn(one!)]).toEqual([1_001, ['hub rt', 'hub 2t']])
    hub.leave(two!)
    two!.write()
    pass(2 * BEAT_MS, one!)
    expect(lastOf(one!, back)).toMatchObject({ kind: 'attached' })
  })

  test('claims its rooms again where no other hub has', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    pass(2 * STILL_MS, two!)
    wakes(one!, two!)
    const back = one!.open()
    one!.attach(back, id, 1)
    pass(2 * BEAT_MS, one!, two!)
    expect([tenderOf(one!), lastOf(one!, back)]).toMatchObject([101, { kind: 'attached' }])
  })

  test('tells no primary that it heard it, and changes nothing', () => {
    const [one, two] = hubs()
    const { id, streams } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    pass(2 * STILL_MS, two!)
    one!.now = two!.now
    one!.atOnce = false
    const add = { ...recovery(id), inc: 1, proof: proof(1), primary: 1, backup: 2, why: 'add' }
    one!.say(streams[0]!, add as ToHub)
    one!.write()
    expect([lastOf(one!, streams[0]!)?.kind, tenderOf(one!)]).not.toContain('register')
    expect([readPlace(one!.disk.records.get(MAIN)!.value)?.session.entry.register.epoch]).toEqual([
      1,
    ])
  })

  test('does not take others for dead because it has not looked', () => {
    const [one, two] = hubs()
    one!.session(1)
    reads(two!)
    pass(5 * STILL_MS, one!)
    wakes(two!, one!)
    pass(STILL_MS, one!, two!)
    expect(heartbeatsOn(one!)).toEqual(['hub 1', 'hub rt'])
  })
})

describe('a hub to which a stream failed', () => {
  test('is not fenced while it beats, and trusted again after a beat', () => {
    const [one, two] = hubs()
    reads(two!)
    for (let times = 4; times > 0; times--) {
      hub.suspect(two!.hub, two!.now, 1)
      pass(BEAT_MS, one!, two!)
    }
    pass(BEAT_MS, one!, two!)
    pass(STILL_MS - BEAT_MS - 100, two!)
    expect(heartbeatsOn(one!)).toEqual(['hub 1', 'hub rt'])
  })

  test('is fenced in time from its last heartbeat on, which a hub hears of between two reads', () => {
    const [one, two] = hubs()
    reads(two!)
    pass(BEAT_MS, one!, two!)
    const due = two!.hub.heartbeat!.dueAt
    two!.go(due - BEAT_MS + 100 - two!.now)
    const beatAt = two!.now
    one!.now = beatAt
    one!.hub.heartbeat!.dueAt = beatAt
    one!.wake()
    hub.receiveNews(two!, 'hub 1', two!.disk.records.get('hub 1')!)
    two!.go(BEAT_MS)
    hub.suspect(two!.hub, two!.now, 1)
    expect(hub.deadline(two!.hub)).toBeLessThanOrEqual(beatAt + SUSPECT_MS)
    two!.go(beatAt + SUSPECT_MS - 1 - two!.now)
    expect(heartbeatsOn(one!)).toContain('hub 1')
    two!.go(1)
    expect(heartbeatsOn(one!)).toEqual(['hub rt'])
  })

  test('is not fenced by a hub that has not looked, or whose own heartbeat is late', () => {
    const [one, two] = hubs()
    reads(two!)
    pass(STILL_MS, one!)
    hub.suspect(two!.hub, one!.now, 1)
    wakes(two!, one!)
    expect(heartbeatsOn(one!)).toEqual(['hub 1', 'hub rt'])
    pass(BEAT_MS, one!, two!)
    two!.store = (change) => (change.key === 'hub rt' ? GONE : two!.disk.change(change))
    pass(BEAT_MS, two!)
    hub.suspect(two!.hub, two!.now, 1)
    pass(2 * SUSPECT_MS, two!)
    expect(heartbeatsOn(one!)).toEqual(['hub 1', 'hub rt'])
  })
})

test('a hub that is cut off from the store fences nobody', () => {
  const [one, two] = hubs()
  reads(two!)
  two!.store = () => GONE
  pass(5 * STILL_MS, two!)
  two!.store = (change) => two!.disk.change(change)
  two!.wake()
  expect(heartbeatsOn(one!)).toEqual(['hub 1', 'hub rt'])
})

describe('a claim', () => {
  test('that the store refuses is made later, and its asker waits', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    two!.store = (change) => (change.key === MAIN ? GONE : two!.disk.change(change))
    pass(2 * STILL_MS, two!)
    expect([lastOf(two!, stream)?.kind, two!.hub.registers.rows.size]).toEqual(['signs', 0])
    two!.store = (change) => two!.disk.change(change)
    pass(2 * BEAT_MS, two!)
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'attached' })
  })

  test('whose answer is lost is made', () => {
    const [one, two] = hubs()
    const { id } = one!.session(2)
    reads(two!)
    const stream = two!.open()
    two!.attach(stream, id, 2)
    two!.store = (change) => {
      const made = two!.disk.change(change)
      return change.key === MAIN ? 'unknown' : made
    }
    pass(2 * STILL_MS, two!)
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'attached' })
  })

  test('finds that the session has ended meanwhile, and that the room is free', () => {
    const [one, two] = hubs()
    const { id, streams } = one!.session(1)
    reads(two!)
    const end = { ...recovery(id), inc: 1, proof: proof(1), primary: 1, why: 'end' } as ToHub
    one!.say(streams[0]!, end)
    const stream = two!.open()
    two!.attach(stream, id, 1)
    pass(STILL_MS + 3 * BEAT_MS, two!)
    expect(lastOf(two!, stream)).toMatchObject({ kind: 'refused', why: `no session ${id}` })
    expect(two!.add(stream, 'main', 2)).toMatchObject([{ kind: 'added', created: true }])
  })
})
