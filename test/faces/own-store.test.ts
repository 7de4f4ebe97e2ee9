// Goal: what a host keeps in a store of its own is there when everybody has gone, as at the hub,
// and the hub has nothing of it but digests; another host, or none, does not open the room.
// Method: whole sessions in virtual time, with the shipped hub; disks of the simulator.
import { describe, expect, test } from 'vitest'
import { action, piece, secret, u8 } from '../../packages/holdfast/src/index.ts'
import { HoldfastError } from '../../packages/holdfast/src/index.ts'
import type { Running as Session } from '../../packages/holdfast/src/join/live.ts'
import { OwnRooms } from '../../packages/holdfast/src/runtime/own-rooms.ts'
import type { RoomStore, Store } from '../../packages/holdfast/src/ports.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { dice } from '../conformance/until.ts'
import { act } from './acting.ts'

const Card = piece('card', { rank: secret(u8, () => false) })
const deal = action('deal', (table, rank: number) => {
  table.create(Card, { rank })
  const dealt = ((table.get('the secret word') as number | undefined) ?? 0) + 1
  table.set('the secret word', dealt)
  return dealt
})
const rooms = (store: Store): RoomStore => new OwnRooms(store)
const PLACE = { game: 'whist', room: 'r', types: [Card, deal] } as const

const hosting = (w: SessionWorld, name = 'host', more: object = {}): Promise<Session> => {
  return w.join({ ...PLACE, name, ...more }, { name, rooms })
}
const dealtIn = (session: Session): number => session.all(Card).length

/** The machine of the host is killed and boots; it may open the room again. */
async function killed(w: SessionWorld): Promise<void> {
  w.sim.crash('host')
  await w.run(4_000)
  w.sim.restart('host')
}

/** What a disk has, as text. */
function onDisk(w: SessionWorld, node: string): string {
  const all = [...w.sim.node(node).store.entries()]
  return all.map(([key, bytes]) => key + Buffer.from(bytes).toString('latin1')).join('\n')
}

const sheets = (w: SessionWorld): number => onDisk(w, 'host').split('sheet ').length - 1

async function kept(w: SessionWorld): Promise<string> {
  const host = await hosting(w)
  expect(await act(w, host.act(deal, 7))).toMatchObject({ ok: true })
  expect(host.safety).toBe('kept')
  return host.token
}

describe('a host with a store', () => {
  test('keeps a room with secrets without a key, and the hub has nothing of it', async () => {
    const w = world({ seed: 1, conditions: 'rtt=20' })
    const token = await kept(w)
    expect(onDisk(w, 'hub')).not.toContain('secret word')
    expect(onDisk(w, 'host')).toContain('secret word')
    await killed(w)
    const again = await hosting(w, 'host', { token })
    expect([again.table.get('the secret word'), again.me.player]).toEqual([1, 1])
    expect(await act(w, again.act(deal, 8))).toMatchObject({ ok: true, value: 2 })
    expect(dealtIn(again)).toBe(2)
  })

  test('killed at any moment, with the hub or without, has what it acknowledged', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      // What was said is there sooner than what was written.
      const w = world({ seed, conditions: 'rtt=2' })
      const random = dice(seed)
      let acked = 0
      let host: Session | null = null
      let token: string | undefined
      for (let step = 0; step < 10; step++) {
        host ??= await hosting(w, 'host', token === undefined ? {} : { token })
        token = host.token
        expect(host.table.get('the secret word') ?? 0, `seed ${seed}`).toBeGreaterThanOrEqual(acked)
        for (let count = 1 + random.below(9); count > 0; count--) {
          void host.act(deal, 1).then((done) => {
            if (done.ok) acked = Math.max(acked, done.value as number)
          })
          await w.run(random.below(3) === 0 ? 0 : random.next() * 30)
        }
        const who = random.below(3)
        if (who > 0) {
          w.killHub()
          w.sim.at(w.now() + 1 + random.below(30), () => w.restartHub())
        }
        if (who > 1) continue
        host = null
        await killed(w)
      }
    }
  })

  test('that leaves has kept all of it before its session is over', async () => {
    const w = world({ seed: 9, conditions: 'rtt=2' })
    const host = await hosting(w)
    await act(w, host.act(deal, 1))
    void host.act(deal, 2)
    await act(w, host.leave())
    await w.run(200)
    const again = await hosting(w)
    expect(again.table.get('the secret word')).toBe(2)
  })

  test('drops what it does not need any more', async () => {
    const w = world({ seed: 3, conditions: 'rtt=20' })
    const token = await kept(w)
    for (let life = 0; life < 5; life++) {
      await killed(w)
      const host = await hosting(w, 'host', { token })
      for (const rank of [1, 2, 3]) await act(w, host.act(deal, rank))
      await w.run(500)
    }
    // A whole state, and few entries behind it.
    expect(sheets(w)).toBeLessThanOrEqual(4)
  })

  test('whose store has another room, or none, leaves it as it is', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    await kept(w)
    await killed(w)
    const why = 'what is kept of this room is in the store of a host: it alone opens the room'
    for (const place of [{ rooms }, {}]) {
      const joining = w.join({ ...PLACE, name: 'other' }, place)
      await expect(joining).rejects.toMatchObject({ code: 'store', message: why })
    }
    expect(dealtIn(await hosting(w))).toBe(1)
  })

  test('goes on as server after others, of whom the hub keeps nothing', async () => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const host = await hosting(w)
    await act(w, host.act(deal, 1))
    const ada = await w.join({ ...PLACE, name: 'Ada' })
    await w.runUntil(() => host.safety === 'backed-up', 10_000)
    w.sim.crash('host')
    await w.runUntil(() => ada.primary?.name === 'Ada', 20_000)
    expect(await act(w, ada.act(deal, 2))).toMatchObject({ ok: true, value: 2 })
    expect(onDisk(w, 'hub')).not.toContain('secret word')
  })

  test('whose disk refuses says so and waits, and goes on when it does not', async () => {
    const w = world({ seed: 6, conditions: 'rtt=20' })
    let isFull = false
    let refused = 0
    const filled = (store: Store): RoomStore =>
      new OwnRooms({
        ...{ entries: () => store.entries(), read: (key) => store.read(key), close: () => {} },
        write: (changes, done) => {
          refused += isFull ? 1 : 0
          if (isFull && refused < 100)
            queueMicrotask(() => done(new HoldfastError('store', 'no room')))
          else store.write(changes, done)
        },
      })
    const host = await w.join({ ...PLACE, name: 'host' }, { name: 'host', rooms: filled })
    const errors: string[] = []
    host.on('error', ({ error }) => errors.push((error as Error).message))
    await act(w, host.act(deal, 1))
    isFull = true
    let done = false
    void host.act(deal, 2).then(() => (done = true))
    await w.run(5_000)
    const why = 'this room is not kept just now: no room'
    expect([done, host.safety, errors]).toEqual([false, 'waiting', [why]])
    // Each two seconds.
    expect(refused).toBeLessThanOrEqual(4)
    isFull = false
    await w.runUntil(() => done, 5_000)
    expect(host.safety).toBe('kept')
  })

  test('takes no keepRoom: false', async () => {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    await expect(hosting(w, 'host', { keepRoom: false })).rejects.toMatchObject({
      code: 'bad-value',
    })
  })
})
