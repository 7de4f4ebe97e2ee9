/**
 * A register that the members hold while the hub is away, in every interleaving of a small scope.
 * No product code does this: the model says what such a design would promise, and what it would
 * not (docs/protocols/register.md).
 *
 * The hub delegates its register by a change of the register itself, which its disk has before a
 * member hears of it. From then on the members change it, with a vote each, by CASPaxos (Rystsov,
 * 2018): who wants a change begins a ballot, reads the newest value from more than half of the
 * votes, and has more than half accept what the change makes of that. Votes live in memory: a
 * process that was started again is another incarnation, and has none. The members' last change
 * gives the register back.
 *
 * A ballot keeps all that was ever said about it, so each message may come late, again, in any
 * order, or never. Members 1 and 2 are primary and backup as the hub delegates. Nobody becomes
 * backup later, and no vote moves to another member.
 */

import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { Action, CellModel } from '../../packages/sim/src/checker/checker.ts'
import type { Rows } from './rows.ts'

/** Members by index, as the hub delegates. */
const [PRIMARY, BACKUP, NOBODY] = [0, 1, -1] as const
/** Steps of time for which a lease is good, and for which the hub lets nobody recover. */
const LEASE_TICKS = 2
/** The ballot of what the hub delegated. */
const DELEGATION = 0

interface Register {
  epoch: number
  primary: number
  backup: number
  holder: 'hub' | 'members'
}

interface Hub {
  up: boolean
  disk: Register
  /** A change that waits for the disk. */
  pending: Register | null
  /** It has sent the delegation. */
  told: boolean
  /** When it last wrote or started: from then on it lets nobody recover until a lease is over. */
  since: number
}

interface Member {
  state: 'alive' | 'dead' | 'another'
  /** The newest value of the register that it has heard of as decided. */
  known: Register
  /** It has the one entry of the log. */
  has: boolean
}

/** Numbers of ballots. */
interface Vote {
  promised: number
  accepted: number
}

/** What was said about a ballot. */
interface Ballot {
  want: Want
  /** By voter: the ballot that it had accepted as it promised this one, or null. */
  promised: (number | null)[]
  value: Register | null
  /** By voter. */
  accepted: boolean[]
}

type Want = 'take' | 'drop' | 'return'

/** A lone primary asks for a lease. */
interface Ask {
  by: number
  at: number
  epoch: number
  /** By voter. */
  granted: boolean[]
}

/** How often what may happen. */
const NEVER = { starts: 0, stops: 0, deaths: 0, comebacks: 0, ticks: 0, asks: 0, entries: 0 }
type Times = typeof NEVER

/** Everything at one instant. */
export interface RegisterState {
  now: number
  hub: Hub
  members: Member[]
  /** By voter; null for who has not heard of the delegation. A hub that votes is the last. */
  votes: (Vote | null)[]
  /** By number, less one: the ballots of a member are so many apart as there are members. */
  ballots: (Ballot | null)[]
  asks: Ask[]
  /** Who recorded the entry, and whether the backup has acknowledged it. */
  entry: { by: number; acked: boolean }
  /** The epoch in which the entry was published; 0 if it was not. */
  published: number
  left: Times
}

type Step = Action<RegisterState>

/** The model of that scope. */
export function registerModel(name: string, scope: RegisterScope): CellModel<RegisterState> {
  const { members: size, rounds, alone = false, times } = scope
  return {
    ...{ name, cells: cells.create(), arrays: ['members', 'votes', 'ballots'] },
    init: () => begin(scope),
    actions: (state) => actions(scope, state),
    always: {
      'register.one': oneLeader,
      'register.lost': nothingLost,
      'register.power': (state) => onePower(scope, state),
      'register.return': (state) => lastReturned(scope, state),
      'register.lease': (state) => leaseEnds(scope, state),
    },
    settled: { 'register.live': (state) => live(scope, state) },
    sometimes: {
      ...(!alone &&
        rounds[BACKUP]! > 0 && {
          'the backup took over': ({ members }: RegisterState) => leads(members, BACKUP),
        }),
      ...(!alone &&
        rounds[PRIMARY]! > 0 && {
          'the primary dropped its backup': ({ members }: RegisterState) =>
            isLone(members, PRIMARY),
        }),
      ...(times.starts && {
        'the register is back at the hub': ({ hub: { disk } }: RegisterState) =>
          disk.holder === 'hub' && disk.epoch > 2,
      }),
      ...(times.entries && { 'the entry was published': ({ published }) => published > 0 }),
      ...(times.asks && {
        'a lone primary may publish': (state: RegisterState) =>
          isLone(state.members, PRIMARY) && mayPublish(scope, state, PRIMARY),
      }),
      ...(times.comebacks && {
        'a process came back without a vote': ({ members }: RegisterState) =>
          members.some(({ state }) => state === 'another'),
      }),
      ...((times.deaths ?? 0) > size - majorityOf(size) && {
        'too few live, and nobody gets the register back': (state: RegisterState) =>
          aliveIn(state).length < majorityOf(size) && newest(scope, state).holder === 'members',
      }),
    },
    show: (state) => show(scope, state),
  }
}

