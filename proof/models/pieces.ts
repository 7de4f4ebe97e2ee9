/**
 * The shipped pieces in a small world: one or two cards, a hand that is checked, others who update
 * them, and every order of words, failovers and absences (P1-P13 of the scopes).
 *
 * The claims have the names of the source (seed 001) where it has names.
 */

import { readNews } from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import { byLevel, type Row } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import * as scenes from './pieces-scene.ts'
import {
  type Doing,
  type Doings,
  FACE,
  type Hand,
  newestFor,
  type Recorded,
  type Scene,
  type Scope,
  SECRET,
  shownBy,
  TYPES,
  type Word,
} from './pieces-scene.ts'
import type { Rows } from './rows.ts'

/** The model of one scope. */
export function piecesModel(name: string, scope: Scope): Model<Scene> {
  return {
    name,
    init: () => scenes.begin(scope),
    actions: (scene) => actions(scope, scene),
    always: ALWAYS,
    sometimes: sometimes(scope),
    settled: SETTLED,
    canonical: essence,
    show,
  }
}

/** All steps that are possible. */
export function* actions(scope: Scope, scene: Scene): Iterable<Action<Scene>> {
  if (scene.log.length > 0) {
    yield { label: 'the backup has it', next: (copy) => scenes.replicate(scope, copy) }
  }
  const cards = [...scene.core.pieces.committed.rows.keys()]
  for (const [doing, piece] of doings(scene.others, cards)) {
    yield {
      label: `others ${doing} ${piece}`,
      environment: true,
      next: (copy) => scenes.others(scope, copy, piece, doing),
    }
  }
  for (let at = 0; at < scene.hands.length; at++) yield* ofHand(scope, scene, at)
  yield* takings(scope, scene)
  if (scene.left.failovers > 0) {
    yield {
      label: 'the backup takes over',
      environment: true,
      next: (copy) => scenes.failOver(scope, copy),
    }
  }
  if (scene.left.recoveries > 0) {
    yield {
      label: 'primary and backup die',
      environment: true,
      next: (copy) => scenes.recover(scope, copy),
    }
  }
}

function* takings(scope: Scope, { left, hands }: Scene): Iterable<Action<Scene>> {
  if (left.takes.length > 0) {
    const label = `an action of ${left.takes[0]} takes all`
    yield { label, environment: true, next: (copy) => scenes.takeAway(scope, copy) }
  }
  for (const { player, link } of left.frees > 0 ? hands : []) {
    if (link) continue
    const label = `who serves lets go for ${player}`
    yield { label, environment: true, next: (copy) => scenes.letGo(scope, copy, player) }
  }
}

function* doings(left: Doings, cards: readonly number[]): Iterable<[Doing, number]> {
  for (const [doing, times] of Object.entries(left) as [Doing, number][]) {
    if (times > 0) for (const piece of cards) yield [doing, piece]
  }
}

function* ofHand(scope: Scope, scene: Scene, at: number): Iterable<Action<Scene>> {
  const hand = scene.hands[at]!
  const { player, up, down } = hand
  for (const [doing, piece] of doings(hand.left, [...hand.pieces.published.keys()])) {
    // What follows a loose grab waits for its answer, as the session's handles have it.
    const waits = hand.pieces.pending.get(piece)?.some(({ regrab }) => regrab) ?? false
    if (waits) continue
    yield {
      label: `${player} ${doing} ${piece}`,
      environment: true,
      next: (copy) => scenes.act(copy, copy.hands[at]!, piece, doing),
    }
  }
  if (up.length > 0) {
    const label = `the primary hears ${up[0]!.kind} of ${player}`
    yield { label, next: (copy) => scenes.arriveUp(scope, copy, copy.hands[at]!) }
  }
  if (down.length > 0) {
    const label = `${player} hears ${wordOf(down[0]!)}`
    yield { label, next: (copy) => scenes.arriveDown(scope, copy, copy.hands[at]!) }
  }
  yield* linking(scope, scene, hand, at)
}

function* linking(scope: Scope, scene: Scene, hand: Hand, at: number): Iterable<Action<Scene>> {
  const { player, link, up, down, pending } = hand
  if (!link) {
    const next = (first: boolean) => (copy: Scene) =>
      scenes.follow(scope, copy, copy.hands[at]!, first)
    yield { label: `${player} follows`, next: next(false) }
    if (pending.length > 0) {
      yield { label: `${player} follows, and asks for the table first`, next: next(true) }
    }
    return
  }
  const isQuiet = up.length === 0 && down.length === 0
  if (pending.length > 0 && isQuiet && scene.held.every(({ to }) => to !== player)) {
    yield { label: `${player} asks again`, next: (copy) => scenes.again(copy.hands[at]!) }
  }
  if (scene.left.absences > 0) {
    yield {
      label: `the link of ${player} breaks`,
      environment: true,
      next: (copy) => {
        copy.left.absences--
        scenes.cut(copy.hands[at]!)
      },
    }
  }
}

