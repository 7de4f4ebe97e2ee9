/**
 * Requests in the objects' model: members take and give the only object, its owner answers who
 * asks, links are lost and found; and what must come of that. There are no clocks: what ends by a
 * time limit alone does not end here, and is found.
 */

import type { PeerId } from '../../machine.ts'
import { isMine, leads, type Objects } from '../../objects/objects.ts'
import type { Action } from '../../sim/checker.ts'
import { thing } from '../objects-peer.ts'
import * as scenes from './objects-scene.ts'
import { termOf, type Scene, type Tables } from './objects-scene.ts'

/** All that members may ask for and answer, and that may happen to links. */
export function* requesting(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  const { members } = termOf(scene)
  for (const inc of members) {
    if (!scene.up[inc - 1]) continue
    yield* taking(tables, scene, inc)
    yield* giving(tables, scene, inc)
    yield* answering(tables, scene, inc)
  }
  yield* relinking(tables, scene)
}

function* taking(tables: Tables, scene: Scene, inc: PeerId): Iterable<Action<Scene>> {
  const state = scenes.stateOf(tables, scene, inc)
  const own = thing(state)
  const may = tables.scope.takers?.includes(inc) ?? true
  // Who waits for an answer waits for that one.
  if (scene.left.takes === 0 || !may || !own || own.dead || own.hidden) return
  if (own.owner === inc || state.requests.size > 0) return
  yield {
    label: `${inc} takes`,
    environment: true,
    next: (copy) => {
      copy.left.takes--
      scenes.act(tables, copy, inc, { kind: 'take' })
    },
  }
}

function* giving(tables: Tables, scene: Scene, inc: PeerId): Iterable<Action<Scene>> {
  const state = scenes.stateOf(tables, scene, inc)
  const own = thing(state)
  if (scene.left.gives === 0 || !own || !isMine(state, own)) return
  for (const to of state.here.keys()) {
    if (to === inc || !(tables.scope.givees?.includes(to) ?? true)) continue
    yield {
      label: `${inc} gives it to ${to}`,
      environment: true,
      next: (copy) => {
        copy.left.gives--
        scenes.act(tables, copy, inc, { kind: 'give', to })
      },
    }
  }
}

// An application that is asked answers in the end.
function* answering(tables: Tables, scene: Scene, inc: PeerId): Iterable<Action<Scene>> {
  const open = [...scenes.stateOf(tables, scene, inc).asks.values()]
  if (!open.some(({ answer }) => answer === null)) return
  for (const yes of [true, false]) {
    yield {
      label: `${inc} says ${yes ? 'yes' : 'no'}`,
      next: (copy) => scenes.act(tables, copy, inc, { kind: 'reply', yes }),
    }
  }
}

function* relinking(tables: Tables, scene: Scene): Iterable<Action<Scene>> {
  if (scene.left.relinks === 0) return
  const { primary, members } = termOf(scene)
  for (const inc of members) {
    const known = scene.links[scenes.linkOf(primary, inc, scene.peers.length)]
    if (inc === primary || !known || !scene.up[inc - 1] || !scene.up[primary - 1]) continue
    yield {
      label: `the link of ${primary} and ${inc} is lost, and there is another`,
      environment: true,
      next: (copy) => {
        copy.left.relinks--
        scenes.relink(tables, copy, primary, inc)
      },
    }
  }
}

type StateOf = (scene: Scene, inc: PeerId) => Objects

/** request.ends: when all is told nobody waits, and the primary has nothing left to decide. */
export function ends(scene: Scene, stateOf: StateOf): true | string {
  for (const inc of termOf(scene).members) {
    if (!scene.up[inc - 1]) continue
    const state = stateOf(scene, inc)
    const [waits] = state.requests.values()
    if (waits) return `${inc} waits for what came of its ${waits.what}`
    if (!leads(state)) continue
    const [asked] = state.asked.values()
    if (asked) return `${inc} waits for what ${asked.owner} says to ${asked.by}`
    if (state.pending.length > 0) return `${inc} has not decided on a ${state.pending[0]!.what}`
  }
  return true
}

/** request.one: of all who ask about one version one at most is told that it is granted. */
export function one(scene: Scene): true | string {
  for (const [version, granted] of Object.entries(scene.granted)) {
    if (granted.length > 1)
      return `of version ${version} ${granted.join(' and ')} were told granted`
  }
  return true
}
