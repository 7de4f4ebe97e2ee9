// Goal: members that hide their addresses meet through a TURN server for which the hub gives them
// credentials, and a session reports wrong or expired ones with the server and the code.
// Method: coturn of Debian by the file of docs/deploy; hubs and members on loopback, and pages in a
// network of their own.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest'
import {
  askTurn,
  type TurnRefusal,
} from '../../packages/holdfast/src/drivers/net/webrtc/ask-turn.ts'
import { openChannelsOnNode } from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import { readSignal } from '../../packages/holdfast/src/drivers/net/webrtc/signals.ts'
import {
  action,
  type HoldfastError,
  join,
  type Reported,
} from '../../packages/holdfast/src/node.ts'
import type { Session } from '../../packages/holdfast/src/node.ts'
import type { IceServer } from '../../packages/holdfast/src/ports.ts'
import { ARGS, CHROMIUM } from '../e2e/harness.ts'
import { bundlePage } from './bundle.ts'
import { type Coturn, noCoturn, SECRET, startCoturn } from './coturn.ts'
import { freePort } from './free-port.ts'
import { type HubProcess, startHubIn } from './hub-process.ts'
import { type Network, network } from './network.ts'
import { until } from './until.ts'
import { openEnd, type Order, type Told } from './webrtc-end.ts'

const LACKS = noCoturn()
const OTHER_SECRET = 'f'.repeat(32)

beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})

/** Credentials that end so many seconds from now. */
function passOf(seconds: number): { username: string; credential: string } {
  const username = String(Math.floor(Date.now() / 1_000) + seconds)
  return { username, credential: createHmac('sha1', SECRET).update(username).digest('base64') }
}

/** Of which types the candidates are that an end told its peer. */
function typesOf(told: readonly Told[]): string[] {
  const signals = told.flatMap((one) => {
    return one.what === 'signal' ? (readSignal(Uint8Array.from(one.bytes)) ?? []) : []
  })
  return signals.flatMap((one) => (one.kind === 'candidate' ? one.type : []))
}

const has =
  (what: Told['what']) =>
  (one: Told[]): boolean =>
    one.some((told) => told.what === what)

describe('on Node', () => {
  const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-turn-'))
  const hubs: HubProcess[] = []
  const sessions: Session[] = []
  let coturn: Coturn

  beforeAll(async () => {
    if (LACKS !== null) return
    coturn = await startCoturn((...words) => spawn(...words), '127.0.0.1', await freePort())
  })
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.leave()))
    await Promise.all(hubs.splice(0).map((one) => one.kill('SIGTERM')))
  })
  afterAll(async () => {
    await coturn?.end()
    rmSync(folder, { recursive: true })
  })

  /** @returns the address of a hub with that secret for its TURN server; null for none */
  async function hubWith(secret: string | null, turn: string = coturn.url): Promise<string> {
    const own = mkdtempSync(joinPath(folder, 'hub-'))
    const file = joinPath(own, 'secret')
    writeFileSync(file, `${secret}\n`)
    const words = secret === null ? [] : ['--turn', turn, '--turn-secret', file]
    hubs.push(await startHubIn(own, words))
    return hubs.at(-1)!.url
  }

  const count = action('count', (table, by: number) => {
    const next = Number(table.get('count') ?? 0) + by
    table.set('count', next)
    return next
  })

  async function member(server: string, ice: IceServer[] = []): Promise<Session> {
    const webrtc = { relayOnly: true, host: '127.0.0.1', ice }
    const session = await join({ game: 'turn', server, types: [count], udp: null, webrtc })
    sessions.push(session)
    return session
  }

  const isDirect = (session: Session) => (): boolean => session.debug.figures().path === 'direct'

  test('members with relayOnly meet through it, by credentials of the hub for each', async () => {
    const server = await hubWith(SECRET)
    const [ada, bea] = [await member(server), await member(server)]
    await until(isDirect(bea))
    expect(await bea.act(count, 2)).toEqual({ ok: true, value: 2 })
    expect(ada.table.get('count')).toBe(2)
    const users = await coturn.users('ALLOCATE processed, success', 2)
    for (const user of users) expect(user).toMatch(/^\d{10}:[0-9a-f]{16}$/)
  })

  test.each([
    ['of a hub with another secret', OTHER_SECRET, null],
    ['of their own that have ended', null, -1],
  ])(
    'a session reports credentials %s, and its members stay on the relay',
    async (_, secret, lasts) => {
      const server = await hubWith(secret)
      const own = lasts === null ? [] : [{ urls: coturn.url, ...passOf(lasts) }]
      // She offers a channel once somebody else is there.
      const ada = await member(server, own)
      const told = new Promise<Reported>((resolve) => ada.on('error', resolve))
      const bea = await member(server, own)
      const { error, where } = await told
      const { code, message } = error as HoldfastError
      expect([where, code]).toEqual(['webrtc', 'forbidden'])
      const cause = 'its credentials are wrong, or have ended'
      expect(message).toBe(`${coturn.url} refuses us with 401 (Unauthorized): ${cause}`)
      expect(isDirect(bea)()).toBe(false)
    },
  )

  test('a session reports a server that does not answer', async () => {
    const mute = createSocket('udp4').bind(0, '127.0.0.1')
    onTestFinished(() => void mute.close())
    await once(mute, 'listening')
    const url = `turn:127.0.0.1:${mute.address().port}`
    const server = await hubWith(null)
    const ada = await member(server, [{ urls: url, ...passOf(60) }])
    const told = new Promise<Reported>((resolve) => ada.on('error', resolve))
    await member(server)
    const { error, where } = await told
    expect([where, (error as HoldfastError).code]).toEqual(['webrtc', 'unreachable'])
    expect((error as HoldfastError).message).toContain(url)
  })

  test('credentials of their own count beside a server of the hub that is away', async () => {
    const server = await hubWith(SECRET, `turn:127.0.0.1:${await freePort()}`)
    const own = [{ urls: coturn.url, ...passOf(60) }]
    await member(server, own)
    await until(isDirect(await member(server, own)))
  })

  test('with relayOnly no member tells another an address of its machine', async () => {
    const told: Told[][] = [[], []]
    const ice = { ice: [{ urls: coturn.url, ...passOf(60) }], relayOnly: true }
    const orders = told.map((own, at) => {
      return openEnd(
        (events) => openChannelsOnNode({ host: '127.0.0.1' }, () => ice, events),
        (what) => {
          own.push(what)
          if (what.what !== 'signal') return
          orders[1 - at]!({ do: 'signal', peer: at + 1, bytes: what.bytes })
        },
      )
    })
    onTestFinished(() => orders.forEach((order) => order({ do: 'close' })))
    orders[0]!({ do: 'offer', peer: 2 })
    await until(() => told.every(has('candidate')))
    for (const one of told) expect(new Set(typesOf(one))).toEqual(new Set(['relay']))
  })

  const ask = (port: number, seconds: number): Promise<TurnRefusal | null> => {
    const server = { host: '127.0.0.1', port, ...passOf(seconds) }
    return new Promise((resolve) => askTurn(server, resolve))
  }

  test('a server that is asked gives an address, or refuses with a code', async () => {
    const port = Number(coturn.url.split(':')[2])
    expect(await ask(port, 60)).toBeNull()
    expect(await ask(port, -1)).toMatchObject({ code: 401, why: 'Unauthorized' })
  })
})

