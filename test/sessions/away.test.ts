// Goal: whoever closes a window is gone for the others within three seconds, and so is what was
// theirs, unless they come back meanwhile; until then a page can tell what is theirs from the rest.
// Method: whole sessions in virtual time with the shipped hub; pages end, or machines are killed.
import { describe, expect, test } from 'vitest'
import { object, text, withRoom } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const Dot = object('dot', { of: text(8) })
const Stone = object('stone', { of: text(8) }, { take: 'free', onOwnerLeave: 'keep' })
const Note = object('note', { of: text(8) }, { onOwnerLeave: 'keep', kept: withRoom() })
const types = [Dot, Stone, Note]
const NAMES = ['server', 'backup', 'client', 'watch'] as const

type Kind = 'node' | 'browser'

interface Room {
  w: SessionWorld
  all: Session[]
  /** Another client, who plays on. */
  other: Session
}

/** A server, its backup, and two clients, each with one object of a type. */
async function room(kind: Kind, seed = 5, conditions = 'rtt=40'): Promise<Room> {
  const w = world({ seed, conditions })
  const all: Session[] = []
  for (const name of NAMES) {
    all.push(await w.join({ game: 'garden', room: 'r', types, name }, { name, kind }))
    await w.run(2_500)
  }
  for (const [at, one] of all.entries()) {
    for (const type of types) one.create(type, { of: NAMES[at]! })
  }
  await w.run(1_000)
  const [server, backup, , other] = all
  expect(other!.primary?.name).toBe(server!.me.name)
  expect(other!.backup?.name).toBe(backup!.me.name)
  return { w, all, other: other! }
}

function again(w: SessionWorld, kind: Kind, token: string): Promise<Session> {
  const as = token === '' ? {} : { token }
  return w.join({ game: 'garden', room: 'r', types, name: 'again', ...as }, { kind })
}

/** What somebody sees of what was another's: a word for each type. */
function seen(session: Session, of: string): string {
  const words = types.map((type) => {
    const found = session.all(type).filter((one) => one.state.of === of)
    return found.map(({ away, owner }) => (away ? 'away' : owner?.name)).join(' ') || 'none'
  })
  return words.join(', ')
}

const ALL_AWAY = 'away, away, away'
const isHere = (session: Session, name: string): boolean => {
  return session.members.some((member) => member.name === name)
}

const ROLES = [0, 1, 2] as const
const CASES = (['node', 'browser'] as const).flatMap((kind) => {
  return ROLES.map((at) => ({ kind, who: NAMES[at]!, at }))
})

describe.each(CASES)('$who, a $kind', ({ kind, who, at }) => {
  test('that ends is gone at once, and what is its own is away, then gone (N-16)', async () => {
    const { w, all, other } = await room(kind)
    all[at]!.end('the page is gone')
    await w.run(500)
    expect([isHere(other, who), seen(other, who)]).toEqual([false, ALL_AWAY])
    await w.run(1_500)
    expect(seen(other, who)).toBe(ALL_AWAY)
    await w.run(1_000)
    // What the type keeps stays, and waits for its player as ever.
    expect(seen(other, who)).toBe('none, away, away')
    await w.run(60_000)
    const { name } = other.primary!
    expect(seen(other, who)).toBe(`none, ${name}, ${name}`)
  })

  test('that was killed is away within a second, and for a minute (N-16)', async () => {
    const { w, all, other } = await room(kind)
    w.kill(all[at]!)
    await w.run(1_000)
    expect(seen(other, who)).toBe(ALL_AWAY)
    await w.run(2_000)
    expect([isHere(other, who), seen(other, who)]).toEqual([false, ALL_AWAY])
    await w.run(50_000)
    expect(seen(other, who)).toBe(ALL_AWAY)
    await w.run(12_000)
    expect(seen(other, who)).toMatch(/^none, /)
  })

  test('that is loaded anew has its own again (N-16)', async () => {
    const { w, all, other } = await room(kind)
    const { token, me } = all[at]!
    all[at]!.end('the page is gone')
    await w.run(1_800)
    const back = await again(w, kind, token)
    await w.run(500)
    expect(back.me.player).toBe(me.player)
    expect([seen(other, who), seen(back, who)]).toEqual(Array(2).fill('again, again, again'))
    await w.run(61_000)
    expect(seen(other, who)).toBe('again, again, again')
  })

  test('that is loaded anew slowly has what its type keeps (N-16)', async () => {
    const { w, all, other } = await room(kind)
    const { token, me } = all[at]!
    all[at]!.end('the page is gone')
    await w.run(8_000)
    const back = await again(w, kind, token)
    await w.run(500)
    expect(back.me.player).toBe(me.player)
    expect([seen(other, who), seen(back, who)]).toEqual(Array(2).fill('none, again, again'))
  })

  test('that leaves for good leaves nothing that waits (N-16)', async () => {
    const { w, all, other } = await room(kind)
    await act(w, all[at]!.leave())
    await w.run(500)
    expect(isHere(other, who)).toBe(false)
    const { name } = other.primary!
    expect(seen(other, who)).toBe(`none, ${name}, ${name}`)
  })
})

