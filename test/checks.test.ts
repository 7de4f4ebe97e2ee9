/**
 * The checks that other programs make, as tests: so that `npm test` counts them, and a red one
 * shows the tool's own words. Slow: type checker, linter and formatter go over all there is.
 */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

function complaints(program: string, ...args: string[]): string {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' }
  const options = { cwd: root, encoding: 'utf8', env } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options)
  return status === 0 ? '' : `${stdout}${stderr}` || `exit ${status}`
}

test('every file has sound types (tsc)', () => {
  expect(complaints('node_modules/typescript/bin/tsc', '-b')).toBe('')
})

test('the linter has nothing to say (oxlint)', () => {
  expect(complaints('node_modules/oxlint/bin/oxlint')).toBe('')
})

test('every file is formatted (oxfmt)', () => {
  expect(complaints('node_modules/oxfmt/bin/oxfmt', '--list-different')).toBe('')
})

test('nothing is unused: files, exports, dependencies (knip)', () => {
  expect(
    complaints('node_modules/knip/bin/knip.js', '--no-progress'),
    'what nobody imports wants a test or a use; a program is an entry in .knip.jsonc',
  ).toBe('')
})