// Rows are known by their generations: each is what one update in the history made.
function essence({ core, backup, log, held, hands, others, left, lost }: Scene): unknown {
  return [
    [accounts(core), backup && accounts(backup), log.length, others, left],
    lost.map(({ gen }) => gen),
    held.map(({ index, to, word }) => [index, to, keyOf(word)]),
    hands.map((hand) => [
      hand.pending.map(({ seq }) => seq),
      [hand.link, hand.waiting, hand.left, hand.told, hand.fates, hand.seen, hand.made],
      hand.amiss,
      hand.up.map((word) => (word.kind === 'resync' ? 0 : word.seq)),
      hand.down.map(keyOf),
      [hand.pieces.processed, hand.pieces.epoch, hand.pieces.committed.gen],
      [...hand.pieces.published.values()].map(({ id, gen, hidden, refused }) => [
        [id, gen, hidden],
        refused.map((one) => one.gen),
      ]),
      [...hand.pieces.pending].map(([id, list]) => [id, ...list.map(({ seq }) => seq)]),
    ]),
  ]
}

function accounts({ pieces, last, history, discarded, index }: Scene['core']): unknown {
  const { epoch, committed } = pieces
  const line = history.map(({ gen, id, why, re }) => [gen, id, why, re])
  return [epoch, committed.gen, last, line, discarded.map(({ id }) => id), index]
}

function keyOf(word: Word): unknown {
  if (word.kind === 'news') return [1, word.index]
  if (word.kind === 'done') return [2, word.seq, word.outcome]
  return word.kind === 'table' ? [3, word.bytes] : [4, word.index]
}

function wordOf(word: Word): string {
  if (word.kind === 'news') return `news of ${word.gens.map(([, gen]) => genOf(gen)).join()}`
  return word.kind === 'done' ? `what came of ${word.seq}` : word.kind
}

function genOf(gen: number): string {
  return `${Math.floor(gen / 2 ** 32)}.${gen % 2 ** 32}`
}

function sometimes(scope: Scope): Record<string, (scene: Scene) => boolean> {
  const claims: Record<string, (scene: Scene) => boolean> = {}
  const fated = (fate: string) => (scene: Scene) =>
    scene.hands.some(({ fates }) => Object.values(fates).includes(fate))
  const all = (scene: Scene): number[] => scene.core.history.map(({ by }) => by)
  const { does, others, released, failovers, absences, recoveries, bug: variant, around } = scope
  if (variant || around) return {}
  if (does.move) claims['an update is recorded'] = fated('recorded')
  if (does.move && others?.move) claims['an update is discarded'] = fated('conflict')
  if (does.refused) claims['an update is refused'] = fated('refused')
  if (does.clamped) claims['an update is clamped'] = fated('clamped')
  // Who wrests it holds it, and nobody grasps it in passing any more.
  if (does.loose && released && !others?.wrest) {
    claims['a loose grab is honoured late'] = ({ core }) =>
      core.history.some(({ why }) => why === 'loose')
  }
  if (does.loose && !released) claims['a loose grab is discarded'] = fated('conflict')
  if (failovers && does.move) {
    claims['an update is recorded by who took over'] = (scene) =>
      scene.core.pieces.epoch > failovers && all(scene).includes(1)
  }
  if (failovers && scope.lags) claims['an update was lost'] = ({ lost }) => lost.length > 0
  if (absences) claims['a hand is away'] = ({ hands }) => hands.some(({ link }) => !link)
  if (recoveries) claims['a tag is of no history'] = ({ lost }) => lost.length > 0
  return claims
}

function show({ core, hands, held }: Scene): string {
  const line = core.history.map(({ id, gen }) => (id.startsWith('g') ? `g${genOf(gen)}` : id))
  const shown = hands.map((hand) => {
    const tips = Object.values(hand.seen).map((ids) => ids.at(-1))
    return `${hand.player} ${hand.waiting ? 'waits' : 'shows'} ${tips.join(' ')}`
  })
  return `${line.join(' ')}; ${held.length} held; ${shown.join('; ')}`
}

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
      const [mine, theirs] = [phrase(own), phrase({ ...row, fields: right })]
      if (mine !== theirs) return `${hand.player} shows ${mine} of piece ${piece}, it is ${theirs}`
    }
  }
  return true
}

