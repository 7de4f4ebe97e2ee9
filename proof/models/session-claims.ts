/**
 * The claims of the session's model, judged on the states of the processes and on all that
 * was ever told: `role.unique`, `role.register`, `commit.kept`, `commit.fork`,
 * `commit.hidden`, `once`, `view.linear`.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { Model } from '../../packages/sim/src/checker/checker.ts'
import * as interned from './interned.ts'
import * as memo from './memo.ts'
import {
  type Face,
  faceOf,
  isUp,
  type News,
  placeOf,
  registered,
  type Scene,
  type Seen,
  seenOf,
  type Tables,
} from './session-tables.ts'

/** Nothing was seen but the founder, as the primary of the first epoch. */
export function firstSeen(tables: Tables): number {
  const of = { expelled: false, pardoned: false, voted: [] }
  const seen = { primaries: [0, 1], views: [], acknowledged: [], ...of, broken: '' }
  return interned.numberOf(tables.seen, seen)
}

/** Something is seen from outside. @param number that of the news */
export function see(tables: Tables, scene: Scene, number: number): void {
  const at = tables.place.seen
  const before = scene[at]!
  const known = memo.find(tables.seenAfter, before, number)
  if (known !== null) {
    scene[at] = known
    return
  }
  const { primaries, views, acknowledged, ...rest } = interned.valueOf(tables.seen, before)
  const seen = {
    primaries: [...primaries],
    views: [...views],
    acknowledged: [...acknowledged],
    ...rest,
  }
  hear(seen, interned.valueOf(tables.news, number))
  scene[at] = memo.keep(tables.seenAfter, before, number, interned.numberOf(tables.seen, seen))
}

function hear(seen: Seen, news: News): void {
  switch (news.kind) {
    case 'primary':
      return void seen.primaries.push(news.primary)
    case 'view':
      return hearView(seen, news.mv, news.members)
    case 'done':
      return hearDone(seen, news)
    case 'expelled':
      seen.expelled = true
      if (!news.done) seen.broken ||= 'kick.once: it was done, and was told as refused'
      return
    case 'pardoned':
      seen.pardoned = true
      return
    case 'voted':
      seen.voted = [...new Set([...seen.voted, news.by])].toSorted((a, b) => a - b)
      return
    case 'nothing':
      return
    case 'broken':
      seen.broken ||= news.why
  }
}

function hearView(seen: Seen, mv: number, members: PeerId[]): void {
  const told = members.join(' ')
  const before = seen.views[mv]
  if (before === told) return
  if (before) {
    seen.broken ||= `view.linear: version ${mv} was told as ${before} and as ${told}`
  }
  while (seen.views.length < mv) seen.views.push('')
  seen.views[mv] = told
  // Numbers are never used again: who was here and went does not come back.
  for (const inc of members) {
    const wasHere = (text: string): boolean => text.split(' ').includes(`${inc}`)
    const first = seen.views.findIndex(wasHere)
    const last = seen.views.findLastIndex(wasHere)
    const away = seen.views.findIndex(
      (text, at) => at > first && at < last && text !== '' && !wasHere(text),
    )
    if (away < 0) continue
    seen.broken ||= `view.linear: ${inc} was removed in version ${away} and is here in ${last}`
  }
}

type Done = Extract<News, { kind: 'done' }>

// The outcome of an operation was told.
function hearDone(seen: Seen, { id, place, epoch }: Done): void {
  const before = seen.acknowledged[id]
  while (seen.acknowledged.length < id) seen.acknowledged.push({ place: 0, epoch: 0 })
  if (before && before.place !== 0) {
    if (before.place !== place) {
      seen.broken ||= `once: operation ${id} was told as number ${before.place} and ${place}`
    }
  } else seen.acknowledged[id] = { place, epoch }
  const other = seen.acknowledged.findIndex((done, at) => at !== id && done.place === place)
  if (other > 0)
    seen.broken ||= `commit.fork: operations ${other} and ${id} are both number ${place}`
}

/** An operation that was told is with both who may serve. @param number that of the news */
export function judgeDone(tables: Tables, scene: Scene, number: number): void {
  const news = interned.valueOf(tables.news, number)
  if (news.kind !== 'done') return
  const { id, place, epoch } = news
  // Where it was told before, that is what is seen.
  if (seenOf(tables, scene).acknowledged[id]!.epoch !== epoch) tables.passed.twoEpochs = true
  const { primary, backup } = registered(tables, scene)
  for (const inc of [primary, backup]) {
    const at = inc === 0 ? -1 : placeOf(tables, scene, inc)
    if (at < 0 || faceOf(tables, scene, at).done[place - 1] === id) continue
    const why = `commit.hidden: operation ${id} was told, and ${inc}, who may serve, lacks it`
    see(tables, scene, interned.numberOf(tables.news, { kind: 'broken', why }))
  }
}

