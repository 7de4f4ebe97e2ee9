// Goal: where the disk of a hub is full or fails, who plays alone in a kept room hears it and plays
// on; `safety` says what can be relied on, and what was acknowledged as kept is there.
// Method: the shipped program on a small disk of its own that is filled, and on one whose syncs
// fail; members over sockets; SIGKILL.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as pathOf } from 'node:path'
import { afterEach, expect, test, type TestContext } from 'vitest'
import { action, join, type Session, u32 } from '../../packages/holdfast/src/node.ts'
import { type HubProcess, startHub, startHubIn } from './hub-process.ts'
import { noPreload, preload } from './preload.ts'
import { noSmallDisk, smallDisk, type SmallDisk } from './small-disk.ts'

const add = action('add', { n: u32 }, (table, { n }) => {
  const sum = Number(table.get('sum') ?? 0) + n
  table.set('sum', sum)
  return sum
})

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end()
})

async function diskOf(context: TestContext): Promise<SmallDisk> {
  const why = noSmallDisk()
  if (why !== null) context.skip(why) // needs mount namespaces
  const disk = await smallDisk('1m')
  open.push(() => disk.close())
  return disk
}

async function running(starts: Promise<HubProcess>): Promise<HubProcess> {
  const hub = await starts
  open.push(() => hub.isRunning() && hub.kill('SIGKILL'))
  return hub
}

/** Somebody who is alone in the room, and the sentences that were told. */
async function alone(hub: HubProcess, name: string): Promise<{ session: Session; told: string[] }> {
  const wish = { game: 'g', room: 'r', name, types: [add], server: hub.url }
  const session = await join({ ...wish, keepRoom: '1d' })
  open.push(() => session.debug.crash())
  const told: string[] = []
  session.on('error', ({ error }) => told.push(String(error)))
  await safe(session, 'kept')
  return { session, told }
}

function safe(session: Session, wanted: Session['safety']): Promise<void> {
  return new Promise((resolve) => {
    if (session.safety === wanted) return resolve()
    const stop = session.on('safety', (safety) => {
      if (safety !== wanted) return
      stop()
      resolve()
    })
  })
}

const sum = async (session: Session, n: number): Promise<number> => {
  const outcome = await session.act(add, { n })
  return outcome.ok ? outcome.value : NaN
}

async function die(hub: HubProcess, session: Session): Promise<void> {
  session.debug.crash()
  await hub.kill('SIGKILL')
}

test('AP-1: on a full disk who is alone hears it, plays on unkept, and is kept again with all of it', async (context) => {
  const disk = await diskOf(context)
  const hub = await running(startHub(disk))
  const { session, told } = await alone(hub, 'ada')
  expect(await sum(session, 1)).toBe(1)
  expect([session.safety, told]).toEqual(['kept', []])
  disk.fill()
  // It is answered once the hub has said that it is not kept.
  expect(await sum(session, 10)).toBe(11)
  expect(session.safety).toBe('alone')
  expect(told).toEqual([expect.stringContaining('the disk is full')])
  for (let n = 0; n < 20; n++) await sum(session, 100)
  expect(session.safety).toBe('alone')
  disk.free()
  await safe(session, 'kept')
  expect(await sum(session, 1_000)).toBe(3_011)
  await die(hub, session)
  const again = await running(startHub(disk))
  const { session: other } = await alone(again, 'grace')
  expect(await sum(other, 10_000)).toBe(13_011)
})

test('AP-1: a hub that is killed on a full disk opens the room there, as it was kept last', async (context) => {
  const disk = await diskOf(context)
  const hub = await running(startHub(disk))
  const { session } = await alone(hub, 'ada')
  expect(await sum(session, 1)).toBe(1)
  disk.fill()
  expect(await sum(session, 10)).toBe(11)
  expect(session.safety).toBe('alone')
  await die(hub, session)
  const again = await running(startHub(disk))
  // Nobody opens it before the disk has that they did.
  const wish = { game: 'g', room: 'r', name: 'eve', types: [add], server: again.url }
  await expect(join(wish)).rejects.toThrow('the disk is full')
  disk.free()
  const { session: other } = await alone(again, 'grace')
  expect(await sum(other, 100)).toBe(101)
})

test('AP-1: with a disk whose syncs fail who is alone hears it and plays on; a new start has what was kept', async (context) => {
  const why = noPreload()
  if (why !== null) context.skip(why) // needs a C compiler
  const folder = mkdtempSync(pathOf(tmpdir(), 'holdfast-kept-'))
  open.push(() => rmSync(folder, { recursive: true }))
  const fail = pathOf(folder, 'fail')
  const env = { LD_PRELOAD: preload('fail-sync', folder), WATCH: folder, FAIL: fail }
  const hub = await running(startHubIn(folder, [], env))
  const { session, told } = await alone(hub, 'ada')
  expect(await sum(session, 1)).toBe(1)
  writeFileSync(fail, '')
  expect(await sum(session, 10)).toBe(11)
  expect(session.safety).toBe('alone')
  expect(told).toEqual([expect.stringContaining('a sync failed')])
  // A disk whose sync failed once is not believed again, though it says yes now.
  rmSync(fail)
  expect(await sum(session, 100)).toBe(111)
  expect(session.safety).toBe('alone')
  await die(hub, session)
  const again = await running(startHubIn(folder))
  const { session: other } = await alone(again, 'grace')
  // What was acknowledged as kept is there; what came after may be, as a whole.
  expect([2, 12, 112]).toContain(await sum(other, 1))
})
