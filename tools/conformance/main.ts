/**
 * `npm run conformance`: writes which test shows which requirement to build/conformance.md. Exits 1
 * if a number has neither a test nor a reason, or a title names a number that does not exist.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verdict } from './codebase.ts'

const PAGE = 'build/conformance.md'

const root = process.cwd()
const { page, faults, stale } = verdict(root)
for (const sentence of stale) console.log(`stale: ${sentence}`)
for (const sentence of faults) console.log(`fault: ${sentence}`)
if (faults.length > 0) process.exitCode = 1
mkdirSync(join(root, 'build'), { recursive: true })
writeFileSync(join(root, PAGE), page)
console.log(`${PAGE} written; ${faults.length} faults, ${stale.length} stale reasons`)
