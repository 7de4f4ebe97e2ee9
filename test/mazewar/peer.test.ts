// Goal: a classic player does what the document says, packet by packet.
// Method: shipped machines on a LAN in virtual time; what they send is read, and what is asked is
// set up by hand.
import { describe, expect, test } from 'vitest'
import { beyond } from '../../games/mazewar/rules/maze.ts'
import { decode, encode, type Packet } from '../../games/mazewar/classic/packets.ts'
import { world } from '../../games/mazewar/classic/peer.ts'
import * as lan from './lan.ts'

type Said = { at: number; from: string; to: string | null; packet: Packet }

function said(net: lan.Lan, kind?: Packet['kind']): Said[] {
  return net
    .sent!.map(({ bytes, ...rest }) => ({ ...rest, packet: decode(bytes)! }))
    .filter(({ packet }) => !kind || packet.kind === kind)
}

function forget(net: lan.Lan): void {
  net.sent!.length = 0
}

/** Players who know each other. */
function playing(names: string[], ids: number[] = []): [lan.Lan, ...lan.Player[]] {
  const net = lan.createLan('peers', 'rtt=2', true)
  const players = names.map((name, i) => lan.join(net, name, { id: ids[i] ?? i + 1 }))
  lan.run(net, 1_900)
  forget(net)
  return [net, ...players]
}

/** Puts a rat somewhere, at itself and at all others, as if it had been born there. */
function put(net: lan.Lan, player: lan.Player, cell: number, facing: 0 | 1 | 2 | 3): void {
  for (const { peer } of net.players.values()) {
    const account = peer.rats.get(player.peer.id)!
    Object.assign(account, { cell, before: cell, facing })
    peer.cells.set(player.peer.id, cell)
  }
  Object.assign(player.peer.self!, { cell, before: cell, facing })
}

const rat = (at: lan.Player, of: lan.Player = at) =>
  world(at.peer).rats.find(({ id }) => id === of.peer.id)