function begin(scope: RegisterScope): RegisterState {
  const { members: size, rounds, founds = false, times } = scope
  const value = delegated(scope)
  const disk: Register = founds ? { ...value, epoch: 1, holder: 'hub' } : value
  const vote = founds ? null : { promised: DELEGATION, accepted: DELEGATION }
  return {
    now: 0,
    hub: { up: founds, disk, pending: null, told: !founds, since: 0 },
    members: Array.from({ length: size }, () => ({ state: 'alive', known: disk, has: false })),
    votes: Array.from({ length: scope.bug === 'hub-votes' ? size + 1 : size }, () => vote),
    ballots: Array.from({ length: size * Math.max(...rounds) }, () => null),
    asks: [],
    entry: { by: NOBODY, acked: false },
    published: 0,
    left: { ...NEVER, ...times },
  }
}

function delegated({ alone = false }: RegisterScope): Register {
  const backup = alone ? NOBODY : BACKUP
  return { epoch: 2, primary: PRIMARY, backup, holder: 'members' }
}

function majorityOf(size: number): number {
  return (size >> 1) + 1
}

/** How many votes decide. */
function quorumOf({ members, quorum = majorityOf(members) }: RegisterScope): number {
  return quorum
}

function valueAt(scope: RegisterScope, { ballots }: RegisterState, number: number): Register {
  return number === DELEGATION ? delegated(scope) : ballots[number - 1]!.value!
}

/** What enough voters have accepted. */
function decided(scope: RegisterScope, { ballots }: RegisterState): Register[] {
  return ballots.flatMap((ballot) => {
    if (!ballot?.value) return []
    return ballot.accepted.filter(Boolean).length >= quorumOf(scope) ? [ballot.value] : []
  })
}

/** The members' register. */
function newest(scope: RegisterScope, state: RegisterState): Register {
  return newestOf([delegated(scope), ...decided(scope, state)])
}

function newestOf(values: readonly Register[]): Register {
  return values.reduce((one, other) => (other.epoch > one.epoch ? other : one))
}

function leads(members: readonly Member[], at: number): boolean {
  return members[at]!.known.primary === at
}

function isLone(members: readonly Member[], at: number): boolean {
  const { backup, holder } = members[at]!.known
  return leads(members, at) && backup === NOBODY && holder === 'members'
}

function isAlive({ members }: RegisterState, at: number): boolean {
  return members[at]?.state === 'alive'
}

function aliveIn(state: RegisterState): number[] {
  return [...state.members.keys()].filter((at) => isAlive(state, at))
}

function mayVote({ members, bug }: RegisterScope, state: RegisterState, at: number): boolean {
  if (at === members) return state.hub.up
  return isAlive(state, at) || (bug === 'votes-again' && state.members[at]!.state === 'another')
}

function* actions(scope: RegisterScope, state: RegisterState): Iterable<Step> {
  yield* ofHub(scope, state)
  for (const at of state.members.keys()) {
    yield* ofLife(state, at)
    if (!isAlive(state, at)) continue
    yield* ofNews(scope, state, at)
    yield* ofProposer(scope, state, at)
    yield* ofLog(scope, state, at)
  }
  for (const at of state.votes.keys()) {
    if (mayVote(scope, state, at)) yield* ofVoter(scope, state, at)
  }
  if (state.left.ticks > 0) {
    yield spending('ticks', 'time passes', (copy) => void copy.now++)
  }
}

/** Of what there is only so much. */
function spending(what: keyof Times, label: string, next: Step['next']): Step {
  const spend: Step['next'] = (copy) => {
    copy.left = { ...copy.left, [what]: copy.left[what] - 1 }
    next(copy)
  }
  return { label, environment: true, next: spend }
}

