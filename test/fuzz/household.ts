/**
 * The objects of a good member among liars: what it makes, changes and lets others have, and the
 * claims that must hold of what is its own.
 */

import { near } from '../../packages/holdfast/src/objects/types.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import { partOut } from '../../packages/holdfast/src/member/dispatch.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import { AHEAD_MAX_MS } from '../../packages/holdfast/src/objects/protocol/accept.ts'
import { BATCHES_MAX } from '../../packages/holdfast/src/objects/protocol/fan-out.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type { MemberLoop } from '../../packages/holdfast/src/runtime/member-loop.ts'
import { text, u8, vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'

const Thing = object(
  'thing',
  { pos: vec2(0, 1, 0.1), vel: vec2(-1, 1, 0.1), n: u8 },
  { motion: { follow: { pos: 'vel' } } },
)
const Word = object('word', { word: text(8), n: u8 }, { take: 'ask', onOwnerLeave: 'keep' })
const Mote = object('mote', { at: vec2(0, 1, 1), n: u8 }, { visibleTo: near('at', 10) })
const Rock = object('rock', { n: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Ball = object(
  'ball',
  { pos: vec2(0, 1, 1), vel: vec2(-1, 1, 1) },
  {
    take: 'free',
    motion: { follow: { pos: 'vel' } },
  },
)
const Eye = object('eye', { at: vec2(0, 1, 1) }, { eyes: 'at', take: 'free' })

/** The types of objects of the scene, in the order of their names. */
export const TYPES = [Ball, Eye, Mote, Rock, Thing, Word]
/** What the code must know of them. */
export const RULES: objects.Types = TYPES.map(({ rules }) => rules)
const FIRST = [[0, 0, 0, 0], [0, 0], [0, 0, 0], [0], [5, 5, 10, 10, 0], ['good', 0]]
/** The types of which nobody may take an object, and the column of the field that changes. */
const KEPT = new Map([
  [2, 1],
  [4, 2],
  [5, 1],
])
/** Objects of each type that one member has. */
const EACH = 2

/** Whose objects they are. */
export interface Owner {
  runner: MemberLoop
  parts: { objects: objects.Objects }
  /** Its objects. */
  own: objects.Replica[]
  /** Keys for which somebody asks. */
  asked: Map<number, { by: number; request: number }>
}

function use(owner: Owner, verb: (turn: objects.Context) => void): void {
  owner.runner.do((now, run) => {
    const out = partOut(run, objects.OBJECTS_CHANNEL)
    verb({ objects: owner.parts.objects, types: RULES, now, out })
    member.touched(run, now)
  })
}

/** Makes its objects. */
export function furnish(owner: Owner): void {
  use(owner, (turn) => {
    for (const [type, fields] of FIRST.entries()) {
      for (let n = 0; n < EACH; n++) owner.own.push(objects.spawn(turn, type, fields, turn.now))
    }
  })
}

/** Changes what is its own, and lets nobody have it. */
export function keep(owner: Owner): void {
  use(owner, (turn) => {
    for (const replica of owner.own) {
      const column = KEPT.get(replica.type)
      if (column === undefined || !objects.isMine(turn.objects, replica)) continue
      const { at } = RULES[replica.type]!.schema.columns[column]!
      const { fields } = replica
      fields[at] = ((fields[at] as number) + 1) % 256
      const { objects: state, types, now } = turn
      objects.set(state, types, now, replica, 1 << column, now + state.offset)
    }
    for (const [key, asked] of owner.asked) objects.reply(turn, key, asked, false)
    owner.asked.clear()
  })
}

/** What is wrong with objects of some that must be theirs, at all of them. */
export function wronged(owners: readonly Owner[]): string[] {
  const found: string[] = []
  for (const owner of owners) {
    for (const { key, type, fields } of owner.own) {
      if (!KEPT.has(type)) continue
      for (const other of owners) {
        const replica = other.parts.objects.replicas.get(key)
        const { me } = owner.parts.objects
        const at = `${objects.idOf(key)} of ${me} at ${other.parts.objects.me}`
        const same = JSON.stringify(replica?.fields) === JSON.stringify(fields)
        if (!replica || !objects.isSeen(replica)) found.push(`${at} is not seen`)
        else if (replica.owner !== me) found.push(`${at} is owned by ${replica.owner}`)
        else if (!same) found.push(`${at} is ${replica.fields.join()}, not ${fields.join()}`)
      }
    }
  }
  return found
}

/** That nothing of it grows without bounds. */
export function bounded(
  { parts, runner }: Owner,
  claim: (holds: boolean, what: string) => void,
): void {
  const {
    replicas,
    living,
    outbox,
    offset,
    grants,
    openAsks: asked,
    requests,
    ...rest
  } = parts.objects
  const { subscribers, keyAt, dirty, unsent, departed } = rest
  claim(living <= objects.OBJECTS_MAX, `living ${living}`)
  claim(replicas.size <= 2 * objects.OBJECTS_MAX, `replicas ${replicas.size}`)
  claim(keyAt.length <= 2 * objects.OBJECTS_MAX, `keyAt ${keyAt.length}`)
  const latest = runner.loop.now() + offset + AHEAD_MAX_MS
  for (const { madeAt } of replicas.values()) claim(!(madeAt > latest), `made at ${madeAt}`)
  for (const { oseq } of replicas.values()) claim(oseq <= 2 ** 32 - 1, `oseq ${oseq}`)
  claim(outbox.length === 0, `outbox ${outbox.length}`)
  claim(grants.size <= replicas.size, `grants ${grants.size}`)
  claim(
    [...asked.keys()].every((key) => replicas.has(key)),
    `asked ${asked.size}`,
  )
  claim(requests.size === 0, `requests ${requests.size}`)
  claim(unsent.size === 0, `unsent ${unsent.size}`)
  claim(
    subscribers.size <= 4 && dirty.size <= 4,
    `subscribers ${subscribers.size}, dirty ${dirty.size}`,
  )
  // The liar may say that it leaves, and is let in again.
  claim(departed.size <= 4, `departed ${departed.size}`)
  for (const { todo, owed, awaited, carried } of subscribers.values()) {
    claim(todo.length + owed.length <= keyAt.length, `todo ${todo.length}, owed ${owed.length}`)
    claim(awaited.length <= BATCHES_MAX, `awaited ${awaited.length}`)
    claim(carried.size <= 256, `carried ${carried.size}`)
  }
}
