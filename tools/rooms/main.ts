/**
 * `npm run rooms`: follows a datagram, a `set`, an `act`, a letter and a segment of a persisted
 * room through real sessions, and prints which folders and how many files of the packages each
 * entered, by stacks at the socket and at the listener. Exits 1 when one enters more folders than
 * docs/ARCHITECTURE.md says, or one again without a reason there.
 */

import { join } from 'node:path'
import { read } from '../tidy/house.ts'
import { longChains } from './forwards.ts'
import { follow } from './scene.ts'
import { complaints, entered, enteredAgain, filesOf, roomsOf, type Sight } from './stacks.ts'
import { rowsOf } from './text.ts'

const rows = rowsOf(read(join(process.cwd(), 'docs'), 'ARCHITECTURE.md'))
const paths = Object.entries(await follow()) as [string, readonly Sight[]][]
for (const [path, sights] of paths) {
  const row = rows.get(path) ?? { most: 0, again: [] }
  const again = enteredAgain(sights).join(', ') || 'none'
  const [rooms, files] = [entered(sights).length, filesOf(sights).length]
  console.log(`${path}: ${rooms} rooms, at most ${row.most}; again: ${again}; ${files} files`)
  for (const sight of sights) console.log(`  ${sight.at}: ${roomsOf(sight).join(' > ')}`)
  const wrong = [...complaints(path, sights, row), ...longChains(path, sights)]
  for (const sentence of wrong) console.log(`  wrong: ${sentence}`)
  if (wrong.length > 0) process.exitCode = 1
}
