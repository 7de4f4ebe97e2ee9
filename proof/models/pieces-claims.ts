/** What must hold of the pieces, in the words of docs/protocols/pieces.md. */

import { byLevel, type Row } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { readNews } from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import { FACE, SECRET, TYPES } from './pieces-table.ts'
import { newestFor, shownBy } from './pieces-scene.ts'
import type { Hand, Recorded, Scene } from './pieces-state.ts'

/** A claim: true, or what is wrong. */
export type Claim = (scene: Scene) => true | string

function ofPiece(scene: Scene, piece: number): Recorded[] {
  return scene.core.history.filter((each) => each.piece === piece)
}

// What others may not do is not in the line of that player (O45).
function lineOf(scene: Scene, piece: number, player: number): Recorded[] {
  return ofPiece(scene, piece).filter((each) => !isOfOthers(each, player))
}

function isOfOthers({ why, re }: Recorded, player: number): boolean {
  return why === 'inapplicable' && !re.startsWith(`${player}.`)
}

function pieces(scene: Scene): number[] {
  return [...new Set(scene.core.history.map(({ piece }) => piece))]
}

function handOf(scene: Scene, player: number): Hand | undefined {
  return scene.hands.find((hand) => hand.player === player)
}

// Each recorded update of a hand goes on from the one that was recorded before it.
function linear(scene: Scene): true | string {
  for (const piece of pieces(scene)) {
    for (const one of ofPiece(scene, piece)) {
      const { id, by } = one
      const made = handOf(scene, by)?.made[id]
      const line = lineOf(scene, piece, by)
      const at = line.indexOf(one)
      const before = line[at - 1]?.id ?? 'none'
      if (made && made.parent !== before) {
        return `${id} goes on from ${made.parent}, and is recorded after ${before}`
      }
    }
  }
  return true
}

function forward(scene: Scene): true | string {
  const { history } = scene.core
  const at = history.findIndex(({ gen }, i) => i > 0 && gen <= history[i - 1]!.gen)
  if (at >= 0) return `${history[at]!.gen} comes after ${history[at - 1]!.gen}`
  const reused = scene.lost.find(({ gen, id }) => {
    return history.some((each) => each.gen === gen && each.id !== id)
  })
  return reused ? `generation ${reused.gen} is given twice` : true
}

function once(scene: Scene): true | string {
  const own = scene.core.history.filter(({ by }) => by !== 0).map(({ id }) => id)
  const twice = own.find((id, at) => own.indexOf(id) !== at)
  return twice === undefined || `${twice} is recorded twice`
}

// Who lost, lost to an update of somebody else that it had not seen.
function discard(scene: Scene): true | string {
  const { core, lost } = scene
  for (const { id, player, piece, tag, kind } of core.discarded) {
    if (core.history.some((each) => each.id === id)) return `${id} is recorded and discarded`
    if (kind !== 'conflict') continue
    const beat = lineOf(scene, piece, player).find((each) => {
      return each.by !== player && each.gen > tag && !isAncestor(scene, each.id, id, player)
    })
    // A tag of a history that a recovery lost (O58).
    const isLost =
      lost.some(({ gen }) => gen === tag) || core.pieces.committed.lostRanges.length > 0
    if (!beat && !isLost) return `${id} is discarded, and no update that it lacks came first`
  }
  return true
}

function isAncestor(scene: Scene, ancestor: string, id: string, player: number): boolean {
  for (let at: string | undefined = id, steps = 0; at && steps < 50; steps++) {
    if (at === ancestor) return true
    at = parentOf(scene, at, player)
  }
  return false
}

function parentOf(scene: Scene, id: string, player: number): string | undefined {
  const made = handOf(scene, Number(id.split('.')[0]))?.made[id]
  if (made) return made.parent
  const known = scene.core.history.find((each) => each.id === id)
  const line = known ? lineOf(scene, known.piece, player) : []
  return known && line[line.indexOf(known) - 1]?.id
}

// No two updates of one hand go on from the same one.
function forwards(scene: Scene): true | string {
  for (const { made } of scene.hands) {
    const all = Object.entries(made).map(([id, { piece, parent }]) => [id, `${piece} ${parent}`])
    const at = all.findIndex(([, from], i) => all.findIndex((each) => each[1] === from) !== i)
    if (at >= 0) return `${all[at]![0]} and another go on from ${all[at]![1]}`
  }
  return true
}

// What was superseded is never displayed again; but a loose grab is, on top of what came.
function display(scene: Scene): true | string {
  for (const { player, seen, made } of scene.hands) {
    for (const [piece, ids] of Object.entries(seen)) {
      const last = ids.at(-1)!
      if (ids.indexOf(last) === ids.length - 1 || made[last]?.loose) continue
      return `${player} displays ${last} of piece ${piece} once more: ${ids.join(' ')}`
    }
  }
  return true
}

// Behind what a hand was told come, in order, those that are on their way to it.
function record(scene: Scene): true | string {
  for (const hand of scene.hands) {
    if (!hand.link || hand.waiting) continue
    const held = scene.held.filter(({ to }) => to === hand.player).map(({ word }) => word)
    const news = [...hand.down, ...held].flatMap((word) => (word.kind === 'news' ? word.gens : []))
    for (const [piece, row] of hand.pieces.published) {
      const gen = newestFor(row, hand.player)
      const all = ofPiece(scene, piece)
      const others = all.filter((each) => isOfOthers(each, hand.player)).map((each) => each.gen)
      const line = lineOf(scene, piece, hand.player).map((each) => each.gen)
      const behind = line.slice(line.indexOf(gen) + 1)
      const told = news.filter(([of]) => of === piece).map(([, each]) => each)
      const coming = told.filter((each) => !others.includes(each))
      if (line.includes(gen) && behind.join() === coming.join()) continue
      return `${hand.player} has ${gen}; ${coming.join()} come, recorded are ${line.join()}`
    }
  }
  return true
}

