// Goal: the directory says who serves, to everybody alike, and changes it for whoever may.
// Method: the hub's machine with streams by hand and a disk that is a Map.
import { describe, expect, test } from 'vitest'
import type { ChangeReason } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { add, ASK_MS, confirmWrite, recordOf } from '../../packages/hub/src/machine/register.ts'
import { Desk, leaderOf, listed, proof, OPEN } from './desk.ts'

const LIST_MAX = 200
const RECOVER_MS = 15_000

function change(
  session: string,
  inc: number,
  wish: { expect: number; primary: number; backup: number; why: ChangeReason },
  id: number = inc,
): {
  kind: 'change'
  request: number
  session: string
  inc: number
  proof: Uint8Array
} & typeof wish {
  return { kind: 'change', request: 9, session, inc, proof: proof(id), ...wish }
}

const WISH = {
  game: 'g',
  room: 'main',
  playersMax: 4,
  recovers: false,
  topology: 'star' as const,
  terms: '',
  hash: listed(1).hash,
  link: listed(1).link,
  ...OPEN,
}

describe('the directory', () => {
  test('T20: ADD_SERVER gives a session an id that is never used again', () => {
    const desk = new Desk()
    const ids = [desk.session(1, 'a').id, desk.session(1, 'b').id]
    desk.restart()
    ids.push(desk.session(1, 'c').id)
    expect(new Set(ids).size).toBe(3)
    expect(desk.hub.registers.rows.get(ids[0]!)?.entry).toMatchObject({
      register: { epoch: 1, primary: 1, backup: 0 },
      players: 1,
    })
  })

  test('T21, T22: the list is one entry a session and a last message; one can be asked for', () => {
    const desk = new Desk()
    const { id } = desk.session(2, 'a')
    desk.session(1, 'b')
    const stranger = desk.open()
    const answers = desk.say(stranger, { kind: 'list', request: 5, game: 'g', after: '' })
    expect(answers.map((answer) => answer.kind)).toEqual(['entry', 'entry', 'last'])
    expect(desk.say(stranger, { kind: 'list', request: 6, game: 'other', after: '' })).toEqual([
      { kind: 'last', request: 6, next: '' },
    ])
    expect(desk.say(stranger, { kind: 'get', request: 7, session: id })).toMatchObject([
      { kind: 'register', request: 7, ok: true, register: { epoch: 1, primary: 1, backup: 0 } },
    ])
    expect(desk.say(stranger, { kind: 'get', request: 8, session: 'none' })).toMatchObject([
      { kind: 'refused', request: 8, why: 'no session none' },
    ])
  })

  test('T23, T25: a change is answered, told to all attached, and on disk before either', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const [one, two] = streams
    const add = change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' })
    const heard = desk.heard.get(two!)!.length
    const answers = desk.say(one!, add)
    const register = { epoch: 2, primary: 1, backup: 2 }
    expect(answers).toContainEqual({
      kind: 'register',
      request: 9,
      session: id,
      ok: true,
      register,
      leader: leaderOf(id, 2, 1),
    })
    expect(desk.heard.get(two!)!.slice(heard)).toMatchObject([{ request: 0, register }])
    desk.restart()
    expect(desk.hub.registers.rows.get(id)?.entry.register).toEqual(register)
  })

  test('a change that comes twice is done once, and its answer shows the register', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const add = change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' })
    desk.say(streams[0]!, add)
    expect(desk.say(streams[0]!, add)).toMatchObject([
      { kind: 'register', ok: false, register: { epoch: 2, primary: 1, backup: 2 } },
    ])
    expect(desk.hub.counters).toMatchObject({ changes: 1, conflicts: 1 })
  })

  test('T77: of primary and backup that both want to go on alone, one gets its way', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const [one, two] = streams
    desk.say(one!, change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' }))
    const take = change(id, 2, { expect: 2, primary: 2, backup: 0, why: 'takeover' })
    const drop = change(id, 1, { expect: 2, primary: 1, backup: 0, why: 'drop' })
    desk.close(one!)
    expect(desk.say(two!, take).at(-1)).toMatchObject({ ok: true })
    expect(desk.say(desk.open(), drop).at(-1)).toMatchObject({
      ok: false,
      register: { epoch: 3, primary: 2, backup: 0 },
    })
  })

  test.each<[string, number, Parameters<typeof change>[2], number]>([
    ['a stranger with a wrong secret', 2, { expect: 2, primary: 2, backup: 0, why: 'takeover' }, 9],
    [
      'a member that is not the backup',
      3,
      { expect: 2, primary: 3, backup: 0, why: 'takeover' },
      3,
    ],
    [
      'the backup in the name of another',
      2,
      { expect: 2, primary: 3, backup: 0, why: 'takeover' },
      2,
    ],
    [
      'the backup as if it were the primary',
      2,
      { expect: 2, primary: 2, backup: 3, why: 'add' },
      2,
    ],
    [
      'the primary with a backup that is no member',
      1,
      { expect: 2, primary: 1, backup: 7, why: 'add' },
      1,
    ],
    [
      'the primary with a change that is not spoken',
      1,
      { expect: 2, primary: 2, backup: 0, why: 'recover' },
      1,
    ],
    [
      'somebody who ends what is not theirs',
      3,
      { expect: 2, primary: 3, backup: 0, why: 'end' },
      3,
    ],
  ])('T28: the register is not changed by %s', (_who, inc, wish, id) => {
    const desk = new Desk()
    const { id: session, streams } = desk.session(3)
    desk.say(streams[0]!, change(session, 1, { expect: 1, primary: 1, backup: 2, why: 'add' }))
    const stranger = desk.open()
    expect(desk.say(stranger, change(session, inc, wish, id)).at(-1)).toMatchObject({ ok: false })
    expect(desk.hub.registers.rows.get(session)?.entry.register.epoch).toBe(2)
  })

  test('T79: an empty process with the number of the backup, but not its secret, is nobody', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.say(streams[0]!, change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' }))
    desk.close(streams[1]!)
    const restarted = desk.open()
    expect(desk.attach(restarted, id, 2, 8)).toMatchObject([{ kind: 'refused' }])
    const take = change(id, 2, { expect: 2, primary: 2, backup: 0, why: 'takeover' }, 8)
    expect(desk.say(restarted, take)).toMatchObject([{ ok: false }])
  })

  test('T24: a primary that does not answer is unreachable, and one late word restores it', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    const standing = (): string => desk.hub.registers.rows.get(id)!.entry.standing
    desk.pass(ASK_MS * 3)
    expect(standing()).toBe('open')
    desk.pass(ASK_MS * 3)
    expect(standing()).toBe('unreachable')
    const question = desk.heard.get(streams[0]!)!.findLast((said) => said.kind === 'areYouAlive')
    const nonce = question?.kind === 'areYouAlive' ? question.nonce : 0
    desk.say(streams[0]!, { kind: 'yes', session: id, epoch: 1, nonce, players: 1 })
    expect(standing()).toBe('open')
    for (let i = 0; i < 10; i++) {
      desk.pass(ASK_MS)
      desk.say(streams[0]!, { kind: 'yes', session: id, epoch: 1, nonce, players: 1 })
    }
    expect(standing()).toBe('open')
  })

  test('after an hour of silence a session is removed, from the disk too', () => {
    const desk = new Desk()
    desk.session(1)
    expect(desk.disk.records.size).toBe(1)
    desk.pass(3_700_000)
    expect([desk.disk.records.size, desk.hub.registers.rows.size]).toEqual([0, 0])
  })

  test('the room of a lone server that is gone is free again after three seconds', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    desk.close(streams[0]!)
    desk.pass(2_000)
    const asker = desk.open()
    const found = desk.add(asker, 'main', 5)
    expect(found).toMatchObject([{ created: false, entry: { session: id } }])
    desk.pass(2_000)
    const made = desk.add(asker, 'main', 5)
    expect(made).toMatchObject([{ created: true }])
  })
})

