// Goal: the commands that README and docs/commands.md name for a clone find their programs.
// Method: the scripts of the root are read; the program behind `npm start` and `npx holdfast` runs.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
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

test('`npm start` serves the games, and `npx holdfast` in a clone is the same program', async () => {
  const [, program = '', words = ''] = /&& node (\S+) (.*)$/.exec(scripts.start!) ?? []
  expect(bin).toEqual({ holdfast: program })
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-clone-'))
  const port = await freePort()
  const args = [resolve(program), ...words.split(' '), '--port', String(port)]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    await killed(child)
    rmSync(folder, { recursive: true, force: true })
  })
  await said(child, 'Holdfast serves')
  for (const path of ['/', '/first/', '/dots/', '/tabletop/']) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
  }
})

test('the first game of the README installs the package, not the workspaces around it', () => {
  const [, path = ''] = /`npm install \.\.\/holdfast(\S*)`/.exec(readFileSync('README.md', 'utf8'))!
  const { name, bin: commands } = manifestOf(join('.', path))
  expect(name).toBe('holdfast')
  expect(existsSync(join('.', path, commands.holdfast!))).toBe(true)
})
