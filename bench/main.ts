/** `npm run bench -- NAME [--quick]`: a missed goal is reported, only a failure exits 1. */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dispatch, list } from './dispatch.ts'
import { BUSY_MAX, busyShare, loadLine } from './load.ts'

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
