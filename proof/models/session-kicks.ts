/**
 * Putting a player out in the session's model: what may happen around it, and what is claimed.
 *
 * The player is banned, by an operation that another member asks of whoever serves, or by votes
 * (session-votes.ts), and may be pardoned. The players of
 * a scope have one key each; the one who is out may come again with it, under another link key. Who
 * serves looks its members over at any time, and a process that died is found dead by whoever
 * watches it: without these two nothing would follow on what was decided.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { ModerationRequest } from '../../packages/holdfast/src/session/messages.ts'
import { watchedPeer } from '../../packages/holdfast/src/session/server.ts'
import { sameBytes } from '../../packages/holdfast/src/wire/digest.ts'
import { keyOf } from './processes.ts'
import { askerOf, doing, spending } from './session-scene.ts'
import {
  type Face,
  faceOf,
  isUp,
  type Kick,
  leftOf,
  nameOf,
  placeOf,
  registered,
  type Scene,
  seenOf,
  type Step,
  type Tables,
  type Votes,
} from './session-tables.ts'
import * as votes from './session-votes.ts'

type Claims = Record<string, (scene: Scene) => true | string>

/** What whoever serves may be asked, and may do, where somebody is put out. */
export function* roundOf(tables: Tables, face: Face, scene: Scene, i: number): Iterable<Step> {
  const { kick, vote } = tables.scope
  if (!kick && !vote) return
  const left = leftOf(tables, scene)
  const { session, me } = face
  if (kick) yield* asked(tables, left, me, kick, i)
  yield* votes.asked(tables, left, me, i)
  const who = vote?.liar ?? kick?.who ?? 0
  if (left.returns > 0) {
    const input = { kind: 'join', asker: askerOf(tables, who - 1), key: who - 1 } as const
    yield { label: `${who} asks ${me} to be let in`, ...spending(tables, i, 'returns', input) }
  }
  const label = `${me} looks its members over`
  const { server } = session
  const gives = server.role === 'backedup' && server.lead.yields && server.handoverUntil === null
  if (!gives) yield { label, next: doing(tables, i, { kind: 'round' }) }
  else if (left.handovers > 0) {
    const { next } = spending(tables, i, 'handovers', { kind: 'round' })
    yield { label: `${label}, and gives its role away`, next }
  }
}

type Left = ReturnType<typeof leftOf>

// The ban is the first operation of whoever asks for it, and the pardon the second.
function* asked(tables: Tables, left: Left, me: PeerId, kick: Kick, i: number): Iterable<Step> {
  const { by, who: player } = kick
  const step = (budget: 'kicks' | 'pardons', seq: number, wish: ModerationRequest): Step | null => {
    const isFresh = left[budget] > 0
    if (!isFresh && left.resends === 0) return null
    const what = budget === 'kicks' ? 'put' : 'pardon'
    const label = `${me} is asked${isFresh ? '' : ' again'} to ${what} ${player}`
    const input = { kind: 'conduct', by, seq, wish } as const
    return { label, ...spending(tables, i, isFresh ? budget : 'resends', input) }
  }
  const ban = step('kicks', 1, { kind: 'expel', player, ban: true, why: '' })
  if (ban) yield ban
  if (!tables.scope.pardons || left.kicks > 0) return
  const pardon = step('pardons', 2, { kind: 'pardon', player })
  if (pardon) yield pardon
}

/** Process i finds the one dead that it watches, if that one is. */
export function* finding(tables: Tables, scene: Scene, i: number): Iterable<Step> {
  const { kick, vote } = tables.scope
  if (!kick && !vote) return
  const peer = watchedPeer(faceOf(tables, scene, i).session)
  const at = peer === 0 ? -1 : placeOf(tables, scene, peer)
  if (at < 0 || isUp(tables, scene, at)) return
  yield {
    label: `${nameOf(tables, scene, i)} finds ${peer} dead`,
    next: doing(tables, i, { kind: 'suspect', peer }),
  }
}

/** What holds in every state of a scope in which somebody is put out. */
export function always(tables: Tables): Claims {
  const { kick, vote, pardons, returns } = tables.scope
  return {
    ...(returns && { 'row.once': (scene) => oneRow(tables, scene) }),
    ...(kick && { 'kick.once': (scene) => once(tables, scene, kick) }),
    ...(kick && pardons && { 'pardon.kept': (scene) => pardoned(tables, scene, kick) }),
    ...(vote && { 'vote.fair': (scene) => votes.fair(tables, scene, vote) }),
  }
}

// A player has one row where somebody serves, but for the player of whoever serves (S-5).
function oneRow(tables: Tables, scene: Scene): true | string {
  for (let i = 0; i < tables.members; i++) {
    const { session, me, serves } = faceOf(tables, scene, i)
    if (!serves || !isUp(tables, scene, i)) continue
    const others = [...session.server.durable.members.values()].filter(({ inc }) => inc !== me)
    const players = new Set(others.map(({ player }) => player))
    if (players.size < others.length) return `${me} serves, and has two rows of one player`
  }
  return true
}

/** What holds where nothing more happens. */
export function settled(tables: Tables): Claims {
  const { kick, vote } = tables.scope
  return {
    ...(kick && { 'kick.kept': (scene) => kept(tables, scene, kick) }),
    // One alone decides nothing.
    ...(vote && vote.by.length > 1 && { 'vote.kept': (scene) => decided(tables, scene, vote) }),
  }
}

