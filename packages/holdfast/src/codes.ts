/**
 * All codes that a user meets, each with when it comes, whether the requested thing happened, and
 * what to do. The types of codes are derived from these tables, and so is docs/errors.md. A code
 * has one meaning. This file imports nothing, and nothing loads it: programs carry only the types.
 */

/** The text of docs/errors.md for a code. */
export interface Row {
  /** Requests with that outcome; for codes of errors undefined, as any call may fail so. */
  readonly of?: string
  readonly when: string
  readonly happened: string
  readonly todo: string
}

/** Codes of `HoldfastError`: what was wrong with a call. */
export const ERRORS = {
  'bad-value': {
    when: 'a value of the wrong kind or that does not fit, or an unknown name',
    happened: 'no',
    todo: 'correct the call',
  },
  banned: {
    when: 'this player was banned',
    happened: 'no',
    todo: 'show the sentence; `pardon` takes it back',
  },
  broken: {
    when: 'a bug in Holdfast: this member has no state that it can trust',
    happened: 'nobody knows',
    todo: 'report it with the event `error`; join again with the token',
  },
  elsewhere: {
    when: 'the same player is open in a newer place',
    happened: 'no',
    todo: 'show that, and close this one',
  },
  exists: {
    when: '`from` was given for a room that is in use or kept',
    happened: 'no',
    todo: 'choose another room name, or drop what is kept',
  },
  failed: {
    when: 'a batch of letters, or a dead letter, was not handled or does not fit',
    happened: 'in part or not: see the sentence',
    todo: 'read the sentence',
  },
  forbidden: {
    when: 'the hub, the room or a TURN server does not allow it',
    happened: 'no',
    todo: 'read the sentence: often `--origin`, a ticket or a key is missing',
  },
  full: {
    when: 'a limit of players, keys, pieces, timers or bytes of a document is met',
    happened: 'no',
    todo: 'free some, or raise the limit if an option does',
  },
  'key-reused': {
    when: 'another letter to that peer has this `key`',
    happened: 'no: the first letter counts',
    todo: 'use the same key only for a retry',
  },
  kicked: {
    when: 'this player was removed',
    happened: 'no',
    todo: 'show the sentence; the player may join again',
  },
  left: {
    when: 'the session ended, or `leave()` was called, before the call',
    happened: 'no',
    todo: 'join again',
  },
  'no-such-game': {
    when: 'the hub does not serve that game',
    happened: 'no',
    todo: "correct the name, or the hub's `games`",
  },
  'not-found': {
    when: 'no such object, letter or member, or the type is not in `types`',
    happened: 'no',
    todo: 'check that it still exists, or add the type',
  },
  'not-owner': {
    when: '`set`, `destroy` or `give` of an object that somebody else owns',
    happened: 'no',
    todo: '`take` it first',
  },
  'not-ready': {
    when: 'a world of slots is still loading, or session time is unknown',
    happened: 'no',
    todo: 'wait until `status` is `live`',
  },
  'outbox-full': {
    when: 'too many letters or bytes wait for one peer',
    happened: 'no',
    todo: 'wait for `acked`, or raise `lettersMax` or `bytesMax`',
  },
  overloaded: {
    when: 'too many actions, calls or inputs of this member are under way',
    happened: 'no',
    todo: 'wait for one to end',
  },
  'port-denied': {
    when: 'the system denies that port',
    happened: 'no',
    todo: 'choose another port',
  },
  'port-taken': {
    when: 'another program uses that port',
    happened: 'no',
    todo: 'stop it, or choose another port',
  },
  schema: {
    when: 'two builds differ; the sentence names the first difference',
    happened: 'no',
    todo: 'reload, so that all run the same build',
  },
  store: {
    when: 'a full disk, a file in use, a damaged or newer file',
    happened: 'see the sentence: a post whose sync failed may be stored',
    todo: 'free the disk or the file; post again with the same `key`',
  },
  timeout: {
    when: 'nobody let this member in within 15 s, or 15 s after a closed room opens',
    happened: 'no',
    todo: "try again; with `primaries: 'hosts'`, start a host",
  },
  unreachable: {
    when: 'no hub or TURN server at that address, or no path to a member',
    happened: 'no',
    todo: 'check the address; try again',
  },
  watching: {
    when: 'a spectator may not do that',
    happened: 'no',
    todo: 'join without `watch`, or with a ticket to play',
  },
  version: {
    when: 'hub, session or stored room have another version of Holdfast',
    happened: 'no',
    todo: 'the sentence says who is older: reload the page, or update the hub',
  },
} as const satisfies Readonly<Record<string, Row>>

