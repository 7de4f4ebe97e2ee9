// `npm test`: builds, then runs every test; arguments go to vitest. Whatever happens, the last
// line is `N passed, N failed`, and the exit code is honest.

import { spawnSync } from 'node:child_process'

function run(command, args) {
  return spawnSync(process.execPath, [command, ...args], { stdio: 'inherit' }).status ?? 1
}

const built =
  run('node_modules/typescript/bin/tsc', ['-b', 'src']) === 0 &&
  run('node_modules/typescript/bin/tsc', ['-p', 'games']) === 0 &&
  run('node_modules/vite/bin/vite.js', ['build', '--logLevel', 'warn']) === 0
if (built) {
  process.exitCode = run('node_modules/vitest/vitest.mjs', ['run', ...process.argv.slice(2)])
} else {
  process.exitCode = 1
  console.log('the build failed, so no test ran\n0 passed, 1 failed')
}
