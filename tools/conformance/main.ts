/**
 * `npm run conformance [-- --check]`: writes docs/conformance.md, or with `--check` only compares.
 * Exits 1 when a number has neither test nor reason, or a title names a number that is none.
 */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read } from '../tidy/house.ts'
import { PAGE, verdict } from './house.ts'

const root = process.cwd()
const { page, faults, stale } = verdict(root)
for (const sentence of stale) console.log(`stale: ${sentence}`)
for (const sentence of faults) console.log(`fault: ${sentence}`)
if (faults.length > 0) process.exitCode = 1
if (!process.argv.includes('--check')) {
  writeFileSync(join(root, PAGE), page)
  console.log(`${PAGE} written; ${faults.length} faults, ${stale.length} stale reasons`)
} else if (!existsSync(join(root, PAGE)) || read(root, PAGE) !== page) {
  console.log(`fault: ${PAGE} is out of date: npm run conformance`)
  process.exitCode = 1
}