function* ofHub(scope: RegisterScope, state: RegisterState): Iterable<Step> {
  const { left, hub, now } = state
  const { disk, pending, told } = hub
  const to = (change: Partial<Hub>): Step['next'] => {
    return (copy) => void (copy.hub = { ...hub, ...change })
  }
  if (!hub.up) {
    const next = to({ up: true, since: now })
    if (left.starts > 0) yield spending('starts', 'the hub starts again', next)
    return
  }
  if (left.stops > 0) yield spending('stops', 'the hub dies', to({ up: false, pending: null }))
  if (disk.holder === 'members' && !told) {
    yield { label: 'the hub tells the members', next: to({ told: true }) }
  }
  if (pending) {
    const next = to({ disk: pending, pending: null, since: now })
    yield { label: `the disk has ${format(pending)}`, next }
    return
  }
  if (disk.epoch === 1) {
    const early = scope.bug === 'heard-early' ? { told: true } : {}
    yield { label: 'the hub delegates', next: to({ pending: delegated(scope), ...early }) }
  }
  for (const value of returnedTo(scope, state)) {
    yield { label: `the hub hears of ${format(value)}`, next: to({ pending: value }) }
  }
  if (!mayRecover(scope, state)) return
  const primary = scope.members - 1
  const value = { epoch: disk.epoch + 1, primary, backup: NOBODY, holder: 'hub' } as const
  yield { label: `${scope.members} recovers at the hub`, next: to({ pending: value }) }
}

/** What members that live say the register was as it was given back. */
function returnedTo({ bug }: RegisterScope, { hub, members }: RegisterState): Register[] {
  const { holder, epoch } = hub.disk
  if (holder === 'hub') return []
  const known = members.filter(({ state }) => state === 'alive').map((member) => member.known)
  if (bug === 'returns-memory') {
    return known.map((value) => ({ ...value, epoch: value.epoch + 1, holder: 'hub' }))
  }
  return known.filter((value) => value.holder === 'hub' && value.epoch > epoch).slice(0, 1)
}

// Where the primary has a backup nobody may recover, as at the shipped hub.
function mayRecover({ recovers, bug }: RegisterScope, { hub, now }: RegisterState): boolean {
  const { disk, since } = hub
  if (!recovers || (now < since + LEASE_TICKS && bug !== 'recovers-early')) return false
  if (bug === 'timeout') return disk.holder === 'members'
  return disk.holder === 'hub' && disk.primary === PRIMARY && disk.backup === NOBODY
}

function* ofLife({ left, members }: RegisterState, at: number): Iterable<Step> {
  const member = members[at]!
  if (member.state === 'alive' && left.deaths > 0) {
    yield spending('deaths', `${at + 1} dies`, (copy) => {
      copy.members[at] = { ...member, state: 'dead' }
      copy.votes[at] = null
    })
  }
  if (member.state === 'dead' && left.comebacks > 0) {
    yield spending('comebacks', `${at + 1} comes back as another`, (copy) => {
      copy.members[at] = { ...member, state: 'another' }
    })
  }
}

function* ofNews(scope: RegisterScope, state: RegisterState, at: number): Iterable<Step> {
  const { hub, members } = state
  const member = members[at]!
  const { epoch, primary, backup } = member.known
  const values = decided(scope, state)
  if (hub.up && hub.disk.holder === 'hub') values.push(hub.disk)
  for (const value of values) {
    // Who has no role needs to hear only of a return: so there are fewer states.
    const concerns = [primary, backup, value.primary].includes(at) || value.holder === 'hub'
    if (!concerns || value.epoch <= epoch) continue
    const next: Step['next'] = (copy) => void (copy.members[at] = { ...member, known: value })
    yield { label: `${at + 1} hears of ${format(value)}`, next }
  }
}

/** What a member may want of the register. */
function wants({ hub, members }: RegisterState, at: number): Want[] {
  const { primary, backup, holder } = members[at]!.known
  if (holder === 'hub') return []
  const wanted: Want[] = hub.up ? ['return'] : []
  if (backup !== NOBODY && at === primary) wanted.push('drop')
  if (at === backup) wanted.push('take')
  return wanted
}

