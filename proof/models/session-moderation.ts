/**
 * Putting a player out in the session's model: what may happen around it, and what is claimed.
 *
 * The player is banned, by an operation that another member asks of the primary, or by votes, and
 * may be pardoned. The players of a scope have one key each; the one who is out may come again with
 * it, under another link key. A primary looks its members over at any time, and a process that died
 * is found dead by the one that watches it: without these two nothing would follow on what was
 * decided.
 *
 * An honest member votes once, and may ask again for the answer. A member with an altered program,
 * the liar, votes again and again, asks for what only others may, and does so as every member that
 * it has become with its key: if it was put out, from the moment its expulsion was acknowledged.
 * What it asks is well formed, and comes on the link of its own key, for there is no other.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { ModerationRequest } from '../../packages/holdfast/src/session/messages.ts'
import { watchedPeer } from '../../packages/holdfast/src/session/server.ts'
import { serves } from '../../packages/holdfast/src/session/state.ts'
import { sameBytes } from '../../packages/holdfast/src/wire/digest.ts'
import { type Input, keyOf, type Process } from './processes.ts'
import {
  askerOf,
  doing,
  isUp,
  type Kick,
  nameOf,
  placeOf,
  registered,
  type Scene,
  type Scope,
  spending,
  type Step,
  type Tables,
  type Votes,
} from './session-scene.ts'

type Claims = Record<string, (scene: Scene) => true | string>

// So many votes put one of three or four out.
const NEEDED = 2

/** What process i may find, and a liar may ask of it, where somebody is put out. */
export function* actions(tables: Tables, scene: Scene, i: number): Iterable<Step> {
  const { kick, vote } = tables.scope
  if (!kick && !vote) return
  const { session } = scene.processes[i]!
  const peer = watchedPeer(session)
  const at = peer === 0 ? -1 : placeOf(scene, peer)
  if (at >= 0 && !isUp(scene, at)) {
    yield doing(tables, i, { kind: 'suspect', peer }, `${nameOf(scene, i)} finds ${peer} dead`)
  }
  if (vote?.liar && serves(session)) yield* lies(tables, scene, i, vote)
}

/** What a primary may be asked, and may do, where somebody is put out. */
export function* ofPrimary(
  tables: Tables,
  i: number,
  { me, server }: Process['session'],
  left: Scene['left'],
): Iterable<Step> {
  const { kick, vote } = tables.scope
  if (!kick && !vote) return
  if (kick) yield* bans(tables, left, me, kick, i)
  if (vote) yield* ballots(tables, left, me, vote, i)
  const who = vote?.liar ?? kick?.who ?? 0
  if (left.returns > 0) {
    const input = { kind: 'join', asker: askerOf(tables, who - 1), key: who - 1 } as const
    yield spending(tables, i, 'returns', input, `${who} asks ${me} to be let in`)
  }
  const label = `${me} looks its members over`
  const gives = server.role === 'backedup' && server.lead.yields && server.handoverUntil === null
  if (!gives) yield doing(tables, i, { kind: 'round' }, label)
  else if (left.handovers > 0) {
    const given = spending(
      tables,
      i,
      'handovers',
      { kind: 'round' },
      `${label}, and gives its role away`,
    )
    yield { ...given, environment: false }
  }
}

// The ban is the first operation of whoever asks for it, and the pardon the second.
function* bans(
  tables: Tables,
  left: Scene['left'],
  me: PeerId,
  { by, who: player }: Kick,
  i: number,
): Iterable<Step> {
  const step = (budget: 'kicks' | 'pardons', seq: number, wish: ModerationRequest): Step[] => {
    const isFresh = left[budget] > 0
    if (!isFresh && left.resends === 0) return []
    const what = budget === 'kicks' ? 'put' : 'pardon'
    const label = `${me} is asked${isFresh ? '' : ' again'} to ${what} ${player}`
    const input = { kind: 'conduct', by, seq, wish } as const
    return [spending(tables, i, isFresh ? budget : 'resends', input, label)]
  }
  yield* step('kicks', 1, { kind: 'expel', player, ban: true, why: '' })
  if (!tables.scope.pardons || left.kicks > 0) return
  yield* step('pardons', 2, { kind: 'pardon', player })
}