describe('those that end together', () => {
  // The other one, and so many ms behind the server.
  const cases = [1, 2].flatMap((at) => [0, 60, 900].map((gap) => [NAMES[at]!, at, gap] as const))
  test.each(cases)(
    'server and %s (%i), %i ms apart, are both gone (N-16)',
    async (who, at, gap) => {
      const { w, all, other } = await room('browser')
      all[0]!.end('the page is gone')
      await w.run(gap)
      // Nobody is left who may take over: what follows is a recovery, after a second.
      const isOver = at === 1 && gap < 100
      all[at]!.end('the page is gone')
      await w.run(isOver ? 4_000 : 2_900)
      expect([isHere(other, 'server'), isHere(other, who)]).toEqual([false, false])
      for (const name of ['server', who]) expect(seen(other, name)).toBe('none, away, away')
    },
  )

  test('the client first, find their own in the room that was kept (N-16)', async () => {
    const { w, all } = await room('browser')
    const [server, backup, client, other] = all as [Session, Session, Session, Session]
    const tokens = [client, server].map(({ token }) => token)
    for (const one of [client, other, backup]) {
      one.end('the page is gone')
      await w.run(300)
    }
    server.end('the page is gone')
    await w.run(5_000)
    const [first, second] = [
      await again(w, 'browser', tokens[0]!),
      await again(w, 'browser', tokens[1]!),
    ]
    await w.run(1_500)
    for (const one of [first, second]) {
      const notes = one.all(Note).filter(({ mine, away }) => mine && !away)
      expect(notes.map(({ state }) => state.of)).toEqual([one === first ? 'client' : 'server'])
    }
  })
})

describe('listeners', () => {
  test('hear once that what they see is away, and once that it is not any more (N-16)', async () => {
    const { w, all, other } = await room('browser')
    const client = all[2]!
    const told: string[] = []
    const dot = other.all(Dot).find(({ state }) => state.of === 'client')!
    dot.on('changed', () => void told.push(`${dot.away}`))
    other.all(Dot).on('changed', (one) => void told.push(`list ${one === dot && one.away}`))
    const before = other.all(Dot)
    w.kill(client)
    await w.run(1_000)
    expect(told).toEqual(['true', 'list true'])
    expect(other.all(Dot)).not.toBe(before)
    // It is out of the list of members by then: what was its own changes hands, and is away still.
    await w.run(5_000)
    expect([...new Set(told)]).toEqual(['true', 'list true'])
    told.length = 0
    await again(w, 'browser', client.token)
    await w.run(1_000)
    expect(told).toEqual(['false', 'list false'])
    // What others do is no news of it.
    await w.join({ game: 'garden', room: 'r', types }, { kind: 'browser' })
    await w.run(1_000)
    expect(told).toEqual(['false', 'list false'])
  })

  test('hear of no change where one is away as they come, and others do (N-16)', async () => {
    const { w, all } = await room('browser')
    w.kill(all[2]!)
    await w.run(4_000)
    const late = await again(w, 'browser', '')
    await w.run(1_000)
    const dot = late.all(Dot).find(({ state }) => state.of === 'client')!
    expect(dot.away).toBe(true)
    let told = 0
    dot.on('changed', () => void told++)
    await again(w, 'browser', '')
    await w.run(1_000)
    expect([dot.away, told]).toEqual([true, 0])
  })

  test.each([0, 1, 2])('hear of it the moment that it can be seen (%i) (N-16)', async (at) => {
    for (const end of ['end', 'crash'] as const) {
      const { w, all, other } = await room('browser')
      const dot = other.all(Dot).find(({ state }) => state.of === NAMES[at])!
      let told = dot.away
      dot.on('changed', () => void (told = dot.away))
      if (end === 'end') all[at]!.end('the page is gone')
      else all[at]!.debug.crash()
      for (let ms = 0; ms < 1_000; ms += 5) {
        await w.run(5)
        expect(told).toBe(dot.away)
      }
      expect(told).toBe(true)
    }
  })

  test('hear of who was away no more once they come in anew themselves (N-16)', async () => {
    const { all, other } = await room('browser')
    const { inc, player } = other.me
    const dot = other.all(Dot).find(({ state }) => state.of === 'client')!
    other.onEvent({ kind: 'away', members: new Set([all[2]!.me.inc]) })
    expect(dot.away).toBe(true)
    // While they were out, nobody told them who is back.
    other.onEvent({ kind: 'joined', inc, player, lost: 0 })
    expect(dot.away).toBe(false)
  })

  test('hear nothing of a hub that is started anew, nor of streams that break (N-16)', async () => {
    for (const kind of ['node', 'browser'] as const) {
      const { w, all } = await room(kind)
      const away: string[] = []
      for (const one of all) {
        for (const type of types) {
          one.all(type).on('changed', (it) => void (it.away && away.push(one.me.name)))
        }
      }
      w.killHub()
      await w.run(300)
      w.restartHub()
      await w.run(10_000)
      expect(away).toEqual([])
      expect(all.map(({ status, hub }) => [status, hub])).toEqual(all.map(() => ['live', 'up']))
    }
  })
})

test.each([1, 2, 3, 4])('over lossy paths nobody is a ghost: seed %i (N-16)', async (seed) => {
  for (const at of ROLES) {
    const { w, all, other } = await room('browser', seed, 'rtt=60,loss=5%')
    const who = NAMES[at]!
    all[at]!.end('the page is gone')
    await w.run(1_000)
    expect(seen(other, who)).toBe(ALL_AWAY)
    await w.run(2_000)
    expect(isHere(other, who)).toBe(false)
  }
})
