// Goal: every line that guide and reference show behind `await join(...)` works right behind it.
// Method: whole sessions in virtual time with the shipped hub, over a quick and a slow path to it;
// the founder and a second player do each line in the moment in which `join` has returned.
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import {
  action,
  type JoinOptions,
  object,
  piece,
  procedure,
  type Session as Shown,
  slots,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { decode, definePart, encode } from '../../packages/holdfast/src/part.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const Rock = object('rock', { heat: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Card = piece('card', { at: u8 })
const deal = action('deal', (table, _nothing: undefined, by) => {
  table.set('dealt', by.player)
  table.create(Card, { at: 1 })
})
const roll = procedure('roll', { sides: u8 }, ({ sides }) => sides)
const Grid = slots('grid', { start: 0, act: { x: u8 }, rule: (sum) => sum })
const Bell = definePart({
  channel: 64,
  text: () => 'v1',
  create: () => ({ rings: 0 }),
  perform: (_state, operation) => ({ changes: [operation], answer: operation }),
  apply: (state, change) => void (state.rings += decode(u8, change) ?? 0),
  snapshot: (state) => encode(u8, state.rings),
  restore: (bytes) => ({ rings: decode(u8, bytes) ?? 0 }),
  face: (host) => ({ ring: (times: number) => host.ask(encode(u8, times)) }),
})('bell')
const types = [Rock, Card, deal, roll, Grid, Bell]

interface Line {
  does: (session: Session) => unknown
  /** What comes of it, if not `{ ok: true }`. */
  gives?: unknown
  options?: Partial<JoinOptions>
  /** For the second player alone, or the first. */
  only?: 'first' | 'second'
}

const OK = expect.objectContaining({ ok: true })

const LINES: Readonly<Record<string, Line>> = {
  'act(type, args)': { does: (session) => session.act(deal, undefined) },
  'table.get(key)': {
    only: 'second',
    does: (session) => session.table.get('dealt'),
    gives: expect.any(Number),
  },
  'grab() of a piece that is there': {
    only: 'second',
    does: (session) => session.all(Card)[0]!.grab({ raise: true }),
  },
  'grab() behind what made the piece': {
    does: async (session) => {
      await session.act(deal, undefined)
      return session.all(Card)[0]!.grab({ raise: true })
    },
  },
  "call('primary', …)": { does: (session) => session.call('primary', roll, { sides: 6 }) },
  'call(member, …)': { does: (session) => session.call(session.members[0]!, roll, { sides: 6 }) },
  "note('all', …)": {
    does: (session) => session.note('all', roll, { sides: 1 }),
    gives: undefined,
  },
  'create(type, state) and set': {
    does: (session) => {
      const mine = session.create(Rock, { heat: 1 })
      mine.set({ heat: 3 })
      return mine.state.heat
    },
    gives: 3,
  },
  'take() of an object that is there': {
    only: 'second',
    does: (session) =>
      session
        .all(Rock)
        .find((rock) => !rock.mine)!
        .take(),
  },
  'invite({ uses })': {
    options: { entry: 'invite' },
    does: (session) => session.invite({ uses: 4 }),
  },
  'vote(player)': {
    only: 'second',
    options: { expellers: 'vote' },
    does: (session) => session.vote(session.members[0]!),
  },
  'pardon(player)': { only: 'first', does: (session) => session.pardon(7) },
  'part(type).ring()': { does: (session) => session.part(Bell).ring(2) },
  'export()': { does: (session) => session.export(), gives: expect.any(Uint8Array) },
  'part(slots)': {
    does: (session) => {
      const grid = session.part(Grid)
      if (grid.status === 'live') grid.act({ x: 1 })
      return grid.status
    },
    gives: expect.stringMatching(/^(live|joining)$/),
  },
  'simulate(hz, step)': {
    does: (session) => typeof session.simulate(20, () => {}),
    gives: 'function',
  },
  status: { does: (session) => session.status, gives: 'live' },
  'members and me': {
    does: (session) => session.members.some(({ inc }) => inc === session.me.inc),
    gives: true,
  },
  token: { does: (session) => session.token, gives: expect.stringMatching(/./) },
  'figures()': { does: (session) => session.debug.figures(), gives: expect.anything() },
  'leave()': { does: (session) => session.leave(), gives: undefined },
}

/** Who is in the room before the one who does the line. */
async function before(w: SessionWorld, wish: JoinOptions): Promise<string | undefined> {
  const ada = await w.join({ ...wish, name: 'Ada' })
  await w.run(2_000)
  ada.create(Rock)
  await act(w, ada.act(deal, undefined))
  if (wish.entry !== 'invite') return undefined
  const made = await act(w, ada.invite())
  return made.ok ? made.value : undefined
}

describe('right behind `await join(...)`', () => {
  const cases = Object.entries(LINES).flatMap(([name, { only }]) =>
    (['first', 'second'] as const)
      .filter((who) => !only || only === who)
      .flatMap((who) => ['rtt=20', 'rtt=600'].map((path) => [name, who, path] as const)),
  )
  test.each(cases)('%s works for the %s, over %s (N-5)', async (name, who, path) => {
    const line = LINES[name]!
    const { does, options = {} } = line
    const w = world({ seed: 5, conditions: path })
    const wish = { game: 'garden', types, ...options }
    const ticket = who === 'second' ? await before(w, wish) : undefined
    const session = await w.join({ ...wish, name: 'Grace', ...(ticket ? { ticket } : {}) })
    const did = does(session)
    expect(await act(w, Promise.resolve(did))).toEqual('gives' in line ? line.gives : OK)
  })

  test('an invitation waits for a hub that starts again, but not for ever (N-5)', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const ada: Shown = await w.join({ game: 'garden', types, entry: 'invite' })
    await w.run(1_000)
    w.killHub()
    await w.run(100)
    const made = ada.invite()
    await w.run(500)
    w.restartHub()
    expect(await act(w, made)).toEqual(OK)
    w.killHub()
    await w.run(100)
    const begun = w.now()
    expect(await act(w, ada.invite())).toMatchObject({ ok: false, code: 'lost' })
    expect(w.now() - begun).toBeLessThan(5_500)
  })
})