function phrase(row: Row | null): string {
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

/** In all of these every claim holds. */
export const SCOPES = {
  P1: {
    proves: 'O4, O5, O14, O15, O16, O17, O18, O19, O20, O26',
    says: 'two updates here, two there',
    scope: { does: { move: 2 }, others: { move: 2 } },
    states: 300,
  },
  P2: {
    proves: 'O2, O3, O8, O9, O10, O25',
    says: 'three here, three there',
    scope: { does: { move: 3 }, others: { move: 3 } },
    states: 4_000,
  },
  P3: {
    proves: 'O58, O59',
    says: 'two here, one there, a failover',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 1 },
    states: 3_000,
  },
  P4: {
    says: 'two here, two there, two failovers',
    scope: { does: { move: 2 }, others: { move: 2 }, failovers: 2 },
    states: 75_000,
    size: 'deep',
  },
  P5: {
    proves: 'O39, O40, O45, O46',
    says: 'one that is refused, one that is clamped, one there',
    scope: { does: { refused: 1, clamped: 1, move: 1 }, others: { move: 1 } },
    states: 1_500,
  },
  P6: {
    proves: 'O47, O50, O51, O52',
    says: 'a loose grab that is honoured',
    scope: { does: { move: 1, loose: 1 }, others: { move: 2 }, released: true },
    states: 480,
  },
  P7: {
    proves: 'O47, O58',
    says: 'a loose grab that is honoured, a failover',
    scope: { does: { move: 1, loose: 1 }, others: { move: 1 }, released: true, failovers: 1 },
    states: 4_600,
  },
  P8: {
    proves: 'O24, O56',
    says: 'loose grabs that are discarded',
    scope: { does: { move: 1, loose: 2 }, others: { move: 2 } },
    states: 1_500,
  },
  P9: {
    proves: 'O57, O58',
    says: 'two here, one there, a failover to a backup that lags',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 1, lags: true },
    states: 7_600,
  },
  P10: {
    says: 'two here, one there, two failovers to backups that lag',
    scope: { does: { move: 2 }, others: { move: 1 }, failovers: 2, lags: true },
    states: 56_000,
    size: 'deep',
  },
  P11: {
    proves: 'O1, O57',
    says: 'two here, one there, a link that breaks',
    scope: { does: { move: 2 }, others: { move: 1 }, absences: 1, lags: true },
    states: 5_000,
  },
  P12: {
    proves: 'O34, O35, O36, O37',
    says: 'two cards raised at once',
    scope: { does: { move: 1, raise: 1 }, others: { raise: 1 }, cards: 2 },
    states: 400,
  },
  P13: {
    proves: 'O53',
    says: 'a face that comes and goes',
    scope: { does: { grab: 1, release: 1 }, others: { grab: 1, open: 1 } },
    states: 700,
  },
  P14: {
    proves: 'O58',
    says: 'two here, one there, a recovery from what was told',
    scope: { does: { move: 2 }, others: { move: 1 }, recoveries: 1, lags: true },
    states: 5_700,
  },
  P15: {
    proves: 'O57, O58',
    says: 'a link that breaks, and a recovery',
    scope: { does: { move: 1 }, others: { move: 1 }, absences: 1, recoveries: 1, lags: true },
    states: 5_000,
  },
  P16: {
    says: 'two hands, a failover',
    scope: { does: { move: 1 }, hands: 2, failovers: 1 },
    states: 12_000,
    size: 'deep',
  },
  P17: {
    says: 'two hands, a recovery from what one of them was told',
    scope: { does: { move: 1 }, hands: 2, recoveries: 1, lags: true },
    states: 18_000,
    size: 'deep',
  },
  P18: {
    says: 'a loose grab, a link that breaks, a failover',
    scope: {
      does: { loose: 1, move: 1 },
      others: { wrest: 1 },
      absences: 1,
      failovers: 1,
      released: true,
    },
    states: 22_000,
    size: 'deep',
  },
  P19: {
    proves: 'O40, O45',
    says: 'some that are refused, here and there',
    scope: { does: { move: 1, refused: 1 }, others: { move: 1, refused: 2 } },
    states: 4_400,
  },
  P20: {
    proves: 'O40, O45, O58',
    says: 'some that are refused, a failover',
    scope: { does: { refused: 1, move: 1 }, others: { refused: 1 }, failovers: 1 },
    states: 6_300,
  },
  P21: {
    says: 'some that are refused, a link that breaks, a recovery',
    scope: {
      does: { refused: 1, move: 1 },
      others: { refused: 1 },
      absences: 1,
      recoveries: 1,
      lags: true,
    },
    states: 130_000,
    size: 'deep',
  },
  P22: {
    proves: 'O33',
    says: 'a hold that is wrested, and let go of',
    scope: { does: { grab: 1, release: 1 }, others: { wrest: 1, release: 1 } },
    states: 1_000,
  },
  P23: {
    proves: 'O33',
    says: 'actions that take what is held, of others and of its holder',
    scope: { does: { grab: 2, release: 1 }, takes: [9, 1] },
    states: 2_600,
  },
  P24: {
    proves: 'O33',
    says: 'a holder who is away, and is let go for',
    scope: { does: { grab: 1, release: 1 }, others: { grab: 1 }, frees: 1, absences: 1 },
    states: 7_800,
  },
  P25: {
    says: 'two hands that wrest from each other, and an action',
    scope: { does: { grab: 1, wrest: 1 }, hands: 2, takes: [9] },
    states: 46_000,
    size: 'deep',
  },
  P26: {
    proves: 'O33, O58',
    says: 'a hold that is wrested, and a recovery from what was told',
    scope: { does: { grab: 1, release: 1 }, others: { wrest: 1 }, recoveries: 1, lags: true },
    states: 7_800,
  },
  P27: {
    proves: 'O33, O58',
    says: 'a hold that is wrested, an action of its holder, a failover',
    scope: { does: { grab: 1 }, others: { wrest: 1 }, takes: [1], failovers: 1 },
    states: 2_800,
  },
  P28: {
    proves: 'O48',
    says: 'loose grabs of who let go last, and of another',
    scope: { does: { loose: 1 }, hands: 2, others: { move: 1 }, released: true },
    states: 580,
  },
} satisfies Rows<Scope>

