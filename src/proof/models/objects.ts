/**
 * The shipped objects in a small world: one object, a few members, every order of messages and of
 * what may happen to owners, primaries and members (G1-G15, R1, U1 of the scopes).
 *
 * The claims are those of docs/protocols/objects.md: one owner of each version, no version goes
 * back, what an owner believes to have told is there, and when all is told all agree.
 */

import type { PeerId } from '../../machine.ts'
import { BARRIER, leads, type Objects, type Replica } from '../../objects/objects.ts'
import type { Action, Model } from '../../sim/checker.ts'
import * as interned from './interned.ts'
import { thing, typesOf } from '../objects-peer.ts'
import * as scenes from './objects-scene.ts'
import {
  CREATOR,
  HEIR,
  type Packet,
  termOf,
  type Scene,
  type Scope,
  type Tables,
} from './objects-scene.ts'
import { ends, one, requesting } from './objects-requests.ts'
import { phrase } from '../objects-words.ts'

/** The model of one scope. */
export function objectsModel(scope: Scope): Model<Scene> {
  const tables = scenes.tablesOf(scope)
  const stateOf = (scene: Scene, inc: PeerId): Objects => scenes.stateOf(tables, scene, inc)
  return {
    name: scope.name,
    init: () => scenes.begin(tables),
    actions: (scene) => actions(tables, scene),
    always: judged(scope, {
      'obj.forward': ({ broken }) => broken === '' || broken,
      'obj.unique': (scene) => unique(scene, stateOf),
      'obj.truth': (scene) => truth(scene, stateOf),
      'request.one': (scene) => one(scene),
    }),
    sometimes: sometimes(scope, stateOf),
    settled: judged(scope, {
      'obj.converge': (scene) => converge(scope, scene, stateOf),
      'obj.seen': (scene) => seen(scope, scene, stateOf),
      'request.ends': (scene) => ends(scene, stateOf),
    }),
    canonical: (scene) => essence(scene),
    copy: scenes.copyOf,
    show: (scene) => show(tables, scene),
  }
}

type Claims = Record<string, (scene: Scene) => true | string>

function judged({ claims }: Scope, all: Claims): Claims {
  return Object.fromEntries(Object.entries(all).filter(([name]) => claims?.includes(name) ?? true))
}

type StateOf = (scene: Scene, inc: PeerId) => Objects

function incs(scene: Scene): PeerId[] {
  return scene.peers.map((_, i) => i + 1).filter((inc) => scene.up[inc - 1])
}

function owns(state: Objects, replica: Replica | null): replica is Replica {
  return replica !== null && !replica.dead && replica.owner === state.me
}

function* actions(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  const { up, links, acks, peers: all } = scene
  for (const [link, words] of links.entries()) {
    const [from, to] = scenes.endsOf(link, all.length)
    if (!words || words.length === 0 || !up[to - 1]) continue
    const label = `${from} to ${to}: ${wordOf(tables, words[0]!)}`
    yield { label, next: (copy) => scenes.arrive(tables, copy, from, to) }
    if (up[from - 1]) continue
    yield {
      label: `the rest of ${from}>${to} is lost`,
      next: (copy) => void (copy.links[link] = null),
    }
  }
  for (const [link, count] of acks.entries()) {
    if (count === 0) continue
    const [from, to] = scenes.endsOf(link, all.length)
    yield {
      label: `${from}>${to} is acked`,
      next: (copy) => scenes.deliver(tables, copy, from, to),
    }
  }
  yield* packets(tables, scene)
  for (const inc of incs(scene)) yield* owning(tables, scene, inc)
  for (const { primary } of scene.terms) yield* granting(tables, scene, primary)
  yield* membership(tables, scene)
  if (tables.scope.takes) yield* requesting(tables, scene)
}

