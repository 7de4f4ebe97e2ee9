/** The scopes of the mailbox's model: those in which it holds, and those with a mutant. */

import type { MailScope } from './mailbox-side.ts'

/** In all of these every claim holds; `states` is how many there are at least. */
export const GOOD: readonly {
  scope: MailScope
  says: string
  states: number
  deep?: boolean
}[] = [
  {
    scope: { name: 'MB1', letters: 2, crashes: 2, losses: 2 },
    says: 'two letters, two crashes, two losses, doubles in any order',
    states: 12_000,
  },
  {
    scope: { name: 'MB2', letters: 3, crashes: 3, losses: 2 },
    says: 'three letters, three crashes, two losses, doubles in any order',
    states: 500_000,
    deep: true,
  },
  {
    scope: { name: 'MB3', letters: 1, replies: true, crashes: 2, losses: 1 },
    says: 'a letter that is answered in the transaction of its effect',
    states: 700,
  },
  {
    scope: {
      name: 'MB4',
      letters: 2,
      replies: true,
      crashes: 1,
      losses: 0,
      connections: { policy: 'hello', breaks: 1 },
    },
    says: 'connections on which each says what it has',
    states: 4_000,
  },
  {
    scope: {
      name: 'MB5',
      letters: 2,
      crashes: 1,
      losses: 0,
      connections: { policy: 'preemptive', breaks: 1 },
    },
    says: 'connections on which all is sent just in case',
    states: 5_000,
  },
  {
    scope: { name: 'MB6', letters: 2, throws: 2, crashes: 1, losses: 0 },
    says: 'a handler that throws twice at each letter, which is poison then',
    states: 500,
  },
]

/** In each of these that claim breaks, after so many steps. */
export const MUTANTS: readonly {
  scope: MailScope
  violates: string
  steps: number
}[] = [
  {
    scope: { name: 'MB-X1', letters: 1, crashes: 1, losses: 0, bug: 'dedup in memory alone' },
    violates: 'mail.once',
    steps: 8,
  },
  {
    scope: { name: 'MB-X2', letters: 1, crashes: 1, losses: 1, bug: 'an ack before it is durable' },
    violates: 'mail.drain',
    steps: 10,
  },
  {
    scope: { name: 'MB-X3', letters: 1, crashes: 1, losses: 0, bug: 'effect and number apart' },
    violates: 'mail.once',
    steps: 8,
  },
  {
    scope: { name: 'MB-X4', letters: 1, crashes: 0, losses: 1, bug: 'cleared when sent' },
    violates: 'mail.drain',
    steps: 4,
  },
  {
    scope: { name: 'MB-X5', letters: 1, crashes: 1, losses: 0, bug: 'sent before it is durable' },
    violates: 'mail.once',
    steps: 4,
  },
  {
    scope: {
      name: 'MB-X6',
      letters: 2,
      throws: 1,
      crashes: 0,
      losses: 0,
      bug: 'a letter whose handler throws is set aside',
    },
    violates: 'mail.drain',
    steps: 11,
  },
]
