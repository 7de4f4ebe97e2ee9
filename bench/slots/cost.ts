/**
 * What a slot costs one member: the frames of all others come, the slot is over, the world after it
 * is shown and the settled one hashed. The world and the rule are Mazewar's.
 */

import * as acts from '../../games/mazewar/rules/acts.ts'
import { type Deed, step } from '../../games/mazewar/rules/step.ts'
import { EMPTY, type World } from '../../games/mazewar/rules/world.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { PartOut } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { seal, settle, shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import * as slots from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { decodeState, encodeState, schema } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { quantile } from '../report.ts'

/** What was measured, in milliseconds of one processor. */
export interface Cost {
  players: number
  events: number
  /** A slot, in the middle and the slowest of twenty. */
  slotMs: number
  slowMs: number
  /** All slots of the horizon again. */
  refoldMs: number
}

const MS = 200
const WARM = 60
const ROUNDS = 200
const fields = schema(acts.fields)
const out: PartOut = { send: () => 1, emit: () => {} }

const game: slots.Game = {
  ms: MS,
  print: 1,
  says: '',
  start: EMPTY,
  order: 'highest',
  rule: (world, done, turn) => step(world as World, done as readonly Deed[], turn),
  decode: (bytes) => {
    const record = decodeState(fields, bytes)
    return record === null ? undefined : (acts.decode(record) ?? undefined)
  },
}
const part = slots.slotsPart({ game })

/** One member of so many, for some seconds of play. */
export function measure(players: number, events: number): Cost {
  const chance = prng.create(players)
  const me = meet(players)
  const frames = { ids: new Map<number, number>(), chance }
  const spent: number[] = []
  const refolds: number[] = []
  for (let round = 0; round < WARM + ROUNDS; round++) {
    const said = sayings(me.slot, players, events, round, frames)
    const now = (me.slot + 1) * MS + 1
    const start = process.cpuUsage()
    for (const [from, bytes] of said) part.read!(me, now - MS, from, bytes, out)
    part.wake!(me, now, out)
    shown(me, game)
    if (round >= WARM) spent.push(since(start))
    if (round < WARM || round % 10 > 0) continue
    const again = process.cpuUsage()
    me.validWorlds = 1
    shown(me, game)
    refolds.push(since(again))
  }
  const world = shown(me, game) as World
  if (world.rats.length < players - 1) throw new Error(`only ${world.rats.length} rats were born`)
  if (me.counters.refused + me.counters.malformed > 0) throw new Error('a frame was refused')
  const [middle, slow] = [quantile(spent, 0.5), quantile(spent, 0.95)]
  return { players, events, slotMs: middle, slowMs: slow, refoldMs: quantile(refolds, 0.5) }
}

// Time on processors: others may have had them meanwhile.
function since(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

function meet(players: number): slots.Slots {
  const me = { ...slots.create(), me: 1, player: 1, mesh: true, primary: 1, offset: 0 }
  me.ms = MS
  me.standing = 'live'
  me.slot = 1_000
  settle(me, me.slot - 1 - me.horizon, seal(game.start), 0)
  for (let inc = 1; inc <= players; inc++) {
    me.here.add(inc)
    me.players.set(inc, inc)
    if (inc > 1) me.peers.set(inc, { ...slots.createPeer(), standing: 'live', receivedAt: 0 })
  }
  return me
}

interface Frames {
  ids: Map<number, number>
  chance: prng.Prng
}

// The bytes of a frame of each other member, by hand, so that writing them costs nothing here.
function sayings(
  slot: number,
  players: number,
  events: number,
  round: number,
  { ids, chance }: Frames,
): [number, Uint8Array][] {
  const said: [number, Uint8Array][] = []
  for (let inc = 2; inc <= players; inc++) {
    const each = Math.min(slots.ACTS_PER_SLOT, Math.ceil(events / (players - 1)))
    const bytes = [0, (slot >> 8) & 255, slot & 255, 0]
    for (let n = 0; n < each; n++) {
      const id = (ids.get(inc) ?? 0) + 1
      ids.set(inc, id)
      const body = encodeState(fields, acts.encode({ rat: inc, ...pick(round === 0, chance) }))
      bytes.push(slots.AHEAD_SLOTS << 2, ...varint(id), body.length, ...body)
    }
    said.push([inc, Uint8Array.from(bytes)])
  }
  return said
}

function pick(first: boolean, chance: prng.Prng): acts.Act {
  const facing = prng.below(chance, 4) as 0 | 1 | 2 | 3
  if (first) return { kind: 'born', at: prng.below(chance, 512), facing }
  const dice = prng.below(chance, 10)
  if (dice < 6) return { kind: 'step', speed: 1 }
  return dice < 9 ? { kind: 'turn', facing } : { kind: 'fire' }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]
}
