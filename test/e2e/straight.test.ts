// Goal: pages speak straight to a host on Node that listens: what they play does not go through the
// hub, goes on while the hub is dead, and survives the host as it survives any server.
// Method: a hub, a host and each window as processes that are killed; the hub's own counts.
// Slow: three processes and two browsers start, and a death is noticed after seconds.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundle } from '../conformance/bundle.ts'
import { Cluster } from './cluster.ts'
import { killed, type Window } from './harness.ts'
import { drop } from './pins.ts'

// The policy of our own pages forbids them to open streams to other ports.
const cluster = Cluster.forEachTest(false, ['--pages', resolve('packages/holdfast/dist/pages')])
let folder = ''
let host: ChildProcess
let ada: Window
let grace: Window

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-straight-'))
  const script = await bundle('test/e2e/straight-host.ts', folder)
  host = fork(script, [cluster.hub.url, 'e2e'])
  await once(host, 'message')
  ada = await cluster.open('Ada', '/dots/?room=e2e&name=Ada')
  await ada.until({ status: 'live', primary: '1' })
  grace = await cluster.open('Grace', '/dots/?room=e2e&name=Grace')
  await grace.until({ status: 'live', members: '1,2,3', safety: 'backed-up' })
  for (const window of [ada, grace]) await straight(window)
})
afterEach(async () => {
  await killed(host)
  rmSync(folder, { recursive: true })
})

/** Waits until a window's path to the server is no relay. */
async function straight(window: Window): Promise<void> {
  await window.page.waitForFunction(() => {
    const { dots } = globalThis as unknown as {
      dots: { session: { debug: { figures(): { path: string } } } }
    }
    return dots.session.debug.figures().path === 'direct'
  })
}

/** Bytes and datagrams that the hub relayed. */
async function relayed(): Promise<{ bytes: number; datagrams: number }> {
  const text = await (await fetch(`${cluster.hub.url}/metrics`)).text()
  const count = (what: string): number =>
    Number(new RegExp(`what="${what}"} (\\d+)`).exec(text)![1])
  return { bytes: count('relayed_bytes'), datagrams: count('relayed') }
}

test('what is played does not go through the hub, and goes on without it', async () => {
  const before = await relayed()
  expect(await Promise.all([drop(ada, 60), drop(grace, 60)])).toEqual([60, 60])
  const after = await relayed()
  // The windows have a link with each other, over which nothing is played: its heartbeats are
  // short, and a pin is not.
  const datagrams = after.datagrams - before.datagrams
  expect(after.bytes - before.bytes).toBeLessThanOrEqual(80 * datagrams)
  await cluster.hub.kill()
  expect(await Promise.all([drop(ada, 60), drop(grace, 60)])).toEqual([60, 60])
  for (const window of [ada, grace]) {
    await window.until({ status: 'live', pinsTotal: '240', safety: 'backed-up', primary: '1' })
  }
  expect(cluster.complaints).toEqual([])
})

test('the host is killed: a window takes over; without the hub, once the hub is back', async () => {
  await cluster.hub.kill()
  expect(await drop(grace, 5)).toBe(5)
  await killed(host)
  for (const window of [ada, grace]) await window.until({ status: 'reconnecting' })
  await cluster.hub.start()
  for (const window of [ada, grace]) {
    await window.until({ status: 'live', primary: '2', members: '2,3', pinsTotal: '5' })
  }
  expect(await drop(grace, 5)).toBe(5)
})