function* packets(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  const { left } = scene
  for (const [at, packet] of scene.packets.entries()) {
    const name = `packet ${packet.seq} of ${packet.from} to ${packet.to}`
    const what = packet.ack ? `the ack of ${name}` : name
    yield { label: `${what} arrives`, next: (copy) => land(tables, copy, at, false) }
    if (left.losses > 0) {
      yield { label: `${what} is lost`, environment: true, next: (copy) => lose(copy, at) }
    }
    if (left.doubles > 0 && !packet.ack) {
      yield {
        label: `${what} arrives twice`,
        environment: true,
        next: (copy) => land(tables, copy, at, true),
      }
    }
    if (left.doubts > 0) {
      yield {
        label: `${name} is taken for lost`,
        environment: true,
        next: (copy) => doubt(tables, copy, packet),
      }
    }
  }
  for (const [at, packet] of scene.silent.entries()) {
    const label = `packet ${packet.seq} of ${packet.from} is missed`
    yield { label, next: (copy) => miss(tables, copy, at) }
  }
}

function land(tables: Tables, scene: Scene, at: number, again: boolean): void {
  const packet = scene.packets[at]!
  const { from, to, frame, ack } = packet
  if (again) scene.left.doubles--
  else scene.packets = scene.packets.toSpliced(at, 1)
  if (ack) return acked(tables, scene, packet)
  const word = interned.valueOf(tables.words, frame) as { bytes: Uint8Array }
  scenes.act(tables, scene, to, { kind: 'frame', from, bytes: word.bytes }, `f${from} ${frame}`)
  // Where nothing is lost it makes no difference when the ack comes.
  if (!scenes.lossy(tables.scope)) acked(tables, scene, packet)
  else if (!again) scene.packets = scenes.withPacket(scene.packets, { ...packet, ack: true })
}

function acked(tables: Tables, scene: Scene, { from, to, seq }: Packet): void {
  scenes.act(tables, scene, from, { kind: 'acked', peer: to, seq }, `a${to} ${seq}`)
}

function lose(scene: Scene, at: number): void {
  scene.left.losses--
  scene.silent = scenes.withPacket(scene.silent, scene.packets[at]!)
  scene.packets = scene.packets.toSpliced(at, 1)
}

function miss(tables: Tables, scene: Scene, at: number): void {
  const packet = scene.silent[at]!
  scene.silent = scene.silent.toSpliced(at, 1)
  lost(tables, scene, packet)
}

function lost(tables: Tables, scene: Scene, { from, to, seq }: Packet): void {
  scenes.act(tables, scene, from, { kind: 'lost', peer: to, seq }, `l${to} ${seq}`)
}

function doubt(tables: Tables, scene: Scene, packet: Packet): void {
  scene.left.doubts--
  lost(tables, scene, packet)
}

function* owning(tables: Tables, scene: Scene, inc: PeerId): Iterable<Action<Scene>> {
  const { scope } = tables
  const state = scenes.stateOf(tables, scene, inc)
  const own = thing(state)
  if (!scene.created && inc === CREATOR) {
    yield { label: `${inc} creates`, next: (copy) => create(tables, copy) }
  }
  if (!owns(state, own)) return
  if (scene.left.writes > 0 && scene.left.packets > 0) {
    for (let field = 0; field < (scope.fields ?? 1); field++) {
      yield {
        label: `${inc} writes field ${field}`,
        environment: true,
        next: (copy) => write(tables, copy, inc, field),
      }
    }
  }
  if (scene.left.destroys > 0 && (scope.destroyers?.includes(inc) ?? true)) {
    yield {
      label: `${inc} destroys`,
      environment: true,
      next: (copy) => destroy(tables, copy, inc),
    }
  }
}

function create(tables: Tables, scene: Scene): void {
  scene.created = true
  scenes.act(tables, scene, CREATOR, { kind: 'create' })
}

function write(tables: Tables, scene: Scene, inc: PeerId, field: number): void {
  scene.left.writes--
  scenes.act(tables, scene, inc, { kind: 'write', field })
}

function destroy(tables: Tables, scene: Scene, inc: PeerId): void {
  scene.left.destroys--
  scenes.act(tables, scene, inc, { kind: 'destroy' })
}

