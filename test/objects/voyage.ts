/**
 * A crew of many objects on its way, driven by a seed: owners change, give and destroy what is
 * theirs, others ask for it, packets come late or never, members come, go and die; some only watch.
 */

import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { hashValues } from '../frozen.ts'
import { type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type { Replica, TypeRules } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import {
  act,
  carry,
  type Crew,
  destroy,
  die,
  enter,
  give,
  land,
  link,
  looks,
  meet,
  type Packet,
  packets,
  rules,
  see,
  set,
  settle,
  spawn,
  spreadView,
  state,
  take,
  thing,
  verdict,
  wake,
  wire,
  write,
} from './crew.ts'

const OBJECTS = 12
/** The type that not everybody may see. */
export const HIDDEN = 3
/** Types of all kinds of owners and of sight. */
export const TYPES: readonly TypeRules[] = [
  rules(),
  rules({ take: 'ask', onOwnerLeave: 'destroy' }),
  rules({ balance: true }),
  rules({
    visibility: {
      kind: 'rule',
      sees:
        ([one]) =>
        (viewer) =>
          (Number(one) + viewer) % 3 > 0,
    },
  }),
]

/** A crew on its way, and what is under way. */
export interface Run {
  crew: Crew
  chance: prng.Prng
  packets: Packet[]
  keys: Set<number>
  nextInc: PeerId
  /** The newest version and oseq of each object at each member. */
  high: Map<string, [number, number, number]>
  /** All that is said and told. */
  course: unknown[]
}

/** Four members, who have nothing yet. */
export function begin(seed: number, mesh: boolean, types = TYPES): Run {
  const crew = meet({ incs: [1, 2, 3, 4], mesh, types })
  const chance = prng.create(`${seed} ${mesh}`)
  const course: unknown[] = []
  crew.ear = {
    letter: (...letter) => course.push(letter),
    packet: (packet) => course.push(packet),
    event: (...event) => course.push(event),
  }
  return { crew, chance, packets: [], keys: new Set(), nextInc: 5, high: new Map(), course }
}

const incs = ({ crew }: Run): PeerId[] => [...crew.states.keys()]

function mine({ crew }: Run, inc: PeerId): Replica[] {
  const own = state(crew, inc)
  return [...own.replicas.values()].filter((replica) => objects.isMine(own, replica))
}

/** An owner does something with what is its own, or somebody asks for what is not. */
function play(run: Run): void {
  const { crew, chance, keys } = run
  const inc = prng.pick(chance, incs(run))
  const own = mine(run, inc)
  // Who watches makes nothing, and has nothing.
  if (crew.rights.has(inc)) return
  if (own.length < OBJECTS / 4 && keys.size < 60) {
    keys.add(spawn(crew, inc, [prng.below(chance, 256), 0], prng.below(chance, crew.types.length)))
    return
  }
  const others = [...state(crew, inc).replicas.values()].filter((one) => objects.isSeen(one))
  const other = others.length > 0 ? prng.pick(chance, others) : null
  if (prng.chance(chance, 0.3) && other && other.owner !== inc)
    return void take(crew, inc, other.key)
  if (own.length === 0) return
  const { key } = prng.pick(chance, own)
  const to = prng.pick(chance, [...crew.here.keys()])
  if (prng.chance(chance, 0.1)) destroy(crew, inc, key)
  else if (prng.chance(chance, 0.2) && to !== inc) give(crew, inc, key, to)
  else change(run, inc, key)
}

function change({ crew, chance }: Run, inc: PeerId, key: number): void {
  const { columns } = crew.types[thing(crew, inc, key).type]!.schema
  const value = prng.below(chance, 256)
  if (columns.length > 1) return write(crew, inc, key, value, prng.below(chance, 2))
  set(crew, inc, key, [value, prng.below(chance, 256)], 1, crew.now, prng.chance(chance, 0.2))
}

/** Owners that are asked say yes or no. */
function answer(run: Run): void {
  for (const inc of incs(run)) {
    const events = run.crew.events.get(inc)!.splice(0)
    for (const event of events) {
      if (event.kind !== 'object-asked') continue
      const yes = prng.chance(run.chance, 0.5)
      act(run.crew, inc, (turn) => objects.reply(turn, event.key, event, yes))
    }
  }
}

/** Something of what is under way arrives, or is lost. */
function move(run: Run): void {
  const { crew, chance } = run
  run.packets.push(...packets(crew))
  const open = [...crew.links].filter(([, { letters }]) => letters.length > 0)
  if (open.length > 0 && prng.chance(chance, 0.7)) {
    const [from, to] = prng.pick(chance, open)[0].split('>').map(Number)
    return carry(crew, from!, to!, 1)
  }
  if (run.packets.length === 0) return
  const [packet] = run.packets.splice(prng.below(chance, run.packets.length), 1)
  const linked = crew.links.has(`${packet!.from}>${packet!.to}`)
  const came = linked && crew.states.has(packet!.to) && prng.chance(chance, 0.7)
  if (came) land(crew, packet!)
  if (linked) verdict(crew, packet!, came && prng.chance(chance, 0.95))
}

/** Somebody comes, goes, dies, or two have a new link. */
function shake(run: Run): void {
  const { crew, chance } = run
  const others = [...crew.here.keys()].filter((inc) => inc !== crew.primary)
  switch (prng.below(chance, 4)) {
    case 0:
      if (crew.here.size > 5) return
      crew.here.set(run.nextInc, run.nextInc)
      if (prng.chance(chance, 0.2)) crew.rights.set(run.nextInc, RIGHTS.watch)
      enter(crew, run.nextInc)
      // Its way in tells it how things stand, before it has a link.
      see(crew, run.nextInc++)
      wire(crew)
      return spreadView(crew)
    case 1: {
      if (others.length < 2) return
      const inc = prng.pick(chance, others)
      die(crew, inc)
      crew.here.delete(inc)
      return spreadView(crew)
    }
    case 2: {
      const heirs = others.filter((inc) => !crew.rights.has(inc))
      if (heirs.length < 2) return
      die(crew, crew.primary)
      crew.here.delete(crew.primary)
      crew.primary = prng.pick(chance, heirs)
      crew.epoch++
      wire(crew)
      return spreadView(crew)
    }
    default: {
      const [name] = prng.pick(chance, [...crew.links])
      const [one, other] = name.split('>').map(Number)
      link(crew, one!, other!)
      // A session says the whole view on a new link.
      return spreadView(crew)
    }
  }
}

/** One thing happens, and time passes. */
export function step(run: Run): void {
  const draw = prng.next(run.chance)
  if (draw < 0.3) play(run)
  else if (draw < 0.98) move(run)
  else shake(run)
  answer(run)
  run.crew.now += prng.below(run.chance, 20)
  wake(run.crew)
}

/** All that is under way comes or is lost, and time passes until nobody has anything to say. */
export function rest({ crew, packets: under }: Run): void {
  for (const packet of under) {
    if (crew.links.has(`${packet.from}>${packet.to}`)) verdict(crew, packet, false)
  }
  settle(crew)
  crew.now += 3_000
  settle(crew)
}

/** Digests of all that was said and told, and of what all have in the end. */
export function digests({ crew, course, keys }: Run): string {
  return [course, [...keys].map((key) => looks(crew, key))].map(hashValues).join(' ')
}
