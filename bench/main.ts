/** `npm run bench -- NAME [--quick]`: a missed goal is reported, only a failure exits 1. */

import { parseArgs } from 'node:util'
import { dispatch, list } from './dispatch.ts'

const USAGE = `npm run bench -- NAME [--quick]
  Runs one bench: tables, goals, and as the last line one JSON object.
  --quick   ends within 45 s; goals that need longer are not judged

benches:`

const folder = new URL('./', import.meta.url)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
})
const name = positionals[0]
if (name === undefined || values.help) {
  console.log(`${USAGE}\n${await list(folder)}`)
} else {
  const report = await dispatch(folder, name, { quick: values.quick })
  if (report === null) process.exitCode = 1
}
