/** `npm run bench -- NAME [--quick]`: a missed goal is reported, only a failure exits 1. */

import { cpus, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dispatch, list } from './dispatch.ts'

/** Above this share of all processors a bench refuses to measure. */
const BUSY_MAX = 0.15
const LOOK_MS = 1_000

const USAGE = `npm run bench -- NAME [--quick] [--sodium] [--anyway]
  Runs one bench: tables, goals, and as the last line one JSON object.
  --quick   ends within 45 s; goals that need longer are not judged
  --sodium  seals with sodium-native where it is installed; without, as a plain npm install does
  --anyway  measures on a busy machine, too

benches:`

/** These compare ciphers, so they load all of them. */
const COMPARES_CIPHERS = new Set(['seal'])

const folder = new URL('./', import.meta.url)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    sodium: { type: 'boolean', default: false },
    anyway: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})
const name = positionals[0]

/** The share of all processors that others use, from 0 to 1, looked at for a second. */
async function busyShare(): Promise<number> {
  const before = spent()
  await pause(LOOK_MS)
  const after = spent()
  return 1 - (after.idle - before.idle) / (after.all - before.all)
}

function spent(): { idle: number; all: number } {
  let idle = 0
  let all = 0
  for (const { times } of cpus()) {
    idle += times.idle
    all += Object.values(times).reduce((sum, one) => sum + one, 0)
  }
  return { idle, all }
}

/** For the report. @param busy  share that others used when the bench began */
function loadLine(busy: number): string {
  const average = loadavg()[0]!.toFixed(1)
  const others = `${Math.round(100 * busy)} % of the processors`
  return `When the bench began, others used ${others}; the load of the last minute is ${average}.`
}

async function hideSodium(): Promise<void> {
  const hook = new URL('plain-install.js', import.meta.url)
  // For the processes that the bench starts, and for this one.
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --import ${hook.href}`.trim()
  await import(fileURLToPath(hook))
}

if (name === undefined || values.help) {
  console.log(`${USAGE}\n${await list(folder)}`)
} else {
  const busy = await busyShare()
  if (busy > BUSY_MAX && !values.anyway && !values.quick) {
    const share = `${Math.round(100 * busy)} % of the processors`
    console.error(
      `others use ${share}, and at most ${100 * BUSY_MAX} % may be used by others while a bench ` +
        'measures: wait until the machine is at rest, or add --anyway',
    )
    process.exitCode = 1
  } else {
    if (!values.sodium && !COMPARES_CIPHERS.has(name)) await hideSodium()
    const load = loadLine(busy)
    const report = await dispatch(folder, name, { quick: values.quick }, [load])
    if (report === null) process.exitCode = 1
  }
}
