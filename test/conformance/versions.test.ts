// Goal: a page of another build plays with the hub and the members of this one as long as their
// ranges of versions overlap; if not, `join` says who has to reload.
// Method: members of builds whose versions are shifted, as processes of their own; hub and the
// other member are of this build.
// Slow: it bundles a member five times.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join as at } from 'node:path'
import { promisify } from 'node:util'
import { WebSocketServer } from 'ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hub, type HubHandle } from '../../packages/hub/src/index.ts'
import { fromHub, HUB_VERSION } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'
import { SESSION_VERSION } from '../../packages/holdfast/src/session/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage } from '../../packages/holdfast/src/wire/relay.ts'
import { Dot, OPTIONS } from '../runtimes/scene.ts'
import { bundle, type Plant } from './bundle.ts'
import { freePort } from './free-port.ts'

const base = mkdtempSync(at(tmpdir(), 'holdfast-versions-'))
const server = createServer()
let rooms: HubHandle
let url: string
let ada: Session

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  rooms = hub({ server, store: null })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  ada = await join({ ...OPTIONS, name: 'Ada', server: url })
  ada.create(Dot, { x: 3 })
})
afterAll(async () => {
  await ada.leave()
  await rooms.close()
  server.close()
  rmSync(base, { recursive: true, force: true })
})

/** A build that speaks these versions of the messages with a hub, or between members. */
function speaking(name: 'HUB' | 'SESSION', versions: string): Plant {
  const module = { HUB: 'src/hub-protocol/messages.ts', SESSION: 'src/session/messages.ts' }[name]
  return { module, from: `only(${name}_VERSION)`, to: versions }
}

/** What `join` of a member of that build gives. */
async function met(name: string, ...plants: readonly Plant[]): Promise<unknown> {
  const program = await bundle('test/runtimes/member.ts', at(base, name), ...plants)
  const { stdout } = await promisify(execFile)(process.execPath, [program, url, name])
  return JSON.parse(stdout)
}

const RANGE = (name: string): string => `{ lowest: ${name}_VERSION, highest: ${name}_VERSION + 1 }`

test('a member of a later build that still speaks what this one does plays here (N-2)', async () => {
  const plants = (['HUB', 'SESSION'] as const).map((name) => speaking(name, RANGE(name)))
  expect(await met('later', ...plants)).toMatchObject({ sum: { ok: true }, other: 3 })
})

const RELOAD = 'reload the page, or update this program'

test.each([
  ['HUB', -1, `the hub speaks version ${HUB_VERSION}`, RELOAD],
  ['HUB', +1, `the hub speaks version ${HUB_VERSION}`, 'update the hub'],
  ['SESSION', -1, `the room speaks version ${SESSION_VERSION}`, RELOAD],
  ['SESSION', +1, `the room speaks version ${SESSION_VERSION}`, 'its members have to reload first'],
] as const)(
  'one that speaks only another version of %s (%i) hears it from join (N-2)',
  async (name, by, heard, cure) => {
    const own = { HUB: HUB_VERSION, SESSION: SESSION_VERSION }[name] + by
    const folder = `${name}-${own}`
    const said = await met(folder, speaking(name, `only(${name}_VERSION + ${by})`))
    const message = `${heard}, this build version ${own}: ${cure}`
    expect(said).toEqual({ name: folder, code: 'version', message })
  },
)

test('a session whose hub comes back in a newer version is lost, and says so (N-2)', async () => {
  const port = await freePort()
  const own = createServer().listen(port, '127.0.0.1')
  await once(own, 'listening')
  const old = hub({ server: own, store: null })
  const bea = await join({ ...OPTIONS, name: 'Bea', server: `http://127.0.0.1:${port}` })
  const lost = new Promise((done) => {
    bea.on('status', (status) => status === 'lost' && done([bea.code, bea.reason]))
  })
  await old.close()
  own.close()
  own.closeAllConnections()
  await once(own, 'close')
  const later = new WebSocketServer({ host: '127.0.0.1', port })
  later.on('connection', (stream) => {
    const welcome = { kind: 'welcome', version: HUB_VERSION + 1, boot: 1 } as const
    stream.send(frameMessage(encode(fromHub, welcome)))
  })
  const spoken = `the hub speaks version ${HUB_VERSION + 1}, this build version ${HUB_VERSION}`
  expect(await lost).toEqual(['version', `${spoken}: ${RELOAD}`])
  later.close()
})
