// Goal: a process may come in by any hub of a shared store: the hub that has its room gets all that
// it says, and whatever happens to that hub, the process learns of it.
// Method: whole hubs on one disk, with streams between them that the test cuts.
import { describe, expect, test } from 'vitest'
import {
  type FromHub,
  fromHub,
  type ToHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  type Accept,
  type Stream,
  STREAM_BACKLOG_MAX,
  STREAM_MESSAGE_MAX,
  type StreamEvents,
} from '../../packages/holdfast/src/ports.ts'
import type { HubLinks } from '../../packages/holdfast/src/ports.ts'
import { Passing } from '../../packages/hub/src/server/passing.ts'
import {
  frameKnock,
  frameMessage,
  frameRelay,
  type HubFrame,
} from '../../packages/holdfast/src/wire/relay.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { BEAT_MS, STILL_MS, SUSPECT_MS } from '../../packages/hub/src/machine/heartbeat.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import { LOOKUP_MS } from '../../packages/hub/src/machine/passing.ts'
import { storedRooms } from '../../packages/hub/src/rooms.ts'
import { Caller } from './caller.ts'
import { listed, proof } from './desk.ts'
import { Links } from './hub-links.ts'
import { PlainDisk } from './plain-disk.ts'
import { Scene } from './server-scene.ts'

interface Pair {
  one: Scene
  two: Scene
  links: Links
  disk: PlainDisk
  ada: Caller
  id: string
}

/** Two hubs; the first has a room, and both know of it. */
async function pair(): Promise<Pair> {
  const [disk, links] = [new PlainDisk(), new Links()]
  const one = new Scene(disk, { boot: 7, isShared: true, links })
  const ada = one.found()
  await one.pass(BEAT_MS)
  const two = new Scene(disk, { boot: 70, isShared: true, links })
  await two.pass(BEAT_MS)
  const added = ada.heard.at(-1) as FromHub & { kind: 'added' }
  const id = added.entry.session
  attach(ada, id, 1)
  const members = [listed(1), listed(2)]
  ada.say({ kind: 'members', session: id, members, players: 2 })
  await one.pass(BEAT_MS)
  return { one, two, links, disk, ada, id }
}

function attach(caller: Caller, session: string, inc: number): void {
  caller.say({ kind: 'attach', request: 2, session, inc, proof: proof(inc) })
}

const kinds = ({ heard }: Caller): string[] => heard.map(({ kind }) => kind)

test('who joins at another hub than the room’s is led to its primary, and knocks there', async () => {
  const { one, two, ada, id } = await pair()
  const grace = two.found(2)
  await two.pass(100)
  expect(kinds(grace)).toEqual(['welcome', 'signs', 'added'])
  expect(grace.heard.at(-1)).toMatchObject({ created: false, entry: { session: id } })
  grace.sends(frameKnock(0, Uint8Array.of(1, 2)))
  await two.pass(100)
  const [knock] = ada.datagrams
  expect(knock).toMatchObject({ kind: 'knock', bytes: Uint8Array.of(1, 2) })
  ada.sends(frameKnock((knock as HubFrame & { kind: 'knock' }).peer, Uint8Array.of(3)))
  await two.pass(100)
  expect(grace.datagrams).toMatchObject([{ kind: 'knock', peer: 0, bytes: Uint8Array.of(3) }])
  expect([one.server.hub.registers.rows.size, two.server.hub.registers.rows.size]).toEqual([1, 0])
})

