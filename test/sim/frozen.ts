/**
 * How seeds went and ended when they were frozen: what only moves code changes none of them. Who
 * changes what is sent or when runs with `UPDATE=1`, and says in the commit why they changed.
 */

import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../data/frozen-seeds.json', import.meta.url)

/** The seeds whose digests are not the frozen ones, as sentences; with `UPDATE=1` none. */
export function thawed(digests: Readonly<Record<number, string>>): string[] {
  const frozen = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, string>
  if (process.env['UPDATE'] === '1') {
    writeFileSync(FILE, `${JSON.stringify({ ...frozen, ...digests }, null, 2)}\n`)
    return []
  }
  return Object.entries(digests).flatMap(([seed, now]) => {
    const before = frozen[seed] ?? '(none)'
    if (before === now) return []
    const [course, ending] = [before.split(' '), now.split(' ')]
    const what = course[1] === ending[1] ? 'goes another way' : 'ends otherwise'
    return [`seed ${seed} ${what}: npm run sim -- --seed ${seed}; if that is meant, UPDATE=1`]
  })
}
