// Goal: three Node members on UDP survive the SIGKILL of any process, the hub's too.
// Method: real processes; every operation has its own key, so losses and doubles are counted.
// Slow: processes start for each test, and a death is noticed after seconds.
import { afterEach, expect, test } from 'vitest'
import { Hub } from '../e2e/harness.ts'
import { NodeMember, type Report } from '../e2e/members.ts'

let hub: Hub
let members: NodeMember[] = []

async function start(room: string, names: string[]): Promise<NodeMember[]> {
  hub = await Hub.start()
  for (const name of names) members.push(await NodeMember.start(hub.url, room, name))
  return members
}

afterEach(async () => {
  await Promise.all(members.map((member) => member.kill()))
  members = []
  await hub.end()
})

const isBackedUp = (report: Report): boolean => report.safety === 'backed-up'

async function settledReports(alive: NodeMember[]): Promise<Report[]> {
  for (const member of alive) member.stopActing()
  const acknowledged: string[] = []
  // The last operation of each is under way until it says that it rests.
  for (const member of alive) {
    acknowledged.push(...(await member.until((report) => report.rests)).acknowledged)
  }
  const hasAll = (report: Report): boolean => {
    const done = new Map(report.counts)
    return acknowledged.every((key) => done.has(key))
  }
  // What is missing for half a minute is lost: the comparison says what it is.
  return Promise.all(alive.map((one) => one.until(hasAll, 30_000).catch(() => one.report())))
}

function expectOnce(reports: Report[]): void {
  for (const report of reports) {
    const done = new Map(report.counts)
    const lost = reports.flatMap((each) => each.acknowledged).filter((key) => !done.has(key))
    const doubled = report.counts.filter(([, count]) => count !== 1)
    expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
    expect(report.acknowledged.length).toBeGreaterThan(0)
  }
}

test('T4, T29, T39, T41: the primary is killed: the backup serves, nothing is lost or doubled', async () => {
  const [a, b, c] = await start('primary', ['a', 'b', 'c'])
  const before = await a!.until((report) => isBackedUp(report) && report.members.length === 3)
  expect(before).toMatchObject({ role: 'backedup', path: 'none', player: 1 })
  await c!.until((report) => report.path === 'direct')
  await a!.kill()
  const next = await b!.until((report) => isBackedUp(report) && report.epoch > before.epoch)
  expect(next.members).toEqual([2, 3])
  expect(next.primary).not.toBe(1)
  const more = next.acknowledged.length
  await b!.until((report) => report.acknowledged.length > more + 5)
  const reports = await settledReports([b!, c!])
  expect(reports.map((report) => report.player)).toEqual([2, 3])
  expectOnce(reports)
})

test('T39: the primary is stopped, its stream stands: the backup serves, and later it is back (SE-3)', async () => {
  const [a, b, c] = await start('stopped', ['a', 'b', 'c'])
  const before = await a!.until((report) => isBackedUp(report) && report.members.length === 3)
  await c!.until((report) => report.path === 'direct')
  a!.freeze()
  const next = await b!.until((report) => isBackedUp(report) && report.epoch > before.epoch)
  expect(next.primary).not.toBe(1)
  a!.thaw()
  const back = await a!.until((report) => report.status === 'live' && report.epoch >= next.epoch)
  expect(back.player).toBe(1)
  const done = back.acknowledged.length
  await a!.until((report) => report.acknowledged.length > done + 5)
  expectOnce(await settledReports([a!, b!, c!]))
})

test('T36, T37: the backup is killed: the primary finds another, nothing is lost or doubled', async () => {
  const [a, b, c] = await start('backup', ['a', 'b', 'c'])
  const before = await a!.until((report) => isBackedUp(report) && report.members.length === 3)
  // It may hear of its role later than the primary.
  const isBackup = (report: Report): boolean => report.role === 'backup'
  const backup = await Promise.race([b!, c!].map((one) => one.until(isBackup).then(() => one)))
  const other = backup === b ? c! : b!
  await backup.kill()
  const next = await a!.until((report) => isBackedUp(report) && report.epoch >= before.epoch + 2)
  expect(next.primary).toBe(1)
  await other.until((report) => report.role === 'backup')
  expectOnce(await settledReports([a!, other]))
})

test('the hub is killed and comes back: the members play on, at the same server', async () => {
  const [a, b, c] = await start('hub', ['a', 'b', 'c'])
  const before = await a!.until((report) => isBackedUp(report) && report.members.length === 3)
  await hub.kill()
  const counts = await Promise.all(members.map((member) => member.report()))
  for (const [i, member] of [a!, b!, c!].entries()) {
    const done = counts[i]!.acknowledged.length
    const later = await member.until((report) => report.acknowledged.length > done + 10)
    expect(later).toMatchObject({ status: 'live', primary: before.primary })
  }
  await hub.start()
  const fourth = await NodeMember.start(hub.url, 'hub', 'd')
  members.push(fourth)
  const joined = await fourth.until((report) => report.members.length === 4)
  // A machine that stands still costs an epoch, and changes no server.
  expect(joined).toMatchObject({ player: 4, primary: before.primary })
  await fourth.until((report) => report.acknowledged.length > 5)
  expectOnce(await settledReports([a!, b!, c!, fourth]))
})