test('members at two hubs exchange datagrams, and hear of changes and of each other', async () => {
  const { one, two, ada, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  await two.pass(100)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'attached', present: [1, 2] })
  expect(ada.heard.at(-1)).toMatchObject({ kind: 'present', inc: 2, here: true })
  grace.sends(frameRelay(1, Uint8Array.of(4)))
  ada.sends(frameRelay(2, Uint8Array.of(5)))
  await two.pass(100)
  expect(ada.datagrams).toMatchObject([{ kind: 'relay', peer: 2, bytes: Uint8Array.of(4) }])
  expect(grace.datagrams).toMatchObject([{ kind: 'relay', peer: 1, bytes: Uint8Array.of(5) }])
  const own = { inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
  ada.say({ kind: 'change', request: 3, session: id, why: 'add', ...own })
  await two.pass(100)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'register', register: { epoch: 2, backup: 2 } })
  const linus = two.found(3)
  ada.ends()
  await two.pass(100)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'present', inc: 1, here: false })
  const speaking = [...two.server.hub.connections.values()].map(({ inc }) => inc)
  expect([speaking, linus.isClosed]).toEqual([[2, 0], false])
  grace.ends()
  await two.pass(100)
  expect([...one.server.hub.connections.values()].map(({ inc }) => inc)).toEqual([0])
})

test('a takeover asked at the other hub is asked of the primary at its own (SE-3)', async () => {
  const { two, ada, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  const own = { inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2 }
  ada.say({ kind: 'change', request: 3, session: id, why: 'add', ...own })
  await two.pass(100)
  const takes = { inc: 2, proof: proof(2), expect: 2, primary: 2, backup: 0 } as const
  grace.say({ kind: 'change', request: 4, session: id, why: 'takeover', ...takes })
  await two.pass(50)
  const asked = ada.heard.at(-1) as FromHub & { kind: 'challenge' }
  expect(asked).toMatchObject({ kind: 'challenge', epoch: 2 })
  ada.say({ kind: 'alive', session: id, epoch: 2, nonce: asked.nonce })
  await two.pass(50)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'alive', request: 4 })
})

test('a member whose room’s hub is killed is told to come again, and goes on at its own', async () => {
  const { one, two, links, id } = await pair()
  const [grace, linus] = [two.found(2), two.found(3)]
  attach(grace, id, 2)
  await two.pass(100)
  links.cut(one.server.hub.boot)
  await two.pass(100)
  // Who is no member may go on asking.
  expect([grace.isClosed, linus.isClosed]).toEqual([true, false])
  const back = two.found(2)
  attach(back, id, 2)
  linus.say(asks(3))
  await two.pass(STILL_MS + 3 * BEAT_MS)
  attach(back, id, 2)
  linus.say(asks(3))
  await two.pass(100)
  expect(back.heard.findLast(({ kind }) => kind === 'attached')).toMatchObject({ present: [2] })
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  expect(two.server.hub.counters.thrown).toBe(0)
})

test('a hub that nobody hears is found to be gone by the streams to it', async () => {
  const { one, two, links } = await pair()
  const linus = two.found(3)
  await two.pass(100)
  links.cut(one.server.hub.boot)
  await two.pass(SUSPECT_MS + BEAT_MS)
  linus.say(asks(3))
  await two.pass(100)
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  expect(two.server.hub.registers.rows.size).toBe(1)
})

test('a hub that closes relays until its streams end', async () => {
  const { one, ada, id } = await pair()
  const grace = new Caller(one.server)
  attach(grace, id, 2)
  await one.pass(100)
  const closing = one.server.close()
  ada.sends(frameRelay(2, Uint8Array.of(5)))
  expect(grace.datagrams).toMatchObject([{ kind: 'relay', peer: 1, bytes: Uint8Array.of(5) }])
  await one.pass(100)
  await closing
})

function asks(id: number): ToHub {
  const { hash, link, key } = listed(id)
  const wish = { game: 'g', room: 'main', playersMax: 4, recovers: false, terms: '' } as const
  const rest = { hosts: false, ticket: '', fresh: false }
  return { kind: 'add', request: 1, topology: 'star', ...wish, hash, link, key, ...rest }
}

test('who goes to a room of its own hub is passed on no more', async () => {
  const { one, two, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  await two.pass(100)
  grace.say({ ...asks(2), room: 'own' } as ToHub)
  await two.pass(100)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'added', created: true })
  expect([one.server.hub.connections.size, two.server.hub.registers.rows.size]).toEqual([1, 1])
})

