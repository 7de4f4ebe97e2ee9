// Goal: pages speak straight to a host on Node that listens, also while the hub is dead, and
// survive the host as they survive any server.
// Method: a hub, a host and each window as processes that are killed.
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
