// Goal: the first form of the protocol, in which the host tells everybody of a migration, fails as
// its source says, and the form that is shipped does not.
// Method: the same crew and the same order of messages, with the bug planted and without.
import { describe, expect, test } from 'vitest'
import { type ObjectsBug, objectsRules } from '../../proof/mutants.ts'
import { carry, type Crew, destroy, grant, look, looks, meet, settle, spawn } from './crew.ts'

const [HOST, A, B, X] = [1, 2, 3, 4] as const

/** A's messages to X are late; meanwhile B is granted what A made, and ends it. */
function paradox(variant: ObjectsBug | null): { crew: Crew; key: number; seen: string[] } {
  const crew = meet({ incs: [HOST, A, B, X], mesh: true })
  for (const one of crew.states.values()) one.rules = objectsRules(variant)
  const key = spawn(crew, A)
  for (const to of [HOST, B]) carry(crew, A, to)
  grant(crew, key, B)
  for (const to of [A, B, X]) carry(crew, HOST, to)
  if (variant === null) for (const to of [HOST, A, X]) carry(crew, B, to)
  const seen = [look(crew, X, key)]
  destroy(crew, B, key)
  for (const to of [HOST, A, X]) carry(crew, B, to)
  seen.push(look(crew, X, key))
  carry(crew, A, X)
  seen.push(look(crew, X, key))
  settle(crew)
  return { crew, key, seen }
}

describe('X hears M_ab and D before C', () => {
  test('B31, B32: that the host tells everybody is not enough: what is destroyed stays with X', () => {
    const { crew, key } = paradox('no-counter')
    expect(look(crew, X, key)).not.toContain('gone')
    expect(look(crew, A, key)).toContain('gone')
    expect(looks(crew, key).length).toBeGreaterThan(1)
  })

  test('B38, B44, B47: told by the new owner, with the count, it ends gone', () => {
    const { crew, key, seen } = paradox(null)
    expect(seen).toEqual(['3 v1.1 1,1', 'gone v1.1', 'gone v1.1'])
    expect(looks(crew, key)).toEqual(['gone v1.1'])
  })
})
