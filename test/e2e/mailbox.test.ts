// Goal: a mailbox in a page keeps what it said it had, over reloads at any moment.
// Method: the claims of every store in Chromium's IndexedDB; a page that posts and is reloaded.
// Slow: a page is bundled, two browsers start, and one is reloaded twelve times.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundlePage } from '../conformance/bundle.ts'
import { type Mailbox, openMailbox } from '../../packages/mailbox/src/index.ts'
import { freePort } from '../conformance/free-port.ts'
import { noSmallDisk } from '../conformance/small-disk.ts'
import { browserOnSmallDisk } from './disk-browser.ts'
import { Window } from './harness.ts'

const RELOADS = 12
const TOTAL = 400

let server: Server
let url = ''
let window: Window

beforeAll(async () => {
  const script = await bundlePage('test/e2e/mailbox-page.ts')
  server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><body><script src="/page.js"></script></body>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  window = await Window.open('mailbox', url)
})

afterAll(async () => {
  await window.kill()
  server.close()
  server.closeAllConnections()
})

const run = <Result>(call: string): Promise<Result> => window.page.evaluate(call)

test('IndexedDB keeps to the contract of every store', async () => {
  expect(await run('claims()')).toEqual([])
})

test('a mailbox that is open in another tab says so', async () => {
  expect(await run('twice()')).toContain('is open in another tab')
})

test('a page of another server gets into no door that does not name it, and hears why (SE-6)', async () => {
  const node = await openMailbox({ id: 'node', store: null, listen: { port: 0 } })
  const heard = await run(`new Promise((resolve) => {
    const socket = new WebSocket('${node.url}')
    socket.onclose = ({ code, reason }) => resolve([code, reason])
  })`)
  const { origin } = new URL(url)
  expect(heard).toEqual([
    1008,
    `wrong origin: ${origin} is none of the origins allowed here (--origin)`,
  ])
  await node.close()
})

test('a page proves its key, replaces it, and follows the key of another (MB-21)', async () => {
  const listen = { port: 0, origins: [new URL(url).origin] }
  const node = await openMailbox({ id: 'node', store: null, listen })
  node.on('letter', (tx, from, body) => {
    tx.post(from, body)
    if (body === 2) void node.replaceKey()
  })
  const said = await run<{ second: string }>(`rekeyed('${node.url}', '${node.key}')`)
  const { second } = said
  const known = [true, true, true]
  expect(said).toEqual({ answers: [1, 2, 3], known, second, before: true })
  expect(node.peer('page').key).toBe(second)
  await node.close()
})

test('storage that is cleared while it is open is named to who posts (MB-26)', async () => {
  expect(await run('cleared()')).toMatch(/^HoldfastError: .* the browser closed its storage/)
})

test('a database that is gone is named when it is opened again (MB-26)', async () => {
  expect(await run('deleted()')).toEqual([
    null,
    null,
    expect.stringContaining('the browser deleted the data of this mailbox'),
    null,
  ])
})

test('a page without locks, as on plain http, is told what to do (MB-26)', async () => {
  expect(await run('plain()')).toMatch(/^HoldfastError: .* open the page over https/)
})

test('a disk without room is named to who posts, and what was lost for it at the next opening (MB-26)', async (context) => {
  const why = noSmallDisk()
  if (why !== null) return context.skip(why) // needs mount namespaces
  const { browser, free } = await browserOnSmallDisk('96m', '40M')
  try {
    const page = await browser.contexts()[0]!.newPage()
    await page.goto(url)
    const said = await page.evaluate(`fill.untilRefused(64)`)
    expect(said).toMatch(/^store: .*(no more storage|NO_SPACE)/)
    free()
    const found = await page.evaluate<{ lost: number; repaired: string | null }>('fill.again()')
    // This browser gives up a database whose disk was full, and all in it.
    if (found.lost === 0) expect(found.repaired).toBe(null)
    else expect(found.repaired).toContain('the browser deleted the data of this mailbox')
  } finally {
    await browser.close()
  }
})

test('a tab that is frozen while the server restarts goes on, each letter once (MB-26)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-frozen-'))
  const came: unknown[] = []
  const port = await freePort()
  const serve = async (): Promise<Mailbox> => {
    const listen = { port, origins: [new URL(url).origin] }
    const box = await openMailbox({ id: 'node', store: join(folder, 'node.db'), listen })
    box.on('letter', (tx, from, body) => {
      came.push(body)
      tx.post(from, body)
    })
    return box
  }
  let node = await serve()
  const other = await Window.open('frozen', url)
  try {
    await other.page.evaluate(`void live('${node.url}', 300)`)
    await expect.poll(() => came.length, { interval: 1 }).toBeGreaterThan(20)
    await other.stalled(async () => {
      await node.close()
      node = await serve()
    })
    await other.until({ answered: '300', wrong: '' })
    expect(came).toEqual(Array.from({ length: 300 }, (_none, i) => i + 1))
  } finally {
    await other.kill()
    await node.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test(`S31: ${RELOADS} reloads: letters of a page take effect once and in order`, async () => {
  const listen = { port: 0, origins: [new URL(url).origin] }
  const node = await openMailbox({ id: 'node', store: null, listen })
  let count = 0
  const wrong: string[] = []
  node.on('letter', (tx, from, body) => {
    if (body !== ++count) wrong.push(`${String(body)} came as number ${count}`)
    tx.post(from, body)
  })
  for (let reload = 1; reload <= RELOADS; reload++) {
    await run(`void live('${node.url}', ${TOTAL})`)
    await window.until({ answered: /^\d+$/ })
    const until = Math.min(TOTAL, count + 1 + ((reload * 7) % 20))
    await expect.poll(() => count, { interval: 1 }).toBeGreaterThanOrEqual(until)
    await window.page.reload()
  }
  await run(`void live('${node.url}', ${TOTAL})`)
  await window.until({ answered: String(TOTAL), wrong: '' })
  expect([count, wrong]).toEqual([TOTAL, []])
  expect(window.complaints).toEqual([])
  await node.close()
})
