// Goal: the docs site is built without dead links; its first page survives its own server's death.
// Method: the site as it is published, given out as files, in Chromium.
// Slow: it builds the site.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Window } from './harness.ts'
import { findings } from './looks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SITE = join(ROOT, 'build/site')
const VITEPRESS = join(ROOT, 'node_modules/vitepress/bin/vitepress.js')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.txt': 'text/plain',
}

/** A build takes some 20 s of a processor, of which others may want most. */
const BUILD_MS = 600_000

let server: Server
let url: string
let window: Window
let page: Page

beforeAll(async () => {
  const run = promisify(execFile)
  await run(process.execPath, [join(ROOT, 'docs/.vitepress/api.js')])
  await run(process.execPath, [VITEPRESS, 'build', join(ROOT, 'docs')])
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://site')
    const file = join(SITE, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    const type = TYPES[extname(file)] ?? 'application/octet-stream'
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  window = await Window.open('site', url)
  page = window.page
}, BUILD_MS)
afterAll(async () => {
  await window.end()
  server.close()
})

/** Waits until the demo says this of itself. */
async function demo(what: Record<string, string>): Promise<void> {
  const wanted = Object.entries(what).map(([name, value]) => `[data-${name}="${value}"]`)
  await page.locator(`.demo${wanted.join('')}`).waitFor()
}

/** The pins that the page has confirmed. */
async function pins(): Promise<number> {
  const line = await page.locator('.demo-line').textContent()
  return Number(/Confirmed pins: (\d+)/.exec(line ?? '')![1])
}

test('first page: the window that serves is killed, the other goes on, and it comes back', async () => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await demo({ news: 'plays', server: 'Ada' })
  const field = page.locator('.demo-field').nth(1)
  await field.click()
  await expect.poll(pins).toBeGreaterThan(0)
  await window.shot('site-1-plays')
  await page.getByRole('button', { name: 'Kill the server' }).click()
  await demo({ news: 'taken', server: 'Grace' })
  expect(await page.locator('.demo-line').textContent()).toMatch(
    /^Ada’s window was killed\. Grace’s took over \d+ ms later, with (\d+) of \1 confirmed pins\./,
  )
  // The window that is left still plays: a pin is confirmed without the other.
  const before = await pins()
  await field.click()
  await expect.poll(pins).toBeGreaterThan(before)
  await window.shot('site-2-taken')
  await page.getByRole('button', { name: 'Open Ada’s window again' }).click()
  await demo({ news: 'returned', server: 'Grace' })
  await page.locator('.demo-window[data-role="backup"]', { hasText: 'Ada' }).waitFor()
  await page.getByRole('button', { name: 'Kill the server' }).click()
  await demo({ news: 'taken', server: 'Ada' })
})

test('a search finds "takeover", and leads to its page', async () => {
  await page.keyboard.press('Control+k')
  await page.locator('.VPLocalSearchBox input').fill('takeover')
  const first = page.locator('.VPLocalSearchBox .result').first()
  await first.waitFor()
  expect(await page.locator('.VPLocalSearchBox .result').count()).toBeGreaterThan(3)
  await window.shot('site-3-search')
  await first.click()
  await page.waitForURL((to) => to.pathname !== '/')
  await page.locator('.vp-doc', { hasText: /takeover/i }).waitFor()
})

test('links of the papers lead to pages, and to files as text', async () => {
  await page.goto(`${url}deploy.html`)
  await page.getByRole('link', { name: 'deploy/server.mjs' }).click()
  await page.waitForURL(/server\.mjs/)
  expect(await page.locator('body').textContent()).toContain("from 'holdfast/hub'")
  await page.goto(`${url}faq.html`)
  await page.getByRole('link', { name: 'Examples', exact: true }).click()
  await page.getByRole('link', { name: 'express.ts' }).click()
  await page.waitForURL(/express\.ts/)
  expect(await page.locator('body').textContent()).toContain('express')
  await page.goto(`${url}start.html`)
  await page.getByRole('link', { name: 'object', exact: true }).first().click()
  await page.getByRole('heading', { level: 1, name: /^Objects/ }).waitFor()
})

test('the reference has every name that a door hands out', async () => {
  const lines = readFileSync(join(ROOT, 'test/data/doors.txt'), 'utf8').trim().split('\n')
  const names = lines.flatMap((line) => {
    const [, door = '', name = ''] = /^(\S+): (?:type|value) (\w+)/.exec(line) ?? []
    const at = door === 'node' ? 'holdfast' : `holdfast-${door}`
    return ['browser', 'worker', 'mailbox-browser'].includes(door) ? [] : [{ at, name }]
  })
  const missing: string[] = []
  for (const at of new Set(names.map((one) => one.at))) {
    await page.goto(`${url}api/${at}.html`)
    const headings = await page.locator('.vp-doc h3').allTextContents()
    const there = new Set(headings.map((text) => /\w+/.exec(text)?.[0]))
    const lost = names.filter((one) => one.at === at && !there.has(one.name))
    missing.push(...lost.map(({ name }) => `${at}: ${name}`))
  }
  expect(names.length).toBeGreaterThan(150)
  expect(missing).toEqual([])
  await page.goto(`${url}api/`)
  await page.getByRole('link', { name: 'holdfast/part' }).last().click()
  await page.getByRole('heading', { level: 1, name: 'holdfast/part' }).waitFor()
})

test.each([
  ['first page', ''],
  ['guide', 'guide/'],
  ['reference', 'reference.html'],
  ['API', 'api/holdfast-react.html'],
])('%s: nothing serious for accessibility, bright and dark, wide and on a phone', async (_, at) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.goto(url + at)
      if (at === '') await demo({ news: 'plays' })
      expect(await findings(page)).toEqual([])
      const name = at === '' ? 'first' : at.replace(/\W.*/, '')
      await window.shot(`site-4-${name}-${width}-${colorScheme}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      expect([width, wide]).toEqual([width, false])
    }
  }
  expect(window.complaints).toEqual([])
})
