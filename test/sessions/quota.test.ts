// Goal: who founds a session says how many objects one player makes, and it holds for all who come,
// whoever serves, however often they come back.
// Method: whole sessions in virtual time; the hub's records by hand.
import { describe, expect, test } from 'vitest'
import type { JoinOptions, Session } from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world, toyTicket } from '../../packages/sim/src/session-world.ts'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { readRecord, storedBefore, writeRecord } from '../../packages/hub/src/machine/records.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { refusal, Rock, types } from './cluster.ts'

const garden = { game: 'garden', types }

async function pages(
  wishes: readonly Partial<JoinOptions>[],
): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed: 8, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const wish of wishes) all.push(await w.join({ ...garden, ...wish }, { kind: 'browser' }))
  await w.runUntil(() => all[0]!.safety !== 'alone', 10_000)
  return { w, all }
}

function make(session: Session, count: number): void {
  for (let n = 0; n < count; n++) session.create(Rock)
}

function sizes(all: readonly Session[]): number[] {
  return all.map((session) => session.all(Rock).length)
}

const full = (most: number, made: number): string =>
  `full: there is no room for rock: in this room a player makes ${most} objects at most ` +
  `(objectsPerPlayer): ${made}`

describe('objectsPerPlayer', () => {
  test('B23: holds for all, as who founded the session said it; what later ones say is not asked (OB-2)', async () => {
    const { w, all } = await pages([
      { name: 'Ada', objectsPerPlayer: 3 },
      { name: 'Grace', objectsPerPlayer: 9 },
      { name: 'Linus' },
    ])
    for (const session of all) {
      make(session, 3)
      expect(refusal(() => session.create(Rock))).toBe(full(3, 3))
    }
    await w.run(1_000)
    expect(sizes(all)).toEqual([9, 9, 9])
    // Room for one more is there once one is gone.
    all[1]!
      .all(Rock)
      .find(({ mine }) => mine)!
      .destroy()
    make(all[1]!, 1)
    // Over the death of the server, too.
    w.kill(all[0]!)
    await w.runUntil(() => all[1]!.members.length === 2, 20_000)
    expect(refusal(() => all[1]!.create(Rock))).toBe(full(3, 3))
  })

  test('binds a process on Node as any other: what it says of itself gives it no more (N-4)', async () => {
    const { w, all } = await pages([{ objectsPerPlayer: 3 }, {}])
    const node = await w.join({ ...garden, name: 'node' }, { kind: 'node' })
    make(node, 3)
    expect(refusal(() => node.create(Rock))).toBe(full(3, 3))
    // One whose program does not ask itself is told by whoever serves.
    const { session } = node.member!
    const own = (node.member!.mounts[0]!.state as { hosts: Set<number> }).hosts
    own.add(session.me)
    make(node, 4)
    await w.run(1_000)
    expect(sizes([...all, node])).toEqual([3, 3, 3])
  })

  test('does not bind who was admitted as a host, wherever it runs (N-4)', async () => {
    const w = world({ seed: 8, conditions: 'rtt=20' })
    await w.join({ ...garden, objectsPerPlayer: 3 }, { kind: 'browser' })
    const said = { game: 'garden', room: null, id: 'h', uses: 1 }
    const ticket = toyTicket({ ...said, rights: RIGHTS.play | RIGHTS.host })
    const host = await w.join({ ...garden, name: 'host', ticket }, { kind: 'browser' })
    make(host, 10)
    await w.run(1_000)
    expect(sizes([host])).toEqual([10])
  })

  test('B23: who came back by a token, and does not know what it made, is told by the primary (OB-2)', async () => {
    const { w, all } = await pages([{ objectsPerPlayer: 3 }, {}])
    const [ada, before] = all as [Session, Session]
    make(before, 2)
    await w.run(1_000)
    const { token } = before
    w.kill(before)
    // Else the new process sees in its first view whose the old one was.
    await w.runUntil(() => ada.members.length === 1, 20_000)
    const grace = await w.join({ ...garden, token }, { kind: 'browser' })
    await w.runUntil(() => sizes([ada, grace]).every((size) => size === 2), 20_000)
    expect(grace.me.player).toBe(2)
    make(grace, 1)
    const gone: string[] = []
    for (let n = 0; n < 2; n++) {
      grace.create(Rock).on('gone', ({ reason }) => void gone.push(reason))
    }
    // Its own three it knows of.
    expect(refusal(() => grace.create(Rock))).toBe(full(3, 3))
    await w.run(1_000)
    expect([gone, sizes([ada, grace])]).toEqual([
      ['full', 'full'],
      [3, 3],
    ])
    expect(w.reported).toEqual([
      'create: HoldfastError: there is no room for rock: in this room a player makes 3 objects ' +
        'at most (objectsPerPlayer): more than the 1 that are known here',
    ])
  })

  test('is a number of objects, or the join says what it is', async () => {
    const w = world({ seed: 8 })
    for (const wrong of [-1, 1.5, 10_001, NaN, '3', null]) {
      await expect(w.join({ ...garden, objectsPerPlayer: wrong as never })).rejects.toMatchObject({
        code: 'bad-value',
        message: expect.stringMatching(/^objectsPerPlayer is 0 to 10000: /),
      })
    }
    const none = await w.join({ ...garden, objectsPerPlayer: 0 }, { kind: 'browser' })
    // Alone there is nobody to keep room for.
    make(none, 1)
    const other = await w.join(garden, { kind: 'browser' })
    expect(refusal(() => other.create(Rock))).toBe(full(0, 0))
  })
})

test('playersMax is of who founded the session, also when somebody else serves', async () => {
  const { w, all } = await pages([{ playersMax: 3 }, { playersMax: 200 }])
  w.kill(all[0]!)
  await w.runUntil(() => all[1]!.members.length === 1, 20_000)
  for (const name of ['c', 'd']) await w.join({ ...garden, name })
  await expect(w.join(garden)).rejects.toMatchObject({
    code: 'full',
    message: 'the session is full: 3 players',
  })
})

test('a hub opens what it kept before there were terms, and keeps the terms of now', () => {
  const hash = new Uint8Array(16).fill(7)
  const entry = {
    session: 's',
    game: 'g',
    room: 'r',
    register: { epoch: 4, primary: 2, backup: 0 },
    players: 2,
    playersMax: 16,
    standing: 'open',
    topology: 'mesh',
  } as const
  const members = [1, 2].map((inc) => ({ inc, player: inc, hash }))
  const directory = register.create(0)
  const before = encode(storedBefore, { entry, members, recovers: true })
  register.restore(directory, 0, readRecord(before)!)
  const row = register.find(directory, 's')!
  expect(row).toMatchObject({ entry: { ...entry, terms: '' }, members, recovers: true })
  expect(row.members[0]!.link).toEqual(new Uint8Array(32))
  row.entry.terms = 'objects=9'
  const again = register.create(0)
  register.restore(again, 0, readRecord(writeRecord(register.recordOf(directory, 's')!))!)
  expect(register.find(again, 's')!.entry.terms).toBe('objects=9')
  expect(readRecord(before.subarray(0, before.length - 1))).toBe(null)
})
