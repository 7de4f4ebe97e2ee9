/**
 * The world of the objects' model: members, links between them, one object; and what each step
 * does to it. A link delivers in order, links to different members in any (B12); updates arrive
 * in any order of all, and where the scope says so are lost, doubled or taken for lost. What a step
 * makes of a number is looked up; what stands behind the numbers is never changed.
 */

import { type PeerId, rulesOf } from '../../packages/holdfast/src/machine.ts'
import { objectsRules } from '../mutants.ts'
import { fresh } from './objects-peer.ts'
import * as links from './objects-links.ts'
import * as pairs from '../../packages/sim/src/checker/pairs.ts'
import * as queues from './queues.ts'
import { act, push } from './objects-acts.ts'
import * as packets from './objects-packets.ts'
import {
  CREATOR,
  faceIn,
  HEIR,
  inputOf,
  keep,
  type Link,
  linkAt,
  type News,
  type Scene,
  type Tables,
  worldIn,
} from './objects-tables.ts'
import * as worlds from './objects-worlds.ts'

/** More than there are members. */
const INCS_MAX = 16

/** All members have their view and their links, and there is no object. */
export function begin(tables: Tables): Scene {
  const { scope, place, members: count } = tables
  const rules = rulesOf({ ...objectsRules(scope.bug ?? null), ...scope.rules })
  // All else is at the first of its numbers.
  const scene = new Int32Array(place.size)
  scene.fill(keep(tables, fresh(rules)), place.peer, place.peer + count)
  scene[place.nextSeq] = 1
  const { primary, epoch, members } = worldIn(tables, scene).term
  for (const inc of worlds.incsOf(members)) see(tables, scene, inc, primary, epoch, members)
  for (;;) {
    const busy = tables.links.find(({ at }) => links.isBusy(scene[at]!))
    if (!busy) return scene
    arrive(tables, scene, busy)
  }
}

/** The object is created. */
export function create(tables: Tables, scene: Scene): void {
  const { place } = tables
  scene[place.world] = worlds.afterCreated(tables.worlds, scene[place.world]!)
  act(tables, scene, CREATOR, inputOf(tables, { kind: 'create' }))
}

/** The next message of a link arrives. */
export function arrive(tables: Tables, scene: Scene, { from, to, at }: Link): void {
  const queue = links.queueOf(scene[at]!)
  const input = queues.first(tables.queues, queue)
  scene[at] = links.withQueue(scene[at]!, queues.rest(tables.queues, queue))
  const { news, told } = tables.words[input]!
  if (news) return hear(tables, scene, to, news)
  act(tables, scene, to, input)
  if (!told) return
  const link = scene[at]
  // Where nothing is written no gate matters.
  if (tables.scope.writes) scene[at] = links.withAcks(link, links.acksOf(link) + 1)
  else deliver(tables, scene, from, to)
}

/** The sender hears that the oldest thing it told has come. */
export function deliver(tables: Tables, scene: Scene, from: PeerId, to: PeerId): void {
  const at = linkAt(tables, from, to)
  const acks = links.acksOf(scene[at]!)
  if (acks > 0) scene[at] = links.withAcks(scene[at]!, acks - 1)
  act(tables, scene, from, tables.delivered[to]!)
}

function hear(
  tables: Tables,
  scene: Scene,
  to: PeerId,
  { from, epoch, members, gone }: News,
): void {
  const own = faceIn(tables, scene, to)
  if (epoch < own.epoch) return
  see(tables, scene, to, from, epoch, gone === 0 ? members : own.here & ~(1 << gone))
}

function see(
  tables: Tables,
  scene: Scene,
  inc: PeerId,
  primary: PeerId,
  epoch: number,
  members: number,
): void {
  act(tables, scene, inc, viewOf(tables, inc, primary, epoch, members))
  for (let other = 1; other <= tables.members; other++) {
    if (!worlds.has(members, other)) close(tables, scene, inc, other)
    else if (other !== inc) meet(tables, scene, inc, other)
  }
}

function viewOf(
  tables: Tables,
  me: PeerId,
  primary: PeerId,
  epoch: number,
  members: number,
): number {
  const by = (epoch * INCS_MAX + primary) * INCS_MAX + me
  const known = pairs.find(tables.views, members, by)
  if (known >= 0) return known
  const list = worlds.incsOf(members).map((inc) => ({ inc, player: inc }))
  const mesh = !tables.scope.star
  const view = { session: 'a', me, primary, epoch, mesh, members: list, left: false }
  return pairs.keep(tables.views, members, by, inputOf(tables, { kind: 'view', view }))
}

