// Goal: `holdfast serve` serves what its options say, and says what is wrong with them.
// Method: the built program, as somebody would call it.
// Slow: each case starts the program anew.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { HUB_VERSION } from '../../../holdfast/src/hub-protocol/messages.ts'
import { join as joinSession } from '../../../holdfast/src/node.ts'

const CLI = fileURLToPath(new URL('../../../holdfast/dist/cli/src/holdfast.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-serve-'))
const children: ChildProcess[] = []

beforeAll(() => {
  if (!existsSync(CLI)) throw new Error('run `npx tsc -b` first: child processes need dist/')
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts it. @returns all that it said until it told where it is */
async function serve(...words: string[]): Promise<string> {
  const data = join(folder, `${children.length}.db`)
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--data', data, ...words])
  children.push(child)
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
  await expect.poll(() => said, { interval: 5 }).toContain('Ctrl-C')
  return said
}

function complaint(...words: string[]): string {
  const data = ['--data', join(folder, 'none.db'), '--port', '0']
  const options = { encoding: 'utf8', timeout: 60_000 } as const
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'serve', ...data, ...words], options)
  expect(status).toBe(2)
  return stderr
}

test('one’s own game is served: its pages, its hub at a path, its rooms and no other game; metrics elsewhere (AP-15, SE-21)', async () => {
  mkdirSync(join(folder, 'pages'))
  writeFileSync(join(folder, 'pages/index.html'), '<title>duel</title>')
  const own = ['--pages', join(folder, 'pages'), '--path', '/rt/hub', '--games', 'duel']
  const said = await serve(...own, '--metrics', '0', '--demo')
  const [, url] = /^Holdfast serves (\S+)$/m.exec(said)!
  const [, metrics] = /^Metrics at (\S+)$/m.exec(said)!
  const server = `${url}rt/hub`
  const ada = await joinSession({ game: 'duel', server, udp: null })
  expect(await (await fetch(url!)).text()).toBe('<title>duel</title>')
  expect(await (await fetch(`${url}lobby/`)).text()).toContain('<title>Rooms')
  expect(await (await fetch(`${url}api/sessions`)).json()).toMatchObject([{ game: 'duel' }])
  expect(await (await fetch(`${url}api/hub`)).json()).toMatchObject({ demo: true, starts: [''] })
  const wrong = { udp: null, server } as const
  await expect(joinSession({ ...wrong, game: 'poker' })).rejects.toThrow(/^no game "poker" on this/)
  const knock = new WebSocket(`${url}hub`.replace('http', 'ws'))
  const [error] = (await once(knock, 'error')) as [Error]
  expect(error.message).toContain('404')
  expect((await fetch(`${url}metrics`)).status).toBe(404)
  expect(await (await fetch(metrics!)).text()).toContain('holdfast_members 1')
  expect((await fetch(metrics!.replace('metrics', 'health'))).status).toBe(404)
  await ada.leave()
})

test('at SIGTERM it takes nobody new, and who is there plays on; at the second it ends', async () => {
  const said = await serve('--drain', '60')
  const [, url] = /^Holdfast serves (\S+)$/m.exec(said)!
  const [child] = children
  const ada = await joinSession({ game: 'duel', server: url!, udp: null })
  let more = ''
  child!.stdout!.on('data', (bytes: Buffer) => (more += bytes.toString()))
  child!.kill('SIGTERM')
  const drained = 'Draining 1 streams and 1 rooms; exits in 60 s.'
  await expect.poll(() => more, { interval: 5 }).toContain(drained)
  const health = await fetch(`${url}health`)
  expect([health.status, await health.json()]).toMatchObject([
    503,
    { trouble: expect.stringMatching(/drained/) },
  ])
  const knock = new WebSocket(`${url}hub`.replace('http', 'ws'))
  const [code, reason] = (await once(knock, 'close')) as [number, Buffer]
  expect([code, String(reason)]).toEqual([1013, 'this hub is about to be restarted'])
  expect(ada.status).toBe('live')
  child!.kill('SIGTERM')
  await once(child!, 'exit')
  await ada.leave()
})

test('what is wrong with an option is said in a sentence (AP-15)', () => {
  expect(complaint('--drain', '91')).toContain('--drain is 0 to 90 seconds: 91')
  expect(complaint('--pages', join(folder, 'gone'))).toMatch(/there is no folder of pages .*gone: /)
})

