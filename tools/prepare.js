// npm's `prepare`: builds where the tools of the house are at hand (a clone, a git dependency),
// and leaves everybody else's install alone.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const tools = ['typescript', 'vite'].every((name) => existsSync(`node_modules/${name}`))
if (tools && existsSync('src')) {
  const { status } = spawnSync('npm run --silent build', { shell: true, stdio: 'inherit' })
  if (status !== 0) console.error('holdfast: not built; `npm run build` says why')
}
