/**
 * `npm run call-paths`: follows a datagram, a `set`, an `act`, a letter and a segment of a stored
 * room through real sessions, and prints the folders and files of the packages that each entered,
 * by stacks at the socket and at the listener. Exits 1 when a path enters more folders than
 * docs/ARCHITECTURE.md allows, or enters one again without a reason there.
 */

import { join } from 'node:path'
import { read } from '../tidy/codebase.ts'
import { longChains } from './forwards.ts'
import { follow } from './scene.ts'
import { complaints, entered, enteredAgain, filesOf, modulesOf, type Observed } from './stacks.ts'
import { rowsOf } from './text.ts'

const rows = rowsOf(read(join(process.cwd(), 'docs'), 'ARCHITECTURE.md'))
const paths = Object.entries(await follow()) as [string, readonly Observed[]][]
for (const [path, stacks] of paths) {
  const row = rows.get(path) ?? { most: 0, again: [] }
  const again = enteredAgain(stacks).join(', ') || 'none'
  const [modules, files] = [entered(stacks).length, filesOf(stacks).length]
  console.log(`${path}: ${modules} modules, at most ${row.most}; again: ${again}; ${files} files`)
  for (const stack of stacks) console.log(`  ${stack.at}: ${modulesOf(stack).join(' > ')}`)
  const wrong = [...complaints(path, stacks, row), ...longChains(path, stacks)]
  for (const sentence of wrong) console.log(`  wrong: ${sentence}`)
  if (wrong.length > 0) process.exitCode = 1
}