// The votes that may reach that primary: in turn, and again.
function* ballots(
  tables: Tables,
  left: Scene['left'],
  me: PeerId,
  { by, against }: Votes,
  i: number,
): Iterable<Step> {
  const cast = by.length - left.votes
  for (const [at, voter] of by.slice(0, cast + 1).entries()) {
    const isFresh = at === cast
    if (!isFresh && left.resends === 0) continue
    const wish = { kind: 'vote', player: against, stands: true } as const
    const input: Input = { kind: 'conduct', by: voter, seq: 1, wish }
    const label = `${me} gets the vote of ${voter}${isFresh ? '' : ' again'}`
    yield spending(tables, i, isFresh ? 'votes' : 'resends', input, label)
  }
}

// What the liar asks process i, which serves.
function* lies(tables: Tables, scene: Scene, i: number, vote: Votes): Iterable<Step> {
  if (scene.left.lies === 0 || (tables.scope.kick && !scene.seen.expelled)) return
  const { session } = scene.processes[i]!
  const { members, players } = session.server.durable
  const wishes: ModerationRequest[] = [
    { kind: 'vote', player: vote.against, stands: true },
    { kind: 'expel', player: vote.against, ban: true, why: '' },
    { kind: 'pardon', player: vote.liar! },
  ]
  for (const { inc, player, key } of members.values()) {
    if (!sameBytes(key, keyOf(vote.liar! - 1))) continue
    const seq = (players.get(player)?.lastSeq ?? 0) + 1
    for (const wish of wishes) {
      const label = `${session.me} is asked by ${inc}, who lies, for ${wish.kind}`
      const input = { kind: 'conduct', by: inc, seq, wish } as const
      yield spending(tables, i, 'lies', input, label)
    }
  }
}

/** What holds in every state of a scope in which somebody is put out. */
export function always({ scope }: Tables): Claims {
  const { kick, vote, pardons, returns } = scope
  return {
    ...(returns && { 'row.once': oneRow }),
    ...(kick && { 'kick.once': (scene) => once(scope, scene, kick) }),
    ...(kick && pardons && { 'pardon.kept': (scene) => pardoned(scene, kick) }),
    ...(vote && { 'vote.fair': (scene) => fair(scope, scene, vote) }),
  }
}

// A player has one row at a primary, but for the primary's own player (S-5).
function oneRow(scene: Scene): true | string {
  for (const [i, { session }] of scene.processes.entries()) {
    const { me, server } = session
    if (!serves(session) || !isUp(scene, i)) continue
    const others = [...server.durable.members.values()].filter(({ inc }) => inc !== me)
    const players = new Set(others.map(({ player }) => player))
    if (players.size < others.length) return `${me} serves, and has two rows of one player`
  }
  return true
}

/** What holds where nothing more happens. */
export function settled({ scope }: Tables): Claims {
  const { kick, vote } = scope
  return {
    ...(kick && { 'kick.kept': (scene) => kept(scope, scene, kick) }),
    // One alone decides nothing.
    ...(vote && vote.by.length > 1 && { 'vote.kept': (scene) => decided(scene, vote) }),
  }
}

/** What happens in some state. */
export function sometimes({ scope }: Tables): Record<string, (scene: Scene) => boolean> {
  const { kick, vote, pardons, returns, start = { primary: 1 } } = scope
  const by = (isOut: (scene: Scene) => boolean): Record<string, (scene: Scene) => boolean> => ({
    'put out for good': isOut,
    // Where only who is put out could take over there is no next one.
    ...(!(kick && vote) && {
      'still out with the next primary': (scene: Scene) => {
        return isOut(scene) && registered(scene).primary !== start.primary
      },
    }),
  })
  const isOut = (scene: Scene, who: PeerId): boolean =>
    servingNow(scene) !== null && whereIs(scene, who) === ''
  return {
    ...(kick && by((scene) => scene.seen.expelled && isOut(scene, kick.who))),
    ...(vote && vote.by.length > 1 && by((scene) => isOut(scene, vote.against))),
    ...(vote?.liar && { 'the liar is heard': (scene) => isHeard(scope, scene, vote) }),
    ...(kick && pardons && returns && { 'in again': (scene) => isBack(scene, kick) }),
  }
}

function isBack(scene: Scene, { who }: Kick): boolean {
  if (!scene.seen.pardoned || servingNow(scene) === null) return false
  return whereIs(scene, who).startsWith('member')
}

