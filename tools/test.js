// `npm test` and `npm run test:all`: builds, then runs what a contributor waits for, or all that
// this leaves out (vitest.config.ts); further arguments go to vitest. Whatever happens, the last
// line is `N passed, N failed`, and the exit code is honest.

import { spawnSync } from 'node:child_process'

const FIRST = ['house', 'unit', 'first']
const REST = ['models', 'sim', 'drivers', 'e2e', 'wide', 'patient', 'slow', 'benches']
const given = process.argv.slice(2)
const isRest = given[0] === '--rest'
const projects = (isRest ? REST : FIRST).map((name) => `--project=${name}`)

// Copies of states live for a moment: with little room for the young, most time is collecting.
const flags = ['--max-semi-space-size=64']

function run(command, args) {
  const all = [...flags, command, ...args]
  return spawnSync(process.execPath, all, { stdio: 'inherit' }).status ?? 1
}

const TSC = 'node_modules/typescript/bin/tsc'
const VITE = 'node_modules/vite/bin/vite.js'
const built =
  run(TSC, ['-b', 'packages']) === 0 &&
  run(TSC, ['-p', 'games']) === 0 &&
  (!isRest || run(TSC, ['-p', 'proof']) === 0) &&
  (!isRest || run(TSC, ['-p', 'bench']) === 0) &&
  run(VITE, ['build', 'games', '--logLevel', 'warn']) === 0 &&
  run(VITE, ['build', 'games', '--mode', 'lobby', '--logLevel', 'warn']) === 0
if (built) {
  process.exitCode = run('node_modules/vitest/vitest.mjs', [
    'run',
    ...projects,
    ...given.slice(isRest ? 1 : 0),
  ])
} else {
  process.exitCode = 1
  console.log('the build failed, so no test ran\n0 passed, 1 failed')
}