/** Each of these is caught, as a violation of the claim, after so many steps. */
export const MUTANTS = {
  'P-X1': {
    proves: 'O12, O13',
    says: 'a tag that is newer than what was processed',
    scope: { does: { move: 1 }, others: { move: 1 }, bug: 'tag-newer' },
    violates: [['linear', 3]],
  },
  'P-X2': {
    proves: 'O23',
    says: '> for >=',
    scope: { does: { move: 1 }, bug: 'strict' },
    violates: [['discard', 2]],
  },
  'P-X3': {
    proves: 'O22, O27',
    says: 'own updates count as those of others',
    scope: { does: { move: 2 }, others: { move: 1 }, bug: 'no-gen-before' },
    violates: [['discard', 4]],
  },
  'P-X4': {
    proves: 'O59',
    says: 'what was performed is not known to the backup',
    scope: { does: { move: 2 }, failovers: 1, around: 'numbers-not-replicated' },
    violates: [['once', 5]],
  },
  'P-X5': {
    proves: 'O57',
    says: 'who was away goes on with what is void',
    scope: {
      does: { move: 2 },
      others: { move: 1 },
      absences: 1,
      bug: 'naive-resume',
    },
    violates: [['linear', 10]],
  },
  'P-X6': {
    proves: 'O36',
    says: 'a new level keeps its old generation',
    scope: { does: { raise: 1 }, cards: 2, bug: 'zg-stays' },
    violates: [['z.newest', 2]],
  },
  'P-X7': {
    proves: 'O56',
    says: 'a loose grab that is refused is not answered, as in the source',
    scope: { does: { loose: 1 }, others: { move: 1 }, bug: 'silent-loose' },
    violates: [['note', 5]],
  },
  'P-X8': {
    proves: 'O58',
    says: 'told before the backup has it',
    scope: {
      does: { move: 1 },
      failovers: 1,
      lags: true,
      around: 'release-early',
    },
    violates: [['told', 5]],
  },
  'P-X9': {
    proves: 'O53',
    says: 'the same bytes for all',
    scope: { does: {}, others: { grab: 1 }, bug: 'secret-to-all' },
    violates: [['secret', 0]],
  },
  'P-X10': {
    proves: 'O45',
    says: 'who is refused makes stale what others do, as in the source',
    scope: {
      does: { move: 1 },
      others: { refused: 1 },
      bug: 'refusal-to-all',
    },
    violates: [['discard', 3]],
  },
  'P-X11': {
    proves: 'O40',
    says: 'who is refused goes on from what never came to be',
    scope: { does: { refused: 1, move: 1 }, bug: 'refusal-to-nobody' },
    violates: [['linear', 4]],
  },
  'P-X12': {
    proves: 'O33',
    says: 'who holds what an action lets go of is not told',
    scope: { does: { grab: 1 }, takes: [9], bug: 'loss-untold' },
    violates: [['lost', 6]],
  },
  'P-X13': {
    proves: 'O33',
    says: 'the loss of a hold is told to who did not hold',
    scope: { does: {}, others: { grab: 1, release: 1 }, bug: 'loss-to-others' },
    violates: [['lost', 4]],
  },
  'P-X14': {
    proves: 'O48',
    says: 'a loose grab is honoured from anybody',
    scope: {
      does: { loose: 1 },
      hands: 2,
      others: { move: 1 },
      released: true,
      bug: 'loose-of-all',
    },
    violates: [['loose', 3]],
  },
} satisfies Rows<Scope>