// The operation is counted once in every copy of the state.
function once({ pardons = 0 }: Scope, scene: Scene, { by }: Kick): true | string {
  const { broken } = scene.seen
  if (broken.startsWith('kick.once:')) return broken
  const asked = 1 + pardons - scene.left.pardons
  for (const [i, { session }] of scene.processes.entries()) {
    const row = session.server.durable.players.get(by)
    if (row && row.outcomes.length > asked && isUp(scene, i)) {
      return `kick.once: ${session.me} has done the same operation of ${by} twice`
    }
  }
  return true
}

// Until somebody asks for a pardon.
function kept({ pardons = 0 }: Scope, scene: Scene, { by, who }: Kick): true | string {
  if (!scene.seen.expelled || scene.left.pardons < pardons) return true
  const why = outWith(scene, who)
  return why === '' || `kick.kept: ${by} was told that ${who} is out: ${why}`
}

// Whoever may serve knows of the pardon.
function pardoned(scene: Scene, { by, who }: Kick): true | string {
  if (!scene.seen.pardoned) return true
  const { primary, backup } = registered(scene)
  for (const inc of [primary, backup]) {
    const at = inc === 0 ? -1 : placeOf(scene, inc)
    if (at < 0 || !isUp(scene, at) || !hasExpelled(scene.processes[at]!, who)) continue
    return `pardon.kept: ${by} was told that ${who} may come, and ${inc} has it as banned`
  }
  return true
}

function hasExpelled({ session }: Process, who: PeerId): boolean {
  return session.server.durable.moderation.expelled.some(({ player }) => player === who)
}

// Votes that were answered count as long as those who gave them are here.
function decided(scene: Scene, { by, against }: Votes): true | string {
  const members = servingNow(scene)?.session.server.published ?? new Map<PeerId, unknown>()
  if (scene.seen.voted.length < by.length || !by.every((voter) => members.has(voter))) return true
  const why = outWith(scene, against)
  return why === '' || `vote.kept: ${by.join(' and ')} voted ${against} out: ${why}`
}

// Where primary and backup are dead nobody serves, and nothing is published any more.
function outWith(scene: Scene, who: PeerId): string {
  const at = placeOf(scene, registered(scene).primary)
  if (!isUp(scene, at)) return ''
  const { session } = scene.processes[at]!
  if (!serves(session)) return `the register names ${session.me}, who does not serve`
  if (mustStay(scene, session, who)) return ''
  const where = whereIs(scene, who)
  return where === '' ? '' : `${who} is ${where}`
}

// Who was put out serves until somebody can take over: a scope has just so many candidates.
function mustStay({ left }: Scene, { me, server }: Process['session'], who: PeerId): boolean {
  if (me !== who) return false
  const { role, published } = server
  return left.handovers === 0 || (role === 'alone' && (left.offers === 0 || published.size === 1))
}

function servingNow(scene: Scene): Process | null {
  const at = placeOf(scene, registered(scene).primary)
  if (at < 0 || !isUp(scene, at)) return null
  const process = scene.processes[at]!
  return serves(process.session) ? process : null
}

// What the one who was put out still is; the members are those of the newest view.
function whereIs(scene: Scene, who: PeerId): string {
  const { primary, backup } = registered(scene)
  if (primary === who) return 'the primary'
  if (backup === who) return 'the backup'
  const members = [...servingNow(scene)!.session.server.published.values()]
  const one = members.find(({ key }) => sameBytes(key, keyOf(who - 1)))
  return one ? `member ${one.inc} of the last view` : ''
}

// Nobody is voted out by fewer than it takes, each counted once, and none of them out itself.
function fair({ kick }: Scope, scene: Scene, vote: Votes): true | string {
  const cast = vote.by.length - scene.left.votes
  const count = cast + (vote.liar && !kick ? 1 : 0)
  if (count >= NEEDED) return true
  for (const [i, process] of scene.processes.entries()) {
    if (!isUp(scene, i) || !hasExpelled(process, vote.against)) continue
    const { me } = process.session
    return `${me} has put ${vote.against} out, against whom ${count} may have voted`
  }
  return true
}

// Whether a vote of the liar stands; or, of one that was put out, it has asked all the same.
function isHeard({ kick, lies: all }: Scope, { left, processes }: Scene, { liar }: Votes): boolean {
  if (kick) return left.lies < all!
  return processes.some(({ session }) =>
    session.server.durable.moderation.votes.some(({ by }) => by === liar),
  )
}
