/**
 * The shipped pieces in a small world: one or two cards, a hand that is checked, others who update
 * them, and every order of words, failovers and absences (P1-P13 of the scopes).
 *
 * The claims have the names of the source (seed 001) where it has names.
 */

import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { ALWAYS, SETTLED } from './pieces-claims.ts'
import * as scenes from './pieces-scene.ts'
import type { Doings, Hand, Scene, Scope, Word } from './pieces-state.ts'
import type { Doing } from './pieces-table.ts'

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