describe('the relay', () => {
  test('a datagram goes to the member it names, in the same session, and nowhere else', () => {
    const desk = new Desk()
    const one = desk.session(2, 'one')
    const two = desk.session(2, 'two')
    desk.bytes(one.streams[0]!, Uint8Array.of(1, 2, 42))
    expect(desk.relayed).toEqual([{ to: one.streams[1], from: 1, bytes: Uint8Array.of(42) }])
    desk.bytes(desk.open(), Uint8Array.of(1, 2, 42))
    desk.bytes(two.streams[0]!, Uint8Array.of(1, 9, 42))
    expect(desk.relayed).toHaveLength(1)
    expect(desk.hub.counters.astray).toBe(2)
  })

  test('PEER_GONE: the others hear that a stream went, and that it is back', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.close(streams[1]!)
    const news = desk.heard.get(streams[0]!)!
    expect(news.at(-1)).toEqual({ kind: 'present', session: id, inc: 2, here: false })
    desk.attach(desk.open(), id, 2)
    expect(news.at(-1)).toEqual({ kind: 'present', session: id, inc: 2, here: true })
  })
})

describe('who is not in the list of members', () => {
  test('257 streams that attach one after the other leave 256 attached, and no error (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    const rounds = [
      Array.from({ length: 256 }, (_none, i) => i + 1),
      [1, ...Array.from({ length: 255 }, (_none, i) => i + 257)],
    ]
    for (const incs of rounds) {
      const members = incs.map((inc) => listed(inc, 1))
      desk.say(streams[0]!, { kind: 'members', session: id, members, players: members.length })
      for (const inc of incs.slice(1)) {
        expect(desk.attach(desk.open(), id, inc, 1)).toMatchObject([{ kind: 'attached' }])
      }
    }
    expect(desk.hub.attached.get(id)!.size).toBe(256)
  })

  test('a removed member neither relays nor hears the news, and the others hear that it went (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(3)
    const [one, two, three] = streams
    desk.say(one!, { kind: 'members', session: id, members: [listed(1), listed(3)], players: 2 })
    const gone = { kind: 'present', session: id, inc: 2, here: false }
    expect(desk.heard.get(three!)!.at(-1)).toEqual(gone)
    const heard = desk.heard.get(two!)!.length
    desk.bytes(two!, Uint8Array.of(1, 1, 42))
    desk.say(one!, change(id, 1, { expect: 1, primary: 1, backup: 3, why: 'add' }))
    expect(desk.relayed).toEqual([])
    expect(desk.heard.get(two!)).toHaveLength(heard)
    expect(desk.attach(two!, id, 2)).toMatchObject([{ kind: 'refused' }])
  })

  test('a removed member hears for three seconds why it went, and then that it did (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const [one, two] = streams
    desk.say(one!, { kind: 'members', session: id, members: [listed(1)], players: 1 })
    desk.bytes(one!, Uint8Array.of(1, 2, 42))
    expect(desk.relayed).toEqual([{ to: two, from: 1, bytes: Uint8Array.of(42) }])
    const heard = desk.heard.get(two!)!
    const before = heard.length
    desk.pass(2_900)
    expect(heard).toHaveLength(before)
    desk.pass(200)
    expect(heard.slice(before)).toEqual([{ kind: 'present', session: id, inc: 2, here: false }])
    desk.bytes(one!, Uint8Array.of(1, 2, 42))
    expect(desk.relayed).toHaveLength(1)
  })

  test('a removed member that speaks for another by then is not told that it went (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const [one, two] = streams
    desk.say(one!, { kind: 'members', session: id, members: [listed(1), listed(3)], players: 2 })
    desk.attach(two!, id, 3)
    desk.pass(4_000)
    const told = desk.heard.get(two!)!.filter(({ kind }) => kind === 'present')
    expect(told).not.toContainEqual({ kind: 'present', session: id, inc: 2, here: false })
  })

  test('who looks for another session speaks for nobody in the last one (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.say(streams[1]!, { kind: 'add', request: 5, ...WISH, room: 'elsewhere' })
    const gone = { kind: 'present', session: id, inc: 2, here: false }
    expect(desk.heard.get(streams[0]!)!.at(-1)).toEqual(gone)
    desk.bytes(streams[1]!, Uint8Array.of(1, 1, 42))
    expect(desk.relayed).toEqual([])
  })

  test('when its last member goes, nothing of a session stays among the attached', () => {
    const desk = new Desk()
    const { streams } = desk.session(1)
    desk.close(streams[0]!)
    expect(desk.hub.attached.size).toBe(0)
  })

  test('T30: a member recovers on the stream that speaks for it, and on no other', () => {
    const desk = new Desk()
    desk.recovers = true
    const { id, streams } = desk.session(2)
    const stranger = desk.open()
    desk.pass(RECOVER_MS + ASK_MS)
    const wish = change(id, 2, { expect: 1, primary: 2, backup: 0, why: 'recover' })
    expect(desk.say(stranger, wish)).toMatchObject([{ ok: false }])
    expect(desk.say(streams[1]!, wish)[0]).toMatchObject({ kind: 'register', ok: true })
  })

  test('a stream that attaches as somebody else is gone as who it was, for all to hear (SE-1)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(3)
    desk.attach(streams[1]!, id, 3)
    const heard = desk.heard.get(streams[0]!)!
    expect(heard.slice(-2)).toEqual([
      { kind: 'present', session: id, inc: 2, here: false },
      { kind: 'present', session: id, inc: 3, here: true },
    ])
    // The stream that spoke for 3 before relays for it no more.
    desk.bytes(streams[2]!, Uint8Array.of(1, 1, 42))
    expect(desk.relayed).toEqual([])
  })
})

