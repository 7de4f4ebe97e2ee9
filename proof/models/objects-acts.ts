/**
 * A member of the objects' model takes an input. What it makes of it in each state is looked up, so
 * that the shipped part runs once for each of its states and inputs; what it sends is under way
 * from then on, and what it has is noted.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { type Effects, type Input, step } from './objects-peer.ts'
import * as bags from './bags.ts'
import * as interned from './interned.ts'
import { type Face, is, trait, TRAITS } from './objects-faces.ts'
import * as links from './objects-links.ts'
import * as notes from './objects-notes.ts'
import { add } from './objects-outcomes.ts'
import type { Packet } from './objects-packets.ts'
import {
  type Budgets,
  type Fate,
  inputOf,
  keep,
  linkAt,
  type Scene,
  spend,
  type Step,
  type Tables,
} from './objects-tables.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'
import * as queues from './queues.ts'

/** Above the number of any packet, where packets have numbers of their own. */
const SEQS = 64

/** The second number of an outcome: something is noted; and how much is sent, and where counted. */
const NOTED = 1
const SENT = 1
const FRAMES = 11
const GRANTED = 21
const MANY = 1023

/** A member takes an input. */
export function act(tables: Tables, scene: Scene, inc: PeerId, input: number): void {
  const { place, outcomes } = tables
  const at = place.peer + inc - 1
  const before = scene[at]!
  const key = tables.lossy ? input * SEQS + scene[place.nextSeq]! : input
  const known = pairs.find(outcomes.known, before, key)
  const row = known < 0 ? learn(tables, inc, before, key) : known
  scene[at] = outcomes.rows[row]!
  const what = outcomes.rows[row + 1]!
  if (what !== 0) follow(tables, scene, inc, row + 2, what)
}

// What it makes known and sends.
function follow(tables: Tables, scene: Scene, inc: PeerId, from: number, what: number): void {
  const { place } = tables
  const { rows } = tables.outcomes
  let at = from
  if ((what & NOTED) !== 0) note(tables, scene, inc)
  for (let sent = (what >> SENT) & MANY; sent > 0; sent--, at += 2) {
    send(tables, scene, rows[at]!, rows[at + 1]!)
  }
  for (let frames = (what >> FRAMES) & MANY; frames > 0; frames--, at += 3) {
    carry(tables, scene, rows[at]!, rows[at + 1]!, rows[at + 2]!)
  }
  for (let granted = (what >> GRANTED) & MANY; granted > 0; granted--, at++) {
    scene[place.granted] = notes.grant(tables.notes, scene[place.granted]!, rows[at]!, inc)
  }
}

/** Something goes under way, if the link is open. @param at  its place */
export function push(tables: Tables, scene: Scene, at: number, input: number): void {
  const link = scene[at]!
  if (!links.isOpen(link)) return
  scene[at] = links.withQueue(link, queues.push(tables.queues, links.queueOf(link), input))
}

function send(tables: Tables, scene: Scene, at: number, input: number): void {
  push(tables, scene, at, input)
  if (tables.gateByPacket) scene[at] = links.withAcks(scene[at]!, 1)
}

function carry(tables: Tables, scene: Scene, at: number, packet: number, seq: number): void {
  const { place } = tables
  if (!links.isOpen(scene[at]!)) return
  spend(tables, scene, 'packets')
  if (seq >= scene[place.nextSeq]!) scene[place.nextSeq] = seq + 1
  scene[place.packets] = bags.add(tables.packets.bags, scene[place.packets]!, packet)
}

function note(tables: Tables, scene: Scene, inc: PeerId): void {
  const { place, faces } = tables
  const peer = scene[place.peer + inc - 1]!
  const at = place.high + inc - 1
  scene[at] = notes.had(tables.notes, scene[at]!, peer, faces.all[peer]!)
  scene[place.broken] ||= tables.notes.highs.values[scene[at]!]!.broken
  const traits = peer * TRAITS
  if ((faces.traits[traits + trait.is]! & is.owns) === 0) return
  const oseq = faces.traits[traits + trait.oseq]!
  const fields = faces.traits[traits + trait.fields]!
  scene[place.history] = notes.owned(tables.notes, scene[place.history]!, peer, oseq, fields)
}

// The first time: the shipped part says what comes of it. @returns where that stands
function learn(tables: Tables, inc: PeerId, before: number, key: number): number {
  const { lossy, types, inputs, outcomes, faces } = tables
  const [input, seq] = lossy ? [Math.floor(key / SEQS), key % SEQS] : [key, 0]
  const taken = interned.valueOf(inputs, input) as Input
  const { state, effects } = step(interned.valueOf(tables.peers, before), taken, types, seq)
  const peer = keep(tables, state)
  const sent = sentOf(tables, inc, effects)
  const frames = framesOf(tables, inc, effects)
  const granted = effects.granted.map((one) => interned.numberOf(tables.notes.versions, one))
  // What is as it was has been noted.
  const noted = faces.all[peer]!.own !== null && !areAlike(faces.all[before]!, faces.all[peer]!)
  const counts = (sent.length << SENT) | (frames.length << FRAMES) | (granted.length << GRANTED)
  const what = (noted ? NOTED : 0) | counts
  const row = add(outcomes, [peer, what, ...sent.flat(), ...frames.flat(), ...granted])
  return pairs.keep(outcomes.known, before, key, row)
}

function areAlike(one: Face, other: Face): boolean {
  if (!one.own || one.own.oseq !== other.own!.oseq || one.owns !== other.owns) return false
  // This says whether it is dead or hidden, too.
  return one.rank === other.rank && one.standing === other.standing
}

function sentOf(tables: Tables, from: PeerId, { messages }: Effects): [number, number][] {
  return messages.map(({ to, bytes, told }) => {
    return [linkAt(tables, from, to), inputOf(tables, { kind: 'message', from, bytes }, told)]
  })
}

function framesOf(tables: Tables, from: PeerId, { frames }: Effects): [number, number, number][] {
  return frames.map(({ to, seq, bytes }) => {
    const frame = interned.numberOf(tables.packets.frames, bytes)
    const packet = packetOf(tables, { from, to, seq, frame, ack: false })
    return [linkAt(tables, from, to), packet, seq]
  })
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
