// Goal: the files of docs/deploy for several hubs work as they stand: behind one name each hub and
// each server of NATS may be killed, and hubs are replaced one after the other, while members play.
// Rooms come from a hub's file into NATS, and back.
// Method: what the composed services start, as processes on loopback, with Caddy before the hubs.
// Slow: seven processes are started.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as pathOf, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from 'vitest'
import { parse } from 'yaml'
import { action, join, type Session } from '../../packages/holdfast/src/node.ts'
import { freePort } from '../conformance/free-port.ts'
import { noNats } from '../conformance/nats.ts'
import { ended, Hub, killed, said } from './harness.ts'
import { adapted, lacking, startProxy } from './proxies.ts'

const SERVER = resolve('docs/deploy/server.mjs')
const PROGRAM = resolve('packages/holdfast/dist/cli/src/holdfast.js')
const SECRET = 'pass'
const folder = mkdtempSync(pathOf(tmpdir(), 'holdfast-hubs-'))
const missing = lacking(['caddy'])

interface Service {
  environment?: Record<string, string>
  command?: string[]
  volumes?: string[]
}

const file = readFileSync('docs/deploy/several-hubs.yaml', 'utf8').replaceAll(
  '${NATS_PASSWORD:?}',
  SECRET,
)
const { services } = parse(file, { merge: true }) as { services: Record<string, Service> }
const names = Object.keys(services)
const [natsNames, hubNames] = ['nats-', 'hub-'].map((kind) => {
  return names.filter((name) => name.startsWith(kind))
}) as [string[], string[]]

const children = new Map<string, ChildProcess>()
/** Where each service is: of NATS for hubs, of a hub for Caddy. */
const at = new Map<string, string>()
let url = ''

/** Where the servers of NATS meet. */
const routes = new Map<string, string>()

function startNats(name: string): void {
  const { environment = {}, command = [] } = services[name]!
  expect(command).toEqual(['--config', '/etc/nats/nats.conf'])
  const route = routes.get(name)!
  const text = adapted('nats.conf', {
    'listen: 0.0.0.0:4222': `listen: ${at.get(name)!}`,
    'http: 127.0.0.1:8222': '',
    '0.0.0.0:6222': route,
    'store_dir: /data': `store_dir: ${pathOf(folder, name)}`,
    ...Object.fromEntries([...routes].map(([one, place]) => [`${one}:6222`, place])),
  })
  const config = pathOf(folder, `${name}.conf`)
  writeFileSync(config, text)
  const env = { ...process.env, ...environment }
  children.set(name, spawn('nats-server', ['--config', config], { env, stdio: 'ignore' }))
}

async function startHub(name: string): Promise<void> {
  const { environment = {} } = services[name]!
  let store = environment['STORE']!
  for (const one of natsNames) store = store.replace(one, at.get(one)!)
  const [, PORT = ''] = at.get(name)!.split(':')
  const own = { STORE: store, PORT, METRICS_PORT: String(await freePort()), ORIGIN: url }
  const env = { ...process.env, ...environment, ...own }
  const cwd = pathOf(folder, 'app')
  const child = spawn(process.execPath, [SERVER], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.set(name, child)
  await said(child, 'Listening at')
}

beforeAll(async () => {
  if (missing !== '' || noNats() !== null) return
  mkdirSync(pathOf(folder, 'app/dist'), { recursive: true })
  for (const name of names) at.set(name, `127.0.0.1:${await freePort()}`)
  for (const name of natsNames) routes.set(name, `127.0.0.1:${await freePort()}`)
  url = `http://${at.get('caddy')!}`
  for (const name of natsNames) startNats(name)
  for (const name of hubNames) await startHub(name)
  const site = adapted('several-hubs.caddyfile', {
    'play.example.com {': `${url} {`,
    ...Object.fromEntries(hubNames.map((name) => [`${name}:8700`, at.get(name)!])),
  })
  const config = pathOf(folder, 'Caddyfile')
  writeFileSync(config, `{\n\tadmin off\n}\n${site}`)
  const words = ['run', '--config', config, '--adapter', 'caddyfile']
  children.set('caddy', startProxy(folder, 'caddy', words))
})

afterAll(async () => {
  for (const child of children.values()) await killed(child)
  rmSync(folder, { recursive: true, force: true })
})

function needed(context: TestContext): void {
  const lacks = missing === '' ? noNats() : `not here: ${missing}`
  if (lacks !== null) context.skip(lacks) // needs Caddy and NATS
}

const add = action('add', (table) => {
  table.set('sum', ((table.get('sum') as number | undefined) ?? 0) + 1)
})
const ROOM = { game: 'duel', room: 'r', types: [add], udp: null } as const

async function joining(more: object = {}): Promise<Session> {
  const session = await join({ ...ROOM, server: url, ...more })
  onTestFinished(() => session.leave())
  return session
}

test('hubs and servers of NATS are killed and replaced behind one name', async (context) => {
  needed(context)
  const members = [await joining(), await joining(), await joining()]
  const sessionOf = ({ token }: Session): string => token.split('.')[0]!
  let sum = 0
  const allAct = async (): Promise<void> => {
    for (const member of members) if ((await member.act(add, null)).ok) sum++
  }
  await allAct()
  for (const name of [...hubNames, ...natsNames]) {
    await killed(children.get(name)!)
    await allAct()
    const guest = await joining()
    expect(sessionOf(guest)).toBe(sessionOf(members[0]!))
    await (hubNames.includes(name) ? startHub(name) : startNats(name))
    await allAct()
  }
  // An upgrade: each hub is closed, and a new one started.
  for (const name of hubNames) {
    await ended(children.get(name)!, 'SIGTERM')
    await allAct()
    await startHub(name)
  }
  const rounds = 1 + 2 * (hubNames.length + natsNames.length) + hubNames.length
  expect(sum).toBe(members.length * rounds)
  for (const member of members) await expect.poll(() => member.table.get('sum')).toBe(sum)
})

test('stored rooms go from a file into NATS, and back', async (context) => {
  needed(context)
  const old = await Hub.start(false)
  onTestFinished(() => old.end())
  const rooms = { ...ROOM, room: 'kept', keepRoom: '1h' } as const
  const ada = await join({ ...rooms, server: old.url })
  await ada.act(add, null)
  await ada.leave()
  const shared = await Hub.start(false, ['--store', storeOf()])
  onTestFinished(() => shared.end())
  const copy = async (from: Hub, to: Hub): Promise<void> => {
    const words = ['rooms', 'copy', '--server', from.url, '--to', to.url]
    await said(spawn(process.execPath, [PROGRAM, ...words]), 'rooms were copied')
  }
  await copy(old, shared)
  const grace = await join({ ...rooms, server: url })
  await grace.act(add, null)
  expect(grace.table.get('sum')).toBe(2)
  await grace.leave()
  const fresh = await Hub.start(false)
  onTestFinished(() => fresh.end())
  await copy(shared, fresh)
  const linus = await join({ ...rooms, server: fresh.url })
  expect(linus.table.get('sum')).toBe(2)
  await linus.leave()
})

function storeOf(): string {
  return `nats://hub:${SECRET}@${natsNames.map((name) => at.get(name)!).join(',')}`
}