// The gate rule: a link opens when both are in the other's view.
function meet(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  const { star, around } = tables.scope
  const [there, back] = [linkAt(tables, one, other), linkAt(tables, other, one)]
  const { up } = worldIn(tables, scene)
  if (links.isOpen(scene[there]!) || !worlds.has(up, one) || !worlds.has(up, other)) return
  const [mine, theirs] = [faceIn(tables, scene, one), faceIn(tables, scene, other)]
  const early = around === 'opens-early' && theirs.me !== 0
  if (!worlds.has(theirs.here, one) && !early) return
  if (!worlds.has(mine.here, other)) return
  // The backup has its links before it leads.
  const lead = (1 << mine.primary) | (1 << theirs.primary) | (1 << HEIR)
  if (star && !worlds.has(lead, one) && !worlds.has(lead, other)) return
  scene[there] = links.OPEN
  scene[back] = links.OPEN
  act(tables, scene, one, tables.linked[other]!)
  act(tables, scene, other, tables.linked[one]!)
}

/** What was under way between two is lost. */
export function close(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  if (one === other) return
  const { place } = tables
  scene[linkAt(tables, one, other)] = links.CLOSED
  scene[linkAt(tables, other, one)] = links.CLOSED
  scene[place.packets] = packets.without(tables.packets, scene[place.packets]!, one, other)
  scene[place.silent] = packets.without(tables.packets, scene[place.silent]!, one, other)
}

/** A link is lost with what was under way, and there is another. */
export function relink(tables: Tables, scene: Scene, one: PeerId, other: PeerId): void {
  close(tables, scene, one, other)
  meet(tables, scene, one, other)
}

/** The primary removes a member, dead or alive. */
export function remove(tables: Tables, scene: Scene, inc: PeerId): void {
  const { place, scope } = tables
  scene[place.world] = worlds.afterRemoved(tables.worlds, scene[place.world]!, inc)
  const { primary, epoch, members } = worldIn(tables, scene).term
  if (scope.dies) silence(tables, scene, inc)
  close(tables, scene, primary, inc)
  // The session says it to the others before the parts of the primary hear of it.
  say(tables, scene, members, { kind: 'members', from: primary, epoch, members: 0, gone: inc })
  see(tables, scene, primary, primary, epoch, members)
}

// Nothing more reaches who is dead; what it sent before may still arrive.
function silence(tables: Tables, scene: Scene, inc: PeerId): void {
  for (const { to, at } of tables.links) if (to === inc) scene[at] = links.cut(scene[at]!)
}

// A primary says it to all of them.
function say(tables: Tables, scene: Scene, to: number, news: News): void {
  const { from, epoch, members, gone } = news
  const by = (epoch * INCS_MAX + from) * INCS_MAX + gone
  const known = pairs.find(tables.news, members, by)
  const input = known < 0 ? pairs.keep(tables.news, members, by, inputOf(tables, news)) : known
  for (let inc = 1; inc <= tables.members; inc++) {
    if (inc !== from && worlds.has(to, inc)) push(tables, scene, linkAt(tables, from, inc), input)
  }
}

/** The last member is let in: the primary and the newcomer know it at once, the others hear it. */
export function join(tables: Tables, scene: Scene): void {
  const { place, members: inc } = tables
  scene[place.world] = worlds.afterJoined(tables.worlds, scene[place.world]!, inc)
  const { primary, epoch, members } = worldIn(tables, scene).term
  const before = members & ~(1 << inc)
  say(tables, scene, before, { kind: 'members', from: primary, epoch, members, gone: 0 })
  see(tables, scene, primary, primary, epoch, members)
  see(tables, scene, inc, primary, epoch, members)
}

/** The third member leads from now on; the one before may not know. */
export function takeOver(tables: Tables, scene: Scene): void {
  const { place, scope } = tables
  const { primary: before, members: all } = worldIn(tables, scene).term
  const known = scope.around === 'view-not-committed' ? faceIn(tables, scene, HEIR).here : all
  const members = known & ~(1 << before)
  scene[place.world] = worlds.afterLed(tables.worlds, scene[place.world]!, HEIR, members)
  const { epoch } = worldIn(tables, scene).term
  if (scope.dies) silence(tables, scene, before)
  const news: News =
    scope.around === 'takeover-tells-difference'
      ? { kind: 'members', from: HEIR, epoch, members: 0, gone: before }
      : { kind: 'members', from: HEIR, epoch, members, gone: 0 }
  const strangers = strangersTo(tables, scene, members)
  say(tables, scene, members, news)
  see(tables, scene, HEIR, HEIR, epoch, members)
  // On a new link a primary says its view.
  say(tables, scene, strangers, news)
}

function strangersTo(tables: Tables, scene: Scene, members: number): number {
  let strangers = 0
  for (const { from, to, at } of tables.links) {
    if (from === HEIR && worlds.has(members, to) && !links.isOpen(scene[at]!)) strangers |= 1 << to
  }
  return strangers
}
