// Goal: nobody but a primary or a backup can harm a session, whatever they send.
// Method: seeded nonsense and lies into the shipped machines, in virtual time.
// Slow: it plays whole sessions in a storm of packets.
import { expect, test } from 'vitest'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import { SESSION_VERSION } from '../../packages/holdfast/src/session/messages.ts'
import { PLAYERS_KEPT_MAX } from '../../packages/holdfast/src/replication/layouts.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import { leadOf, NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import {
  cardsRefused,
  cheat,
  complaints,
  objectsRefused,
  rage,
  refused,
  scene,
  type Scene,
  tell,
} from '../fuzz/cluster.ts'

const REFRESHES_MAX = 8

test('a stranger and a lying member send 30,000 hostile packets: the others play on in the same epoch', async () => {
  for (const seed of [1, 2, 3]) {
    const made = await scene(seed)
    rage(made, 10_000)
    expect({ seed, complaints: complaints(made) }).toEqual({ seed, complaints: [] })
    const { malformed, unknown, unproven } = refused(made)
    expect(Math.min(malformed, unknown, unproven)).toBeGreaterThan(20)
    const lies = objectsRefused(made)
    expect(Math.min(lies.malformed, lies.stale, lies.ignored)).toBeGreaterThan(20)
  }
})

test('O42, O45: a member that cheats at cards 1,500 times: all have the cards of the primary, and play on', async () => {
  for (const seed of [1, 2, 3]) {
    const made = await scene(seed)
    cheat(made, 500)
    expect({ seed, complaints: complaints(made) }).toEqual({ seed, complaints: [] })
    const { malformed, made: changes } = cardsRefused(made)
    expect(Math.min(malformed, changes)).toBeGreaterThan(20)
  }
})

// The liar says one thing to each of the others, and they go on for ten seconds.
async function lieToAll(message: (scene: Scene) => PeerMessage): Promise<string[]> {
  const made = await scene(5)
  for (const victim of made.good) {
    await tell(made, victim.inc, message(made))
    for (const one of made.good) one.act()
  }
  await made.world.sim.run(10_000)
  return complaints(made)
}

const EPOCHS = [3, 2 ** 21 - 1, 2 ** 53 - 1]

test('T42: a member that says it leads, in 3 larger epochs, is followed by nobody', async () => {
  for (const epoch of EPOCHS) {
    const said = ({ liar, good }: Scene): PeerMessage => {
      const { members } = good[0]!.session.client.view
      const view = { ...NO_VIEW, epoch, mv: 99, primary: liar.inc, backup: 0, members }
      return { kind: 'view', view }
    }
    expect(await lieToAll(said)).toEqual([])
  }
})

test('T38: a member that offers a snapshot, in 3 larger epochs, makes nobody its backup', async () => {
  for (const epoch of EPOCHS) {
    const said = (): PeerMessage => ({
      kind: 'snapshot',
      epoch,
      length: 0,
      piece: 0,
      of: 2 ** 40,
      bytes: new Uint8Array(32 * 1024),
    })
    expect(await lieToAll(said)).toEqual([])
  }
})

test('a member that asks for everything 500 times in a second is answered 8 times', async () => {
  const made = await scene(6)
  const [primary] = made.good
  made.liar.views = 0
  for (let count = 0; count < 500; count++) {
    await tell(made, primary!.inc, { kind: 'resync' }, 0)
    if (count % 20 === 0) await made.world.sim.run(20)
  }
  await made.world.sim.run(200)
  expect(leadOf(primary!.session).refreshed.get(made.liar.inc)!.count).toBeGreaterThan(400)
  expect(made.liar.views).toBe(REFRESHES_MAX)
  expect(complaints(made)).toEqual([])
})

test('2,000 processes that come and go within a minute do not stop a primary', async () => {
  const made = await scene(7)
  const [primary] = made.good
  for (let asker = 1; asker <= 2_000; asker++) {
    primary!.runner.do((now, run) => {
      const hash = new Uint8Array(16)
      new DataView(hash.buffer).setUint32(0, asker)
      const wish = {
        version: SESSION_VERSION,
        schema: primary!.session.schema,
        name: 'guest',
        kind: 'browser' as const,
        watches: false,
        addresses: [],
        link: Uint8Array.of(...hash, ...hash),
        registerHash: hash,
        key: Uint8Array.of(...hash, ...hash),
        ...{ rights: 1, admission: new Uint8Array(64) },
        resume: null,
        signature: new Uint8Array(64),
      }
      membership.join({ session: primary!.session, now, out: run.out }, asker, wish)
      const { nextInc } = primary!.session.server.durable
      membership.remove({ session: primary!.session, now, out: run.out }, nextInc - 1, 'left')
    })
    if (asker % 20 === 0) await made.world.sim.run(20)
  }
  expect(primary!.session.server.durable.players.size).toBe(PLAYERS_KEPT_MAX)
  made.world.sim.crash('b')
  await made.world.sim.run(3_000)
  expect(primary!.session.server.role).toBe('backedup')
})
