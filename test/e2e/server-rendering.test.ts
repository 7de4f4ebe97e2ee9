// Goal: a server renders what joins a room as its fallback and joins nothing; pages hydrate it
// without a word of React, in StrictMode, in React 19 and 18.
// Method: one app, bundled for Node and for pages; a hub serves what Node rendered to two browsers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { world } from '../../packages/sim/src/session-world.ts'
import { Hub, Window } from './harness.ts'
import type * as rendering from './ssr-server.tsx'
import { ownPages, type OwnPages } from './tabs.ts'

type Server = typeof rendering

const LIBRARIES: [name: string, alias: Record<string, string>][] = [
  ['React 19', {}],
  ['React 18', { 'react-dom': 'react-dom-18', react: 'react-18' }],
]

/** Bundles what runs on Node. */
async function serverOf(alias: Record<string, string>, folder: string): Promise<Server> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias },
    define: { 'process.env.NODE_ENV': '"development"' },
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('ssr-server.tsx', import.meta.url)),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'server.mjs' } },
    },
  })
  return (await import(pathToFileURL(join(folder, 'server.mjs')).href)) as Server
}

describe.each(LIBRARIES)('%s', (_name, alias) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-server-'))
  let pages: OwnPages
  let server: Server
  let hub: Hub
  const windows: Window[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    server = await serverOf(alias, folder)
    pages = await ownPages('ssr-page.tsx', alias)
    hub = await Hub.start(false, ['--pages', pages.folder])
  })
  afterEach(() => void vi.restoreAllMocks())
  afterAll(async () => {
    await Promise.all(windows.map((window) => window.end()))
    await hub.end()
    pages.end()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(name: string): Promise<Window> {
    const window = await Window.open(name, 'about:blank')
    windows.push(window)
    window.page.on('console', (message) => {
      if (/error|warning/.test(message.type())) complaints.push(message.text())
    })
    await window.page.goto(`${hub.url}/`)
    return window
  }

  test('a server renders the fallback, joins nothing, and pages hydrate it', async () => {
    const warned = vi.spyOn(console, 'error')
    const { page, late } = server.page(hub.url)
    expect(page).toBe('<main><h1>Cards</h1><p role="status">Joining …</p></main>')
    expect(late).toBe('<aside>joining</aside>')
    expect(warned).not.toHaveBeenCalled()
    const listed = await fetch(`${hub.url}/api/sessions`)
    expect(await listed.json()).toEqual([])
    const body = `<div id="page">${page}</div><div id="late">${late}</div>`
    const head = '<meta charset="utf-8"><link rel="icon" href="data:,">'
    const html = `<!doctype html>${head}<body>${body}<script src="page.js"></script>`
    writeFileSync(join(pages.folder, 'index.html'), html)
    // It reads its pages when it starts.
    await hub.kill()
    await hub.start()

    const ada = await open('Ada')
    await ada.page.getByText('live, 1 here').waitFor()
    const grace = await open('Grace')
    await grace.page.getByText('live, 2 here').waitFor()
    await ada.page.getByRole('button', { name: 'Deal' }).click()
    await grace.page.getByText('1 dealt').waitFor()
    const title = grace.page.getByLabel('Title 1')
    await title.fill('King')
    await expect.poll(() => ada.page.getByLabel('Title 1').inputValue()).toBe('King')
    expect(await grace.page.evaluate('isSame()')).toBe(true)
    // Its room is live already, and the server rendered that it is joining.
    await grace.page.evaluate('hydrateLate()')
    await grace.page.locator('aside', { hasText: 'live' }).waitFor()
    expect([...complaints, ...windows.flatMap((window) => window.complaints)]).toEqual([])
  })

  test('a server renders a session that it joined itself, empty and with a card', async () => {
    const warned = vi.spyOn(console, 'error')
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const session = await w.join({ ...server.options, name: 'Ada' })
    expect(server.cards(session)).toMatch(/live<!-- -->, <!-- -->1.*0<!-- --> dealt<\/p>/)
    expect(server.cards(session)).not.toContain('<input')
    void session.act(server.options.types[1] as never, { title: 'Queen' } as never)
    await w.run(200)
    expect(server.cards(session)).toMatch(/<input [^>]*value="Queen"/)
    expect(warned).not.toHaveBeenCalled()
  })
})
