/**
 * How seeds went and ended when they were frozen, in test/data/frozen/*.json: what only moves code
 * changes none of them. Who changes what is sent or when runs with `UPDATE=1`, and says in the
 * commit why they changed.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { hash } from '../packages/sim/src/checker/hash.ts'

const FOLDER = new URL('./data/frozen/', import.meta.url)

/** By seed: the digest of its course and that of its ending, with a blank between. */
type Digests = Readonly<Record<number, string>>

/**
 * The seeds whose digests are not the frozen ones, as sentences; with `UPDATE=1` none.
 *
 * @param name  of the file
 */
export function thawed(name: string, digests: Digests): string[] {
  const file = new URL(`${name}.json`, FOLDER)
  const frozen = read(file)
  if (process.env['UPDATE'] !== '1') return differing(frozen, digests)
  writeFileSync(file, `${JSON.stringify({ ...frozen, ...digests }, null, 2)}\n`)
  return []
}

function read(file: URL): Digests {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Digests
  } catch {
    return {}
  }
}

/** What differs between digests that were frozen and those of now, as sentences. */
export function differing(frozen: Digests, digests: Digests): string[] {
  return Object.entries(digests).flatMap(([seed, now]) => {
    const before = frozen[Number(seed)] ?? ''
    if (before === now) return []
    const [was, is] = [before.split(' ')[1], now.split(' ')[1]]
    const what = was === is ? 'goes another way' : 'ends otherwise'
    return [`seed ${seed} ${what}: if that is meant, UPDATE=1 freezes it anew`]
  })
}

/** The hash of a state by its values alone: a field that is renamed changes none. */
export function hashValues(state: unknown): number {
  return hash(valuesOf(state))
}

function valuesOf(value: unknown): unknown {
  if (value instanceof Map) {
    return new Map([...value].map(([key, one]) => [valuesOf(key), valuesOf(one)]))
  }
  if (value instanceof Set) return new Set([...value].map(valuesOf))
  if (Array.isArray(value)) return value.map(valuesOf)
  const isPlain = typeof value === 'object' && value?.constructor === Object
  return isPlain ? Object.values(value).map(valuesOf) : value
}