/** Why a call failed. `message` names the thing, the limit and the value, and what to do. */
export type ErrorCode = keyof typeof ERRORS

/** Codes of outcomes: why a request is not done. `of` names the requests that have the code. */
export const OUTCOMES = {
  away: {
    of: '`give`, `call`',
    when: 'the member is not here, has no such procedure, or did not take the object in 2 s',
    happened: 'no',
    todo: 'ask somebody else, or wait for `join`',
  },
  busy: {
    of: '`take`',
    when: '`by` asked first, and the owner has not answered yet',
    happened: 'no',
    todo: 'try again in a moment',
  },
  denied: {
    of: '`take`',
    when: 'the owner (`by`) refused',
    happened: 'no',
    todo: 'show it; ask again later',
  },
  failed: {
    of: '`act`, `call`, pieces, operations of parts',
    when: 'the function has a bug (a `TypeError`, a full table), or its answer does not fit',
    happened: 'a call perhaps in part; if only the answer does not fit, yes; else no',
    todo: 'fix the function; the sentence says what it threw, and is not for players',
  },
  fixed: {
    of: '`take`',
    when: 'nobody may take objects of that type',
    happened: 'no',
    todo: "ask the owner to `give` it, or change the type's `take`",
  },
  gone: {
    of: '`take`, `give`, pieces',
    when: 'the object or piece no longer exists',
    happened: 'no',
    todo: 'drop the handle',
  },
  held: {
    of: '`take`, `give`, pieces',
    when: '`by` holds it, or it is on its way to them',
    happened: 'no',
    todo: 'wait; a piece can be grabbed with `wrest`',
  },
  late: {
    of: '`take`, `give`, pieces',
    when: '`by` was first',
    happened: 'no',
    todo: 'go on from the current state',
  },
  lost: {
    of: 'all',
    when: 'the session ended, or the members that knew died',
    happened: 'nobody knows',
    todo: 'look at the state, then decide',
  },
  'no-answer': {
    of: '`take`, `give`',
    when: 'the owner did not answer within 10 s, or nobody did within 30 s',
    happened: 'no',
    todo: 'ask again',
  },
  overloaded: {
    of: '`call`, `take`, `give`',
    when: 'the member, a link or this player is over a limit',
    happened: 'no',
    todo: 'wait a moment',
  },
  refused: {
    of: '`act`, pieces, operations of parts',
    when: 'the game refused, with its sentence',
    happened: 'no',
    todo: 'show the sentence',
  },
  timeout: {
    of: '`call`',
    when: 'no answer came in time',
    happened: 'perhaps: it may still run',
    todo: 'look at the state, then decide',
  },
  unfit: {
    of: '`act`, `call`, pieces, `kick`, `ban`, operations of parts',
    when: 'a text or list is too long, a word is not in `oneOf`, a number is not finite',
    happened: 'no',
    todo: 'show the sentence; give the form the same limit',
  },
  unreachable: {
    of: '`call`',
    when: 'there is no link to the member at the moment',
    happened: 'no',
    todo: 'try again when `status` is `live`',
  },
} as const satisfies Readonly<Record<string, Row>>

/** Why a request is not done: the type of each request lists its codes. */
export type OutcomeCode = keyof typeof OUTCOMES
