/**
 * The durable state of a session, replicated from primary to backup: members, players who may
 * return, outcomes of their operations, and moderation. It changes only by `apply`, in the same
 * order at both.
 */

import { mayPlay, type PeerId } from '../machine.ts'
import * as moderation from './moderation.ts'
import { decode, encode } from '../wire/layout.ts'
import {
  type Delta,
  type Member,
  OUTCOMES_MAX,
  type Player,
  COUNTER_MAX,
  snapshotLayout,
} from './layouts.ts'

export interface PartState {
  part: number
  bytes: Uint8Array
}

export function create() {
  return {
    /** Version of the members; rises by one with each change. */
    mv: 0,
    nextInc: 1,
    /** The last candidate for backup; the search continues after it. */
    pointer: 0,
    /** In order of their numbers. */
    members: new Map<PeerId, Member>(),
    players: new Map<number, Player>(),
    moderation: moderation.create(),
  }
}

export type Durable = ReturnType<typeof create>

/** Applies one entry, except for its changes of parts. */
export function apply(durable: Durable, delta: Delta): void {
  switch (delta.kind) {
    case 'add':
      return add(durable, delta.member, delta.settled)
    case 'remove':
      return remove(durable, delta.inc)
    case 'pointer':
      durable.pointer = delta.inc
      return
    case 'forget':
      durable.players.delete(delta.player)
      return moderation.forget(durable.moderation, delta.player)
    case 'operation':
      return completeOperation(durable, delta.player, delta.seq, delta.outcome)
    case 'expel':
      return moderation.expel(durable.moderation, delta)
    case 'pardon':
      return moderation.pardon(durable.moderation, delta.player)
    case 'vote':
      return moderation.vote(durable.moderation, delta, delta.stands)
    case 'loose':
      // Contains only changes of parts.
      return
    default:
      delta satisfies never
  }
}

function add(durable: Durable, member: Member, settled: number): void {
  durable.members.set(member.inc, member)
  durable.mv++
  durable.nextInc = Math.max(durable.nextInc, member.inc + 1)
  const { player, key } = member
  const known = durable.players.get(player)
  // A recovered session may know fewer operations of a player than the player does.
  if (known) known.lastSeq = Math.max(known.lastSeq, settled)
  else durable.players.set(player, { player, key, lastSeq: settled, outcomes: [] })
}

function remove(durable: Durable, inc: PeerId): void {
  const member = durable.members.get(inc)
  if (!member) return
  durable.members.delete(inc)
  durable.mv++
  // A watcher leaves nothing behind, and has no player's place to return to.
  const { player, rights } = member
  const isElsewhere = [...durable.members.values()].some((other) => other.player === player)
  const isUnused = durable.players.get(player)?.lastSeq === 0
  if (!mayPlay(rights) && !isElsewhere && isUnused) durable.players.delete(player)
}

// Number and effect are one entry of the log, so no takeover can separate them (T80).
function completeOperation(
  durable: Durable,
  player: number,
  seq: number,
  outcome: Uint8Array,
): void {
  const row = durable.players.get(player)
  if (!row) return
  row.lastSeq = seq
  row.outcomes.push({ seq, outcome })
  if (row.outcomes.length > OUTCOMES_MAX) row.outcomes.shift()
}

/** The stored outcome of an operation; null if it is no longer kept. */
export function outcomeOf(durable: Durable, player: number, seq: number): Uint8Array | null {
  const row = durable.players.get(player)
  return row?.outcomes.find((outcome) => outcome.seq === seq)?.outcome ?? null
}

export function snapshot(durable: Durable, parts: PartState[]): Uint8Array {
  const { members, players } = durable
  return encode(snapshotLayout, {
    ...durable,
    ...durable.moderation,
    members: [...members.values()],
    players: [...players.values()],
    parts,
  })
}

/** Decodes a snapshot; null if it is malformed. */
export function restore(bytes: Uint8Array): { durable: Durable; parts: PartState[] } | null {
  const value = decode(snapshotLayout, bytes)
  if (!value || Math.max(value.mv, value.nextInc) > COUNTER_MAX) return null
  const { mv, nextInc, pointer, cv, expelled, votes, parts } = value
  const members = new Map(value.members.map((member) => [member.inc, member]))
  const players = new Map(value.players.map((player) => [player.player, player]))
  return {
    durable: { mv, nextInc, pointer, members, players, moderation: { cv, expelled, votes } },
    parts,
  }
}