/** The number of its next ballot, above all that it has promised; 0 if it may begin no more. */
function nextBallot(scope: RegisterScope, { votes, ballots }: RegisterState, at: number): number {
  for (let round = 0; round < scope.rounds[at]!; round++) {
    const number = round * scope.members + at + 1
    if (!ballots[number - 1] && number > votes[at]!.promised) return number
  }
  return 0
}

// A proposer is the first to promise its own ballot, and to accept what it proposes.
function* ofProposer(scope: RegisterScope, state: RegisterState, at: number): Iterable<Step> {
  const vote = state.votes[at]
  if (!vote) return
  const next = nextBallot(scope, state, at)
  for (const want of next > 0 ? wants(state, at) : []) yield beginning(state, at, next, want)
  const number = vote.promised
  const ballot = state.ballots[number - 1]
  if (!ballot || ballot.value || ownerOf(scope, number) !== at) return
  for (const read of readings(scope, ballot.promised, at)) {
    const value = changed(ballot.want, at, valueAt(scope, state, read))
    yield {
      label: `${at + 1} has read ballot ${read}, and proposes ${format(value)}`,
      next: (copy) => {
        copy.ballots[number - 1] = { ...ballot, value, accepted: ballot.accepted.with(at, true) }
        copy.votes[at] = { ...vote, accepted: number }
      },
    }
  }
}

function ownerOf({ members }: RegisterScope, number: number): number {
  return (number - 1) % members
}

// Who lives may be suspected all the same.
function beginning(state: RegisterState, at: number, number: number, want: Want): Step {
  const { primary, backup } = state.members[at]!.known
  const vote = state.votes[at]!
  const promised = state.votes.map((_vote, voter) => (voter === at ? vote.accepted : null))
  const ballot: Ballot = { want, promised, value: null, accepted: promised.map(() => false) }
  return {
    label: `${at + 1} begins ballot ${number} to ${want}`,
    environment: want !== 'return' && isAlive(state, want === 'drop' ? backup : primary),
    next: (copy) => {
      copy.ballots[number - 1] = ballot
      copy.votes[at] = { ...vote, promised: number }
    },
  }
}

/** The newest that was accepted, by each quorum of promises in which the proposer is. */
function readings(scope: RegisterScope, promised: Ballot['promised'], at: number): number[] {
  const own = promised[at]!
  if (scope.bug === 'reads-own') return [own]
  const others = promised.filter((read) => read !== null).toSorted((one, other) => one - other)
  others.splice(others.indexOf(own), 1)
  const read = [own, ...others].slice(quorumOf(scope) - 1)
  return [...new Set(read.map((accepted) => Math.max(own, accepted)))]
}

/** The compare-and-set: where it does not apply, what was read stays. */
function changed(want: Want, by: number, read: Register): Register {
  const { epoch, primary, backup, holder } = read
  if (holder === 'hub') return read
  if (want === 'return') return { ...read, epoch: epoch + 1, holder: 'hub' }
  const applies = backup !== NOBODY && by === (want === 'take' ? backup : primary)
  return applies ? { epoch: epoch + 1, primary: by, backup: NOBODY, holder } : read
}

function* ofVoter(scope: RegisterScope, state: RegisterState, at: number): Iterable<Step> {
  const vote = state.votes[at]
  const who = at === scope.members ? 'the hub' : at + 1
  if (!vote) {
    if (state.hub.told) yield hearing(scope, state, at)
    return
  }
  for (const [index, ballot] of state.ballots.entries()) {
    const number = index + 1
    if (!ballot || vote.promised > number) continue
    if (ballot.value && !ballot.accepted[at]) {
      const next: Step['next'] = (copy) => {
        copy.ballots[index] = { ...ballot, accepted: ballot.accepted.with(at, true) }
        copy.votes[at] = { promised: number, accepted: number }
      }
      yield { label: `${who} accepts ballot ${number}`, next }
    }
    if (!ballot.value && ballot.promised[at] === null) {
      const next: Step['next'] = (copy) => {
        copy.ballots[index] = { ...ballot, promised: ballot.promised.with(at, vote.accepted) }
        copy.votes[at] = { ...vote, promised: number }
      }
      yield { label: `${who} promises ballot ${number}`, next }
    }
  }
  for (const [index, ask] of state.asks.entries()) {
    if (ask.granted[at] || !grants(scope, state, vote, ask)) continue
    const granted = ask.granted.with(at, true)
    const next: Step['next'] = (copy) => {
      copy.asks = copy.asks.with(index, { ...ask, granted })
    }
    yield { label: `${who} grants ${ask.by + 1} a lease`, next }
  }
}

