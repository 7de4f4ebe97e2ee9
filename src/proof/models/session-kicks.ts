/**
 * Putting a player out in the session's model: what may happen around it, and what is claimed.
 *
 * The player is banned, by an operation that another member asks of whoever serves. The players of
 * a scope have one key each; the one who is out may come again with it, under another link key. Who
 * serves looks its members over at any time, and a process that died is found dead by whoever
 * watches it: without these two nothing would follow on what was decided.
 */

import { watched } from '../../session/server.ts'
import { sameBytes } from '../../wire/digest.ts'
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
} from './session-tables.ts'

type Claims = Record<string, (scene: Scene) => true | string>

/** What whoever serves may be asked, and may do, where somebody is put out. */
export function* roundOf(tables: Tables, face: Face, scene: Scene, i: number): Iterable<Step> {
  const { kick } = tables.scope
  if (!kick) return
  const left = leftOf(tables, scene)
  const { session, me } = face
  const budget = left.kicks > 0 ? 'kicks' : 'resends'
  if (left[budget] > 0) {
    const label = `${me} is asked${budget === 'kicks' ? '' : ' again'} to put ${kick.who} out`
    yield { label, ...spending(tables, i, budget, { kind: 'kick', ...kick }) }
  }
  if (left.returns > 0) {
    const input = { kind: 'join', asker: askerOf(tables, kick.who - 1), key: kick.who - 1 } as const
    yield { label: `${kick.who} asks ${me} to be let in`, ...spending(tables, i, 'returns', input) }
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

/** Process i finds the one dead that it watches, if that one is. */
export function* finding(tables: Tables, scene: Scene, i: number): Iterable<Step> {
  if (!tables.scope.kick) return
  const peer = watched(faceOf(tables, scene, i).session)
  const at = peer === 0 ? -1 : placeOf(tables, scene, peer)
  if (at < 0 || isUp(tables, scene, at)) return
  yield {
    label: `${nameOf(tables, scene, i)} finds ${peer} dead`,
    next: doing(tables, i, { kind: 'suspect', peer }),
  }
}

/** What holds in every state of a scope in which somebody is put out. */
export function always(tables: Tables): Claims {
  const { kick } = tables.scope
  return kick ? { 'kick.once': (scene) => once(tables, scene, kick) } : {}
}

/** What holds where nothing more happens. */
export function settled(tables: Tables): Claims {
  const { kick } = tables.scope
  return kick ? { 'kick.kept': (scene) => kept(tables, scene, kick) } : {}
}

/** What happens in some state. */
export function sometimes(tables: Tables): Record<string, (scene: Scene) => boolean> {
  const { kick, start = { primary: 1 } } = tables.scope
  if (!kick) return {}
  const isOut = (scene: Scene): boolean => {
    return (
      isTold(tables, scene) && serving(tables, scene) !== null && isIn(tables, scene, kick) === ''
    )
  }
  return {
    'put out for good': isOut,
    'still out with the next primary': (scene) => {
      return isOut(scene) && registered(tables, scene).primary !== start.primary
    },
  }
}

function isTold(tables: Tables, scene: Scene): boolean {
  return seenOf(tables, scene).expelled
}

// The operation is counted once in every copy of the state.
function once(tables: Tables, scene: Scene, { by }: Kick): true | string {
  const { broken } = seenOf(tables, scene)
  if (broken.startsWith('kick.once:')) return broken
  for (let i = 0; i < tables.members; i++) {
    const { session, me } = faceOf(tables, scene, i)
    const row = session.server.durable.players.get(by)
    if (row && row.outcomes.length > 1 && isUp(tables, scene, i)) {
      return `kick.once: ${me} has done the same operation of ${by} twice`
    }
  }
  return true
}

// Where primary and backup are dead nobody serves, and nothing is published any more.
function kept(tables: Tables, scene: Scene, kick: Kick): true | string {
  if (!isTold(tables, scene)) return true
  const at = placeOf(tables, scene, registered(tables, scene).primary)
  if (!isUp(tables, scene, at)) return true
  const face = faceOf(tables, scene, at)
  if (!face.serves) return `kick.kept: the register names ${face.me}, who does not serve`
  if (mustStay(tables, scene, face, kick)) return true
  const where = isIn(tables, scene, kick)
  return where === '' || `kick.kept: ${kick.by} was told that ${kick.who} is out, who is ${where}`
}

// Who was put out serves until somebody can take over: a scope has just so many candidates.
function mustStay(tables: Tables, scene: Scene, { session, me }: Face, { who }: Kick): boolean {
  if (me !== who) return false
  const { offers, handovers } = leftOf(tables, scene)
  const { role, published } = session.server
  return handovers === 0 || (role === 'alone' && (offers === 0 || published.size === 1))
}

function serving(tables: Tables, scene: Scene): Face | null {
  const at = placeOf(tables, scene, registered(tables, scene).primary)
  if (at < 0 || !isUp(tables, scene, at)) return null
  const face = faceOf(tables, scene, at)
  return face.serves ? face : null
}

// What the one who was put out still is; the members are those of the newest view.
function isIn(tables: Tables, scene: Scene, { who }: Kick): string {
  const { primary, backup } = registered(tables, scene)
  if (primary === who) return 'the primary'
  if (backup === who) return 'the backup'
  const members = [...serving(tables, scene)!.session.server.published.values()]
  const one = members.find(({ key }) => sameBytes(key, keyOf(who - 1)))
  return one ? `member ${one.inc} of the last view` : ''
}