describe('in pages', () => {
  let net: Network
  let coturn: Coturn
  let browser: Browser
  let script = ''

  beforeAll(async () => {
    if (LACKS !== null) return
    net = await network()
    coturn = await startCoturn((...words) => net.start(...words), '10.9.9.1', 3478)
    script = await bundlePage('test/conformance/webrtc-page.ts')
    const executablePath = net.program(CHROMIUM)
    browser = await chromium.launch({ executablePath, headless: true, args: ARGS })
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })
  afterAll(async () => {
    await browser?.close()
    await coturn?.end()
    net?.close()
  })

  /** Two pages that relay by these credentials; each takes the other's signals. */
  async function pair(pass: object, urls: string = coturn.url): Promise<Told[][]> {
    const ice = { ice: [{ urls, ...pass }], relayOnly: true }
    const pages = [await browser.newPage(), await browser.newPage()]
    const told: Told[][] = [[], []]
    const order = (at: number, given: Order): void => {
      const run = (one: Order): void => {
        ;(globalThis as unknown as { order: (order: Order) => void }).order(one)
      }
      pages[at]!.evaluate(run, given).catch(() => {})
    }
    for (const [at, page] of pages.entries()) {
      await page.exposeFunction('told', (what: Told) => {
        told[at]!.push(what)
        if (what.what !== 'signal') return
        order(1 - at, { do: 'signal', peer: at + 1, bytes: what.bytes })
      })
      await page.addScriptTag({ content: `globalThis.ice = ${JSON.stringify(ice)};\n${script}` })
    }
    order(0, { do: 'offer', peer: 2 })
    return told
  }

  test('two with relayOnly have a channel through it', async () => {
    const told = await pair(passOf(60))
    await until(() => told.every(has('candidate')))
    expect(told.some(has('refused'))).toBe(false)
    for (const one of told) expect(new Set(typesOf(one))).toEqual(new Set(['relay']))
  })

  test('a page reports credentials that have ended', async () => {
    const told = await pair(passOf(-1))
    await until(() => told.every(has('refused')))
    for (const one of told) {
      const refusals = one.filter(({ what }) => what === 'refused')
      expect(refusals).toMatchObject([{ url: `${coturn.url}?transport=udp`, code: 401 }])
    }
  })

  test('a page reports a server that does not answer', async () => {
    const mute = "require('node:dgram').createSocket('udp4').bind(3480, '10.9.9.1')"
    const server = net.start(process.execPath, ['-e', mute])
    onTestFinished(() => void server.kill())
    const url = 'turn:10.9.9.1:3480'
    const [ada] = await pair(passOf(60), url)
    await until(() => has('refused')(ada!))
    const refusals = ada!.filter(({ what }) => what === 'refused')
    // The browser names the transport too, when it gives up.
    expect(refusals).toMatchObject([{ url, code: 0 }])
  })

  test('a page reports a server that it does not reach, once it has no address of it', async () => {
    const url = 'turn:10.9.9.1:3479?transport=tcp'
    const [ada] = await pair(passOf(60), url)
    await until(() => has('refused')(ada!))
    const refusals = ada!.filter(({ what }) => what === 'refused')
    expect(refusals).toEqual([{ what: 'refused', url, code: 0, why: expect.any(String) }])
  })
})