function* granting(tables: Tables, scene: Scene, primary: PeerId): Iterable<Action<Scene>> {
  const state = scenes.stateOf(tables, scene, primary)
  const own = thing(state)
  if (!scene.up[primary - 1] || scene.left.grants === 0 || !own || own.dead || !leads(state)) return
  for (const to of state.here.keys()) {
    if (to === own.owner || !(tables.scope.grantees?.includes(to) ?? true)) continue
    yield {
      label: `${primary} grants it to ${to}`,
      environment: true,
      next: (copy) => {
        copy.left.grants--
        scenes.act(tables, copy, primary, { kind: 'grant', to })
      },
    }
  }
}

function* membership(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  const { left } = scene
  const { primary, members } = termOf(scene)
  const { removed } = tables.scope
  if (left.removals > 0 && scene.up[primary - 1]) {
    for (const inc of members) {
      if (inc === primary || !(removed?.includes(inc) ?? true)) continue
      yield {
        label: `${primary} removes ${inc}`,
        environment: true,
        next: (copy) => {
          copy.left.removals--
          scenes.remove(tables, copy, inc)
        },
      }
    }
  }
  if (left.joins > 0) {
    yield {
      label: `${scene.peers.length} is let in`,
      environment: true,
      next: (copy) => {
        copy.left.joins--
        scenes.join(tables, copy)
      },
    }
  }
  if (left.takeovers > 0 && members.includes(HEIR) && primary !== HEIR) {
    yield {
      label: `${HEIR} takes over`,
      environment: true,
      next: (copy) => {
        copy.left.takeovers--
        scenes.takeOver(tables, copy)
      },
    }
  }
}

function unique(scene: Scene, stateOf: StateOf): true | string {
  const owners = new Map<string, PeerId>()
  for (const inc of incs(scene)) {
    const own = thing(stateOf(scene, inc))
    if (!owns(stateOf(scene, inc), own)) continue
    const version = `${own.version.epoch}.${own.version.count}`
    const other = owners.get(version)
    if (other !== undefined) return `${other} and ${inc} both own version ${version}`
    owners.set(version, inc)
  }
  return true
}

// Whoever believes that a peer has something is right, or the peer has something newer.
function truth(scene: Scene, stateOf: StateOf): true | string {
  for (const inc of incs(scene)) {
    const state = stateOf(scene, inc)
    const own = thing(state)
    if (!own || own.dead) continue
    for (const [peer, { barrier, acked }] of state.subscribers) {
      if (!scene.up[peer - 1] || barrier[own.slot] !== BARRIER.open) continue
      const theirs = thing(stateOf(scene, peer))
      const fault = lacks(own, acked[own.slot]!, theirs)
      if (fault) return `${inc} believes that ${peer} has oseq ${acked[own.slot]}: ${fault}`
    }
    const told = scene.history[own.oseq]
    if (told !== undefined && own.fields.join() !== told && own.owner !== inc) {
      return `${inc} has ${own.fields.join()} at oseq ${own.oseq}, its owner had ${told}`
    }
  }
  return true
}

function lacks(own: Replica, acked: number, theirs: Replica | null): string | null {
  if (!theirs) return 'it has nothing'
  const order = own.version.epoch - theirs.version.epoch || own.version.count - theirs.version.count
  if (order < 0 || theirs.dead) return null
  if (order > 0) return `it has version ${theirs.version.epoch}.${theirs.version.count}`
  return theirs.oseq < acked ? `it has ${theirs.oseq}` : null
}

function converge({ hides }: Scope, scene: Scene, stateOf: StateOf): true | string {
  const { members } = termOf(scene)
  const here = members.filter((inc) => scene.up[inc - 1])
  const seen = here.map((inc) => {
    const own = thing(stateOf(scene, inc))
    // Who never might see it knows nothing of it.
    return `${inc} ${inc === hides && !own ? 'hidden' : standing(own)}`
  })
  const views = new Set(
    seen.map((line) => line.slice(line.indexOf(' ') + 1)).filter((view) => view !== 'hidden'),
  )
  if (views.size > 1) return `they differ: ${seen.join('; ')}`
  const known = here.map((inc) => thing(stateOf(scene, inc)))
  const [first] = known.filter((one) => one && !one.hidden)
  if (!first || first.dead) return true
  if (!here.includes(first.owner)) return `its owner ${first.owner} is no member`
  return true
}

