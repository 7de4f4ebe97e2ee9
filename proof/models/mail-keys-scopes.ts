/** The scopes of the model of keys: how much happens, and what is planted. */

import type { KeyBug, KeyScope } from './mail-keys.ts'

/** In all of these every claim holds; `states` is how many there are at least. */
export const GOOD: readonly {
  scope: KeyScope
  says: string
  states: number
  deep?: boolean
}[] = [
  {
    scope: { ...scopeOf('K1'), changes: [1, 0], crashes: 2, breaks: 1, calls: 4 },
    says: 'a key is replaced, whoever crashes and whatever breaks',
    states: 2_500,
  },
  {
    scope: { ...scopeOf('K2'), changes: [1, 1], breaks: 1 },
    says: 'both replace their keys',
    states: 1_500,
  },
  {
    scope: { ...scopeOf('K3'), changes: [2, 0], breaks: 1, stranger: 'stolen' },
    says: 'a key is replaced twice, and the first is in wrong hands',
    states: 5_000,
  },
  {
    scope: { ...scopeOf('K4'), changes: [1, 0], stranger: 'own', crashes: 1 },
    says: 'a stranger calls under the name of a',
    states: 2_000,
  },
  {
    scope: { ...scopeOf('K5'), letters: [1, 1], changes: [1, 1], crashes: 1, breaks: 1 },
    says: 'both replace their keys, and write, whoever crashes and whatever breaks',
    states: 60_000,
    deep: true,
  },
]

/** In each of these that claim breaks. */
export const MUTANTS: readonly { scope: KeyScope; violates: string; steps: number }[] = [
  { scope: mutant('K-X1', 'a greeting binds', 'own'), violates: 'keys.owner', steps: 1 },
  { scope: mutant('K-X2', 'old keys are not kept'), violates: 'keys.open', steps: 10 },
  {
    scope: mutant('K-X3', 'the new key before the letters about it'),
    violates: 'keys.told',
    steps: 14,
  },
  { scope: mutant('K-X4', 'letters about a key before it'), violates: 'keys.open', steps: 10 },
  { scope: mutant('K-X5', 'a key in memory alone'), violates: 'keys.told', steps: 15 },
  {
    scope: mutant('K-X6', 'a connection binds after its key was replaced'),
    violates: 'keys.told',
    steps: 13,
  },
  { scope: mutant('K-X7', 'connections of before stay'), violates: 'keys.told', steps: 10 },
  { scope: mutant('K-X8', 'keys are not compared', 'stolen'), violates: 'keys.shut', steps: 9 },
  {
    scope: {
      ...mutant('K-X9', 'a connection goes on after its key was replaced'),
      letters: [2, 0],
    },
    violates: 'keys.forward',
    steps: 11,
  },
]

function scopeOf(name: string): KeyScope {
  return { name, letters: [1, 0], changes: [0, 0], crashes: 0, breaks: 0, calls: 3 }
}

function mutant(name: string, bug: KeyBug, stranger?: 'own' | 'stolen'): KeyScope {
  const more = stranger ? { stranger } : {}
  return { ...scopeOf(name), changes: [1, 0], crashes: 1, breaks: 1, ...more, bug }
}