describe('a player', () => {
  test('M1, M2: multicasts a heartbeat every 500 ms, and everybody acks it to its sender', () => {
    const [net] = playing(['a', 'b', 'c'])
    lan.run(net, 1_000)
    const beats = said(net, 'heartbeat')
    expect(beats.filter(({ from }) => from === 'a').map(({ to }) => to)).toEqual([null, null])
    const [first, second] = beats.filter(({ from }) => from === 'a')
    expect(second!.at - first!.at).toBe(500)
    expect(second!.packet).toMatchObject({ source: 1, heartbeat: 3 })
    const acks = said(net, 'heartbeat-ack').filter(({ to }) => to === 'a')
    expect(acks.map(({ from }) => from)).toEqual(['b', 'c', 'b', 'c'])
    expect(acks[0]!.packet).toEqual({
      kind: 'heartbeat-ack',
      heartbeat: 2,
      source: 2,
      destination: 1,
    })
  })

  test('M3, M4, M23, M47: tells what it does with how it was before, and all ack it', () => {
    const [net, a] = playing(['a', 'b', 'c'])
    put(net, a!, 0, 3)
    expect(lan.act(net, a!, { kind: 'turn', facing: 1 })).toBe(true)
    expect(lan.act(net, a!, { kind: 'step', speed: 1 })).toBe(true)
    expect(lan.act(net, a!, { kind: 'turn', facing: 1 })).toBe(false)
    lan.run(net, 50)
    const [turn, step] = said(net, 'event')
    expect(turn).toMatchObject({
      to: null,
      packet: { event: 2, absolute: { cell: 0, facing: 3 }, action: { facing: 1, step: 'none' } },
    })
    const after = { absolute: { cell: 0, facing: 1 }, action: { facing: 1, step: 'forward' } }
    expect(step).toMatchObject({ packet: { event: 3, ...after } })
    const acks = said(net, 'event-ack').map(({ from, to, packet }) => [from, to, packet])
    expect(acks).toEqual(
      [2, 3].flatMap((event) =>
        ['b', 'c'].map((name, i) => [
          name,
          'a',
          { kind: 'event-ack', event, source: i + 2, destination: 1 },
        ]),
      ),
    )
  })

  test('M31: works events in two slots after the one in which they came, its own as well', () => {
    const [net, a, b] = playing(['a', 'b'])
    put(net, a!, 0, 3)
    lan.run(net, 200 - (net.now % 200))
    lan.act(net, a!, { kind: 'turn', facing: 1 })
    lan.run(net, 399)
    expect([rat(a!)!.facing, rat(b!, a)!.facing]).toEqual([3, 3])
    lan.run(net, 2)
    expect([rat(a!)!.facing, rat(b!, a)!.facing]).toEqual([1, 1])
  })

  test('M30, M56: throws away what is older than what it worked in, and a newer state mends all', () => {
    const [net, a, b] = playing(['a', 'b'])
    const events = (cell: number, event: number): Uint8Array =>
      encode({
        ...{ kind: 'event', source: 1, event },
        absolute: { score: 0, cell, facing: 3, cloaked: false, missiles: [] },
        action: { kind: 'cloak', on: true },
      })
    lan.inject(net, b!, 'a', events(7, 9))
    lan.run(net, 600)
    lan.inject(net, b!, 'a', events(99, 8))
    lan.run(net, 600)
    expect(rat(b!, a)!.at).toBe(7)
    expect(b!.peer.counters.late).toBe(1)
    // Of one slot, the older is worked in first, in whatever order they came.
    lan.inject(net, b!, 'a', events(11, 11))
    lan.inject(net, b!, 'a', events(10, 10))
    lan.inject(net, b!, 'a', events(11, 11))
    lan.run(net, 600)
    expect(rat(b!, a)!.at).toBe(11)
    expect(b!.peer.counters).toMatchObject({ late: 1, doubled: 1 })
  })

  test('M48, M54: a missile flies a cell a slot to a wall; who is in its way says so, and is born anew', () => {
    const [net, a, b] = playing(['a', 'b'])
    put(net, a!, 0, 3)
    put(net, b!, 3, 0)
    lan.run(net, 200 - (net.now % 200))
    lan.act(net, a!, { kind: 'fire' })
    lan.run(net, 401)
    const flight = [rat(b!, a)!.missiles[0]!.at]
    for (; said(net, 'event').length < 2; lan.run(net, 200)) {
      flight.push(rat(b!, a)!.missiles[0]!.at)
    }
    expect(flight.slice(1)).toEqual([0, 1, 2])
    const [shot, hit, born] = said(net, 'event')
    expect(shot).toMatchObject({ from: 'a', packet: { action: { kind: 'projection' } } })
    expect(hit).toMatchObject({ from: 'b', packet: { action: { kind: 'hit', owner: 1 } } })
    expect(born).toMatchObject({ from: 'b', packet: { action: { kind: 'born' } } })
    lan.run(net, 2_000)
    for (const at of [a!, b!]) {
      expect(rat(at, a)).toMatchObject({ score: 10, missiles: [] })
      expect(rat(at, b)).toMatchObject({ score: -5 })
      expect(rat(at, b)!.at).not.toBe(3)
      expect(at.news).toContainEqual({ kind: 'hit', by: 1, whom: 2 })
    }
    // One that meets nobody ends at a wall, and nobody says so.
    put(net, a!, 0, 1)
    forget(net)
    lan.act(net, a!, { kind: 'fire' })
    lan.run(net, 4_000)
    expect(said(net, 'event')).toHaveLength(1)
    expect(rat(b!, a)!.missiles).toEqual([])
  })

  test('a player has three missiles in flight at most, one step and one shot a slot', () => {
    const [net, a] = playing(['a', 'b'])
    put(net, a!, 0, 3)
    lan.run(net, 200 - (net.now % 200))
    const done = (wish: Parameters<typeof lan.act>[2]): boolean => lan.act(net, a!, wish)
    expect([done({ kind: 'fire' }), done({ kind: 'fire' })]).toEqual([true, false])
    expect([done({ kind: 'step', speed: 1 }), done({ kind: 'step', speed: 1 })]).toEqual([
      true,
      false,
    ])
    for (const may of [true, true, false]) {
      lan.run(net, 200)
      expect(done({ kind: 'fire' })).toBe(may)
    }
    const shots = said(net, 'event').flatMap(({ packet }) =>
      packet.kind === 'event' && packet.action.kind === 'projection'
        ? [packet.action.missile.id]
        : [],
    )
    expect(shots).toEqual([0, 1, 2])
  })
})

