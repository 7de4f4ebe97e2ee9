// `npm test` and `npm run test:wide`: builds, then runs the tests that one waits for, or those that
// take long (vitest.config.ts); further arguments go to vitest. Whatever happens, the last line is
// `N passed, N failed`, and the exit code is honest.

import { spawnSync } from 'node:child_process'

const NARROW = ['unit', 'house', 'models', 'sim', 'drivers', 'e2e']
const WIDE = ['wide', 'patient', 'slow']
const given = process.argv.slice(2)
const isWide = given[0] === '--wide'
const projects = (isWide ? WIDE : NARROW).map((name) => `--project=${name}`)

// Copies of states live for a moment: with little room for the young, most time is collecting.
const flags = ['--max-semi-space-size=64']

function run(command, args) {
  const all = [...flags, command, ...args]
  return spawnSync(process.execPath, all, { stdio: 'inherit' }).status ?? 1
}

const built =
  run('node_modules/typescript/bin/tsc', ['-b', 'src']) === 0 &&
  run('node_modules/typescript/bin/tsc', ['-p', 'games']) === 0 &&
  run('node_modules/vite/bin/vite.js', ['build', '--logLevel', 'warn']) === 0 &&
  run('node_modules/vite/bin/vite.js', ['build', '--mode', 'lobby', '--logLevel', 'warn']) === 0
if (built) {
  process.exitCode = run('node_modules/vitest/vitest.mjs', [
    'run',
    ...projects,
    ...given.slice(isWide ? 1 : 0),
  ])
} else {
  process.exitCode = 1
  console.log('the build failed, so no test ran\n0 passed, 1 failed')
}