function hearing(scope: RegisterScope, { members }: RegisterState, at: number): Step {
  const member = members[at]!
  const known = newestOf([member.known, delegated(scope)])
  return {
    label: `${at + 1} hears of the delegation`,
    next: (copy) => {
      copy.members[at] = { ...member, known }
      copy.votes[at] = { promised: DELEGATION, accepted: DELEGATION }
    },
  }
}

/** Whether the voter has accepted nothing newer than the register of who asks. */
function grants(scope: RegisterScope, state: RegisterState, vote: Vote, ask: Ask): boolean {
  return scope.bug === 'grants-late' || valueAt(scope, state, vote.accepted).epoch <= ask.epoch
}

function* ofLog(scope: RegisterScope, state: RegisterState, at: number): Iterable<Step> {
  const { members, entry, left, now } = state
  const member = members[at]!
  const { primary, backup, epoch } = member.known
  if (at === backup && entry.by === primary && !entry.acked) {
    const next: Step['next'] = (copy) => {
      copy.members[at] = { ...member, has: true }
      copy.entry = { ...entry, acked: true }
    }
    yield { label: `${at + 1} acknowledges the entry`, next }
  }
  if (at !== primary) return
  if (left.entries > 0) {
    yield spending('entries', `${at + 1} records an entry`, (copy) => {
      copy.members[at] = { ...member, has: true }
      copy.entry = { by: at, acked: false }
    })
  }
  if (entry.by === at && state.published === 0 && mayPublish(scope, state, at)) {
    yield { label: `${at + 1} publishes the entry`, next: (copy) => void (copy.published = epoch) }
  }
  if (left.asks > 0 && isLone(members, at)) {
    const ask: Ask = { by: at, at: now, epoch, granted: state.votes.map(() => false) }
    const vote = state.votes[at]
    if (vote) ask.granted[at] = grants(scope, state, vote, ask)
    yield spending('asks', `${at + 1} asks for a lease`, (copy) => {
      copy.asks = [...copy.asks, ask]
    })
  }
}

/** With a backup once it acknowledged; alone under a lease that a quorum granted. */
function mayPublish(scope: RegisterScope, state: RegisterState, at: number): boolean {
  const { members, asks, now, entry } = state
  const { backup, epoch } = members[at]!.known
  if (backup !== NOBODY) return entry.acked
  const granted = asks.filter((ask) => {
    const isOurs = ask.by === at && ask.epoch === epoch
    return isOurs && ask.granted.filter(Boolean).length >= quorumOf(scope)
  })
  if (scope.bug === 'after-lease') return granted.length > 0
  return isLone(members, at) && granted.some((ask) => now < ask.at + LEASE_TICKS)
}

// Who died led as well.
function oneLeader({ members }: RegisterState): true | string {
  const epochs = new Map<number, number>()
  for (const [at, { known }] of members.entries()) {
    if (!leads(members, at)) continue
    const other = epochs.get(known.epoch)
    if (other !== undefined) return `${other + 1} and ${at + 1} lead in epoch ${known.epoch}`
    epochs.set(known.epoch, at)
  }
  return true
}

function nothingLost({ members, published }: RegisterState): true | string {
  const { known, has } = members[BACKUP]!
  if (has || published === 0 || !leads(members, BACKUP) || known.epoch < published) return true
  return `2 leads in epoch ${known.epoch} without what was published in ${published}`
}

// Who holds the register can change it alone.
function onePower(scope: RegisterScope, state: RegisterState): true | string {
  const { up, pending, disk } = state.hub
  if (!up || pending || disk.holder === 'members') return true
  const voting = aliveIn(state).filter((at) => state.votes[at])
  if (voting.length < quorumOf(scope) || newest(scope, state).holder === 'hub') return true
  return `the hub holds ${format(disk)}, and ${voting.length} members hold the register too`
}

function lastReturned(scope: RegisterScope, state: RegisterState): true | string {
  const { disk } = state.hub
  if (disk.holder === 'members' || disk.epoch <= 2) return true
  const last = newest(scope, state)
  if (last.epoch < disk.epoch || format(last) === format(disk)) return true
  return `the hub has ${format(disk)}, and the members' last is ${format(last)}`
}