/** What happens in some state. */
export function sometimes(tables: Tables): Record<string, (scene: Scene) => boolean> {
  const { kick, vote, pardons, returns } = tables.scope
  const { start = { primary: 1 } } = tables.scope
  const by = (isOut: (scene: Scene) => boolean): Record<string, (scene: Scene) => boolean> => ({
    'put out for good': isOut,
    // Where only who is put out could take over there is no next one.
    ...(!(kick && vote) && {
      'still out with the next primary': (scene: Scene) => {
        return isOut(scene) && registered(tables, scene).primary !== start.primary
      },
    }),
  })
  const isOut = (scene: Scene, who: PeerId): boolean =>
    servingNow(tables, scene) !== null && isIn(tables, scene, who) === ''
  return {
    ...(kick && by((scene) => seenOf(tables, scene).expelled && isOut(scene, kick.who))),
    ...(vote && vote.by.length > 1 && by((scene) => isOut(scene, vote.against))),
    ...(vote?.liar && { 'the liar is heard': (scene) => votes.isHeard(tables, scene, vote) }),
    ...(kick && pardons && returns && { 'in again': (scene) => isBack(tables, scene, kick) }),
  }
}

function isBack(tables: Tables, scene: Scene, { who }: Kick): boolean {
  if (!seenOf(tables, scene).pardoned || servingNow(tables, scene) === null) return false
  return isIn(tables, scene, who).startsWith('member')
}

// The operation is counted once in every copy of the state.
function once(tables: Tables, scene: Scene, { by }: Kick): true | string {
  const { broken } = seenOf(tables, scene)
  if (broken.startsWith('kick.once:')) return broken
  const { pardons = 0 } = tables.scope
  const asked = 1 + pardons - leftOf(tables, scene).pardons
  for (let i = 0; i < tables.members; i++) {
    const { session, me } = faceOf(tables, scene, i)
    const row = session.server.durable.players.get(by)
    if (row && row.outcomes.length > asked && isUp(tables, scene, i)) {
      return `kick.once: ${me} has done the same operation of ${by} twice`
    }
  }
  return true
}

// Until somebody asks for a pardon.
function kept(tables: Tables, scene: Scene, { by, who }: Kick): true | string {
  const isAsked = leftOf(tables, scene).pardons < (tables.scope.pardons ?? 0)
  if (!seenOf(tables, scene).expelled || isAsked) return true
  const why = outWith(tables, scene, who)
  return why === '' || `kick.kept: ${by} was told that ${who} is out: ${why}`
}

// Whoever may serve knows of the pardon.
function pardoned(tables: Tables, scene: Scene, { by, who }: Kick): true | string {
  if (!seenOf(tables, scene).pardoned) return true
  const { primary, backup } = registered(tables, scene)
  for (const inc of [primary, backup]) {
    const at = inc === 0 ? -1 : placeOf(tables, scene, inc)
    if (at < 0 || !isUp(tables, scene, at)) continue
    const { expelled } = faceOf(tables, scene, at).session.server.durable.moderation
    if (!expelled.some(({ player }) => player === who)) continue
    return `pardon.kept: ${by} was told that ${who} may come, and ${inc} has it as banned`
  }
  return true
}

// Votes that were answered count as long as those who gave them are here.
function decided(tables: Tables, scene: Scene, { by, against }: Votes): true | string {
  const { voted } = seenOf(tables, scene)
  const members = servingNow(tables, scene)?.session.server.published ?? new Map<PeerId, unknown>()
  if (voted.length < by.length || !by.every((voter) => members.has(voter))) return true
  const why = outWith(tables, scene, against)
  return why === '' || `vote.kept: ${by.join(' and ')} voted ${against} out: ${why}`
}

// Where primary and backup are dead nobody serves, and nothing is published any more.
function outWith(tables: Tables, scene: Scene, who: PeerId): string {
  const at = placeOf(tables, scene, registered(tables, scene).primary)
  if (!isUp(tables, scene, at)) return ''
  const face = faceOf(tables, scene, at)
  if (!face.serves) return `the register names ${face.me}, who does not serve`
  if (mustStay(tables, scene, face, who)) return ''
  const where = isIn(tables, scene, who)
  return where === '' ? '' : `${who} is ${where}`
}

// Who was put out serves until somebody can take over: a scope has just so many candidates.
function mustStay(tables: Tables, scene: Scene, { session, me }: Face, who: PeerId): boolean {
  if (me !== who) return false
  const { offers, handovers } = leftOf(tables, scene)
  const { role, published } = session.server
  return handovers === 0 || (role === 'alone' && (offers === 0 || published.size === 1))
}

function servingNow(tables: Tables, scene: Scene): Face | null {
  const at = placeOf(tables, scene, registered(tables, scene).primary)
  if (at < 0 || !isUp(tables, scene, at)) return null
  const face = faceOf(tables, scene, at)
  return face.serves ? face : null
}

// What the one who was put out still is; the members are those of the newest view.
function isIn(tables: Tables, scene: Scene, who: PeerId): string {
  const { primary, backup } = registered(tables, scene)
  if (primary === who) return 'the primary'
  if (backup === who) return 'the backup'
  const members = [...servingNow(tables, scene)!.session.server.published.values()]
  const one = members.find(({ key }) => sameBytes(key, keyOf(who - 1)))
  return one ? `member ${one.inc} of the last view` : ''
}
