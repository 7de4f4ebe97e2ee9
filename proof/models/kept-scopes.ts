/** Scopes of the model of kept rooms: those that hold, and those with a mutant. */

/** How much may happen. */
export interface KeptScope {
  name: string
  /** Takes minutes. */
  deep?: boolean
  /** Who may open the room beside its first primary, and how often somebody asks to. */
  others: number
  asks: number
  /** Operations; and how often somebody comes beside the first primary. */
  ops: number
  guests: number
  /** Who comes has a path to the primary without the hub. */
  paths: boolean
  /** Requests to add a backup, or to drop it. */
  backups: number
  /** Sheets that are written anew because no answer came. */
  again: number
  /** Streams that break, and members that die or leave. */
  breaks: number
  deaths: number
  leaves: number
  /** Goodbyes: who led is gone for good, and waits for nothing. */
  byes: number
  /** Kills of the hub, and writes that the disk refuses. */
  kills: number
  refusals: number
  /** How often the hub's folder is copied, and perhaps put back. */
  copies: number
  /** How often BACK_MS pass, and how often RECOVER_MS, and SILENT_MS. */
  short: number
  middle: number
  long: number
  /** A bug around the rules. */
  bug?: KeptBug
}

type KeptBug =
  | ('no-fence' | 'halves' | 'told-before-the-disk' | 'number-twice' | 'refused-counts')
  | ('goodbye-before-the-disk' | 'epoch-and-index' | 'presumed')
  | ('path-unseen' | 'believed' | 'alone-not-strict')

const NOTHING = {
  ...{ others: 1, asks: 1, ops: 1, guests: 0, again: 0, breaks: 0, deaths: 0, leaves: 0 },
  ...{ byes: 0, paths: true, backups: 0 },
  ...{ kills: 0, refusals: 0, copies: 0, short: 0, middle: 0, long: 0 },
}

/** Scopes that hold, and how many states they have. */
export const GOOD: readonly { scope: KeptScope; says: string; states: number }[] = [
  {
    scope: { ...NOTHING, name: 'kept', ops: 2, breaks: 1, deaths: 1, short: 1 },
    says: 'one who is alone, and dies or is cut off, and one who opens the room',
    states: 15_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-hub', deaths: 1, kills: 1, long: 1 },
    says: 'one who dies, and a hub that is killed, with its write on disk or not',
    states: 9_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-late', again: 1, long: 1 },
    says: 'one who is silent for a minute, with sheets on their way, and goes on then',
    states: 3_500,
  },
  {
    scope: { ...NOTHING, name: 'kept-full', breaks: 1, short: 1, refusals: 1 },
    says: 'a disk that refuses a write',
    states: 6_000,
  },
  {
    scope: {
      ...{ ...NOTHING, name: 'kept-refused', ops: 0, guests: 1 },
      ...{ again: 1, deaths: 1, short: 1, refusals: 1 },
    },
    says: 'a disk that refuses a write, and somebody who comes beside the first meanwhile',
    states: 19_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-old', copies: 1, deaths: 1, short: 1 },
    says: 'an old copy of the folder of the hub, put back',
    states: 7_500,
  },
  {
    scope: { ...NOTHING, name: 'kept-bye', ops: 1, guests: 1, byes: 1, refusals: 1 },
    says: 'one beside others that says goodbye, with sheets on their way, and a refused write',
    states: 12_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-bye-hub', byes: 1, kills: 1, short: 1 },
    says: 'one that says goodbye to a hub that may be killed',
    states: 12_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-paths', deep: true, guests: 1, breaks: 1, middle: 1 },
    says: 'one beside another with a path of its own, and cut off from the hub',
    states: 192_000,
  },
  {
    scope: {
      ...{ ...NOTHING, name: 'kept-relayed', deep: true, paths: false },
      ...{ guests: 1, backups: 2, breaks: 1, middle: 1 },
    },
    says: 'one beside another that only the relay reaches, with a backup or not, and cut off',
    states: 138_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-two', deep: true, others: 2, asks: 2, breaks: 1, short: 1 },
    says: 'two who ask at once',
    states: 12_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-guest', deep: true, breaks: 1, guests: 1, short: 1 },
    says: 'somebody who comes beside the first, and goes',
    states: 53_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-guests', deep: true, ops: 0, deaths: 1, guests: 2, long: 1 },
    says: 'two who come beside the first, who dies',
    states: 33_000,
  },
  {
    scope: {
      ...{ ...NOTHING, name: 'kept-old-two', deep: true, others: 2 },
      ...{ ops: 2, asks: 2, copies: 1, deaths: 1, short: 1 },
    },
    says: 'two who ask at once, of a hub whose old copy was put back',
    states: 240_000,
  },
  {
    scope: { ...NOTHING, name: 'kept-leaves', deep: true, ops: 2, leaves: 1, breaks: 1, kills: 1 },
    says: 'one who leaves and ends the session, a stream that breaks, a hub that is killed',
    states: 31_000,
  },
  {
    scope: {
      ...{ ...NOTHING, name: 'kept-deep', deep: true },
      ...{ asks: 2, breaks: 1, kills: 1, refusals: 1, long: 1 },
    },
    says: 'two requests, one who is cut off, a hub that is killed, a refused write, a minute',
    states: 564_000,
  },
]
const scopeOf = (name: string): KeptScope => GOOD.find(({ scope }) => scope.name === name)!.scope