function leaseEnds(scope: RegisterScope, state: RegisterState): true | string {
  const { members, hub } = state
  const last = newestOf([hub.disk, newest(scope, state)])
  for (const at of aliveIn(state)) {
    const { backup, epoch } = members[at]!.known
    if (!leads(members, at) || backup !== NOBODY || last.primary === at) continue
    if (!mayPublish(scope, state, at)) continue
    return `the register is ${format(last)}, and ${at + 1} may publish in epoch ${epoch}`
  }
  return true
}

/**
 * Where enough members live, of primary and backup who is left leads alone, and a hub that is up
 * gets the register back: unless all ballots are spent, and the highest is of somebody who died, or
 * is no return.
 */
function live(scope: RegisterScope, state: RegisterState): true | string {
  const { hub, votes, ballots } = state
  const { needs = majorityOf(scope.members) } = scope
  const alive = aliveIn(state)
  if (!hub.told || hub.disk.holder === 'hub' || alive.length < needs) return true
  const highest = Math.max(...alive.map((at) => votes[at]!.promised))
  if (highest !== DELEGATION && !isAlive(state, ownerOf(scope, highest))) return true
  const last = newest(scope, state)
  const { primary, backup, holder } = last
  const left = [primary, backup].filter((at) => isAlive(state, at))
  const isPair = backup === NOBODY || left.length !== 1 || scope.rounds[left[0]!] === 0
  const returns = holder === 'hub' || ballots[highest - 1]?.want === 'return'
  const mayReturn = returns || alive.some((at) => nextBallot(scope, state, at) > 0)
  if (hub.up ? !mayReturn && isPair : holder === 'hub' || isPair) return true
  return `${alive.length} live, and the register stays ${format(last)}`
}

function format({ epoch, primary, backup, holder }: Register): string {
  return `(${epoch}, ${primary + 1}, ${backup + 1 || 'nobody'}, ${holder})`
}

function show(scope: RegisterScope, state: RegisterState): string {
  const { hub, members, votes, now } = state
  const who = members.map(({ state: is, known, has }, at) => {
    const vote = votes[at]
    const voted = vote ? `promised ${vote.promised}, accepted ${vote.accepted}` : 'no vote'
    return `${at + 1} ${is} ${format(known)} ${voted}${has ? ', has the entry' : ''}`
  })
  const register = `hub ${hub.up ? 'up' : 'down'} ${format(hub.disk)}`
  return `${now}, ${register}; ${who.join('; ')}; the members' is ${format(newest(scope, state))}`
}

/** How much may happen. */
export interface RegisterScope {
  members: number
  /** Ballots that each member may begin. */
  rounds: readonly number[]
  /** The hub has yet to delegate; else the members hold the register and the hub is down. */
  founds?: boolean
  /** The hub delegates a register without a backup. */
  alone?: boolean
  /** The last member may recover the session at a hub that holds the register. */
  recovers?: boolean
  /** Of `entries` there is one, or none. */
  times: Partial<Times>
  /** Votes that decide, and members that have to live; by default more than half. */
  quorum?: number
  needs?: number
  bug?:
    | 'timeout'
    | 'hub-votes'
    | 'votes-again'
    | 'heard-early'
    | 'reads-own'
    | 'after-lease'
    | 'grants-late'
    | 'recovers-early'
    | 'returns-memory'
}

