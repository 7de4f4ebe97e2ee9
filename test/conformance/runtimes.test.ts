// Goal: Bun, Deno, Cloudflare's workerd and a worker of a page join a room of a member on Node.
// Method: the package as built; runtimes are installed into build/runtimes by their own lockfile.
// Slow: the first run installs 300 MB.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join as at, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hub, type HubHandle } from '../../packages/hub/src/index.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'
import { Dot, OPTIONS } from '../runtimes/scene.ts'
import { Window } from '../e2e/harness.ts'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const SOURCE = resolve('test/runtimes')
const FOLDER = resolve('build/runtimes')
const MANIFESTS = ['package.json', 'package-lock.json']
/** Their programs, in packages of their own for each system. */
const BUN = ['@oven', 'bun-linux-x64', 'bin/bun']
const DENO = ['@deno', 'linux-x64-glibc', 'deno']
const WORKERD = ['@cloudflare', 'workerd-linux-64', 'bin/workerd']

const pages: Record<string, string> = { '/': '<!doctype html>' }
const server = createServer(({ url: path = '' }, response) => {
  const type = path.endsWith('js') ? 'text/javascript' : 'text/html'
  response.writeHead(path in pages ? 200 : 404, { 'content-type': type }).end(pages[path])
})
let rooms: HubHandle
let url: string
let ada: Session

function install(): void {
  const isSame = MANIFESTS.every((name) => {
    const file = at(FOLDER, name)
    return existsSync(file) && readFileSync(file).equals(readFileSync(at(SOURCE, name)))
  })
  if (isSame && [BUN, DENO, WORKERD].every((path) => existsSync(program(path)))) return
  mkdirSync(FOLDER, { recursive: true })
  for (const name of MANIFESTS) cpSync(at(SOURCE, name), at(FOLDER, name))
  const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', words, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of MANIFESTS) cpSync(at(SOURCE, name), at(FOLDER, name))
}

function program(path: readonly string[]): string {
  return at(FOLDER, 'node_modules', ...path)
}

beforeAll(async () => {
  install()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  rooms = hub({ server, store: null })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  ada = await join({ ...OPTIONS, name: 'Ada', server: url })
  ada.create(Dot, { x: 3 })
}, 600_000)
afterAll(async () => {
  await ada.leave()
  await rooms.close()
  server.close()
})

/** What Ada saw of that member, whose outcome is given. */
async function met(name: string, outcome: Promise<string>): Promise<unknown> {
  let dots = 0
  ada.all(Dot).on('added', ({ owner }) => void (owner?.name === name && dots++))
  const before = Number(ada.table.get('sum') ?? 0)
  const said = JSON.parse(await outcome) as unknown
  expect(said).toEqual({ name, sum: { ok: true, value: before + 2 }, other: 3 })
  await until(() => ada.members.length === 1)
  return dots
}

function run(path: readonly string[], ...words: string[]): Promise<string> {
  const env = { ...process.env, DENO_DIR: at(FOLDER, 'deno'), NO_COLOR: '1' }
  const done = promisify(execFile)(program(path), words, { env, cwd: resolve('.') })
  return done.then(({ stdout }) => stdout)
}

test('a program in Bun joins, acts, and is seen (AP-16)', async () => {
  const outcome = run(BUN, 'run', 'test/runtimes/member.ts', url, 'bun')
  expect(await met('bun', outcome)).toBe(1)
})

test('a program in Deno joins, acts, and is seen (AP-16)', async () => {
  const words = ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual', '--cached-only']
  const outcome = run(DENO, ...words, 'test/runtimes/member.ts', url, 'deno')
  expect(await met('deno', outcome)).toBe(1)
})

/** A worker as tools for a place bundle it: with the conditions of that place. */
async function bundled(entry: string, ...conditions: string[]): Promise<string> {
  const outDir = at(FOLDER, entry)
  await build({
    configFile: false,
    logLevel: 'error',
    root: SOURCE,
    resolve: { conditions },
    build: {
      ...{ outDir, emptyOutDir: true, target: 'esnext', minify: false },
      lib: { entry, formats: ['es'], fileName: () => 'worker.mjs' },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })
  return at(outDir, 'worker.mjs')
}

const configOf = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-11-01",
    )),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`

test('a worker in workerd joins, acts, and is seen (AP-16)', async ({ onTestFinished }) => {
  const folder = at(await bundled('worker.ts', 'workerd', 'worker', 'browser'), '..')
  const port = await freePort()
  writeFileSync(at(folder, 'worker.capnp'), configOf(port))
  const words = ['serve', '--control-fd=3', at(folder, 'worker.capnp')]
  const stdio = ['ignore', 'inherit', 'inherit', 'pipe'] as const
  const child = spawn(program(WORKERD), words, { stdio: [...stdio] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(createInterface({ input: child.stdio[3] as NodeJS.ReadableStream }), 'line')
  const ask = (name: string, at: string): Promise<string> => {
    const query = new URLSearchParams({ name, server: at })
    return fetch(`http://127.0.0.1:${port}/?${query}`).then((answer) => answer.text())
  }
  expect(await met('worker', ask('worker', url))).toBe(1)
  // Another request has a session of its own.
  expect(await met('second', ask('second', url))).toBe(1)
  const lost = JSON.parse(await ask('lost', `http://127.0.0.1:${await freePort()}`)) as unknown
  expect(lost).toMatchObject({ name: 'lost', code: 'unreachable' })
})

test('a worker of a page joins, acts, and is seen (AP-16)', async ({ onTestFinished }) => {
  pages['/worker.js'] = readFileSync(await bundled('page-worker.ts', 'browser'), 'utf8')
  const window = await Window.open('runtimes', `${url}/`)
  onTestFinished(() => window.kill())
  const outcome = window.page.evaluate<string>(`new Promise((done) => {
    new Worker('/worker.js', { type: 'module' }).onmessage = ({ data }) => done(data)
  })`)
  expect(await met('worker of a page', outcome)).toBe(1)
})