describe('a disk that takes its time, or nothing', () => {
  const FULL = 'the disk is full'

  test('T23: a change is answered, heard and seen by nobody before the disk has it (SE-5)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const [one, two] = streams
    desk.atOnce = false
    const said = (stream: number): number => desk.heard.get(stream)!.length
    const [byOne, byTwo] = [said(one!), said(two!)]
    desk.say(one!, change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' }))
    const stranger = desk.open()
    expect(desk.say(stranger, { kind: 'get', request: 3, session: id })).toEqual([])
    expect([said(one!), said(two!)]).toEqual([byOne, byTwo])
    desk.write()
    const register = { epoch: 2, primary: 1, backup: 2 }
    expect(desk.heard.get(one!)!.slice(byOne)).toMatchObject([
      { request: 9, ok: true, register },
      { request: 0, register },
    ])
    expect(desk.heard.get(stranger)!.at(-1)).toMatchObject({ request: 3, register })
  })

  test('T23: what the disk refuses never was: memory and disk hold the same (SE-5)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    const before = JSON.stringify(desk.hub.registers.rows.get(id)!.entry)
    const record = desk.disk.records.get('1 g main')
    desk.atOnce = false
    const add = change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' })
    desk.say(streams[0]!, add)
    const asker = desk.open()
    desk.say(asker, { kind: 'add', request: 4, ...WISH, room: 'other' })
    desk.write(FULL)
    expect(desk.heard.get(streams[0]!)!.at(-1)).toMatchObject({ request: 9, why: FULL })
    expect(desk.heard.get(asker)!.at(-1)).toEqual({ kind: 'refused', request: 4, why: FULL })
    expect(JSON.stringify(desk.hub.registers.rows.get(id)!.entry)).toBe(before)
    expect([desk.disk.records.get('1 g main'), desk.hub.registers.rows.size]).toEqual([record, 1])
    expect(desk.hub.counters.unkept).toBe(2)
    // There is room again.
    desk.atOnce = true
    expect(desk.say(streams[0]!, add)).toContainEqual(expect.objectContaining({ ok: true }))
    const made = desk.say(asker, { kind: 'add', request: 5, ...WISH, room: 'other' })
    expect(made).toMatchObject([{ kind: 'added', created: true }])
  })

  test('T20: of two that open one room at once the second gets the session of the first (SE-5)', () => {
    const desk = new Desk()
    desk.atOnce = false
    const [one, two] = [desk.open(), desk.open()]
    for (const stream of [one, two]) desk.say(stream, { kind: 'add', request: 1, ...WISH })
    expect(desk.say(two, { kind: 'list', request: 2, game: 'g', after: '' })).toMatchObject([
      { kind: 'last' },
    ])
    desk.write()
    const answers = [one, two].map((stream) => desk.heard.get(stream)!.at(-1))
    expect(answers).toMatchObject([{ created: true }, { created: false }])
    expect(desk.hub.registers.rows.size).toBe(1)
  })

  test('who asks 100 times while the disk is full may open its room after (SE-5)', () => {
    const desk = new Desk()
    desk.atOnce = false
    const stream = desk.open()
    for (let request = 1; request <= 100; request++) {
      desk.say(stream, { kind: 'add', request, ...WISH })
      desk.write(FULL)
      expect(desk.heard.get(stream)!.at(-1)).toEqual({ kind: 'refused', request, why: FULL })
    }
    desk.atOnce = true
    expect(desk.say(stream, { kind: 'add', request: 101, ...WISH })).toMatchObject([
      { kind: 'added' },
    ])
  })

  test('the list of members is taken at once, and written when the disk can (SE-5)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(1)
    desk.atOnce = false
    const members = [listed(1), listed(2)]
    desk.say(streams[0]!, { kind: 'members', session: id, members, players: members.length })
    expect(desk.attach(desk.open(), id, 2)).toMatchObject([{ kind: 'attached' }])
    desk.say(streams[0]!, {
      kind: 'members',
      session: id,
      members: [...members, listed(3)],
      players: [...members, listed(3)].length,
    })
    // Many lists are one record.
    expect([...desk.owed]).toEqual(['1 g main'])
    desk.write()
    desk.restart()
    expect(desk.hub.registers.rows.get(id)!.members).toHaveLength(3)
  })

  test('a stream that asks again while the disk works waits once, not many times (SE-5)', () => {
    const desk = new Desk()
    const { id, streams } = desk.session(2)
    desk.atOnce = false
    const [one, two] = streams
    desk.say(one!, change(id, 1, { expect: 1, primary: 1, backup: 2, why: 'add' }))
    for (let i = 0; i < 100; i++) desk.say(two!, { kind: 'get', request: i, session: id })
    expect(desk.hub.waiting.get('1 g main')).toHaveLength(1)
    desk.write()
    expect(desk.heard.get(two!)!.at(-1)).toMatchObject({ kind: 'register', request: 99 })
    expect(desk.hub.waiting.size).toBe(0)
  })
})