const THREE = { members: 3, rounds: [1, 1, 0] } as const
/** The hub delegates, dies, and starts again. */
const HUB = { members: 3, rounds: [0, 1, 1], founds: true, times: { starts: 1, stops: 1 } } as const
const LEASE = {
  ...{ members: 3, rounds: [0, 0, 1], alone: true, recovers: true },
  times: { starts: 1, ticks: 3, asks: 1 },
} as const
const PUBLISH = { deaths: 1, entries: 1, asks: 1 } as const

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  'register-takeover': {
    says: 'without a hub, a takeover or a backup that is dropped, by mistake or after a death',
    scope: { ...THREE, rounds: [1, 2, 0], times: { deaths: 1, comebacks: 1 } },
    states: 126_000,
  },
  'register-publish': {
    says: 'the same, and an entry that the primary publishes with its backup, or alone',
    scope: { ...THREE, times: PUBLISH },
    states: 58_000,
  },
  'register-return': {
    says: 'a hub that delegates, dies, starts again and gets the register back; a takeover',
    scope: { ...HUB, times: { ...HUB.times, deaths: 1 } },
    states: 119_000,
  },
  'register-lease': {
    says: 'a lone primary under a lease, a return without it, and a member that recovers',
    scope: LEASE,
    states: 41_000,
  },
  'register-over': {
    says: 'two of three die, and the hub that starts again never has the register',
    scope: { ...HUB, rounds: [0, 0, 1], times: { ...HUB.times, deaths: 2 } },
    states: 4_800,
  },
  'register-two': {
    says: 'two members: when one dies, the other cannot take over',
    scope: { members: 2, rounds: [1, 1], times: PUBLISH },
    states: 1_200,
  },
  'register-four': {
    says: 'four members, of whom three decide',
    scope: { members: 4, rounds: [1, 1, 0, 0], times: { deaths: 1 } },
    states: 24_000,
  },
  'register-publish-deep': {
    says: 'register-publish, with another ballot of the backup',
    scope: { ...THREE, rounds: [1, 2, 0], times: PUBLISH },
    states: 1_088_000,
    size: 'deep',
  },
  'register-return-deep': {
    says: 'register-return without a death, with a ballot of the primary',
    scope: { ...HUB, rounds: [1, 1, 1] },
    states: 1_202_000,
    size: 'deep',
  },
  'register-lease-deep': {
    says: 'register-lease, where the primary may return the register as well',
    scope: { ...LEASE, rounds: [1, 0, 1] },
    states: 1_310_000,
    size: 'deep',
  },
} satisfies Rows<RegisterScope>

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS = {
  'register-timeout': {
    says: 'after a time the hub takes its power back, and lets a member recover',
    scope: { ...HUB, rounds: [0, 1, 0], recovers: true, times: { ticks: 2 }, bug: 'timeout' },
    violates: [
      ['register.power', 9],
      ['register.one', 15],
    ],
  },
  'register-half': {
    says: 'the hub has a vote, and two of the four decide',
    scope: { ...THREE, times: { starts: 1 }, quorum: 2, bug: 'hub-votes' },
    violates: [['register.one', 11]],
  },
  'register-votes-again': {
    says: 'a process that was started again votes',
    scope: { ...THREE, times: { ...PUBLISH, comebacks: 1 }, bug: 'votes-again' },
    violates: [
      ['register.one', 13],
      ['register.lost', 17],
    ],
  },
  'register-reads-own': {
    says: 'a proposer changes what it has accepted itself, and not the newest that it has read',
    scope: { ...THREE, times: {}, bug: 'reads-own' },
    violates: [['register.one', 8]],
  },
  'register-heard-early': {
    says: 'members hear of the delegation before the disk of the hub has it',
    scope: {
      ...{ ...HUB, rounds: [0, 0, 0], alone: true, recovers: true, bug: 'heard-early' },
      times: { ...HUB.times, ticks: 2 },
    },
    violates: [
      ['register.power', 5],
      ['register.one', 9],
    ],
  },
  'register-after-lease': {
    says: 'a lone primary publishes after its lease',
    scope: { ...LEASE, bug: 'after-lease' },
    violates: [['register.lease', 14]],
  },
  'register-grants-late': {
    says: 'a voter grants a lease although it accepted the return',
    scope: { ...LEASE, bug: 'grants-late' },
    violates: [['register.lease', 14]],
  },
  'register-recovers-early': {
    says: 'the hub lets a member recover as soon as it has the register back',
    scope: { ...LEASE, bug: 'recovers-early' },
    violates: [['register.lease', 12]],
  },
  'register-returns-memory': {
    says: 'a member returns the register as it remembers it, without a ballot',
    scope: { ...THREE, times: { starts: 1 }, bug: 'returns-memory' },
    violates: [['register.return', 7]],
  },
  'register-all': {
    says: 'all three have to decide, and one is dead',
    scope: { ...THREE, times: { deaths: 1 }, quorum: 3 },
    violates: [['register.live', 3]],
  },
  'register-two-promised': {
    says: 'of two members who is left is promised to take over',
    scope: { members: 2, rounds: [1, 1], times: PUBLISH, needs: 1 },
    violates: [['register.live', 2]],
  },
  'register-two-alone': {
    says: 'of two members each decides alone',
    scope: { members: 2, rounds: [1, 1], times: PUBLISH, quorum: 1 },
    violates: [
      ['register.one', 6],
      ['register.lost', 9],
    ],
  },
} satisfies Rows<RegisterScope>
