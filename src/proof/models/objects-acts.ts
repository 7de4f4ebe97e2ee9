/**
 * A member of the objects' model takes an input. What it makes of it in each state is looked up, so
 * that the shipped part runs once for each of its states and inputs; what it sends is under way
 * from then on, and what it has is noted.
 */

import type { PeerId } from '../../machine.ts'
import { type Effects, type Input, step } from '../objects-peer.ts'
import * as bags from './bags.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import * as links from './objects-links.ts'
import * as notes from './objects-notes.ts'
import type { Packet } from './objects-packets.ts'
import {
  type Budgets,
  type Fate,
  inputOf,
  keep,
  linkAt,
  type Outcome,
  type Scene,
  spend,
  type Step,
  type Tables,
} from './objects-tables.ts'
import * as queues from './queues.ts'

/** Above the number of any packet, where packets have numbers of their own. */
const SEQS = 64

/** A member takes an input. */
export function act(tables: Tables, scene: Scene, inc: PeerId, input: number): void {
  const { place } = tables
  const at = place.peer + inc - 1
  const before = scene[at]!
  const key = tables.lossy ? input * SEQS + scene[place.nextSeq]! : input
  const outcome = memo.find(tables.outcomes, before, key) ?? learn(tables, inc, before, key)
  const { peer, sent, frames, granted } = outcome
  scene[at] = peer
  if (outcome.noted) note(tables, scene, inc, peer)
  for (let i = 0; i < granted.length; i++) {
    scene[place.granted] = notes.grant(tables.notes, scene[place.granted]!, granted[i]!, inc)
  }
  for (let i = 0; i < sent.length; i++) send(tables, scene, sent[i]!)
  if (frames.length > 0) carry(tables, scene, frames)
}

/** Something goes under way, if the link is open. @param at  its place */
export function push(tables: Tables, scene: Scene, at: number, input: number): void {
  const link = scene[at]!
  if (!links.isOpen(link)) return
  scene[at] = links.withQueue(link, queues.push(tables.queues, links.queueOf(link), input))
}

function send(tables: Tables, scene: Scene, { at, input }: Outcome['sent'][number]): void {
  push(tables, scene, at, input)
  if (tables.scope.around === 'gate-by-packet') scene[at] = links.withAcks(scene[at]!, 1)
}

function carry(tables: Tables, scene: Scene, frames: Outcome['frames']): void {
  const { place } = tables
  for (const { at, packet, seq } of frames) {
    if (!links.isOpen(scene[at]!)) continue
    spend(tables, scene, 'packets')
    scene[place.nextSeq] = Math.max(scene[place.nextSeq]!, seq + 1)
    scene[place.packets] = bags.add(tables.packets.bags, scene[place.packets]!, packet)
  }
}

function note(tables: Tables, scene: Scene, inc: PeerId, peer: number): void {
  const { place } = tables
  const at = place.high + inc - 1
  const face = tables.faces[peer]!
  const { high, broken } = notes.had(tables.notes, scene[at]!, peer, face)
  scene[at] = high
  scene[place.broken] ||= broken
  if (!face.owns) return
  scene[place.history] = notes.owned(tables.notes, scene[place.history]!, peer, face)
}

function learn(tables: Tables, inc: PeerId, before: number, key: number): Outcome {
  const { lossy, types, inputs } = tables
  const [input, seq] = lossy ? [Math.floor(key / SEQS), key % SEQS] : [key, 0]
  const taken = interned.valueOf(inputs, input) as Input
  const { state, effects } = step(interned.valueOf(tables.peers, before), taken, types, seq)
  const peer = keep(tables, state)
  const noted = peer !== before && tables.faces[peer]!.own !== null
  return memo.keep(tables.outcomes, before, key, {
    ...{ peer, noted, ...sentOf(tables, inc, effects) },
    granted: effects.granted.map((version) => interned.numberOf(tables.notes.versions, version)),
  })
}

function sentOf(
  tables: Tables,
  from: PeerId,
  { messages, frames }: Effects,
): Pick<Outcome, 'sent' | 'frames'> {
  const { packets } = tables
  return {
    sent: messages.map(({ to, bytes, told }) => {
      const input = inputOf(tables, { kind: 'message', from, bytes }, told)
      return { at: linkAt(tables, from, to), input }
    }),
    frames: frames.map(({ to, seq, bytes }) => {
      const frame = interned.numberOf(packets.frames, bytes)
      const packet = packetOf(tables, { from, to, seq, frame, ack: false })
      return { at: linkAt(tables, from, to), packet, seq }
    }),
  }
}

function packetOf(tables: Tables, packet: Packet): number {
  const number = interned.numberOf(tables.packets.kept, packet)
  tables.fates[number] ??= fateOf(tables, packet)
  return number
}

function fateOf(tables: Tables, packet: Packet): Fate {
  const { from, to, seq, frame, ack } = packet
  const bytes = interned.valueOf(tables.packets.frames, frame)
  return {
    ...packet,
    arrives: inputOf(tables, { kind: 'frame', from, bytes }),
    acked: inputOf(tables, { kind: 'acked', peer: to, seq }),
    lost: inputOf(tables, { kind: 'lost', peer: to, seq }),
    acknowledged: ack ? -1 : packetOf(tables, { ...packet, ack: true }),
  }
}

/** A step that may not happen for ever, and need not happen. */
export function spending(
  tables: Tables,
  budget: keyof Budgets,
  label: string,
  next: Step['next'],
): Step {
  const spent = (scene: Scene): void => {
    spend(tables, scene, budget)
    next(scene)
  }
  return { label, environment: true, next: spent }
}

/** Such a step of one member. */
export function doing(
  tables: Tables,
  inc: PeerId,
  budget: keyof Budgets,
  label: string,
  input: Input,
): Step {
  const number = inputOf(tables, input)
  return spending(tables, budget, label, (scene) => act(tables, scene, inc, number))
}
