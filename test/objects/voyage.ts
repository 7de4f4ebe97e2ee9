/**
 * A cluster of many objects on its way, driven by a seed: owners change, give and destroy what is
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
  type Cluster,
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
} from './cluster.ts'

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

/** A cluster on its way, and what is under way. */
export interface Run {
  cluster: Cluster
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
  const cluster = meet({ incs: [1, 2, 3, 4], mesh, types })
  const chance = prng.create(`${seed} ${mesh}`)
  const course: unknown[] = []
  cluster.ear = {
    letter: (...letter) => course.push(letter),
    packet: (packet) => course.push(packet),
    event: (...event) => course.push(event),
  }
  return { cluster, chance, packets: [], keys: new Set(), nextInc: 5, high: new Map(), course }
}

const incs = ({ cluster }: Run): PeerId[] => [...cluster.states.keys()]

function mine({ cluster }: Run, inc: PeerId): Replica[] {
  const own = state(cluster, inc)
  return [...own.replicas.values()].filter((replica) => objects.isMine(own, replica))
}

/** An owner does something with what is its own, or somebody asks for what is not. */
function play(run: Run): void {
  const { cluster, chance, keys } = run
  const inc = prng.pick(chance, incs(run))
  const own = mine(run, inc)
  // Who watches makes nothing, and has nothing.
  if (cluster.rights.has(inc)) return
  if (own.length < OBJECTS / 4 && keys.size < 60) {
    keys.add(
      spawn(cluster, inc, [prng.below(chance, 256), 0], prng.below(chance, cluster.types.length)),
    )
    return
  }
  const others = [...state(cluster, inc).replicas.values()].filter((one) => objects.isSeen(one))
  const other = others.length > 0 ? prng.pick(chance, others) : null
  if (prng.chance(chance, 0.3) && other && other.owner !== inc)
    return void take(cluster, inc, other.key)
  if (own.length === 0) return
  const { key } = prng.pick(chance, own)
  const to = prng.pick(chance, [...cluster.here.keys()])
  if (prng.chance(chance, 0.1)) destroy(cluster, inc, key)
  else if (prng.chance(chance, 0.2) && to !== inc) give(cluster, inc, key, to)
  else change(run, inc, key)
}

function change({ cluster, chance }: Run, inc: PeerId, key: number): void {
  const { columns } = cluster.types[thing(cluster, inc, key).type]!.schema
  const value = prng.below(chance, 256)
  if (columns.length > 1) return write(cluster, inc, key, value, prng.below(chance, 2))
  set(cluster, inc, key, [value, prng.below(chance, 256)], 1, cluster.now, prng.chance(chance, 0.2))
}

/** Owners that are asked say yes or no. */
function answer(run: Run): void {
  for (const inc of incs(run)) {
    const events = run.cluster.events.get(inc)!.splice(0)
    for (const event of events) {
      if (event.kind !== 'object-asked') continue
      const yes = prng.chance(run.chance, 0.5)
      act(run.cluster, inc, (turn) => objects.reply(turn, event.key, event, yes))
    }
  }
}

/** Something of what is under way arrives, or is lost. */
function move(run: Run): void {
  const { cluster, chance } = run
  run.packets.push(...packets(cluster))
  const open = [...cluster.links].filter(([, { letters }]) => letters.length > 0)
  if (open.length > 0 && prng.chance(chance, 0.7)) {
    const [from, to] = prng.pick(chance, open)[0].split('>').map(Number)
    return carry(cluster, from!, to!, 1)
  }
  if (run.packets.length === 0) return
  const [packet] = run.packets.splice(prng.below(chance, run.packets.length), 1)
  const linked = cluster.links.has(`${packet!.from}>${packet!.to}`)
  const came = linked && cluster.states.has(packet!.to) && prng.chance(chance, 0.7)
  if (came) land(cluster, packet!)
  if (linked) verdict(cluster, packet!, came && prng.chance(chance, 0.95))
}

/** Somebody comes, goes, dies, or two have a new link. */
function shake(run: Run): void {
  const { cluster, chance } = run
  const others = [...cluster.here.keys()].filter((inc) => inc !== cluster.primary)
  switch (prng.below(chance, 4)) {
    case 0:
      if (cluster.here.size > 5) return
      cluster.here.set(run.nextInc, run.nextInc)
      if (prng.chance(chance, 0.2)) cluster.rights.set(run.nextInc, RIGHTS.watch)
      enter(cluster, run.nextInc)
      // Its way in tells it how things stand, before it has a link.
      see(cluster, run.nextInc++)
      wire(cluster)
      return spreadView(cluster)
    case 1: {
      if (others.length < 2) return
      const inc = prng.pick(chance, others)
      die(cluster, inc)
      cluster.here.delete(inc)
      return spreadView(cluster)
    }
    case 2: {
      const heirs = others.filter((inc) => !cluster.rights.has(inc))
      if (heirs.length < 2) return
      die(cluster, cluster.primary)
      cluster.here.delete(cluster.primary)
      cluster.primary = prng.pick(chance, heirs)
      cluster.epoch++
      wire(cluster)
      return spreadView(cluster)
    }
    default: {
      const [name] = prng.pick(chance, [...cluster.links])
      const [one, other] = name.split('>').map(Number)
      link(cluster, one!, other!)
      // A session says the whole view on a new link.
      return spreadView(cluster)
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
  run.cluster.now += prng.below(run.chance, 20)
  wake(run.cluster)
}

/** All that is under way comes or is lost, and time passes until nobody has anything to say. */
export function rest({ cluster, packets: under }: Run): void {
  for (const packet of under) {
    if (cluster.links.has(`${packet.from}>${packet.to}`)) verdict(cluster, packet, false)
  }
  settle(cluster)
  cluster.now += 3_000
  settle(cluster)
}

/** Digests of all that was said and told, and of what all have in the end. */
export function digests({ cluster, course, keys }: Run): string {
  return [course, [...keys].map((key) => looks(cluster, key))].map(hashValues).join(' ')
}
