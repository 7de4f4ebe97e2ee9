// Goal: the first form of the protocol, in which the host tells everybody of a migration, fails as
// its source says, and the form that is shipped does not.
// Method: the same cluster and the same order of messages, with the bug planted and without.
import { describe, expect, test } from 'vitest'
import { type ObjectsBug, objectsRules } from '../../proof/mutants.ts'
import { carry, type Cluster, destroy, grant, look, looks, meet, settle, spawn } from './cluster.ts'

const [HOST, A, B, X] = [1, 2, 3, 4] as const

/** A's messages to X are late; meanwhile B is granted what A made, and ends it. */
function paradox(variant: ObjectsBug | null): { cluster: Cluster; key: number; seen: string[] } {
  const cluster = meet({ incs: [HOST, A, B, X], mesh: true })
  for (const one of cluster.states.values()) one.rules = objectsRules(variant)
  const key = spawn(cluster, A)
  for (const to of [HOST, B]) carry(cluster, A, to)
  grant(cluster, key, B)
  for (const to of [A, B, X]) carry(cluster, HOST, to)
  if (variant === null) for (const to of [HOST, A, X]) carry(cluster, B, to)
  const seen = [look(cluster, X, key)]
  destroy(cluster, B, key)
  for (const to of [HOST, A, X]) carry(cluster, B, to)
  seen.push(look(cluster, X, key))
  carry(cluster, A, X)
  seen.push(look(cluster, X, key))
  settle(cluster)
  return { cluster, key, seen }
}

describe('X hears M_ab and D before C', () => {
  test('B31, B32: that the host tells everybody is not enough: what is destroyed stays with X', () => {
    const { cluster, key } = paradox('no-counter')
    expect(look(cluster, X, key)).not.toContain('gone')
    expect(look(cluster, A, key)).toContain('gone')
    expect(looks(cluster, key).length).toBeGreaterThan(1)
  })

  test('B38, B44, B47: told by the new owner, with the count, it ends gone', () => {
    const { cluster, key, seen } = paradox(null)
    expect(seen).toEqual(['3 v1.1 1,1', 'gone v1.1', 'gone v1.1'])
    expect(looks(cluster, key)).toEqual(['gone v1.1'])
  })
})
