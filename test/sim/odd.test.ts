// Goal: no well-formed message ends a process, whoever says it and whenever: nothing throws in a
// full room, at any of its lists' limits, in any role.
// Method: seeds; the shipped machine of the session, 256 members, a sink that encodes all it is
// given. What is thrown fails: there is no boundary around this machine.
import { describe, expect, test } from 'vitest'
import { MEMBERS_MAX } from '../../packages/holdfast/src/machine.ts'
import { sessionRules } from '../../proof/mutants.ts'
import { RULES } from '../../packages/holdfast/src/session/session.ts'
import type { SessionRules } from '../../packages/holdfast/src/session/state.ts'
import { crowd, riot } from '../fuzz/odd.ts'

const ROUNDS = 60
const STEPS = 10

interface Found {
  roles: Set<string>
  most: number
  threw: string[]
}

function tried(seeds: readonly number[], rules: SessionRules): Found {
  const found: Found = { roles: new Set(), most: 0, threw: [] }
  for (const seed of seeds) {
    const made = crowd(seed, rules)
    try {
      for (let round = 0; round < ROUNDS; round++) {
        riot(made, STEPS)
        for (const own of made.sessions.values()) found.roles.add(own.server.role)
      }
    } catch (error) {
      found.threw.push(`seed ${seed}, ${(error as Error).message}`)
    }
    found.most = Math.max(found.most, made.most)
  }
  return found
}

const seeds = (from: number, to: number): number[] => {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

describe('valid messages in wrong states, in a room of 256 of 256 (N-3)', () => {
  test('seeds 1 to 60: nothing throws, in any role, and no view has 257 (N-3)', () => {
    const { threw, most, roles } = tried(seeds(1, 60), RULES)
    expect(threw).toEqual([])
    expect(most).toBe(MEMBERS_MAX)
    const serving = ['alone', 'adding', 'backedup', 'dropping', 'handing'] as const
    for (const role of [...serving, 'idle', 'sync', 'backup', 'taking', 'gathering'] as const) {
      expect(roles).toContain(role)
    }
  })

  test('who is let in beside its old row is found (N-3)', () => {
    const { threw } = tried(seeds(1, 30), sessionRules('beside-its-row'))
    expect(threw.join('\n')).toMatch(/members: at most 256 items: 257/)
  })
})
