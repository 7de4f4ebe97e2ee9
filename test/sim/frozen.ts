/**
 * How seeds went and ended when they were frozen: what only moves code changes none of them. Who
 * changes what is sent or when runs with `UPDATE=1`, and says in the commit why they changed.
 */

import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../data/frozen-seeds.json', import.meta.url)

/** By seed: the digest of its course and that of its ending, with a blank between. */
type Digests = Readonly<Record<number, string>>

/** The seeds whose digests are not the frozen ones, as sentences; with `UPDATE=1` none. */
export function thawed(digests: Digests): string[] {
  const frozen = JSON.parse(readFileSync(FILE, 'utf8')) as Digests
  if (process.env['UPDATE'] !== '1') return differing(frozen, digests)
  writeFileSync(FILE, `${JSON.stringify({ ...frozen, ...digests }, null, 2)}\n`)
  return []
}

/** What differs between digests that were frozen and those of now, as sentences. */
export function differing(frozen: Digests, digests: Digests): string[] {
  return Object.entries(digests).flatMap(([seed, now]) => {
    const before = frozen[Number(seed)] ?? ''
    if (before === now) return []
    const [was, is] = [before.split(' ')[1], now.split(' ')[1]]
    const what = was === is ? 'goes another way' : 'ends otherwise'
    return [`seed ${seed} ${what}: npm run sim -- --seed ${seed}; if that is meant, UPDATE=1`]
  })
}