// Whoever may see it as it is in the end sees it. (That somebody sees too much time puts right.)
function seen({ hides = 0 }: Scope, scene: Scene, stateOf: StateOf): true | string {
  const { members } = termOf(scene)
  const here = members.filter((inc) => scene.up[inc - 1])
  const owner = here.find((inc) => owns(stateOf(scene, inc), thing(stateOf(scene, inc))))
  if (owner === undefined || hides === 0) return true
  const { fields } = thing(stateOf(scene, owner))!
  const blind = here.find((inc) => {
    const own = thing(stateOf(scene, inc))
    return (inc !== hides || Number(fields[0]) % 2 === 0) && (!own || own.hidden)
  })
  return blind === undefined || `${blind} does not see ${fields.join()} of ${owner}`
}

function standing(replica: Replica | null): string {
  if (!replica || replica.dead) return 'gone'
  if (replica.hidden) return 'hidden'
  const { version, owner, fields } = replica
  return `${version.epoch}.${version.count} of ${owner} ${fields.join()}`
}

function sometimes(scope: Scope, stateOf: StateOf): Record<string, (scene: Scene) => boolean> {
  const claims: Record<string, (scene: Scene) => boolean> = {}
  const any = (scene: Scene, holds: (own: Replica) => boolean): boolean =>
    incs(scene).some((inc) => {
      const own = thing(stateOf(scene, inc))
      return own !== null && holds(own)
    })
  if (scope.grants)
    claims['it changed hands'] = (scene) => any(scene, (own) => own.version.count > 0)
  if (scope.destroys) claims['it is gone'] = (scene) => any(scene, (own) => own.dead)
  if (scope.writes) claims['it was written'] = (scene) => any(scene, (own) => own.oseq > 1)
  if (scope.takeovers && scope.grants)
    claims['a new primary adopted or granted'] = (scene) =>
      any(scene, (own) => own.version.epoch > 1)
  if (scope.takes) claims['a take was granted'] = ({ granted }) => Object.keys(granted).length > 0
  if (scope.hides) claims['it was hidden'] = (scene) => any(scene, (own) => own.hidden)
  return claims
}

// Without what only claims are judged by: `high`, `history` and the numbers of packets to come.
function essence(scene: Scene): unknown {
  const { peers, up, gone, terms, links, acks, packets: under, silent, left } = scene
  const { created, granted, broken } = scene
  const whole = [up, gone, terms.map(({ primary, epoch, members }) => [primary, epoch, members])]
  const told = Object.entries(granted).sort(([one], [other]) => (one < other ? -1 : 1))
  const packed = [numbersOf(under), numbersOf(silent)]
  return [peers, whole, links, acks, packed, Object.values(left), created, told, broken]
}

function numbersOf(list: readonly Packet[]): number[] {
  const numbers: number[] = []
  for (const { from, to, seq, frame, ack } of list) numbers.push(from, to, seq, frame, Number(ack))
  return numbers
}

function wordOf(tables: Tables, number: number): string {
  const word = interned.valueOf(tables.words, number)
  if ('bytes' in word) return phrase(word.bytes, typesOf(tables.scope.hides ?? 0))
  return typeof word.members === 'number'
    ? `${word.members} is gone`
    : `VIEW of epoch ${word.epoch}`
}

function show(tables: Tables, scene: Scene): string {
  const has = (own: Replica | null): string => (own ? standing(own) : 'nothing')
  return incs(scene)
    .map((inc) => `${inc}: ${has(thing(scenes.stateOf(tables, scene, inc)))}`)
    .join('  ')
}
