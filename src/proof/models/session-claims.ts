/**
 * The claims of the session's model, judged on the states of the processes and on all that
 * was ever told: `role.unique`, `role.register`, `commit.kept`, `commit.fork`,
 * `commit.hidden`, `once`, `view.linear`.
 */

import type { PeerId } from '../../machine.ts'
import { serves } from '../../session/state.ts'
import type { Model } from '../../sim/checker.ts'
import * as interned from './interned.ts'
import {
  placeOf,
  processOf,
  registerNow,
  type Scene,
  type Seen,
  type Tables,
} from './session-tables.ts'

/** A view of that version was told. */
export function seeView(scene: Scene, mv: number, members: PeerId[]): void {
  const told = members.join(' ')
  const before = scene.seen.views[mv]
  if (before === told) return
  const seen = renewed(scene)
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

// What was seen, to be changed: copies of the scene share what was before.
function renewed(scene: Scene): Seen {
  const { views, acknowledged } = scene.seen
  const seen = { ...scene.seen, views: views.slice(), acknowledged: acknowledged.slice() }
  scene.seen = seen
  return seen
}

/** The outcome of an operation was told. */
export function seeDone(
  tables: Tables,
  scene: Scene,
  { id, place, epoch }: { id: number; place: number; epoch: number },
): void {
  const seen = renewed(scene)
  const before = seen.acknowledged[id]
  while (seen.acknowledged.length < id) seen.acknowledged.push({ place: 0, epoch: 0 })
  if (before && before.place !== 0) {
    if (before.place !== place) {
      seen.broken ||= `once: operation ${id} was told as number ${before.place} and ${place}`
    }
    if (before.epoch !== epoch) tables.passed.twoEpochs = true
  } else seen.acknowledged[id] = { place, epoch }
  const other = seen.acknowledged.findIndex((done, at) => at !== id && done.place === place)
  if (other > 0)
    seen.broken ||= `commit.fork: operations ${other} and ${id} are both number ${place}`
  const { primary, backup } = interned.valueOf(tables.registers, registerNow(tables, scene))
  for (const inc of [primary, backup]) {
    const at = inc === 0 ? -1 : placeOf(tables, scene, inc)
    if (at < 0 || processOf(tables, scene, at).done[place - 1] === id) continue
    seen.broken ||= `commit.hidden: operation ${id} was told, and ${inc}, who may serve, lacks it`
  }
}

/** Claims about every state. */
export type Claims = Record<string, (scene: Scene) => true | string>

/** What holds in every state. */
export function always(tables: Tables): Claims {
  const told = (property: string) => (scene: Scene) =>
    scene.seen.broken.startsWith(`${property}:`) ? scene.seen.broken : true
  return {
    'role.unique': (scene) => uniqueRole(tables, scene),
    'role.register': (scene) => registered(tables, scene),
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

function serving(tables: Tables, scene: Scene): { inc: PeerId; epoch: number; done: number[] }[] {
  return scene.processes.flatMap((number, i) => {
    const { session, done } = interned.valueOf(tables.processes, number)
    if (!scene.up[i] || !serves(session)) return []
    return [{ inc: session.me, epoch: session.server.epoch, done }]
  })
}

function uniqueRole(tables: Tables, scene: Scene): true | string {
  const epochs = new Map<number, PeerId>()
  for (const { inc, epoch } of serving(tables, scene)) {
    const other = epochs.get(epoch)
    if (other !== undefined) return `${other} and ${inc} both serve in epoch ${epoch}`
    epochs.set(epoch, inc)
  }
  return true
}

function registered(tables: Tables, scene: Scene): true | string {
  for (const { inc, epoch } of serving(tables, scene)) {
    const primary = scene.seen.primaries[epoch]
    if (primary !== inc) return `${inc} serves in epoch ${epoch}, whose primary is ${primary}`
  }
  return true
}

function kept(tables: Tables, scene: Scene): true | string {
  for (const { inc, epoch, done } of serving(tables, scene)) {
    for (const [seq, told] of scene.seen.acknowledged.entries()) {
      if (told.place === 0 || epoch < told.epoch || done[told.place - 1] === seq) continue
      return `operation ${seq} was acknowledged; ${inc} serves in epoch ${epoch} without it`
    }
  }
  return true
}

function doneTwice(tables: Tables, scene: Scene): true | string {
  for (const [i, number] of scene.processes.entries()) {
    const { session, done } = interned.valueOf(tables.processes, number)
    const again = done.find((seq, at) => done.indexOf(seq) !== at)
    if (scene.up[i] && again !== undefined) return `${session.me} has done operation ${again} twice`
  }
  return true
}

/** What happens in some state, or the scope is too small. */
export function sometimes(tables: Tables): NonNullable<Model<Scene>['sometimes']> {
  const { scope } = tables
  const acknowledged = (scene: Scene): number =>
    scene.seen.acknowledged.filter(({ place }) => place !== 0).length
  const claims: NonNullable<Model<Scene>['sometimes']> = {
    'backed up': (scene) => roleIn(tables, scene, 'backedup'),
    'taken over': () => tables.passed.tookOver,
    'backup dropped': () => tables.passed.dropped,
    'a primary deposed': () => tables.passed.deposed,
    'all operations acknowledged': (scene) => acknowledged(scene) === (scope.operations ?? 0),
  }
  if (scope.resends) {
    claims['an operation acknowledged in two epochs'] = () => tables.passed.twoEpochs
  }
  if (scope.vetoes) claims['a takeover taken back'] = () => tables.passed.vetoed
  if (scope.handovers) claims['handed over'] = () => tables.passed.handedOver
  if (scope.restarts) claims['a newcomer let in'] = () => tables.passed.joined
  return claims
}

function roleIn(tables: Tables, scene: Scene, role: string): boolean {
  return scene.processes.some(
    (number) => interned.valueOf(tables.processes, number).session.server.role === role,
  )
}