/** The claim that a mutant breaks. */
export interface KeptMutant {
  scope: KeptScope
  says: string
  violates: string
  steps: number
}

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS: readonly KeptMutant[] = [
  {
    scope: { ...scopeOf('kept-late'), name: 'no-fence', bug: 'no-fence' },
    says: 'sheets are taken from whoever led',
    violates: 'room.fence',
    steps: 11,
  },
  {
    scope: { ...scopeOf('kept-hub'), name: 'halves', bug: 'halves' },
    says: 'sheets, and how far they go, are two writes',
    violates: 'room.whole',
    steps: 3,
  },
  {
    scope: { ...scopeOf('kept'), name: 'alone-before-the-disk', bug: 'told-before-the-disk' },
    says: 'who is alone acknowledges what the hub does not have',
    violates: 'room.kept',
    steps: 9,
  },
  {
    scope: { ...scopeOf('kept-guests'), name: 'number-twice', bug: 'number-twice' },
    says: 'whoever opens a room gets the next number that was written, whoever was here since',
    violates: 'room.one',
    steps: 17,
  },
  {
    scope: { ...scopeOf('kept-refused'), name: 'refused-counts', bug: 'refused-counts' },
    says: 'a sheet that was refused counts as if it were there',
    violates: 'room.one',
    steps: 13,
  },
  {
    scope: { ...scopeOf('kept-old'), name: 'by-epoch-and-index', bug: 'epoch-and-index' },
    says: 'a room is taken for older than what one knows by its epoch and index alone',
    violates: 'room.told',
    steps: 15,
  },
  {
    scope: { ...scopeOf('kept'), name: 'presumed-on-disk', bug: 'presumed' },
    says: 'what is on its way to the hub counts as if it were on disk',
    violates: 'room.calm',
    steps: 11,
  },
  {
    scope: { ...scopeOf('kept-bye'), name: 'goodbye-early', bug: 'goodbye-before-the-disk' },
    says: 'a goodbye counts before its sheet is on disk',
    violates: 'room.kept',
    steps: 18,
  },
  {
    scope: { ...scopeOf('kept-relayed'), name: 'alone-not-strict', bug: 'alone-not-strict' },
    says: 'who is alone beside others acknowledges what the hub does not have, while streams break',
    violates: 'room.kept',
    steps: 10,
  },
  {
    scope: { ...scopeOf('kept-paths'), name: 'path-unseen', bug: 'path-unseen' },
    says: 'a room is opened while a member with a path of its own plays on',
    violates: 'room.kept',
    steps: 14,
  },
  {
    scope: { ...scopeOf('kept-paths'), name: 'path-not-confirmed', bug: 'believed' },
    says: 'a path counts before the hub knows of it',
    violates: 'room.strict',
    steps: 6,
  },
]
