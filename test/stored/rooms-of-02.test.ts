// Goal: rooms that a hub of 0.2 stored, and files of them, open: table, timers, pieces, objects,
// who may put players out and who was, with and without a key of the room.
// Method: disks of hubs as the build of 0.2 left them (test/data/rooms-0.2.json; nothing writes
// that file any more), under the shipped hub in virtual time.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { upgradeRecords } from '../../packages/hub/src/machine/upgrade.ts'
import { act } from '../sessions/acting.ts'
import { putBack } from './disks.ts'
import { OF_02, type StoredBy02 } from './room-of-02.ts'

const { add, Pawn, Stroke } = OF_02
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
const rooms = JSON.parse(
  readFileSync(new URL('../data/rooms-0.2.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, StoredBy02>>

/** A hub on the disk of one of 0.2. */
async function hubOf(disk: StoredBy02['disk']): Promise<SessionWorld> {
  const w = world({ seed: 3, conditions: 'rtt=20' })
  const old = disk.map(([key, value]) => [key, bytesOf(value)] as const)
  const isBlob = ([key]: readonly [string, unknown]): boolean => key.startsWith('~')
  const records = new Map(upgradeRecords(old.filter((one) => !isBlob(one))))
  const blobs = new Map(old.filter(isBlob).map(([key, value]) => [key.slice(1), value] as const))
  await putBack(w, { records, blobs })
  return w
}

describe.each(Object.entries(rooms))('a room of 0.2, %s', (room, { tokens, file, ...stored }) => {
  const { keepRoom, disk } = stored
  const place = { game: 'garden', room, types: Object.values(OF_02), keepRoom }

  test('opens with all that is in it (N-2)', async () => {
    const w = await hubOf(disk)
    const grace = await w.join({ ...place, name: 'Grace', token: tokens.grace })
    expect([grace.me.player, grace.table.get('pins')]).toEqual([2, 3])
    expect(grace.all(Pawn).map(({ state }) => state.at)).toEqual([7])
    const strokes = grace.all(Stroke).map(({ state }) => `${state.x} ${state.ink}`)
    expect(new Set(strokes)).toEqual(new Set(['11 red', '2 blue']))
    expect(grace.banned).toMatchObject([{ player: 3, why: 'spam' }])
    const ada = await w.join({ ...place, name: 'Ada', token: tokens.ada })
    expect([ada.me.player, ada.mayExpel, grace.mayExpel]).toEqual([1, true, false])
    await expect(
      act(w, w.join({ ...place, name: 'Linus', token: tokens.linus })),
    ).rejects.toMatchObject({ code: 'banned' })
    expect(await act(w, ada.act(add, ['pins']))).toMatchObject({ ok: true, value: 4 })
    expect(ada.table.get('rang')).toBe(undefined)
    // Ten minutes of a player who is alone are soon gone through.
    await act(w, grace.leave())
    await w.run(600_000)
    expect(ada.table.get('rang')).toBe(true)
  })

  test('and is stored anew by this build, and opens again (N-2)', async () => {
    const w = await hubOf(disk)
    const grace = await w.join({ ...place, name: 'Grace', token: tokens.grace })
    expect(await act(w, grace.act(add, ['pins']))).toMatchObject({ ok: true, value: 4 })
    await act(w, grace.leave())
    await w.run(1_000)
    const again = await w.join({ ...place, name: 'Grace', token: grace.token })
    expect([again.me.player, again.table.get('pins')]).toEqual([2, 4])
  })

  test('begins from its file (N-2)', async () => {
    const w = world({ seed: 4, conditions: 'rtt=20' })
    const from = bytesOf(file)
    const grace = await w.join({ ...place, name: 'Grace', token: tokens.grace, from })
    expect([grace.me.player, grace.table.get('pins')]).toEqual([2, 2])
    expect(grace.all(Pawn).length).toBe(1)
  })
})
