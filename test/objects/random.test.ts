// Goal: whatever happens to owners, primaries, links and packets, nobody goes back, no version has
// two owners, and when all is told all agree; and what is said on the way is what it was.
// Method: crews of many objects, driven by a seed; rules are judged after every step, and a digest
// of all that is said and told is frozen.
import { describe, expect, test } from 'vitest'
import * as prng from '../../src/faults/prng.ts'
import type { PeerId } from '../../src/machine.ts'
import * as objects from '../../src/objects/objects.ts'
import type { Replica } from '../../src/objects/objects.ts'
import { hash } from '../../src/sim/hash.ts'
import { thawed } from '../frozen.ts'
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
  look,
  looks,
  meet,
  type Packet,
  packets,
  rules,
  see,
  settle,
  spawn,
  spreadView,
  state,
  take,
  verdict,
  wire,
  write,
} from './crew.ts'

const OBJECTS = 12
const HIDDEN = 3
// With these somebody kept an object that had another owner, whom they may not see.
const WERE_GHOSTS = [37, 60, 82, 88, 274, 279]
const types = [
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

interface Run {
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

function begin(seed: number, mesh: boolean): Run {
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
  if (own.length < OBJECTS / 4 && keys.size < 60) {
    keys.add(spawn(crew, inc, [prng.below(chance, 256), 0], prng.below(chance, types.length)))
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
  else write(crew, inc, key, prng.below(chance, 256), prng.below(chance, 2))
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
    case 2:
      if (others.length < 2) return
      die(crew, crew.primary)
      crew.here.delete(crew.primary)
      crew.primary = prng.pick(chance, others)
      crew.epoch++
      wire(crew)
      return spreadView(crew)
    default: {
      const [name] = prng.pick(chance, [...crew.links])
      const [one, other] = name.split('>').map(Number)
      link(crew, one!, other!)
      // A session says the whole view on a new link.
      return spreadView(crew)
    }
  }
}

/** What must hold at any instant. */
function judge({ crew, high }: Run): void {
  const owners = new Map<string, PeerId>()
  for (const [inc, own] of crew.states) {
    for (const { key, version, oseq, owner, dead } of own.replicas.values()) {
      const [e, c, o] = high.get(`${inc} ${key}`) ?? [-1, -1, -1]
      const back = version.epoch - e || version.count - c || (dead ? 0 : oseq - o)
      if (back < 0) expect.fail(`${inc} went back with ${look(crew, inc, key)}`)
      high.set(`${inc} ${key}`, [version.epoch, version.count, oseq])
      if (dead || owner !== inc) continue
      const name = `${objects.idOf(key)} ${version.epoch}.${version.count}`
      if (owners.has(name)) expect.fail(`${owners.get(name)} and ${inc} both own ${name}`)
      owners.set(name, inc)
    }
  }
}

/** Where they differ when all is told. */
function ends({ crew, keys }: Run): string[] {
  return [...keys].flatMap((key) => {
    const seen = looks(crew, key).map((one) => (one.startsWith('gone') ? 'unknown' : one))
    const views = new Set(seen)
    // Who may not see it may never have heard of it.
    const types = [...crew.states.values()].map((own) => own.replicas.get(key)?.type)
    if (types.includes(HIDDEN)) for (const none of ['hidden', 'unknown']) views.delete(none)
    return views.size > 1 ? [`${objects.idOf(key)}: ${[...views].join(' | ')}`] : []
  })
}

describe.each([
  ['star', false],
  ['mesh', true],
])('in a %s', (topology, mesh) => {
  test.each([...Array.from({ length: 15 }, (_, i) => i + 1), ...WERE_GHOSTS])(
    'B23, B48: seed %d ends alike everywhere',
    (seed) => {
      const run = begin(seed, mesh)
      for (let step = 0; step < 700; step++) {
        const draw = prng.next(run.chance)
        if (draw < 0.3) play(run)
        else if (draw < 0.98) move(run)
        else shake(run)
        answer(run)
        run.crew.now += prng.below(run.chance, 20)
        judge(run)
      }
      for (const packet of run.packets) {
        if (run.crew.links.has(`${packet.from}>${packet.to}`)) verdict(run.crew, packet, false)
      }
      settle(run.crew)
      run.crew.now += 3_000
      settle(run.crew)
      judge(run)
      expect(ends(run)).toEqual([])
      const [any] = run.crew.states.values()
      for (const { owner, dead, hidden } of any!.replicas.values()) {
        if (!dead && !hidden) expect(run.crew.here.has(owner)).toBe(true)
      }
      for (const own of run.crew.states.values()) expect(own.counters.malformed).toBe(0)
      const digests = [run.course, [...run.keys].map((key) => looks(run.crew, key))].map(hash)
      expect(thawed(`objects-${topology}`, { [seed]: digests.join(' ') })).toEqual([])
    },
  )
})
