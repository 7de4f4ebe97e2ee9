/** The scopes of the mailbox's model: those in which it holds, and those with a mutant. */

import type { MailScope } from './mailbox-side.ts'
import type { Rows } from './rows.ts'

/** In all of these every claim holds; `states` is how many there are at least. */
export const SCOPES = {
  MB1: {
    proves: 'S1, S6, S7',
    says: 'two letters, two crashes, two losses, doubles in any order',
    scope: { letters: 2, crashes: 2, losses: 2 },
    states: 12_000,
  },
  MB2: {
    says: 'three letters, three crashes, two losses, doubles in any order',
    scope: { letters: 3, crashes: 3, losses: 2 },
    states: 500_000,
    size: 'deep',
  },
  MB3: {
    proves: 'S31',
    says: 'a letter that is answered in the transaction of its effect',
    scope: { letters: 1, replies: true, crashes: 2, losses: 1 },
    states: 700,
  },
  MB4: {
    proves: 'S3, S8, S9',
    says: 'connections on which each says what it has',
    scope: {
      letters: 2,
      replies: true,
      crashes: 1,
      losses: 0,
      connections: { policy: 'hello', breaks: 1 },
    },
    states: 4_000,
  },
  MB5: {
    proves: 'S5',
    says: 'connections on which all is sent just in case',
    scope: { letters: 2, crashes: 1, losses: 0, connections: { policy: 'preemptive', breaks: 1 } },
    states: 5_000,
  },
  MB6: {
    says: 'a handler that throws twice at each letter, which is poison then',
    scope: { letters: 2, throws: 2, crashes: 1, losses: 0 },
    states: 500,
  },
} satisfies Rows<MailScope>

/** In each of these that claim breaks, after so many steps. */
export const MUTANTS = {
  'MB-X1': {
    proves: 'S17',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'dedup in memory alone' },
    violates: [['mail.once', 8]],
  },
  'MB-X2': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 1, bug: 'an ack before it is durable' },
    violates: [['mail.drain', 10]],
  },
  'MB-X3': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'effect and number apart' },
    violates: [['mail.once', 8]],
  },
  'MB-X4': {
    proves: 'S1',
    scope: { letters: 1, crashes: 0, losses: 1, bug: 'cleared when sent' },
    violates: [['mail.drain', 4]],
  },
  'MB-X5': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'sent before it is durable' },
    violates: [['mail.once', 4]],
  },
  'MB-X6': {
    scope: {
      letters: 2,
      throws: 1,
      crashes: 0,
      losses: 0,
      bug: 'a letter whose handler throws is set aside',
    },
    violates: [['mail.drain', 11]],
  },
} satisfies Rows<MailScope>
