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
    when: 'a name is none, a value of the wrong kind, or one does not fit, without an outcome',
    happened: 'no',
    todo: 'correct the call; the sentence names what is wrong',
  },
  banned: {
    when: 'this player was put out of the session for good; the sentence says why',
    happened: 'no',
    todo: 'show the sentence; who may put out can `pardon`',
  },
  broken: {
    when: 'an error in Holdfast itself left this member without a state that it can trust',
    happened: 'nobody knows',
    todo: 'report the sentence, with the event `error` before it; join again with the token',
  },
  elsewhere: {
    when: 'the same player is open in a newer place',
    happened: 'no',
    todo: 'show that, and close this one',
  },
  exists: {
    when: 'a saved room was to begin in a room where somebody is, or that is kept',
    happened: 'no',
    todo: 'choose another name for the room, or drop what is kept of it',
  },
  failed: {
    when: 'a batch of letters, or a letter that was set aside, was not handled, or does not fit',
    happened: 'in part, or not at all: see the sentence',
    todo: 'read the sentence',
  },
  forbidden: {
    when: 'the hub, or the room, does not let us do that; the sentence says why',
    happened: 'no',
    todo: 'read the sentence: a page of another origin wants `--origin`, others a ticket or a key',
  },
  full: {
    when: 'the room has `playersMax` players, or a store its most keys, pieces or timers',
    happened: 'no',
    todo: 'make room, or raise the limit where there is an option',
  },
  'key-reused': {
    when: 'another letter was posted to that peer under this `key` before',
    happened: 'no: the letter from before stands',
    todo: 'give each letter a key of its own; only a retry of the same letter has the same one',
  },
  kicked: {
    when: 'this player was put out of the session; the sentence says why',
    happened: 'no',
    todo: 'show the sentence; the player may join again',
  },
  left: {
    when: 'the session was left, or ended, before the call: from the call of `leave()` on',
    happened: 'no',
    todo: 'join again',
  },
  'no-such-game': {
    when: 'the hub takes only the games that it was given',
    happened: 'no',
    todo: "correct the name, or the hub's `games`",
  },
  'not-found': {
    when: 'no such object, type, letter or member is here; a type was not given in `types`',
    happened: 'no',
    todo: 'check that it still exists; give the type to `join` or `openMailbox`',
  },
  'not-owner': {
    when: '`set`, `destroy` or `give` of an object that somebody else owns',
    happened: 'no',
    todo: '`take` it first',
  },
  'not-ready': {
    when: 'a world of slots is on its way, or session time is not known yet',
    happened: 'no',
    todo: 'wait until `status` is `live`',
  },
  'outbox-full': {
    when: 'too many letters, or bytes, wait for one peer',
    happened: 'no',
    todo: 'wait for `acked`, or raise `lettersMax` or `bytesMax`',
  },
  overloaded: {
    when: 'too many actions, calls or inputs of this member are under way',
    happened: 'no',
    todo: 'wait for one to end',
  },
  'port-denied': {
    when: 'the system does not let this program listen at that port',
    happened: 'no',
    todo: 'choose another port',
  },
  'port-taken': {
    when: 'another program listens at that port',
    happened: 'no',
    todo: 'stop it, or choose another port',
  },
  schema: {
    when: 'two builds differ in types or options; the sentence names the first difference',
    happened: 'no',
    todo: 'reload, so that all have the same build',
  },
  store: {
    when: 'the store refused: a full disk, a file in use, a damaged or newer file',
    happened: 'see the sentence: a post whose sync failed may be in the store all the same',
    todo: 'free the disk or the file; post again with the same `key`',
  },
  timeout: {
    when: 'nobody let this member in within 15 s, or 15 s after a shut room opens',
    happened: 'no',
    todo: "try again; with `primaries: 'hosts'`, start a host",
  },
  unreachable: {
    when: 'no hub at that address, or no path to a member',
    happened: 'no',
    todo: 'check the address; try again',
  },
  watching: {
    when: 'this member came to watch, and changes nothing',
    happened: 'no',
    todo: 'join without `watch`, or by a ticket to play',
  },
  version: {
    when: 'the hub or the session speaks another version of Holdfast, or the room is stored in one',
    happened: 'no',
    todo: 'update the older one',
  },
} as const satisfies Readonly<Record<string, Row>>

/** Why a call failed. `message` names the thing, the limit and the value, and what to do. */
export type ErrorCode = keyof typeof ERRORS

/** Codes of outcomes: why a request is not done. `of` names the requests that have the code. */
export const OUTCOMES = {
  away: {
    of: '`give`, `call`',
    when: 'the member is not here, or does not answer to that; it did not take the object in 2 s',
    happened: 'no',
    todo: 'ask somebody else, or wait for `join`',
  },
  busy: {
    of: '`take`',
    when: '`by` asked before, and its owner has not answered yet',
    happened: 'no',
    todo: 'try again in a moment',
  },
  denied: {
    of: '`take`',
    when: 'its owner, `by`, said no',
    happened: 'no',
    todo: 'show it; ask again later',
  },
  failed: {
    of: '`act`, `call`, operations of parts',
    when: 'it ran, and threw where nobody may be refused, or its answer does not fit',
    happened: 'of a call perhaps in part; else no, but for an answer that does not fit',
    todo: 'mend the function; the sentence says what it threw',
  },
  fixed: {
    of: '`take`',
    when: 'objects of that type are taken by nobody',
    happened: 'no',
    todo: "ask its owner to `give` it, or change the type's `take`",
  },
  gone: {
    of: '`take`, `give`, pieces',
    when: 'there is no such object or piece any more',
    happened: 'no',
    todo: 'let go of the handle',
  },
  held: {
    of: '`take`, `give`, pieces',
    when: 'somebody, `by`, holds it, or it is on its way to them',
    happened: 'no',
    todo: 'wait until it is free; a piece can be grabbed with `wrest`',
  },
  late: {
    of: '`take`, `give`, pieces',
    when: 'somebody, `by`, was quicker',
    happened: 'no',
    todo: 'go on from what there is now',
  },
  lost: {
    of: 'all',
    when: 'the session ended, or the machines that knew died, before the outcome was told',
    happened: 'nobody knows',
    todo: 'look at the state, then decide',
  },
  'no-answer': {
    of: '`take`, `give`',
    when: 'its owner did not answer within 10 s, or nobody did within 30 s',
    happened: 'no',
    todo: 'ask again',
  },
  overloaded: {
    of: '`call`, `take`, `give`',
    when: 'the member or a link on the way has too much to do, or we ask the server for too much',
    happened: 'no',
    todo: 'wait a moment',
  },
  refused: {
    of: '`act`, pieces, operations of parts',
    when: 'the rules of the game said no: the sentence is theirs',
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
    when: 'a text or list is too long, a text is no word of `oneOf`, a number is not finite',
    happened: 'no',
    todo: 'show the sentence, which has field, limit and value; give a form the same limit',
  },
  unreachable: {
    of: '`call`',
    when: 'there is no link to the member just now',
    happened: 'no',
    todo: 'try again when `status` is `live`',
  },
} as const satisfies Readonly<Record<string, Row>>

/** Why a request is not done: the type of each request lists its codes. */
export type OutcomeCode = keyof typeof OUTCOMES
