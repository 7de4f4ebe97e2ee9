// Goal: a page joins through nginx and through Caddy, with TLS and at a path, by the files of
// docs/deploy as they stand there.
// Method: the real proxies before one hub, on ports of their own; two pages of one browser, which
// takes the name in the files for this machine and our certificate for a good one.
// Slow: two proxies and a browser are started.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from 'vitest'
import { TYPES } from '../../games/dots/rules.ts'
import { join as joinRoom } from '../../packages/holdfast/src/node.ts'
import { makeCertificate } from '../conformance/certificate.ts'
import { freePort } from '../conformance/free-port.ts'
import { Hub, killed, Window } from './harness.ts'
import { adapted, lacking, startNginx, startProxy } from './proxies.ts'

const NAME = 'play.example.com'
const HUB = '127.0.0.1:8700'
const DOOR = '127.0.0.1:8800'
/** How often a proxy is asked whether it is there, in milliseconds. */
const POLL_MS = 20
const folder = mkdtempSync(join(tmpdir(), 'holdfast-deploy-'))
const cert = join(folder, 'cert.pem')
const key = join(folder, 'key.pem')
const proxies: ChildProcess[] = []
const missing = lacking(['nginx', 'caddy', 'openssl'])
let hub: Hub
let window: Window
let doorPort: number
let at: Record<'nginx' | 'caddy', string>

function serveNginx(port: number, home: string, door: number): void {
  const site = adapted('nginx.conf', {
    '443': String(port),
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`]: cert,
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`]: key,
    [HUB]: home,
    [DOOR]: `127.0.0.1:${door}`,
  })
  proxies.push(startNginx(folder, site))
}

function startCaddy(port: number, home: string): void {
  const site = adapted('Caddyfile', {
    [`\n${NAME} {`]: `\nhttps://${NAME}:${port} {\n\ttls ${cert} ${key}`,
    [HUB]: home,
  })
  const file = join(folder, 'Caddyfile')
  // No port of its own for commands, none for those who come without TLS.
  const all = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
  writeFileSync(file, all + site.replaceAll(/^#.*\n/gm, ''))
  proxies.push(startProxy(folder, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile']))
}

interface Got {
  status: number
  headers: Record<string, unknown>
}

/** Asks a proxy. */
function get(url: string, headers: Record<string, string> = {}): Promise<Got> {
  const { port, pathname } = new URL(url)
  const options = { host: '127.0.0.1', port, path: pathname, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    const all = { Host: `${NAME}:${port}`, ...headers }
    const asked = https.get({ ...options, servername: NAME, headers: all }, (answer) => {
      answer.resume()
      resolve({ status: answer.statusCode!, headers: answer.headers })
    })
    asked.on('error', reject)
  })
}

/** Waits until a proxy that was started takes requests. */
async function answering(url: string): Promise<void> {
  const status = await get(url).then(
    (got) => got.status,
    () => 0,
  )
  if (status === 200) return
  await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  return answering(url)
}

beforeAll(async () => {
  if (missing !== '') return
  mkdirSync(folder, { recursive: true })
  makeCertificate(folder, `DNS:${NAME}`)
  const ports = { nginx: await freePort(), caddy: await freePort() }
  doorPort = await freePort()
  at = { nginx: `https://${NAME}:${ports.nginx}`, caddy: `https://${NAME}:${ports.caddy}` }
  hub = await Hub.start(false, ['--origin', Object.values(at).join(',')])
  const home = `127.0.0.1:${hub.port}`
  serveNginx(ports.nginx, home, doorPort)
  startCaddy(ports.caddy, home)
  const lenient = ['--ignore-certificate-errors', `--host-resolver-rules=MAP ${NAME} 127.0.0.1`]
  window = await Window.open('proxied', 'about:blank', lenient)
  for (const url of Object.values(at)) await answering(`${url}/rt/`)
})

afterAll(async () => {
  await window?.end()
  await Promise.all(proxies.map((proxy) => killed(proxy)))
  await hub?.end()
  rmSync(folder, { recursive: true, force: true })
})

function needed(context: TestContext): void {
  if (missing !== '') context.skip(`not here: ${missing}`) // needs nginx, Caddy and openssl
}

async function enter(page: Page, url: string, name: string): Promise<void> {
  await page.goto(`${url}/rt/dots/?room=proxied&name=${name}`)
  await page.waitForFunction(() => document.body.dataset['status'] === 'live')
}

test('pages join through nginx and Caddy, with TLS and at a path, and meet (AP-15)', async (context) => {
  needed(context)
  const other = await window.page.context().newPage()
  await enter(window.page, at.nginx, 'Ada')
  await enter(other, at.caddy, 'Grace')
  for (const page of [window.page, other]) {
    await page.waitForFunction(() => /^\d+,\d+$/.test(document.body.dataset['members'] ?? ''))
  }
  await window.page.goto(`${at.caddy}/rt/`)
  await window.page.getByText('proxied').first().waitFor()
  expect(window.complaints).toEqual([])
  await other.close()
})

test('a page reaches a host that listens behind nginx, with TLS and at a path', async (context) => {
  needed(context)
  const url = `${at.nginx.replace('https', 'wss')}/rt/host`
  const listen = { port: doorPort, url, trustProxy: 1 }
  const room = { game: 'dots', room: 'straight', name: 'host', types: TYPES }
  const host = await joinRoom({ ...room, server: hub.url, listen })
  onTestFinished(() => host.leave())
  const page = await window.page.context().newPage()
  await page.goto(`${at.nginx}/rt/dots/?room=straight&name=Ada`)
  await page.waitForFunction(() => {
    const { dots } = globalThis as unknown as {
      dots?: { session: { debug: { figures(): { path: string } } } }
    }
    return dots?.session.debug.figures().path === 'direct'
  })
  await page.close()
})

test('what a proxy passes on stays packed and under its path, and what is private there is not (AP-15)', async (context) => {
  needed(context)
  for (const url of Object.values(at)) {
    const packed = await get(`${url}/rt/dots/`, { 'Accept-Encoding': 'br' })
    expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'br'])
    const moved = await get(`${url}/rt/dots`)
    expect(new URL(String(moved.headers['location']), `${url}/rt/dots`).pathname).toBe('/rt/dots/')
    expect((await get(`${url}/rt/health`)).status).toBe(404)
    expect((await get(`${url}/rt/api/sessions`, { Origin: 'https://evil.example' })).status).toBe(
      403,
    )
  }
})