/** Claims about every state. */
export type Claims = Record<string, (scene: Scene) => true | string>

/** What holds in every state. */
export function always(tables: Tables): Claims {
  const told = (property: string) => (scene: Scene) => {
    const { broken } = seenOf(tables, scene)
    return broken === '' || !broken.startsWith(`${property}:`) || broken
  }
  return {
    'role.unique': (scene) => uniqueRole(tables, scene),
    'role.register': (scene) => inRegister(tables, scene),
    'commit.kept': (scene) => kept(tables, scene),
    'commit.fork': told('commit.fork'),
    'commit.hidden': told('commit.hidden'),
    once: (scene) => {
      const again = doneTwice(tables, scene)
      return again === true ? told('once')(scene) : again
    },
    'view.linear': told('view.linear'),
  }
}

// Process i, if it serves.
function serving(tables: Tables, scene: Scene, i: number): Face | null {
  const face = faceOf(tables, scene, i)
  return face.serves && isUp(tables, scene, i) ? face : null
}

function uniqueRole(tables: Tables, scene: Scene): true | string {
  for (let i = 1; i < tables.members; i++) {
    const face = serving(tables, scene, i)
    for (let j = 0; j < i && face; j++) {
      const other = serving(tables, scene, j)
      if (other?.epoch !== face.epoch) continue
      return `${other.me} and ${face.me} both serve in epoch ${face.epoch}`
    }
  }
  return true
}

function inRegister(tables: Tables, scene: Scene): true | string {
  for (let i = 0; i < tables.members; i++) {
    const face = serving(tables, scene, i)
    if (!face) continue
    const { me, epoch } = face
    const primary = seenOf(tables, scene).primaries[epoch]
    if (primary !== me) return `${me} serves in epoch ${epoch}, whose primary is ${primary}`
  }
  return true
}

function kept(tables: Tables, scene: Scene): true | string {
  const { acknowledged } = seenOf(tables, scene)
  for (let i = 0; i < tables.members && acknowledged.length > 0; i++) {
    const face = serving(tables, scene, i)
    if (!face) continue
    const { me, epoch, done } = face
    for (let seq = 0; seq < acknowledged.length; seq++) {
      const told = acknowledged[seq]!
      if (told.place === 0 || epoch < told.epoch || done[told.place - 1] === seq) continue
      return `operation ${seq} was acknowledged; ${me} serves in epoch ${epoch} without it`
    }
  }
  return true
}

function doneTwice(tables: Tables, scene: Scene): true | string {
  for (let i = 0; i < tables.members; i++) {
    const { me, doneTwice: again } = faceOf(tables, scene, i)
    if (again !== 0 && isUp(tables, scene, i)) return `${me} has done operation ${again} twice`
  }
  return true
}

/** What happens in some state, or the scope is too small. */
export function sometimes(tables: Tables): NonNullable<Model<Scene>['sometimes']> {
  const { scope } = tables
  const acknowledged = (scene: Scene): number =>
    seenOf(tables, scene).acknowledged.filter(({ place }) => place !== 0).length
  const claims: NonNullable<Model<Scene>['sometimes']> = {
    'backed up': (scene) => roleIn(tables, scene, 'backedup'),
    'taken over': () => tables.passed.tookOver,
    'backup dropped': () => tables.passed.dropped,
    'a primary deposed': () => tables.passed.deposed,
    'all operations acknowledged': (scene) => acknowledged(scene) === (scope.operations ?? 0),
  }
  if (scope.resends && scope.operations) {
    claims['an operation acknowledged in two epochs'] = () => tables.passed.twoEpochs
  }
  if (scope.refusals) claims['a backup that is not taken'] = () => tables.passed.declined
  if (scope.vetoes) claims['a takeover taken back'] = () => tables.passed.vetoed
  if (scope.handovers) claims['handed over'] = () => tables.passed.handedOver
  if (scope.restarts) claims['a newcomer let in'] = () => tables.passed.joined
  return claims
}

function roleIn(tables: Tables, scene: Scene, role: string): boolean {
  for (let i = 0; i < tables.members; i++) if (faceOf(tables, scene, i).role === role) return true
  return false
}
