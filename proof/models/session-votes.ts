/**
 * Votes in the session's model, and a member whose program was altered: what it asks is as well
 * formed as what an honest one asks, and comes on the link of its own key, for there is no other.
 *
 * An honest member votes once, and may ask again for the answer. The liar votes again and again,
 * asks for what only others may, and does so as every member that it has become with its key: if
 * it was put out, from the instant in which who asked for that was told so.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { ModerationRequest } from '../../packages/holdfast/src/session/messages.ts'
import { sameBytes } from '../../packages/holdfast/src/wire/digest.ts'
import { type Input, keyOf } from './processes.ts'
import { spending } from './session-scene.ts'
import {
  faceOf,
  isUp,
  leftOf,
  type Scene,
  seenOf,
  type Step,
  type Tables,
  type Votes,
} from './session-tables.ts'

// So many put one of three or four out.
const NEEDED = 2

/** The votes that may reach that member, which serves: in turn, and again. */
export function* asked(
  tables: Tables,
  left: ReturnType<typeof leftOf>,
  me: PeerId,
  i: number,
): Iterable<Step> {
  const { by = [], against = 0 } = tables.scope.vote ?? {}
  const cast = by.length - left.votes
  for (const [at, voter] of by.slice(0, cast + 1).entries()) {
    const isFresh = at === cast
    if (!isFresh && left.resends === 0) continue
    const wish = { kind: 'vote', player: against, stands: true } as const
    const input: Input = { kind: 'conduct', by: voter, seq: 1, wish }
    const label = `${me} gets the vote of ${voter}${isFresh ? '' : ' again'}`
    const budget = isFresh ? 'votes' : 'resends'
    yield { label, ...spending(tables, i, budget, input) }
  }
}

/** What the liar asks process i, if that serves. */
export function* lies(tables: Tables, scene: Scene, i: number): Iterable<Step> {
  const { vote, kick } = tables.scope
  const face = faceOf(tables, scene, i)
  if (!vote?.liar || leftOf(tables, scene).lies === 0 || !face.serves) return
  if (kick && !seenOf(tables, scene).expelled) return
  const { members, players } = face.session.server.durable
  for (const { inc, player, key } of members.values()) {
    if (!sameBytes(key, keyOf(vote.liar - 1))) continue
    const seq = (players.get(player)?.lastSeq ?? 0) + 1
    for (const wish of wishesOf(vote)) {
      const label = `${face.me} is asked by ${inc}, who lies, for ${wish.kind}`
      const input = { kind: 'conduct', by: inc, seq, wish } as const
      yield { label, ...spending(tables, i, 'lies', input), environment: true }
    }
  }
}

function wishesOf({ against, liar }: Votes): ModerationRequest[] {
  return [
    { kind: 'vote', player: against, stands: true },
    { kind: 'expel', player: against, ban: true, why: '' },
    { kind: 'pardon', player: liar! },
  ]
}

/** Nobody is voted out by fewer than it takes, each counted once, and none of them out itself. */
export function fair(tables: Tables, scene: Scene, vote: Votes): true | string {
  const { kick } = tables.scope
  const cast = vote.by.length - leftOf(tables, scene).votes
  const count = cast + (vote.liar && !kick ? 1 : 0)
  for (let i = 0; i < tables.members && count < NEEDED; i++) {
    const { me, session } = faceOf(tables, scene, i)
    const { expelled } = session.server.durable.moderation
    if (!isUp(tables, scene, i) || !expelled.some(({ player }) => player === vote.against)) continue
    return `${me} has put ${vote.against} out, against whom ${count} may have voted`
  }
  return true
}

/** Whether a vote of the liar stands; or, of one that was put out, it has asked all the same. */
export function isHeard(tables: Tables, scene: Scene, { liar }: Votes): boolean {
  if (tables.scope.kick) return leftOf(tables, scene).lies < tables.scope.lies!
  for (let i = 0; i < tables.members; i++) {
    const { votes } = faceOf(tables, scene, i).session.server.durable.moderation
    if (votes.some(({ by }) => by === liar)) return true
  }
  return false
}
