// Goal: a full disk, and one that goes away, end no hub and cost nothing that was acknowledged.
// Method: the shipped program on a small disk of its own, filled, freed and taken away.
import { mkdirSync, renameSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, type TestContext } from 'vitest'
import { founder, type Founder, type HubProcess, startHub, unknownTo } from './hub-process.ts'
import { noSmallDisk, smallDisk, type SmallDisk } from './small-disk.ts'

const POLL_MS = 100

const open: { kill(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.kill()
})

async function diskOf(context: TestContext): Promise<SmallDisk> {
  const why = noSmallDisk()
  if (why !== null) context.skip(why) // needs mount namespaces
  const disk = await smallDisk('1m')
  open.push({ kill: () => disk.close() })
  return disk
}

async function hubOn(disk: SmallDisk, folder = ''): Promise<HubProcess> {
  const hub = await startHub(disk, folder)
  open.push({ kill: () => hub.isRunning() && hub.kill('SIGKILL') })
  return hub
}

interface Health {
  status: number
  ok: boolean
  trouble: string | null
}

async function health(hub: HubProcess): Promise<Health> {
  const response = await fetch(new URL('/health', hub.url))
  return { status: response.status, ...((await response.json()) as Omit<Health, 'status'>) }
}

async function healthy(hub: HubProcess, ok: boolean): Promise<Health> {
  for (;;) {
    const found = await health(hub)
    if (found.ok === ok) return found
    // A hub answers an address so often and no more.
    await pause(POLL_MS)
  }
}

// Opens rooms until one is refused. @returns the sessions, and why the last was refused
async function foundUntilRefused(
  hub: HubProcess,
  name: string,
): Promise<{ sessions: string[]; why: string }> {
  const sessions: string[] = []
  let by: Founder | null = null
  for (let room = 0; ; room++) {
    if (room % 60 === 0) by = await founder(hub.url)
    const answer = await by!.found(`${name} ${room}`)
    if ('why' in answer) return { sessions, why: answer.why }
    sessions.push(answer.session)
  }
}

test('a hub on a full disk refuses what is new, serves what is there, and recovers (SE-5)', async (context) => {
  const disk = await diskOf(context)
  const hub = await hubOn(disk)
  const first = await founder(hub.url)
  const before = await first.found('before')
  expect(before).toMatchObject({ session: expect.any(String) as string })
  disk.fill()
  const { sessions, why } = await foundUntilRefused(hub, 'while')
  expect(why).toContain('hub.db cannot be used: the disk is full; nothing of this write was kept')
  expect(await health(hub)).toMatchObject({ status: 503, ok: false, trouble: why })
  const metrics = await (await fetch(new URL('/metrics', hub.url))).text()
  expect(metrics).toMatch(/^holdfast_disk_ok 0$/m)
  // The rest goes on, on the streams that stand and on new ones.
  expect(await first.ask({ kind: 'get', request: 0, session: 'none' })).toMatchObject({
    why: 'no session none',
  })
  expect(await unknownTo(hub.url, sessions)).toEqual([])
  disk.free()
  await healthy(hub, true)
  const after = await first.found('after')
  const all = [before, after].flatMap((one) => ('session' in one ? [one.session] : []))
  expect(all).toHaveLength(2)
  expect(hub.errors()).toBe('')
  // What was acknowledged is there after a kill; what was refused is not.
  await hub.kill('SIGKILL')
  const again = await hubOn(disk)
  expect(await unknownTo(again.url, [...all, ...sessions])).toEqual([])
  expect(await health(again)).toMatchObject({ ok: true, sessions: all.length + sessions.length })
})

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`a hub that ended by ${signal} opens on a full disk with all it had (SE-5)`, async (context) => {
    const disk = await diskOf(context)
    const hub = await hubOn(disk)
    const made = await (await founder(hub.url)).found('a')
    await hub.kill(signal)
    disk.fill()
    const again = await hubOn(disk)
    const sessions = 'session' in made ? [made.session] : []
    expect(await unknownTo(again.url, sessions)).toEqual([])
    const { why } = await foundUntilRefused(again, 'new')
    expect(why).toContain('the disk is full')
    disk.free()
    await healthy(again, true)
    expect(await (await founder(again.url)).found('b')).toHaveProperty('session')
  })
}

test('a hub whose folder is gone says so, and registers nothing in a file that nobody sees (SE-21)', async (context) => {
  const disk = await diskOf(context)
  mkdirSync(`${disk.path}/data`)
  const hub = await hubOn(disk, '/data')
  const first = await founder(hub.url)
  await first.found('a')
  renameSync(`${disk.path}/data`, `${disk.path}/elsewhere`)
  // Nobody asks for anything: the hub looks by itself.
  expect((await healthy(hub, false)).trouble).toContain('deleted or moved while it was open')
  expect(await first.found('b')).toMatchObject({
    why: expect.stringContaining('bring it back, then start anew') as string,
  })
  expect(hub.isRunning()).toBe(true)
})
