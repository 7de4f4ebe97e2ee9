/** `npm run soak -- NAME`: a long run of the simulator or of sockets; exits 1 on a missed goal. */

import { parseArgs } from 'node:util'
import { dispatch, list } from './dispatch.ts'

const USAGE = `npm run soak -- NAME [--minutes N | --hours N] [--kills N] [--seed N]
  Runs one soak: tables, goals, and as the last line one JSON object. Exits 1 on a missed goal.
  --minutes how long, in minutes of real time (10)
  --hours   the same in hours
  --kills   how many, where processes are killed (10000)
  --seed    where to start (1)

soaks:`

function number(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0) return value
  console.error(`--${name} is a number, 0 or more: ${text}`)
  process.exit(2)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    hours: { type: 'string' },
    kills: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h' },
  },
})
const folder = new URL('./soak/', import.meta.url)
const name = positionals[0]
if (name === undefined || values.help) {
  console.log(`${USAGE}\n${await list(folder)}`)
} else {
  const { minutes, hours, kills, seed } = values
  const options = {
    minutes: hours === undefined ? number('minutes', minutes) : number('hours', hours) * 60,
    kills: number('kills', kills),
    seed: number('seed', seed),
  }
  const report = await dispatch(folder, name, options)
  if (report === null || report.goals.some((goal) => goal.met === false)) process.exitCode = 1
}
