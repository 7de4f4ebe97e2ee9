// Goal: the commands that README and docs/commands.md name for a clone find their programs.
// Method: the scripts of the root are read; the program behind `npm start` and `npx holdfast` runs.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../conformance/free-port.ts'
import { killed, said } from '../e2e/harness.ts'

const { scripts, bin } = manifestOf('.')

function manifestOf(folder: string): {
  name: string
  scripts: Record<string, string>
  bin: Record<string, string>
} {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as never
}

/** The file that a build makes a program from; a program of dist has been built by now. */
function sourceOf(program: string): string {
  return program.replace(/^build\/(.*)\.js$/, '$1.ts')
}

test('every script of the root names a program that exists or is built', () => {
  const programs = Object.values(scripts).flatMap((script) => {
    return [...script.matchAll(/node (\S+\.js)/g)].map(([, program = '']) => program)
  })
  expect(programs.length).toBeGreaterThan(8)
  expect(programs.map(sourceOf).filter((path) => !existsSync(path))).toEqual([])
})

// What `npm start` runs, in a folder of its own; a build was made before the tests, so that the
// `npm` which it finds only notes how it is called.
function starting(...words: string[]) {
  const [, script = ''] = /^node (\S+)$/.exec(scripts.start!) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-clone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "$*" > built\n', { mode: 0o755 })
  const env = { ...process.env, PATH: folder }
  const built = (): string | null => {
    const path = join(folder, 'built')
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
  }
  return { args: [resolve(script), ...words], options: { cwd: folder, env } as const, built }
}

test('`npm start` builds and serves the games', async () => {
  const port = await freePort()
  const { args, options, built } = starting('--port', String(port))
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => killed(child))
  await said(child, 'Holdfast serves')
  expect(built()).toBe('run --silent build')
  for (const path of ['/', '/first/', '/dots/', '/tabletop/']) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
  }
})

test.each([
  ['by default', '127.0.0.1', 8700, () => []],
  ['--port', '127.0.0.1', 0, (port) => ['--port', `${port}`]],
  ['--port and --host', '127.0.0.2', 0, (port) => [`--port=${port}`, '--host', '127.0.0.2']],
] as [string, string, number, (port: number) => string[]][])(
  '`npm start` at a taken port (%s) says what `serve` says, and builds nothing',
  async (_which, host, asked, wordsFor) => {
    const holder = createServer().listen(asked, host)
    onTestFinished(() => void holder.close())
    // Where another program has the default port, it is taken, too.
    await once(holder, 'listening').catch(() => {})
    const port = (holder.address() as AddressInfo | null)?.port ?? asked
    const { args, options, built } = starting(...wordsFor(port))
    const ours = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' })
    const serve = [resolve(bin['holdfast']!), 'serve', ...wordsFor(port)]
    const its = spawnSync(process.execPath, serve, { ...options, encoding: 'utf8' })
    expect(ours.stderr).toContain(`port ${port} on ${host} is taken`)
    expect([ours.status, ours.stdout, ours.stderr]).toEqual([its.status, its.stdout, its.stderr])
    expect(built()).toBe(null)
  },
)

test('the first game of the README installs the package, not the workspaces around it', () => {
  const [, path = ''] = /`npm install \.\.\/holdfast(\S*)`/.exec(readFileSync('README.md', 'utf8'))!
  const { name, bin: commands } = manifestOf(join('.', path))
  expect(name).toBe('holdfast')
  expect(existsSync(join('.', path, commands.holdfast!))).toBe(true)
})
