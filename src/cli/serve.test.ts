// Goal: `holdfast serve` serves what its options say, and says what is wrong with them.
// Method: the built program, as somebody would call it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HUB_VERSION } from '../register/messages.ts'

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

test('metrics stand on a port of their own, and pages hear whether this is a demonstration (SE-21)', async () => {
  const said = await serve('--metrics', '0', '--demo')
  const [, url] = /^Holdfast serves (\S+)$/m.exec(said)!
  const [, metrics] = /^Its figures are at (\S+)$/m.exec(said)!
  expect((await fetch(`${url}metrics`)).status).toBe(404)
  expect(await (await fetch(metrics!)).text()).toContain('holdfast_streams 0')
  expect((await fetch(metrics!.replace('metrics', 'health'))).status).toBe(404)
  expect(await (await fetch(`${url}api/hub`)).json()).toEqual({
    version: HUB_VERSION,
    demo: true,
  })
})

test('what is wrong with an option is said in a sentence', () => {
  expect(complaint('--metrics', 'there')).toContain('--metrics is here, off, a port or an address')
  expect(complaint('--origin', 'play.example.com')).toContain('an origin is a scheme, a host and')
})
