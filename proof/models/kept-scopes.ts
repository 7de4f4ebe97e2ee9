/** Scopes of the model of kept rooms: those that hold, and those with a mutant. */

import type { KeptScope } from './kept-scene.ts'
import type { Rows } from './rows.ts'

const NOTHING = {
  ...{ others: 1, asks: 1, ops: 1, guests: 0, again: 0, breaks: 0, deaths: 0, leaves: 0 },
  ...{ byes: 0, paths: true, backups: 0 },
  ...{ kills: 0, refusals: 0, copies: 0, short: 0, middle: 0, long: 0 },
}

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  kept: {
    says: 'one who is alone, and dies or is cut off, and one who opens the room',
    scope: { ...NOTHING, ops: 2, breaks: 1, deaths: 1, short: 1 },
    states: 15_000,
  },
  'kept-hub': {
    says: 'one who dies, and a hub that is killed, with its write on disk or not',
    scope: { ...NOTHING, deaths: 1, kills: 1, long: 1 },
    states: 9_000,
  },
  'kept-late': {
    says: 'one who is silent for a minute, with segments on their way, and goes on then',
    scope: { ...NOTHING, again: 1, long: 1 },
    states: 3_500,
  },
  'kept-full': {
    says: 'a disk that refuses a write',
    scope: { ...NOTHING, breaks: 1, short: 1, refusals: 1 },
    states: 6_000,
  },
  'kept-refused': {
    says: 'a disk that refuses a write, and somebody who comes beside the first meanwhile',
    scope: {
      ...{ ...NOTHING, ops: 0, guests: 1 },
      ...{ again: 1, deaths: 1, short: 1, refusals: 1 },
    },
    states: 19_000,
  },
  'kept-old': {
    says: 'an old copy of the folder of the hub, put back',
    scope: { ...NOTHING, copies: 1, deaths: 1, short: 1 },
    states: 7_500,
  },
  'kept-bye': {
    says: 'one beside others that says goodbye, with segments on their way, and a refused write',
    scope: { ...NOTHING, ops: 1, guests: 1, byes: 1, refusals: 1 },
    states: 12_000,
  },
  'kept-bye-hub': {
    says: 'one that says goodbye to a hub that may be killed',
    scope: { ...NOTHING, byes: 1, kills: 1, short: 1 },
    states: 12_000,
  },
  'kept-paths': {
    says: 'one beside another with a path of its own, and cut off from the hub',
    scope: { ...NOTHING, guests: 1, breaks: 1, middle: 1 },
    states: 189_000,
    size: 'deep',
  },
  'kept-relayed': {
    says: 'one beside another that only the relay reaches, with a backup or not, and cut off',
    scope: { ...{ ...NOTHING, paths: false }, ...{ guests: 1, backups: 2, breaks: 1, middle: 1 } },
    states: 136_000,
    size: 'deep',
  },
  'kept-two': {
    says: 'two who ask at once',
    scope: { ...NOTHING, others: 2, asks: 2, breaks: 1, short: 1 },
    states: 12_000,
    size: 'deep',
  },
  'kept-guest': {
    says: 'somebody who comes beside the first, and goes',
    scope: { ...NOTHING, breaks: 1, guests: 1, short: 1 },
    states: 53_000,
    size: 'deep',
  },
  'kept-guests': {
    says: 'two who come beside the first, who dies',
    scope: { ...NOTHING, ops: 0, deaths: 1, guests: 2, long: 1 },
    states: 33_000,
    size: 'deep',
  },
  'kept-old-two': {
    says: 'two who ask at once, of a hub whose old copy was put back',
    scope: { ...{ ...NOTHING, others: 2 }, ...{ ops: 2, asks: 2, copies: 1, deaths: 1, short: 1 } },
    states: 240_000,
    size: 'deep',
  },
  'kept-leaves': {
    says: 'one who leaves and ends the session, a stream that breaks, a hub that is killed',
    scope: { ...NOTHING, ops: 2, leaves: 1, breaks: 1, kills: 1 },
    states: 31_000,
    size: 'deep',
  },
  'kept-deep': {
    says: 'two requests, one who is cut off, a hub that is killed, a refused write, a minute',
    scope: { ...{ ...NOTHING }, ...{ asks: 2, breaks: 1, kills: 1, refusals: 1, long: 1 } },
    states: 564_000,
    size: 'deep',
  },
} satisfies Rows<KeptScope>

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS = {
  'no-fence': {
    says: 'segments are taken from whoever led',
    scope: { ...SCOPES['kept-late'].scope, bug: 'no-fence' },
    violates: [['room.fence', 12]],
  },
  halves: {
    says: 'segments, and how far they go, are two writes',
    scope: { ...SCOPES['kept-hub'].scope, bug: 'halves' },
    violates: [['room.whole', 3]],
  },
  'alone-before-the-disk': {
    says: 'who is alone acknowledges what the hub does not have',
    scope: { ...SCOPES['kept'].scope, bug: 'told-before-the-disk' },
    violates: [['room.kept', 10]],
  },
  'number-twice': {
    says: 'the opener of a room gets the next stored member number, although others joined since',
    scope: { ...SCOPES['kept-guests'].scope, bug: 'number-twice' },
    violates: [['room.one', 18]],
  },
  'refused-counts': {
    says: 'a segment that was refused counts as if it were there',
    scope: { ...SCOPES['kept-refused'].scope, bug: 'refused-counts' },
    violates: [['room.one', 14]],
  },
  'by-epoch-and-index': {
    says: 'a room is taken for older than what one knows by its epoch and index alone',
    scope: { ...SCOPES['kept-old'].scope, bug: 'epoch-and-index' },
    violates: [['room.told', 16]],
  },
  'presumed-on-disk': {
    says: 'what is on its way to the hub counts as if it were on disk',
    scope: { ...SCOPES['kept'].scope, bug: 'presumed' },
    violates: [['room.calm', 12]],
  },
  'goodbye-early': {
    says: 'a goodbye counts before its segment is on disk',
    scope: { ...SCOPES['kept-bye'].scope, bug: 'goodbye-before-the-disk' },
    violates: [['room.kept', 19]],
  },
  'alone-not-strict': {
    says: 'who is alone beside others acknowledges what the hub does not have, while streams break',
    scope: { ...SCOPES['kept-relayed'].scope, bug: 'alone-not-strict' },
    violates: [['room.kept', 11]],
  },
  'path-unseen': {
    says: 'a room is opened while a member with a path of its own plays on',
    scope: { ...SCOPES['kept-paths'].scope, bug: 'path-unseen' },
    violates: [['room.kept', 15]],
  },
  'path-not-confirmed': {
    says: 'a path counts before the hub knows of it',
    scope: { ...SCOPES['kept-paths'].scope, bug: 'believed' },
    violates: [['room.strict', 6]],
  },
} satisfies Rows<KeptScope>