describe('coming and going', () => {
  test('M5, M6, M7, M24, M50, M53: who joins asks three times, is answered, acks, and is born after a second', () => {
    const [net, a, b] = playing(['a', 'b'])
    const from = net.now
    lan.act(net, a!, { kind: 'turn', facing: ((a!.peer.self!.facing + 1) % 4) as 0 })
    const c = lan.join(net, 'c', { id: 3 })
    lan.run(net, 1_100)
    const steps = said(net).filter(({ packet, from: who, to }) => {
      return !packet.kind.startsWith('heartbeat') && (who === 'c' || to === 'c')
    })
    const told = (kind: Packet['kind']): number[] =>
      steps.filter(({ packet }) => packet.kind === kind).map(({ at }) => at - from)
    expect(told('inquiry')).toEqual([0, 200, 400])
    expect(told('response').slice(0, 2)).toEqual([1, 1])
    expect(told('response-ack').slice(0, 2)).toEqual([2, 2])
    expect(told('event')).toEqual([1_000])
    expect(told('event-ack').slice(-2)).toEqual([1_001, 1_001])
    const answer = said(net, 'response')[0]!
    const turn = said(net, 'event')[0]!.packet as Packet & { kind: 'event' }
    expect(answer).toMatchObject({ from: 'a', to: 'c' })
    // The state before it, and what is not worked in yet.
    expect(answer.packet).toMatchObject({
      absolute: { facing: turn.absolute.facing },
      uncommitted: [{ event: turn.event, action: turn.action }],
    })
    lan.run(net, 600)
    expect(world(c.peer).rats.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(world(b!.peer)).toEqual(world(c.peer))
  })

  test('M52: the first event that a newcomer sees of one is where its count begins', () => {
    const [net, a] = playing(['a', 'b'])
    a!.peer.event = 77_000
    const c = lan.join(net, 'c', { id: 3 })
    lan.run(net, 150)
    expect(c.peer.others.get(1)!.last).toBe(null)
    lan.act(net, a!, { kind: 'cloak', on: true })
    lan.run(net, 800)
    expect(c.peer.others.get(1)!.last).toBeGreaterThan(77_000)
    expect(rat(c, a)).toMatchObject({ cloaked: true })
  })

  test('M53: an inquiry that all missed is made good when the one who was missed beats', () => {
    const [net, a] = playing(['a', 'b'])
    net.deaf.add('c a').add('a c')
    const c = lan.join(net, 'c', { id: 3 })
    lan.run(net, 600)
    expect(rat(c, a)).toBe(undefined)
    net.deaf.clear()
    lan.run(net, 1_000)
    expect(rat(c, a)).toMatchObject({ at: rat(a!)!.at })
    expect(said(net, 'inquiry').at(-1)).toMatchObject({ from: 'c', to: 'a' })
  })

  test('M25: one leaves in silence, and is gone when five heartbeats had no ack', () => {
    const [net, a, b] = playing(['a', 'b', 'c'])
    b!.gone = true
    lan.run(net, 2_400)
    expect(a!.news).not.toContainEqual({ kind: 'gone', id: 2 })
    lan.run(net, 600)
    expect(a!.news).toContainEqual({ kind: 'gone', id: 2 })
    expect(world(a!.peer).rats.map(({ id }) => id)).toEqual([1, 3])
  })

  test('M37: who lost all others for long is out, discards what it had, and joins anew', () => {
    const [net, a, b] = playing(['a', 'b', 'c'])
    a!.peer.self!.score = 40
    lan.act(net, a!, { kind: 'cloak', on: true })
    lan.run(net, 500)
    expect(rat(b!, a)!.score).toBe(40)
    lan.isolate(net, 'a')
    lan.run(net, 3_000)
    expect(a!.news.at(-1)).toEqual({ kind: 'out' })
    expect(world(a!.peer).rats).toEqual([])
    expect(world(b!.peer).rats.map(({ id }) => id)).toEqual([2, 3])
    net.deaf.clear()
    lan.run(net, 4_000)
    expect(rat(b!, a)!.score).toBe(0)
    for (const { peer } of net.players.values()) {
      expect(world(peer).rats).toEqual(world(b!.peer).rats)
    }
  })

  test('M37: who lost all others for a short time goes on, and all is exchanged', () => {
    const [net, a, b] = playing(['a', 'b', 'c'])
    put(net, a!, 0, 3)
    put(net, b!, 40, 3)
    lan.isolate(net, 'a')
    lan.act(net, a!, { kind: 'turn', facing: 1 })
    lan.act(net, b!, { kind: 'turn', facing: 0 })
    lan.run(net, 1_000)
    expect([rat(b!, a)!.facing, rat(a!, b)!.facing]).toEqual([3, 3])
    net.deaf.clear()
    lan.run(net, 3_000)
    expect([rat(b!, a)!.facing, rat(a!, b)!.facing]).toEqual([1, 0])
    expect(a!.news.map(({ kind }) => kind)).not.toContain('gone')
  })

  test('M58: two with one id choose others, and who plays keeps it before who comes', () => {
    const [net, a, b] = playing(['a', 'b'])
    const late = lan.join(net, 'late', { id: 1 })
    lan.run(net, 3_000)
    expect(a!.peer.id).toBe(1)
    expect(late.peer.id).not.toBe(1)
    expect(late.news[0]).toEqual({ kind: 'clash', id: late.peer.id })
    expect(world(b!.peer).rats).toHaveLength(3)
    const net2 = lan.createLan(5, 'rtt=2')
    const strict = lan.join(net2, 'x', { id: 9, strict: true })
    lan.join(net2, 'y', { id: 9, strict: true })
    lan.run(net2, 3_000)
    expect(strict.peer.id).toBe(9)
    expect(strict.news).toContainEqual({ kind: 'clash', id: 9 })
  })
})

describe('loss', () => {
  test('M26, M27, M28, M29, M50: a packet goes out again after 100, 200 to 1,600 ms, five times, each by its own timer', () => {
    const [net, a, b] = playing(['a', 'b', 'c'])
    const from = net.now
    net.deaf.add('b a')
    lan.act(net, a!, { kind: 'cloak', on: true })
    lan.run(net, 30)
    lan.act(net, a!, { kind: 'turn', facing: ((a!.peer.self!.facing + 1) % 4) as 0 })
    // So that the heartbeats do not find it first.
    for (let i = 0; i < 10; i++) {
      lan.run(net, 470)
      for (const other of [b!.peer.others.get(1), a!.peer.others.get(2)]) {
        if (other) other.answered = true
      }
    }
    const times = (event: number): number[] =>
      said(net, 'event')
        .filter(({ from: who, packet }) => who === 'a' && (packet as never)['event'] === event)
        .map(({ at }) => at - from)
    expect(times(2)).toEqual([0, 100, 300, 700, 1_500, 3_100])
    expect(times(3)).toEqual([30, 130, 330, 730, 1_530, 3_130])
    const again = said(net, 'event').filter(({ to }) => to !== null)
    expect(new Set(again.map(({ to }) => to))).toEqual(new Set(['b']))
    expect(a!.peer.counters.broken).toBe(1)
    expect(a!.news).toContainEqual({ kind: 'gone', id: 2 })
  })

  test('M26, M60: heartbeats are not sent again, but in strict mode', () => {
    for (const strict of [false, true]) {
      const net = lan.createLan(1, 'rtt=2', true)
      const a = lan.join(net, 'a', { id: 1, strict })
      lan.join(net, 'b', { id: 2, strict })
      lan.run(net, 1_900)
      forget(net)
      net.deaf.add('b a')
      lan.run(net, 900)
      const again = said(net, 'heartbeat').filter(({ from, to }) => from === 'a' && to === 'b')
      expect(again.length > 0).toBe(strict)
      expect(a.peer.counters.resent > 0).toBe(strict)
    }
  })

  test('M57: numbers wrap in the middle of a game, and nothing is lost', () => {
    const net = lan.createLan(3, 'rtt=2')
    const wrap = { event: 2 ** 28 - 3, heartbeat: 2 ** 32 - 3 }
    const [a, b] = ['a', 'b'].map((name, i) => lan.join(net, name, { ...wrap, id: i + 1 }))
    lan.run(net, 1_600)
    for (let i = 0; i < 10; i++) {
      lan.act(net, a!, { kind: 'cloak', on: i % 2 === 0 })
      lan.run(net, 500)
      expect(rat(b!, a)!.cloaked).toBe(i % 2 === 0)
    }
    expect([a!.peer.event, a!.peer.heartbeat]).toEqual([8, 8])
    expect([a!.peer.counters.late, b!.peer.counters.late]).toEqual([0, 0])
    expect(b!.peer.others.get(1)!.unanswered).toBe(0)
  })
})

describe('a conflict', () => {
  /** Two rats on two sides of a free cell, which both face. */
  function opposed(names: string[]): [lan.Lan, lan.Player, lan.Player, ...lan.Player[]] {
    const [net, low, high, ...others] = playing(names)
    const place = Array.from({ length: 512 }, (_, at) => at).find((at) => {
      const middle = beyond(at, 3)
      return middle !== null && beyond(middle, 3) !== null
    })!
    for (const [i, one] of others.entries()) put(net, one!, 500 + i, 0)
    put(net, low!, place, 3)
    put(net, high!, place + 2, 2)
    return [net, low!, high!, ...(others as lan.Player[])]
  }

  test('M32: of two who go to one cell, the higher id is there, and the lower is back and says so', () => {
    const [net, low, high, third] = opposed(['a', 'b', 'c'])
    const [from, to] = [low.peer.self!.cell, low.peer.self!.cell + 1]
    expect(lan.act(net, low, { kind: 'step', speed: 1 })).toBe(true)
    expect(lan.act(net, high, { kind: 'step', speed: 1 })).toBe(true)
    lan.run(net, 650)
    for (const at of [low, high, third!]) {
      expect([rat(at, low)!.at, rat(at, high)!.at]).toEqual([from, to])
    }
    expect(low.peer.self!.cell).toBe(from)
    expect(said(net, 'event').at(-1)).toMatchObject({
      from: 'a',
      packet: { absolute: { cell: from }, action: { step: 'none' } },
    })
  })

  test('M36, M38: of two who do not hear each other, only the lower is wrong, until it hears', () => {
    const [net, low, high, third] = opposed(['a', 'b', 'c'])
    const [from, to] = [low.peer.self!.cell, low.peer.self!.cell + 1]
    lan.cut(net, 'a', 'b')
    lan.act(net, low, { kind: 'step', speed: 1 })
    lan.act(net, high, { kind: 'step', speed: 1 })
    lan.run(net, 650)
    for (const at of [high, third!]) expect(rat(at, high)!.at).toBe(to)
    expect(rat(third!, low)!.at).toBe(from)
    expect(rat(low)!.at).toBe(to)
    net.deaf.clear()
    lan.run(net, 2_000)
    for (const at of [low, high, third!]) {
      expect([rat(at, low)!.at, rat(at, high)!.at]).toEqual([from, to])
    }
  })
})

describe('hostile packets', () => {
  test('are refused, and counted by why', () => {
    const [net, a, b] = playing(['a', 'b'])
    const { refused } = a!.peer.counters
    const throwAt = (packet: Packet, from: string): void =>
      lan.inject(net, a!, from, encode(packet))
    const absolute = { score: 0, cell: 0, facing: 0, cloaked: false, missiles: [] } as const
    const still = { ...absolute, missiles: [] }
    lan.inject(net, a!, 'x', Uint8Array.of(1, 2, 3))
    throwAt({ kind: 'heartbeat-ack', heartbeat: 1, source: 2, destination: 9 }, 'b')
    throwAt({ kind: 'heartbeat', heartbeat: 1, source: 2 }, 'x')
    // Through the wall of the upper left cell.
    const through = { kind: 'movement', facing: 0, step: 'forward' } as const
    throwAt({ kind: 'event', event: 5, source: 2, absolute: still, action: through }, 'b')
    throwAt({ kind: 'heartbeat-ack', heartbeat: 999, source: 2, destination: 1 }, 'b')
    throwAt({ kind: 'event-ack', event: 1, source: 7, destination: 1 }, 'x')
    const answer = { heartbeat: 1, source: 2, destination: 1, absolute: still, uncommitted: [] }
    a!.peer.askedAt = a!.peer.others.get(2)!.askedAt = -Infinity
    throwAt({ kind: 'response', ...answer }, 'b')
    throwAt({ kind: 'heartbeat', heartbeat: 1, source: 1 }, 'x')
    expect(refused).toMatchObject({
      ...{ malformed: 1, astray: 1, moved: 1, impossible: 1, unasked: 3, clash: 1 },
    })
    expect(b!.peer.counters.refused.malformed).toBe(0)
  })

  test('a flood fills no table, neither of one who is known nor of strangers', () => {
    const [net, a, b] = playing(['a', 'b'])
    const beat = (source: number): Uint8Array => encode({ kind: 'heartbeat', heartbeat: 1, source })
    for (let i = 0; i < 10_000; i++) {
      lan.inject(net, a!, 'b', beat(2))
      lan.inject(net, a!, `x${i}`, beat(1_000 + i))
    }
    expect(a!.peer.others.size).toBeLessThanOrEqual(32)
    expect(a!.peer.counters.refused.flooding).toBeGreaterThan(19_000)
    const waiting = [...a!.peer.waiting.values()].map((list) => list.length)
    expect(waiting.length).toBeLessThanOrEqual(32)
    expect(Math.max(...waiting)).toBeLessThanOrEqual(64)
    lan.run(net, 6_000)
    expect([...a!.peer.others.keys()]).toEqual([2])
    expect(rat(a!, b)).toBeDefined()
  })
})