// What a hand is told of its update is so.
function told(scene: Scene): true | string {
  const { core, lost } = scene
  // What a recovery lost may have been told; what only the primary had may not.
  const all = isRecovered(scene) ? [...core.history, ...lost] : core.history
  for (const { fates } of scene.hands) {
    for (const [id, fate] of Object.entries(fates)) {
      const isThis = ({ id: own, re, why }: Recorded): boolean =>
        own === id || (re === id && why !== 'inapplicable')
      const isGood = ['recorded', 'clamped'].includes(fate)
      if (isGood && !all.some(isThis)) return `${id} is ${fate}: it is not`
      const isBad = ['conflict', 'refused', 'held', 'bogus'].includes(fate)
      if (isBad && core.history.some(isThis)) return `${id} is not ${fate}`
      if (fate === 'bogus') return `${id} is taken for nonsense`
      if (fate === 'unknown' && !isRecovered(scene)) return `nobody knows of ${id}`
    }
  }
  return true
}

function isRecovered({ core }: Scene): boolean {
  return core.pieces.committed.lostRanges.length > 0
}

function total(scene: Scene): true | string {
  const rows = [...scene.core.pieces.committed.rows.values()]
  const sorted = rows.toSorted(byLevel)
  const at = sorted.findIndex((row, i) => i > 0 && byLevel(sorted[i - 1]!, row) === 0)
  return at < 0 || `two pieces lie at level ${sorted[at]!.z}, ${sorted[at]!.zg}`
}

// The newest word about a level is the nearest to the eye, also where levels are equal (O36, O37).
function newest(scene: Scene): true | string {
  for (const { id, zg } of scene.core.pieces.committed.rows.values()) {
    const last = ofPiece(scene, id).findLast(({ raises }) => raises)
    if (last && last.gen !== zg) return `the level of piece ${id} is of ${zg}, set by ${last.gen}`
  }
  return true
}

// No bytes on their way to a hand, and nothing that it keeps, hold a face that it may not see.
function secret(scene: Scene): true | string {
  for (const hand of scene.hands) {
    const bare = rowsOf(hand).find((row) => {
      const may = (TYPES[0]!.hides(row, hand.player) & SECRET) === 0
      return !may && (row.hidden & SECRET) === 0 && row.fields[2] === FACE
    })
    if (bare) return `${hand.player} is told the face of piece ${bare.id}`
  }
  return true
}

function rowsOf(hand: Hand): Row[] {
  const words = hand.down.flatMap((word) => {
    if (word.kind !== 'news' && word.kind !== 'table') return []
    const said = readNews(word.bytes, TYPES)
    if (!said) return []
    return Array.isArray(said) ? said.flatMap(({ row }) => row ?? []) : said.rows
  })
  return [...words, ...hand.pieces.published.values()]
}

// What is grasped in passing was let go of last by who grasps it (O48).
function loose(scene: Scene): true | string {
  for (const piece of pieces(scene)) {
    const all = ofPiece(scene, piece)
    for (const [at, { why, re }] of all.entries()) {
      if (why !== 'loose') continue
      const held = all.findLastIndex(({ heldBy }, i) => i < at && heldBy !== 0)
      // Of what nobody held since the cards were dealt, the first hand let go.
      const last = held < 0 ? scene.hands[0]!.player : all[held + 1]!.actor
      if (!re.startsWith(`${last}.`)) return `${re} is honoured, and ${last} let go of ${piece}`
    }
  }
  return true
}

// Who lost a hold is told so once, by whom and why; and nobody else is.
function lost(scene: Scene): true | string {
  return scene.hands.find((hand) => hand.amiss !== '')?.amiss ?? true
}

/** Hold at every instant. */
export const ALWAYS: Readonly<Record<string, Claim>> = {
  linear,
  'gen.forward': forward,
  once,
  discard,
  forwards,
  display,
  record,
  told,
  loose,
  lost,
  'z.total': total,
  'z.newest': newest,
  secret,
}

// All show what the primary has (O26).
function agreed(scene: Scene): true | string {
  for (const hand of scene.hands) {
    for (const [piece, row] of scene.core.pieces.committed.rows) {
      const own = shownBy(hand, piece)
      const hidden = TYPES[0]!.hides(row, hand.player) | row.hidden
      const right = [...row.fields]
      if (hidden !== 0) right[2] = 0
      const [mine, theirs] = [essence(own), essence({ ...row, fields: right })]
      if (mine !== theirs) return `${hand.player} shows ${mine} of piece ${piece}, it is ${theirs}`
    }
  }
  return true
}

function essence(row: Row | null): string {
  if (!row) return 'nothing'
  const { gen, by, z, zg, heldBy, fields, refused } = row
  const whom = refused.map((one) => `${one.by} ${one.gen}`)
  return `${gen} by ${by}, not ${whom.join()}, at ${z} ${zg} held by ${heldBy}: ${fields.join()}`
}

function noted(scene: Scene): true | string {
  for (const { player, pieces: state, pending } of scene.hands) {
    if (state.pending.size > 0) return `${player} still notes what it did`
    if (pending.length > 0) return `${player} still asks for ${pending[0]!.seq}`
  }
  return true
}

function answered(scene: Scene): true | string {
  for (const { made, fates } of scene.hands) {
    const open = Object.keys(made).find((id) => fates[id] === undefined)
    if (open !== undefined) return `of ${open} nothing was told`
  }
  return true
}

/** Hold when nothing is under way. */
export const SETTLED: Readonly<Record<string, Claim>> = {
  note: noted,
  settled: agreed,
  told: answered,
}
