// Goal: an app in Vite's servers has a hub by the plugin, and edits do not end its sessions.
// Method: an app of six files is served by `vite` and `vite preview` as processes, played in two
// browsers, and edited meanwhile.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../conformance/free-port.ts'
import { killed, said, Window } from './harness.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')

const CONFIG = `import { defineConfig } from 'vite'
import { holdfast } from 'holdfast/vite'
export default defineConfig({ plugins: [holdfast()] })
`
const FIELDS = `import { u8 } from 'holdfast'
export const fields = { hue: u8 }
`
const TYPES = `import { object } from 'holdfast'
import { fields } from './fields.ts'
export const edition = 'first'
export const Dot = object('dot', fields)
`
const MAIN = `import { join } from 'holdfast'
import { Dot, edition } from './types.ts'
const say = (words) => Object.assign(document.body.dataset, words)
// What a player would have seen of an error, over all loads of the page.
const ill = (why) => {
  sessionStorage.setItem('ill', (sessionStorage.getItem('ill') ?? '') + why + ';')
}
addEventListener('error', ({ message }) => ill(message))
addEventListener('unhandledrejection', ({ reason }) => ill(String(reason)))
try {
  const session = await join({ game: 'app', types: [Dot] })
  const mine = session.all(Dot).find((dot) => dot.mine) ?? session.create(Dot, { hue: 1 })
  const show = () => {
    const hues = session.all(Dot).map((dot) => dot.state.hue)
    say({ label: 'one', edition, members: String(session.members.length), hues: hues.join(',') })
  }
  session.all(Dot).subscribe(show)
  session.on('members', show)
  session.on('status', (status) => status !== 'live' && ill(status))
  say({ me: String(session.me.player), fields: Object.keys(mine.state).join(',') })
  show()
} catch (error) {
  say({ failed: error.message })
  ill(error.message)
}
import.meta.hot?.accept()
`

let app: string
let vite: ChildProcess | null = null
let windows: Window[] = []

beforeEach(() => {
  // Where the names of this repository's packages lead somewhere, as in an app that installed them.
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  app = mkdtempSync(join(ROOT, 'build/vite-app-'))
  write('package.json', '{ "type": "module" }')
  write('index.html', '<body><script type="module" src="/main.ts"></script></body>')
  write('vite.config.ts', CONFIG)
  write('fields.ts', FIELDS)
  write('types.ts', TYPES)
  write('main.ts', MAIN)
})
afterEach(async () => {
  await Promise.all(windows.map((window) => window.end()))
  await killed(vite)
  windows = []
  rmSync(app, { recursive: true, force: true })
})

function write(name: string, text: string): void {
  writeFileSync(join(app, name), text)
}

async function serve(...words: string[]): Promise<string> {
  return serveAt(String(await freePort()), words)
}

async function serveAt(port: string, words: string[] = []): Promise<string> {
  const args = [VITE, ...words, '--port', port, '--strictPort']
  const env = { ...process.env, NO_COLOR: '1' }
  vite = spawn(process.execPath, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] })
  await said(vite, 'Local:')
  return `http://localhost:${port}/`
}

async function open(name: string, url: string): Promise<Window> {
  const window = await Window.open(name, url)
  windows.push(window)
  return window
}

async function both(what: Record<string, string>): Promise<void> {
  for (const window of windows) await window.until(what)
}

test('edits while two windows play: the session stays, or the page is loaded again', async () => {
  const url = await serve()
  const ada = await open('Ada', url)
  await ada.until({ me: '1', members: '1' })
  const grace = await open('Grace', url)
  await both({ label: 'one', members: '2', hues: '1,1' })

  write('main.ts', MAIN.replace("'one'", "'two'"))
  await both({ label: 'two', members: '2', hues: '1,1' })
  expect([(await ada.data())['me'], (await grace.data())['me']]).toEqual(['1', '2'])

  // An equal definition of a module that ran again.
  write('types.ts', TYPES.replace('first', 'second'))
  await both({ edition: 'second', members: '2', hues: '1,1' })
  expect([(await ada.data())['me'], (await grace.data())['me']]).toEqual(['1', '2'])

  // Another one, which the members of a running session do not have. Vite's watcher drops a second
  // change of one file within 50 ms, so it is in another.
  write('fields.ts', FIELDS.replace('hue: u8', 'hue: u8, size: u8'))
  await both({ label: 'two', members: '2', hues: '1,1', fields: 'hue,size' })
  const ill = (): string | null => sessionStorage.getItem('ill')
  expect(await Promise.all(windows.map(({ page }) => page.evaluate(ill)))).toEqual([null, null])

  // A new configuration restarts Vite, and its hub.
  const later = Date.now() / 1_000 + 1
  utimesSync(join(app, 'vite.config.ts'), later, later)
  await said(vite!, 'server restarted')
  await (await open('Linus', url)).until({ members: '3', hues: '1,1,1' })
  expect(windows.flatMap(({ complaints }) => complaints)).toEqual([])
})

const COUNT = `import { action, join } from 'holdfast'
const add = action('add', (table) => table.set('count', Number(table.get('count') ?? 0) + 1))
const session = await join({ game: 'app', types: [add] })
const show = () => {
  const count = String(session.table.get('count') ?? 0)
  Object.assign(document.body.dataset, { status: session.status, count })
}
session.on('status', show)
session.table.on('changed', show)
document.body.onclick = () => void session.act(add)
show()
`

test('with a store a room survives that Vite restarts, and that its process is killed', async () => {
  write('main.ts', COUNT)
  write('vite.config.ts', CONFIG.replace('holdfast()', "holdfast({ store: 'new/hub.db' })"))
  const url = await serve()
  const ada = await open('Ada', url)
  await ada.until({ status: 'live' })
  const add = (window: Window): Promise<void> => window.page.evaluate(() => document.body.click())
  await add(ada)
  await ada.until({ count: '1' })

  const later = Date.now() / 1_000 + 1
  utimesSync(join(app, 'vite.config.ts'), later, later)
  await said(vite!, 'server restarted')
  const grace = await open('Grace', url)
  await grace.until({ count: '1' })
  await add(grace)
  await both({ count: '2' })

  await killed(vite)
  await serveAt(new URL(url).port)
  // Vite's client loads the other two pages again, at a moment of its own.
  const linus = await open('Linus', url)
  await linus.until({ count: '2' })
  await add(linus)
  await both({ count: '3' })
})

test('`vite preview` has a hub, too', async () => {
  const built = spawnSync(process.execPath, [VITE, 'build'], { cwd: app, stdio: 'inherit' })
  expect(built.status).toBe(0)
  const url = await serve('preview')
  await open('Ada', url)
  await windows[0]!.until({ members: '1' })
  await open('Grace', url)
  await both({ members: '2', hues: '1,1' })
})

test('what is built for Node imports the package, also where that is a link', () => {
  const args = [VITE, 'build', '--ssr', 'types.ts', '--logLevel', 'error']
  expect(spawnSync(process.execPath, args, { cwd: app }).status).toBe(0)
  const [first] = readFileSync(join(app, 'dist/types.js'), 'utf8').split('\n')
  expect(first).toMatch(/^import .* from "holdfast"/)
})

test('without the plugin, the error names it', async () => {
  write('vite.config.ts', 'export default {}')
  await (await open('Ada', await serve())).until({ failed: /no hub at .*plugin of holdfast\/vite/ })
})
