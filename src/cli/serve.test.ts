// Goal: `holdfast serve` serves what its options say, and says what is wrong with them.
// Method: the built program, as somebody would call it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { join as joinSession } from '../node.ts'

const CLI = fileURLToPath(new URL('../../dist/cli/holdfast.js', import.meta.url))
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
  await expect.poll(() => said, { interval: 5, timeout: 60_000 }).toContain('Ctrl-C')
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
  const [, metrics] = /^Its figures are at (\S+)$/m.exec(said)!
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

test('what is wrong with an option is said in a sentence (AP-15)', () => {
  expect(complaint('--pages', join(folder, 'gone'))).toMatch(/there is no folder of pages .*gone: /)
})

test('a hub with limits of its own refuses what is beyond, and says which in its metrics (SE-9)', async () => {
  const file = join(folder, 'limits.json')
  writeFileSync(file, JSON.stringify({ address: { streams: 2 } }))
  const said = await serve('--limits', file, '--metrics', '0', '--trust-proxy', '127.0.0.1')
  const [, url] = /^Holdfast serves (\S+)$/m.exec(said)!
  const [, metrics] = /^Its figures are at (\S+)$/m.exec(said)!
  const dial = async (from: string): Promise<[WebSocket, string]> => {
    const headers = { 'X-Forwarded-For': from }
    const stream = new WebSocket(`${url}hub`.replace('http', 'ws'), { headers })
    await once(stream, 'open')
    stream.send(Uint8Array.of(0, 1, 3))
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
