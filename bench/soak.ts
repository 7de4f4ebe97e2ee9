/** `npm run soak -- NAME`: a long run of the simulator or of sockets; exits 1 on a missed goal. */

import { parseArgs } from 'node:util'
import { dispatch, list } from './dispatch.ts'

const USAGE = `npm run soak -- NAME [--minutes N | --hours N] [--seed N]
  Runs one soak: tables, goals, and as the last line one JSON object. Exits 1 on a missed goal.
  --minutes how long, in minutes of real time (10)
  --hours   the same in hours
  --seed    where to start (1)

soaks:`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  },
})
const folder = new URL('./soak/', import.meta.url)
const name = positionals[0]
if (name === undefined || values.help) {
  console.log(`${USAGE}\n${await list(folder)}`)
} else {
  const minutes = values.hours === undefined ? values.minutes : Number(values.hours) * 60
  const options = { minutes: Number(minutes), seed: Number(values.seed) }
  const report = await dispatch(folder, name, options)
  if (report === null || report.goals.some((goal) => goal.met === false)) process.exitCode = 1
}
