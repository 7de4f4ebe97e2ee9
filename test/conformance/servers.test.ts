// Goal: the examples of a hub in somebody's own server run as they stand, and end as they should.
// Method: each as a process of its own; members join through it, what else it serves is asked.
// Slow: four servers are started, one of which is that of Vite.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { action, join } from '../../packages/holdfast/src/node.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BUILT = joinPath(ROOT, 'build/games/examples/servers')
const VITE = joinPath(ROOT, 'games/examples/servers/vite')

const count = action('count', (table, by: number) => {
  const next = Number(table.get('count') ?? 0) + by
  table.set('count', next)
  return next
})

class Example {
  readonly child: ChildProcess
  said = ''

  constructor(words: string[], cwd: string = ROOT) {
    this.child = spawn(process.execPath, words, { cwd, env: { ...process.env, NO_COLOR: '1' } })
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text))
    }
  }

  /** Where it serves, once it has said so. */
  async url(): Promise<string> {
    const port = /port: (\d+)|http:\/\/localhost:(\d+)/
    await until(() => port.test(this.said) || this.child.exitCode !== null)
    const [, plain, vite] = port.exec(this.said) ?? []
    if (plain === undefined && vite === undefined) throw new Error(this.said)
    return plain ? `http://127.0.0.1:${plain}` : `http://localhost:${vite}`
  }

  async end(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode
    this.child.kill('SIGTERM')
    const [code] = (await once(this.child, 'exit')) as [number | null]
    return code
  }
}

const examples: Record<string, Example> = {}

beforeAll(() => {
  if (!existsSync(BUILT)) throw new Error('run `npx tsc -p games` first: the examples are built')
  for (const name of ['express', 'fastify', 'hono']) {
    examples[name] = new Example([joinPath(BUILT, `${name}.js`), '0'])
  }
  const vite = joinPath(ROOT, 'node_modules/vite/bin/vite.js')
  examples['vite'] = new Example([vite, '--port', '0'], VITE)
})
afterAll(async () => {
  await Promise.all(Object.values(examples).map((example) => example.end()))
})

/** Two members of a session meet at its hub, and act in turn. */
async function play(url: string): Promise<void> {
  const wish = { game: 'duel', types: [count], server: `${url}/rt/hub`, udp: null }
  const ada = await join({ ...wish, name: 'Ada' })
  const grace = await join({ ...wish, name: 'Grace' })
  await until(() => ada.safety === 'backed-up')
  expect(await grace.act(count, 1)).toEqual({ ok: true, value: 1 })
  expect(await ada.act(count, 1)).toEqual({ ok: true, value: 2 })
  await grace.leave()
  await ada.leave()
}

const text = async (url: string): Promise<string> => (await fetch(url)).text()

test.concurrent('Express: a session through its server, and its own answers (AP-15)', async () => {
  const url = await examples['express']!.url()
  await play(url)
  expect(await text(`${url}/hello`)).toBe('Hello from Express')
  expect(await (await fetch(`${url}/rooms`)).json()).toEqual([])
  expect(await examples['express']!.end()).toBe(0)
})

test.concurrent('Fastify: a session through its server, and its own answers (AP-15)', async () => {
  const url = await examples['fastify']!.url()
  await play(url)
  expect(await text(`${url}/hello`)).toBe('Hello from Fastify')
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true })
  expect(await examples['fastify']!.end()).toBe(0)
})

test.concurrent('Hono: a session through its server, and its own answers (AP-15)', async () => {
  const url = await examples['hono']!.url()
  await play(url)
  expect(await text(`${url}/hello`)).toBe('Hello from Hono')
  expect(await text(`${url}/metrics`)).toContain('holdfast_hub_total{what="changes"}')
  expect(await examples['hono']!.end()).toBe(0)
})

test.concurrent('Vite: a session through its dev server, whose own socket goes on (AP-15)', async () => {
  const url = await examples['vite']!.url()
  await play(url)
  expect(await text(url)).toContain('/@vite/client')
  const [, token] = /wsToken = "([^"]+)"/.exec(await text(`${url}/@vite/client`))!
  const socket = new WebSocket(`${url.replace('http', 'ws')}/?token=${token}`, 'vite-hmr')
  const [first] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(first.toString())).toMatchObject({ type: 'connected' })
  socket.terminate()
})