test('T19: the list ends after so many sessions, and says that it ended (PR-2)', () => {
  const desk = new Desk()
  const out = { send: () => {}, record: () => {} }
  for (let n = 0; n < LIST_MAX + 5; n++) {
    add(desk.hub.registers, 0, { ...WISH, room: `room ${n}` }, `s${n}`, out)
    recordOf(desk.hub.registers, `s${n}`)
    confirmWrite(desk.hub.registers, 0, `s${n}`)
  }
  const answers = desk.say(desk.open(), { kind: 'list', request: 5, game: 'g', after: '' })
  expect(answers.filter(({ kind }) => kind === 'entry')).toHaveLength(LIST_MAX)
  expect(answers.at(-1)).toEqual({ kind: 'last', request: 5, next: `1.${LIST_MAX}` })
})

test('PEER_GONE: the end of a stream that a newer one replaced is no news of its member (PR-2)', () => {
  const desk = new Desk()
  const { id, streams } = desk.session(2)
  const newer = desk.open()
  desk.attach(newer, id, 2)
  const news = desk.heard.get(streams[0]!)!
  const before = news.length
  desk.close(streams[1]!)
  expect(news.slice(before)).toEqual([])
  expect(desk.hub.attached.get(id)!.get(2)).toBe(newer)
})