test('--help of serve fits a screen; limits have a command of their own (N-25)', () => {
  const print = (...words: string[]): string => {
    return spawnSync(process.execPath, [CLI, ...words], { encoding: 'utf8' }).stdout
  }
  expect(print('serve', '--help').split('\n').length).toBeLessThanOrEqual(40)
  expect(print('serve', '--help')).toContain('holdfast limits')
  expect(print('limits')).toContain('address.streams')
})

test('a hub with limits of its own refuses what is beyond, and says which in its metrics (SE-9)', async () => {
  const file = join(folder, 'limits.json')
  writeFileSync(file, JSON.stringify({ address: { streams: 2 } }))
  const said = await serve('--limits', file, '--metrics', '0', '--trust-proxy', '127.0.0.1')
  const [, url] = /^Holdfast serves (\S+)$/m.exec(said)!
  const [, metrics] = /^Metrics at (\S+)$/m.exec(said)!
  const dial = async (from: string): Promise<[WebSocket, string]> => {
    const headers = { 'X-Forwarded-For': from }
    const stream = new WebSocket(`${url}hub`.replace('http', 'ws'), { headers })
    await once(stream, 'open')
    stream.send(Uint8Array.of(0, 1, HUB_VERSION))
    const heard = await Promise.race([
      once(stream, 'message').then(() => 'welcome'),
      once(stream, 'close').then(([code, why]) => `${code} ${why}`),
    ])
    return [stream, heard]
  }
  const streams = [await dial('192.0.2.1'), await dial('192.0.2.1'), await dial('192.0.2.1')]
  const full = '1013 limit address.streams: at most 2 streams at once'
  expect(streams.map(([, heard]) => heard)).toEqual(['welcome', 'welcome', full])
  expect((await dial('192.0.2.2'))[1]).toBe('welcome')
  const text = await (await fetch(metrics!)).text()
  expect(text).toContain('holdfast_refused_total{limit="address.streams"} 1\n')
  expect(complaint('--limits', join(folder, 'none'))).toMatch(
    /^holdfast: --limits \S+none cannot be/,
  )
  expect(complaint('--trust-proxy', 'nginx')).toMatch(/^holdfast: --trust-proxy has addresses, /)
})

/** The certificate of the server at that address, and the status of its health. */
function seen(url: string): Promise<{ fingerprint: string; status: number }> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false } as const
    const request = https.get(`${url}health`, options, (answer) => {
      const { fingerprint256: fingerprint } = (answer.socket as TLSSocket).getPeerCertificate()
      resolve({ fingerprint, status: answer.statusCode! })
      answer.resume()
    })
    request.once('error', reject)
  })
}

test('with a certificate it is https, members come by wss, and SIGHUP takes a new certificate (SE-21)', async () => {
  const pem = join(folder, 'hub.pem')
  const certify = (): void => {
    const words = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=localhost']
    const made = spawnSync('openssl', [...words, '-keyout', `${pem}.key`, '-out', `${pem}.crt`])
    expect(made.status).toBe(0)
    const both = ['key', 'crt'].map((part) => readFileSync(`${pem}.${part}`, 'utf8'))
    writeFileSync(pem, both.join(''))
  }
  certify()
  const said = await serve('--tls-cert', pem)
  const child = children.at(-1)!
  let later = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (bytes: Buffer) => (later += bytes.toString()))
  }
  const [, url] = /^Holdfast serves (https:\S+)$/m.exec(said)!
  const first = await seen(url!)
  expect(first.status).toBe(200)
  const stream = new WebSocket(`${url}hub`.replace('https', 'wss'), { rejectUnauthorized: false })
  await once(stream, 'open')
  stream.send(Uint8Array.of(0, 1, HUB_VERSION))
  await once(stream, 'message')
  writeFileSync(pem, 'none')
  child.kill('SIGHUP')
  await expect.poll(() => later, { interval: 5 }).toContain('not reloaded')
  expect(await seen(url!)).toEqual(first)
  certify()
  child.kill('SIGHUP')
  await expect.poll(() => later, { interval: 5 }).toContain('Certificate reloaded')
  const second = await seen(url!)
  expect([second.status, second.fingerprint !== first.fingerprint]).toEqual([200, true])
  expect(stream.readyState).toBe(WebSocket.OPEN)
  expect(complaint('--tls-cert', join(folder, 'none'))).toMatch(/^holdfast: --tls-cert cannot be/)
  expect(complaint('--tls-cert', file('bad.pem', 'none'))).toMatch(
    /^holdfast: --tls-cert takes a certificate and its key, as PEM: /,
  )
})

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
