/**
 * Requests in the objects' model: members take and give the only object, its owner answers who
 * asks, links are lost and found. There are no clocks: what ends by a time limit alone does not end
 * here, and is found.
 */

import { isMine } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import * as budgets from './budgets.ts'
import * as memo from './memo.ts'
import { act, doing, spending } from './objects-acts.ts'
import * as links from './objects-links.ts'
import * as scenes from './objects-scene.ts'
import { inputOf, linkAt, type Scene, type Step, type Tables, worldIn } from './objects-tables.ts'
import * as worlds from './objects-worlds.ts'

/** All that members may ask for and answer, and that may happen to links; behind other steps. */
export function requesting(tables: Tables): (scene: Scene, steps: Step[]) => void {
  const { place, members } = tables
  const asking = memo.remembering((peer, left) => [
    ...taking(tables, peer, left),
    ...giving(tables, peer, left),
    ...answering(tables, peer),
  ])
  const relinking = memo.remembering((primary, inc) => relinkStep(tables, primary, inc))
  return (scene, steps) => {
    const { up, term } = worldIn(tables, scene)
    const left = scene[place.left]!
    for (let inc = 1; inc <= members; inc++) {
      if (!worlds.has(term.members & up, inc)) continue
      steps.push(...asking(scene[place.peer + inc - 1]!, left))
    }
    const { primary } = term
    if (budgets.leftOf(tables.budgets, left).relinks === 0 || !worlds.has(up, primary)) return
    for (let inc = 1; inc <= members; inc++) {
      if (inc === primary || !worlds.has(term.members & up, inc)) continue
      if (links.isOpen(scene[linkAt(tables, primary, inc)]!)) steps.push(relinking(primary, inc))
    }
  }
}

function taking(tables: Tables, peer: number, left: number): Step[] {
  const { state, me, own } = tables.faces.all[peer]!
  const may = tables.scope.takers?.includes(me) ?? true
  const { takes } = budgets.leftOf(tables.budgets, left)
  // Who waits for an answer waits for that one.
  if (takes === 0 || !may || !own || own.dead || own.hidden) return []
  if (own.owner === me || state.requests.size > 0) return []
  return [doing(tables, me, 'takes', `${me} takes`, { kind: 'take' })]
}

function giving(tables: Tables, peer: number, left: number): Step[] {
  const { givees } = tables.scope
  const { state, me, own } = tables.faces.all[peer]!
  const { gives } = budgets.leftOf(tables.budgets, left)
  if (gives === 0 || !own || !isMine(state, own)) return []
  return [...state.here.keys()]
    .filter((to) => to !== me && (givees?.includes(to) ?? true))
    .map((to) => doing(tables, me, 'gives', `${me} gives it to ${to}`, { kind: 'give', to }))
}

// An application that is asked answers in the end.
function answering(tables: Tables, peer: number): Step[] {
  const { state, me } = tables.faces.all[peer]!
  const open = [...state.incomingAsks.values()]
  if (!open.some(({ answer }) => answer === null)) return []
  return [true, false].map((yes) => {
    const input = inputOf(tables, { kind: 'reply', yes })
    const next = (scene: Scene): void => act(tables, scene, me, input)
    return { label: `${me} says ${yes ? 'yes' : 'no'}`, next }
  })
}

function relinkStep(tables: Tables, primary: number, inc: number): Step {
  const label = `the link of ${primary} and ${inc} is lost, and there is another`
  const next = (scene: Scene): void => scenes.relink(tables, scene, primary, inc)
  return spending(tables, 'relinks', label, next)
}
