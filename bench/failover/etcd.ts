/**
 * The same kill at three etcd servers, a heartbeat of 10 ms and elections after 50, with one
 * writer: from the kill of the leader until a write is acknowledged by a survivor. It is asked
 * through its JSON gateway, both survivors every 2 ms, which costs them processor time.
 */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { adopt, end } from '../processes/children.ts'
import { clock } from '../processes/clock.ts'

const SERVERS = 3
const OVER_MS = 10_000
const ANSWER_MS = 1_000
const PROBE_MS = 2

/** One server: its ports, its folder and its process. */
interface Server {
  name: string
  client: string
  peer: string
  folder: string
  child: ChildProcess | null
}

/** Kill to acknowledged, in ms, for each trial; null where there is no etcd. */
export async function etcd(folder: string, trials: number): Promise<number[] | null> {
  if (!(await isInstalled())) return null
  const servers: Server[] = []
  for (let i = 0; i < SERVERS; i++) {
    const [client, peer] = [await freePort(), await freePort()]
    const at = join(folder, `etcd-${i}`)
    const [clientUrl, peerUrl] = [client, peer].map((port) => `http://127.0.0.1:${port}`)
    servers.push({ name: `n${i}`, client: clientUrl!, peer: peerUrl!, folder: at, child: null })
  }
  for (const server of servers) run(server, servers, 'new')
  const pauses: number[] = []
  for (let i = 0; i < trials; i++) pauses.push(await trial(servers))
  for (const { child } of servers) if (child) await end(child)
  return pauses
}

async function isInstalled(): Promise<boolean> {
  const child = spawn('etcd', ['--version'], { stdio: 'ignore' })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function run(server: Server, all: readonly Server[], state: 'new' | 'existing'): void {
  const cluster = all.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const options = {
    name: server.name,
    'data-dir': server.folder,
    'listen-client-urls': server.client,
    'advertise-client-urls': server.client,
    'listen-peer-urls': server.peer,
    'initial-advertise-peer-urls': server.peer,
    'initial-cluster': cluster,
    'initial-cluster-state': state,
    'heartbeat-interval': 10,
    'election-timeout': 50,
    'log-level': 'fatal',
  }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  server.child = adopt(spawn('etcd', words, { stdio: 'ignore' }))
}

async function trial(servers: Server[]): Promise<number> {
  const leader = await leaderOf(servers)
  const survivors = servers.filter((server) => server !== leader)
  await pause(Math.random() * 10)
  const killed = clock()
  leader.child!.kill('SIGKILL')
  const done = await firstWrite(survivors, killed)
  run(leader, servers, 'existing')
  await pause(2_000)
  return done - killed
}

// A leader that answers a write, and has two followers that are up to date enough to answer too.
async function leaderOf(servers: Server[]): Promise<Server> {
  const until = clock() + OVER_MS
  while (clock() < until) {
    const found = await Promise.all(servers.map(status))
    const leader = servers.find((_, i) => found[i]?.leads)
    if (leader && found.every((one) => one !== null) && (await put(leader))) return leader
    await pause(100)
  }
  throw new Error(`etcd has no leader within ${OVER_MS} ms`)
}

// Many writes are under way, for one that is asked too early waits until it times out.
async function firstWrite(survivors: readonly Server[], killed: number): Promise<number> {
  let done = NaN
  while (Number.isNaN(done)) {
    for (const server of survivors) {
      void put(server).then((ok) => {
        if (ok && Number.isNaN(done)) done = clock()
      })
    }
    if (clock() - killed > OVER_MS) throw new Error(`etcd takes no write within ${OVER_MS} ms`)
    await pause(PROBE_MS)
  }
  return done
}

async function put(server: Server): Promise<boolean> {
  return (await ask(server, 'kv/put', { key: 'YQ==', value: 'Yg==' })) !== null
}

async function status(server: Server): Promise<{ leads: boolean } | null> {
  const answer = (await ask(server, 'maintenance/status', {})) as {
    header?: { member_id?: string }
    leader?: string
  } | null
  if (!answer?.leader) return null
  return { leads: answer.leader === answer.header?.member_id }
}

async function ask(server: Server, path: string, body: object): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const request = { method: 'POST', body: JSON.stringify(body), signal }
    const answer = await fetch(`${server.client}/v3/${path}`, request)
    return answer.ok ? await answer.json() : null
  } catch {
    return null
  }
}
