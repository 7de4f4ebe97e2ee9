/**
 * What goes over the wire, and how long a move takes to others: Mazewar as the classic peers speak
 * it on a LAN, and as a world of slots in a session, in virtual time over the same weather. Every
 * player moves once a slot or so. Bytes are those that leave a player, with 28 of IP and UDP for
 * each packet; a multicast leaves once.
 */

import * as acts from '../../games/mazewar/rules/acts.ts'
import { type Deed, step } from '../../games/mazewar/rules/step.ts'
import { EMPTY, ratOf, type World } from '../../games/mazewar/rules/world.ts'
import { slots, type Session, type SlotsHandle } from '../../packages/holdfast/src/index.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import * as lan from '../../test/mazewar/lan.ts'

/** What was counted. */
export interface Carried {
  what: string
  players: number
  /** Bytes a second that leave a player, on average, and that leave whoever sends most. */
  bytes: number
  most: number
  packets: number
  /** Bytes of the session alone, before there is a world in it. */
  idle: number
  /** From a move until the last of the others shows it, on average; NaN if not asked. */
  othersMs: number
  /** The same, at most. */
  othersMaxMs: number
}

const WEATHER = 'rtt=20,jitter=4'
const HEADERS = 28
const ENVELOPE = 4
const SECONDS = 10
const MOVE_MS = 220

/** The classic way. */
export function classic(players: number): Carried {
  const net = lan.createLan(`bench ${players}`, WEATHER, true)
  for (let i = 0; i < players; i++) lan.join(net, `p${i}`, {}, 0)
  lan.run(net, 6_000)
  net.sent!.length = 0
  for (let ms = 0; ms < SECONDS * 1_000; ms += MOVE_MS) {
    const facing = (Math.floor(ms / MOVE_MS) % 4) as 0 | 1 | 2 | 3
    for (const player of lan.present(net)) lan.act(net, player, { kind: 'turn', facing })
    lan.run(net, MOVE_MS)
  }
  const out = new Map<string, number>()
  for (const { from, bytes } of net.sent!) {
    out.set(from, (out.get(from) ?? 0) + bytes.length + HEADERS)
  }
  const packets = net.sent!.length / players / SECONDS
  return { what: 'classic', players, ...rates([...out.values()]), packets, idle: 0, ...UNASKED }
}

const UNASKED = { othersMs: NaN, othersMaxMs: NaN }

function rates(bytes: number[]): { bytes: number; most: number } {
  const sum = bytes.reduce((all, one) => all + one, 0)
  return { bytes: sum / bytes.length / SECONDS, most: Math.max(...bytes) / SECONDS }
}

type Maze = SlotsHandle<World, acts.ActRecord>

/** A session. */
export async function session(players: number, topology: 'star' | 'mesh'): Promise<Carried> {
  const w = world({ seed: 1, conditions: WEATHER, linesMax: 0 })
  const all: InternalSession[] = []
  for (let i = 0; i < players; i++) {
    all.push(await w.join({ game: 'maze', topology, playersMax: 64, types: [Slots] }))
  }
  await w.run(5_000)
  const start = all.map(sent)
  await w.run(SECONDS * 1_000)
  const idle = rates(all.map((one, i) => sent(one).bytes - start[i]!.bytes)).bytes
  const mazes = all.map(open)
  await w.runUntil(() => mazes.every(({ status }) => status === 'live'), 30_000)
  for (const [i, maze] of mazes.entries()) {
    const rat = all[i]!.me.player
    maze.act(acts.encode({ rat, kind: 'born', at: i * 5, facing: 0 }))
  }
  await w.run(5_000)
  const before = all.map(sent)
  for (let ms = 0; ms < SECONDS * 1_000; ms += MOVE_MS) {
    const facing = (Math.floor(ms / MOVE_MS) % 4) as 0 | 1 | 2 | 3
    for (const [i, maze] of mazes.entries()) {
      maze.act(acts.encode({ rat: all[i]!.me.player, kind: 'turn', facing }))
    }
    await w.run(MOVE_MS)
  }
  const after = all.map(sent)
  const bytes = after.map((one, i) => one.bytes - before[i]!.bytes)
  const packets = after.reduce((sum, one, i) => sum + one.packets - before[i]!.packets, 0)
  const what = `session, ${topology}`
  const each = packets / players / SECONDS
  return { what, players, ...rates(bytes), packets: each, idle, ...(await delays(w, all, mazes)) }
}

const Slots = slots('maze', {
  ms: 200,
  start: EMPTY,
  rule: (before: World, done, turn) => step(before, deeds(done), turn),
  act: acts.fields,
})

function open(one: Session): Maze {
  return one.part(Slots)
}

function deeds(done: readonly { by: number; act: acts.ActRecord }[]): Deed[] {
  return done.flatMap(({ by, act }) => {
    const read = acts.decode(act)
    return read ? [{ by, act: read }] : []
  })
}

function sent(one: InternalSession): { bytes: number; packets: number } {
  let [bytes, packets] = [0, 0]
  for (const { link } of one.member!.peers.values()) {
    if (!link) continue
    packets += link.counters.sent
    bytes += link.counters.bytesSent + link.counters.sent * (HEADERS + ENVELOPE)
  }
  return { bytes, packets }
}

// Moves at all places of a slot, one at a time.
async function delays(
  w: SessionWorld,
  all: readonly Session[],
  mazes: readonly Maze[],
): Promise<{ othersMs: number; othersMaxMs: number }> {
  const spans: number[] = []
  const rat = all.at(-1)!.me.player
  const mover = mazes.at(-1)!
  for (let n = 0; n < 40; n++) {
    const facing = (1 - ratOf(mover.state, rat)!.facing) as 0 | 1
    const from = w.sim.now()
    mover.act(acts.encode({ rat, kind: 'turn', facing: facing === 0 ? 0 : 1 }))
    const shown = (maze: Maze): boolean => ratOf(maze.state, rat)!.facing === (facing === 0 ? 0 : 1)
    await w.runUntil(() => mazes.slice(0, -1).every(shown), 2_000)
    spans.push(w.sim.now() - from)
    await w.run(300 + n * 7)
  }
  const sum = spans.reduce((total, span) => total + span, 0)
  return { othersMs: sum / spans.length, othersMaxMs: Math.max(...spans) }
}
