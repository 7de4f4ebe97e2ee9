// `npm start`: builds, then serves a demonstration. A port that is taken is named before the build,
// by the sentence of `holdfast serve`, which may not be built yet.

import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { parseArgs } from 'node:util'

const PROGRAM = '../packages/holdfast/dist/cli/src/holdfast.js'
const [PORT_DEFAULT, HOST_DEFAULT] = ['8700', '127.0.0.1']

// What else is wrong with the options, the program says.
const given = process.argv.slice(2)
const options = { port: { type: 'string' }, host: { type: 'string' } }
const { values } = parseArgs({ args: given, options, strict: false, allowPositionals: true })
const [port, host] = [String(values.port ?? PORT_DEFAULT), String(values.host ?? HOST_DEFAULT)]

function isTaken() {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }) => resolve(code === 'EADDRINUSE'))
    server.listen(Number(port), host, () => server.close(() => resolve(false)))
  })
}

const isPort = /^\d{1,5}$/.test(port) && Number(port) <= 0xffff
if (isPort && (await isTaken())) {
  const cure = 'stop it, or choose another port with --port (0 takes any free one)'
  console.error(`holdfast: port ${port} on ${host} is taken by another program; ${cure}`)
  process.exit(2)
}

const { status } = spawnSync('npm run --silent build', { shell: true, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
// In this process, which therefore gets the signals.
process.argv.splice(2, Infinity, 'serve', '--demo', ...given)
await import(PROGRAM)