test('lists and pings are answered by the hub that a process came to', async () => {
  const { two, links, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  await two.pass(100)
  const { count } = links
  grace.say({ kind: 'ping', count: 5 })
  grace.say({ kind: 'list', request: 6, game: '', after: '' })
  await two.pass(50)
  expect(kinds(grace).slice(-3)).toEqual(['pong', 'entry', 'last'])
  expect(links.count).toBe(count)
})

test('a process that was passed on hears only of the store of its own hub', async () => {
  const { two, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  await two.pass(100)
  const { turn } = two.server
  const [[connection]] = [...turn.hub.connections] as [[number, unknown]]
  const tells = (message: FromHub): void => {
    hub.receivePassed(turn, connection, frameMessage(encode(fromHub, message)))
  }
  // As a hub of another build may do.
  tells({ kind: 'store', answers: false })
  tells({ kind: 'pong', count: 3 })
  expect(kinds(grace).slice(-2)).toEqual(['attached', 'pong'])
})

test('who floods is closed by its own hub, and a stream that says nonsense', async () => {
  const { one, two, id } = await pair()
  const [grace, linus] = [two.found(2), two.found(3)]
  attach(grace, id, 2)
  await two.pass(100)
  for (let left = 2_000; left > 0; left--) grace.say({ kind: 'get', request: 9, session: id })
  linus.sends(Uint8Array.of(0, 255, 255))
  await two.pass(100)
  expect([grace.isClosed, linus.isClosed]).toEqual([true, true])
  expect(one.server.hub.connections.size).toBe(1)
})

describe('a room that another hub founded later', () => {
  const founded = (caller: Caller): string => {
    return (caller.heard.at(-1) as FromHub & { kind: 'added' }).entry.session
  }

  test('is listed, with those of this hub, and its members attach by its session', async () => {
    const { one, two } = await pair()
    const bea = one.found(4, 'late')
    one.found(5, 'hidden', 'listed=no')
    await one.pass(BEAT_MS)
    const session = founded(bea)
    const grace = two.found(2, 'own')
    await two.pass(2_000)
    grace.say({ kind: 'list', request: 6, game: 'g', after: '' })
    const rooms = grace.heard.flatMap((one) => (one.kind === 'entry' ? [one.entry.room] : []))
    expect(rooms.toSorted()).toEqual(['late', 'main', 'own'])
    const back = new Caller(two.server)
    back.say({ kind: 'attach', request: 2, session, inc: 1, proof: proof(4) })
    await two.pass(50)
    expect(back.heard.at(-1)).toMatchObject({ kind: 'attached' })
  })

  test('is waited for if its member comes sooner than the news of it', async () => {
    const { one, two, disk } = await pair()
    disk.isQuiet = true
    const bea = one.found(4, 'late')
    await one.pass(BEAT_MS)
    const [back, stranger] = [new Caller(two.server), new Caller(two.server)]
    back.say({ kind: 'attach', request: 2, session: founded(bea), inc: 1, proof: proof(4) })
    stranger.say({ kind: 'get', request: 3, session: 'none-1' })
    await two.pass(LOOKUP_MS - 100)
    expect([kinds(back), kinds(stranger)].map((each) => each.length)).toEqual([2, 2])
    disk.isQuiet = false
    disk.tell()
    await two.pass(50 + 2 * BEAT_MS)
    expect(back.heard.at(-1)).toMatchObject({ kind: 'attached' })
    expect(stranger.heard.at(-1)).toMatchObject({ kind: 'refused', why: 'no session none-1' })
    expect([two.server.hub.lookups.size, two.server.hub.waiting.size]).toEqual([0, 0])
  })

  test('is known to be stored once its players have left, and opens at the other hub', async () => {
    const { one, two } = await pair()
    const bea = one.found(4, 'late', 'keep=10')
    await one.pass(BEAT_MS)
    const session = founded(bea)
    bea.say({ kind: 'attach', request: 2, session, inc: 1, proof: proof(4) })
    const segment = {
      number: 1,
      from: null,
      index: 1,
      time: 5_000,
      next: 2,
      acks: 'strict',
    } as const
    const piece = { piece: 0, of: 1, bytes: Uint8Array.of(7) }
    bea.say({ kind: 'keep', session, ...segment, ...piece })
    await one.pass(BEAT_MS)
    expect(storedRooms(two.server).map(({ room }) => room)).toEqual([])
    const own = { inc: 1, proof: proof(4), expect: 1, primary: 1, backup: 0 }
    bea.say({ kind: 'change', request: 3, session, why: 'end', ...own })
    await one.pass(BEAT_MS)
    await two.pass(50)
    expect(storedRooms(two.server)).toMatchObject([{ room: 'late', bytes: 1 }])
    expect(two.server.hub.places.size).toBe(0)
    const next = two.found(5, 'late', 'keep=10')
    await two.pass(BEAT_MS)
    expect(next.heard.map(({ kind }) => kind)).toContain('segment')
    await one.pass(50)
    expect(one.server.hub.elsewhere.size).toBe(1)
  })
})

test('a member whose room’s hub was fenced comes again, though the link between the hubs holds', async () => {
  const { one, two, id } = await pair()
  const [grace, linus] = [two.found(2), two.found(3)]
  attach(grace, id, 2)
  await two.pass(STILL_MS + 3 * BEAT_MS)
  expect([grace.isClosed, linus.isClosed]).toEqual([true, false])
  const back = new Caller(two.server)
  attach(back, id, 2)
  linus.say(asks(3))
  await two.pass(3 * BEAT_MS)
  expect(back.heard.findLast(({ kind }) => kind === 'attached')).toMatchObject({ present: [2] })
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  await one.pass(3 * BEAT_MS)
  expect(one.server.hub.counters).toMatchObject({ fenced: 1, thrown: 0 })
  // It goes on under another name, by which it is reached.
  one.found(4, 'late')
  await one.pass(3 * BEAT_MS)
  linus.say({ ...asks(3), request: 8, room: 'late' } as ToHub)
  await two.pass(50)
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', request: 8, created: false })
})

test('a datagram that is too long for the link between hubs is lost, and nothing else', async () => {
  const { two, ada, id } = await pair()
  const grace = two.found(2)
  attach(grace, id, 2)
  await two.pass(100)
  const longest = new Uint8Array(STREAM_MESSAGE_MAX - 2)
  ada.sends(frameRelay(2, longest))
  grace.sends(frameRelay(1, longest))
  ada.sends(frameRelay(2, Uint8Array.of(5)))
  grace.sends(frameRelay(1, Uint8Array.of(4)))
  await two.pass(100)
  expect([ada.isClosed, grace.isClosed]).toEqual([false, false])
  expect(ada.datagrams).toMatchObject([{ bytes: Uint8Array.of(4) }])
  expect(grace.datagrams).toMatchObject([{ bytes: Uint8Array.of(5) }])
})

test('a member of a room here that turns to one elsewhere has left the room here', async () => {
  const { two, id } = await pair()
  const [pia, grace] = [two.found(5, 'own'), two.found(2, 'own')]
  await two.pass(BEAT_MS)
  const added = pia.heard.at(-1) as FromHub & { kind: 'added' }
  const { session } = added.entry
  const attached = (caller: Caller, inc: number, own: number): void => {
    caller.say({ kind: 'attach', request: 2, session, inc, proof: proof(own) })
  }
  attached(pia, 1, 5)
  const members = [listed(1, 5), listed(2)]
  pia.say({ kind: 'members', session, members, players: 2 })
  attached(grace, 2, 2)
  await two.pass(50)
  attach(grace, id, 2)
  await two.pass(50)
  expect(grace.heard.at(-1)).toMatchObject({ kind: 'attached', session: id })
  expect(pia.heard.at(-1)).toMatchObject({ kind: 'present', inc: 2, here: false })
  grace.ends()
  pia.say({ kind: 'members', session, members: members.slice(0, 1), players: 1 })
  await two.pass(50)
  expect([pia.isClosed, two.server.hub.counters.thrown]).toEqual([false, 0])
})

test('all who ask about an unknown session are answered at once, whoever asks meanwhile', async () => {
  const { two } = await pair()
  const callers = Array.from({ length: 4 }, () => new Caller(two.server))
  for (const caller of callers) {
    caller.say({ kind: 'get', request: 3, session: 'none-1' })
    await two.pass(300)
  }
  await two.pass(BEAT_MS + 100)
  expect(callers.map(({ heard }) => heard.at(-1)?.kind)).toEqual(Array(4).fill('refused'))
  await two.pass(BEAT_MS)
  expect([two.server.hub.lookups.size, two.server.hub.waiting.size]).toEqual([0, 0])
})

test('a request whose link ends is passed on again while that hub lives', async () => {
  const { one, two, links } = await pair()
  const { boot } = one.server.hub
  const linus = two.found(3)
  links.cut(boot)
  await two.pass(100)
  linus.say(asks(3))
  await two.pass(100)
  expect(kinds(linus)).toEqual(['welcome', 'signs'])
  links.heal(boot)
  for (let left = 4; left > 0; left--) {
    await one.pass(BEAT_MS / 2)
    await two.pass(BEAT_MS / 2)
  }
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
  // What was answered is not asked again.
  links.cut(boot)
  links.heal(boot)
  await two.pass(2 * BEAT_MS)
  expect(kinds(linus).filter((kind) => kind === 'added')).toHaveLength(1)
})

test('a hub that is full says so to who came in by another one', async () => {
  const { one, two } = await pair()
  one.server.isDraining = true
  const linus = two.found(3)
  await two.pass(100)
  expect(linus.isClosed).toBe(true)
})

test('a stream that says more than the link takes ends, and no other one in it', async () => {
  const { two, links, id } = await pair()
  const [grace, linus] = [two.found(2), two.found(3)]
  attach(grace, id, 2)
  await two.pass(100)
  links.backlog = STREAM_BACKLOG_MAX / 2 + 1
  grace.say({ kind: 'get', request: 9, session: id })
  await two.pass(50)
  links.backlog = 0
  linus.say(asks(3))
  await two.pass(50)
  expect([grace.isClosed, linus.isClosed]).toEqual([true, false])
  expect(linus.heard.at(-1)).toMatchObject({ kind: 'added', created: false })
})

test('the late end of a stream does not end the next one of the same process', () => {
  const sent: Uint8Array[] = []
  const ended: number[] = []
  let events: StreamEvents | null = null
  const stream: Stream = {
    send: (bytes) => sent.push(bytes) > 0,
    backlog: () => 0,
    close: () => {},
  }
  const links: HubLinks = { listen: () => {}, open: (_boot, own) => ((events = own), stream) }
  const accept: Accept = () => ({ opened: () => {}, message: () => {}, closed: () => {} })
  const passing = new Passing(links, accept, {
    said: () => {},
    ended: (connection) => void ended.push(connection),
    failed: () => {},
  })
  const hello = frameMessage(Uint8Array.of(1, 5))
  passing.pass(7, '10.0.0.1', 2, hello)
  // A datagram does not wait for the link.
  passing.pass(7, '10.0.0.1', 2, frameRelay(1, Uint8Array.of(1)))
  events!.opened()
  expect(sent).toHaveLength(2)
  const [open] = sent
  passing.stop(7)
  passing.pass(7, '10.0.0.1', 2, hello)
  // `closed` of the first one: its number, `full`, no reason.
  events!.message(Uint8Array.of(2, open![1]!, 1, 0))
  expect(ended).toEqual([])
  expect(sent.filter(([kind]) => kind === 1).map((bytes) => bytes[1])).toEqual([1, 2])
})
