/**
 * The shipped table in a small world: a primary, a backup that may lag, players who set timers,
 * take them back and draw, time that passes, failovers, and recoveries from what was told.
 * The verbs are the shipped ones (actions/, the draws of pieces/); around them stands what the
 * session does: an outcome is kept with its changes, waits for the backup, and is asked for again.
 */

import {
  type Actions,
  actionsPart,
  create,
  decodeAnswer,
  encodeCall,
  encodeFire,
  type Run,
  type Table,
} from '../../packages/holdfast/src/actions/protocol/actions.ts'
import { find } from '../../packages/holdfast/src/actions/protocol/timers.ts'
import { type GameTable, tableOf } from '../../packages/holdfast/src/pieces/table.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import type { Effected, PartView } from '../../packages/holdfast/src/kind/protocol/part.ts'
import {
  create as createPieces,
  type Pieces,
  piecesPart,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { numbering } from '../../packages/sim/src/checker/cells.ts'
import type { Rows } from './rows.ts'

/** What a player does. `gamble` draws and then throws, telling it. */
export type Doing = 'later' | 'cancel' | 'roll' | 'gamble'

/** How much may happen in one model; what is not given does not happen. */
export interface Scope {
  does: Partial<Record<Doing, number>>
  failovers?: number
  /** Primary and backup die at once: what the player was told is the session. */
  recoveries?: number
  /** A bug around the table. */
  bug?: 'row-stays-at-backup' | 'anybody-fires' | 'successor-asks-not' | 'draw-not-spent'
  /** A player asks for timer 1 as the server does. */
  forged?: number
}

/** One operation: of the player by its number, or of who serves for a timer. */
type Op = { by: 'player'; seq: number; what: Doing } | { by: number; timer: number }

/** An operation that is recorded. */
interface Done {
  /** By which it is known in all copies. */
  index: number
  op: Op
  ok: boolean
  /** The timer that ran. */
  rang: number
  at: Millis
  outcome: Uint8Array
}

interface Entry {
  done: Done
  effected: Effected
}

/** A machine that serves or stands by. */
interface Core {
  inc: number
  epoch: number
  actions: Actions
  pieces: Pieces
  history: Done[]
}

/**
 * Everything at one instant. Copies share the machines, what was told, and all that is in lists: a
 * step takes what it changes through `own`.
 */
export interface Scene {
  now: Millis
  core: Core
  backup: Core
  /** Entries of the log that the backup lacks, with what waits for them. */
  log: Entry[]
  /** Operations of the player without an outcome, in order. */
  pending: Op[]
  /** Timers that somebody asked for as the server. */
  asks: { by: number; timer: number }[]
  /** As the player was told it. */
  told: { actions: Actions; pieces: Pieces; history: Done[] }
  /** All draws that anybody was ever told. */
  draws: number[]
  left: Record<Doing | 'failovers' | 'recoveries' | 'forged', number>
  /** Operations that were asked for, and recorded, so far. */
  asked: number
  recorded: number
}

const DUE_MS: Millis = 2_000
const TICK_MS: Millis = 1_000
const END_MS: Millis = 4_000
/** So many sides that two draws are the same draw if they are the same number. */
const SIDES = 2 ** 31
const PLAYER = 1

const runs = new Map<string, Run>([
  ['ring', (table, args) => table.set(`rang ${String(args)}`, table.now)],
  ['later', (table: Table, args) => table.later(DUE_MS, { name: 'ring' }, args)],
  ['cancel', (table: Table) => table.cancel(1)],
  ['roll', (table) => (table as GameTable).draw(SIDES)],
  [
    'gamble',
    (table) => {
      throw new Error(`lost with ${(table as GameTable).draw(SIDES)}`)
    },
  ],
])
const piecesOf = piecesPart([])
const plain = actionsPart(runs)

/** The model of one scope. */
export function tablesModel(name: string, scope: Scope): Model<Scene> {
  const numberOf = numbering(coreEssence)
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'timer.once': once,
      'timer.due': due,
      'timer.cancelled': cancelled,
      'draw.once': drawOnce,
    },
    sometimes: sometimes(scope),
    settled: { 'timer.runs': ran, told: answered },
    canonical: (scene) => essence(scene, numberOf),
    copy: sharing,
    show,
  }
}

function sharing(scene: Scene): Scene {
  const { log, pending, asks, draws, left } = scene
  return {
    ...scene,
    log: log.slice(),
    pending: pending.slice(),
    asks: asks.slice(),
    draws: draws.slice(),
    left: { ...left },
  }
}

// One of these that this scene shares with no other. What is in a history is never changed.
function own<Name extends 'core' | 'backup' | 'told'>(scene: Scene, name: Name): Scene[Name] {
  const { actions: timers, pieces, history, ...rest } = scene[name] as Core
  const copied = { ...rest, actions: clone(timers), pieces: clone(pieces) }
  return (scene[name] = { ...copied, history: history.slice() } as Scene[Name])
}

function begin({ does, failovers = 0, recoveries = 0, forged = 0 }: Scope): Scene {
  const core = lead({ actions: create(), pieces: createPieces(Uint8Array.of(7)), history: [] }, 1)
  const { later = 0, cancel = 0, roll = 0, gamble = 0 } = does
  return {
    now: 0,
    core,
    backup: copyOf(core),
    log: [],
    pending: [],
    asks: [],
    told: { actions: create(), pieces: createPieces(), history: [] },
    draws: [],
    left: { later, cancel, roll, gamble, failovers, recoveries, forged },
    asked: 0,
    recorded: 0,
  }
}

type Kept = Pick<Core, 'actions' | 'pieces' | 'history'>

function lead(kept: Kept, epoch: number): Core {
  const inc = 100 + epoch
  const view: PartView = {
    ...{ session: 'a', me: inc, primary: inc, epoch, mesh: false, left: false },
    members: [{ inc, player: 9 }],
  }
  const silent = { send: () => 0, emit: () => {} }
  plain.view!(kept.actions, 0, view, silent)
  piecesOf.view!(kept.pieces, 0, view, silent)
  return { ...kept, inc, epoch }
}

function copyOf(core: Core): Core {
  const [actions, pieces] = [create(), createPieces()]
  plain.restore!(actions, plain.snapshot!(core.actions))
  piecesOf.restore!(pieces, piecesOf.snapshot!(core.pieces))
  return { ...core, actions, pieces, history: [...core.history] }
}

// What was written follows from what was done, but for what a mutant leaves out.
function essence(
  { core, backup, told, ...rest }: Scene,
  numberOf: (core: Core) => number,
): unknown {
  const { now, log, pending, asks, draws, left } = rest
  const heard = told.history.length
  return [now, numberOf(core), numberOf(backup), log.length, heard, pending, asks, draws, left]
}

function coreEssence({ epoch, actions: { committed, timers }, pieces, history }: Core): unknown {
  const done = history.map(({ op, ok, rang, at }) => [op, ok, rang, at])
  return [epoch, [...committed], timers.askAt, pieces.committed.draws, done]
}

/** All steps that are possible. */
function* actions(scope: Scope, scene: Scene): Iterable<Action<Scene>> {
  const { left, pending, asks, log, core, now } = scene
  for (const what of ['later', 'cancel', 'roll', 'gamble'] as const) {
    if (left[what] === 0) continue
    const next = (copy: Scene): void => {
      copy.left[what]--
      copy.pending.push({ by: 'player', seq: ++copy.asked, what })
    }
    yield { label: `the player asks: ${what}`, environment: true, next }
  }
  const op = pending.find((each) => !isKnown(core, each))
  if (op) {
    const next = (copy: Scene): void => perform(scope, copy, op)
    yield { label: 'the primary performs it', next }
  }
  for (const [i, { by, timer }] of asks.entries()) {
    const label = `the primary hears ${by} ask for timer ${timer}`
    const next = (copy: Scene): void => {
      copy.asks.splice(i, 1)
      perform(scope, copy, { by, timer })
    }
    yield { label, next }
  }
  if (log.length > 0) {
    yield { label: 'the backup has it', next: (copy) => replicate(scope, copy) }
  }
  if (isDue(scene)) yield { label: 'the primary looks at the clock', next: look }
  if (now < END_MS) {
    const next = (copy: Scene): void => {
      copy.now += TICK_MS
    }
    yield { label: 'time passes', next }
  }
  yield* mischief(scope, scene)
}

function* mischief(scope: Scope, { left }: Scene): Iterable<Action<Scene>> {
  if (left.forged > 0) {
    const next = (copy: Scene): void => {
      copy.left.forged--
      copy.asks.push({ by: PLAYER, timer: 1 })
    }
    yield { label: 'the player asks for timer 1', environment: true, next }
  }
  if (left.failovers > 0) {
    const next = (copy: Scene): void => {
      failOver(copy)
      if (scope.bug === 'successor-asks-not') copy.core.actions.timers.askAt = Infinity
    }
    yield { label: 'the backup takes over', environment: true, next }
  }
  if (left.recoveries > 0) {
    yield { label: 'primary and backup die', environment: true, next: recover }
  }
}

function isKnown({ history }: Core, op: Op): boolean {
  return 'seq' in op && history.some((done) => 'seq' in done.op && done.op.seq === op.seq)
}

function isDue({ core, now }: Scene): boolean {
  const { first, askAt } = core.actions.timers
  return first <= now && askAt <= now
}

// Who serves asks itself for what is due.
function look(scene: Scene): void {
  const { now } = scene
  const core = own(scene, 'core')
  plain.clock!(core.actions, 0)
  plain.wake!(core.actions, now, {
    send: () => 0,
    emit: (event) => {
      const { ids } = event as { ids: number[] }
      const asked = scene.asks.filter(({ by }) => by === core.inc).map((ask) => ask.timer)
      // As the session has it: what it has asked for and has no answer about, it asks once.
      for (const timer of ids) if (!asked.includes(timer)) scene.asks.push({ by: core.inc, timer })
    },
  })
}

function perform({ bug }: Scope, scene: Scene, op: Op): void {
  const { now } = scene
  const core = own(scene, 'core')
  plain.clock!(core.actions, 0)
  const part = actionsPart(runs, [tableOf(core.pieces, [], [])])
  const timer = 'timer' in op ? find(core.actions.committed, op.timer) : null
  const body = 'timer' in op ? encodeFire(op.timer) : encodeCall(op.what, op.seq)
  const inc = 'timer' in op ? op.by : PLAYER
  const isForged = bug === 'anybody-fires' && 'timer' in op
  const [by, at] = isForged ? [core.inc, now + DUE_MS] : [inc, now]
  const effected = part.perform!(core.actions, at, body, by, PLAYER)
  if (bug === 'draw-not-spent' && effected.changes.length === 0) effected.also = []
  // That nothing was done is of no use to anybody.
  if ('timer' in op && effected.changes.length === 0) return
  const answer = decodeAnswer(effected.outcome)
  const rang = timer && effected.changes.length > 0 && 'timer' in op ? op.timer : 0
  const { outcome } = effected
  const done: Done = {
    index: ++scene.recorded,
    op,
    ok: answer?.ok ?? false,
    rang,
    at: now,
    outcome,
  }
  apply(core, effected)
  core.history.push(done)
  scene.log.push({ done, effected })
}

function apply(to: Omit<Kept, 'history'>, { changes, also = [] }: Effected): void {
  for (const change of changes) plain.apply!(to.actions, change)
  for (const each of also) for (const change of each.changes) piecesOf.apply!(to.pieces, change)
}

// The backup takes the next entry, and what waited for it is told.
function replicate({ bug }: Scope, scene: Scene): void {
  const entry = scene.log.shift()!
  const { done, effected } = entry
  // The row of the timer goes first, and what its action writes comes behind it.
  const stays = bug === 'row-stays-at-backup' && done.rang !== 0
  const backup = own(scene, 'backup')
  apply(backup, stays ? { ...effected, changes: effected.changes.slice(1) } : effected)
  backup.history.push(done)
  tell(scene, entry)
}

function tell(scene: Scene, { done, effected }: Entry): void {
  const told = own(scene, 'told')
  apply(told, effected)
  // Lots that were drawn are told to nobody but the machines that serve.
  told.history.push(done)
  const at = scene.pending.findIndex(
    (op) => 'seq' in op && 'seq' in done.op && op.seq === done.op.seq,
  )
  if (at >= 0) scene.pending.splice(at, 1)
  const draw = drawOf(done)
  if (draw !== null) scene.draws.push(draw)
}

function drawOf({ op, outcome }: Done): number | null {
  if (!('what' in op) || !['roll', 'gamble'].includes(op.what)) return null
  const answer = decodeAnswer(outcome)!
  return answer.ok ? Number(answer.value) : Number(/\d+$/.exec(answer.why)?.[0] ?? NaN)
}

// What is in the log came to the backup, or did not: other steps let more of it come before.
function failOver(scene: Scene): void {
  scene.left.failovers--
  term(scene, own(scene, 'backup'))
}

function recover(scene: Scene): void {
  scene.left.recoveries--
  const { told } = scene
  const [actions, pieces] = [create(), createPieces(Uint8Array.of(9))]
  plain.restore!(actions, plain.snapshot!(told.actions))
  term(scene, { actions, pieces, history: [...told.history] })
}

function term(scene: Scene, kept: Kept): void {
  const core = lead(kept, scene.core.epoch + 1)
  // Whoever was told more than the new server has is told the table anew.
  const { actions, pieces } = copyOf(core)
  const heard = new Set(scene.told.history.map(({ index }) => index))
  const history = core.history.filter(({ index }) => heard.has(index))
  Object.assign(scene, { core, backup: copyOf(core), log: [] })
  scene.told = { actions, pieces, history }
  for (const done of core.history) if (!heard.has(done.index)) catchUp(scene, done)
}

// Outcomes that the new server has and nobody was told.
function catchUp(scene: Scene, done: Done): void {
  tell(scene, { done, effected: { outcome: done.outcome, changes: [], news: null } })
}

function once({ core }: Scene): true | string {
  const rang = core.history.map((done) => done.rang).filter((timer) => timer !== 0)
  const twice = rang.find((timer, at) => rang.indexOf(timer) !== at)
  return twice === undefined || `timer ${twice} ran twice`
}

function due({ core }: Scene): true | string {
  for (const { rang, at } of core.history) {
    const set = core.history.filter(({ op }) => 'what' in op && op.what === 'later')[rang - 1]
    if (rang !== 0 && set && at < set.at + DUE_MS) return `timer ${rang} ran at ${at}`
  }
  return true
}

function cancelled({ core }: Scene): true | string {
  const taken = core.history.findIndex(({ op, outcome }) => {
    const answer = 'what' in op && op.what === 'cancel' ? decodeAnswer(outcome) : null
    return answer?.ok === true && answer.value === true
  })
  const ran = core.history.some(({ rang }) => rang === 1)
  return taken < 0 || !ran || 'timer 1 was taken back, and ran'
}

function drawOnce({ draws }: Scene): true | string {
  const twice = draws.find((draw, at) => draws.indexOf(draw) !== at)
  return twice === undefined || `the draw ${twice} was told twice`
}

function ran({ core, now }: Scene): true | string {
  const { first } = core.actions.timers
  return first > now || `a timer that is due at ${first} has not run`
}

function answered({ pending }: Scene): true | string {
  return pending.length === 0 || 'an operation has no outcome'
}

function sometimes({ does, failovers, bug }: Scope): Record<string, (scene: Scene) => boolean> {
  if (bug) return {}
  const rang = ({ core }: Scene): boolean => core.history.some((done) => done.rang !== 0)
  const claims: Record<string, (scene: Scene) => boolean> = {}
  if (does.later) claims['a timer runs'] = rang
  if (does.later && failovers) {
    claims['a timer is run by who took over'] = (scene) => scene.core.epoch > 1 && rang(scene)
    claims['who served asks another to run one'] = ({ core, asks }) =>
      asks.some(({ by }) => by !== core.inc)
  }
  if (does.cancel) {
    claims['a timer is taken back'] = ({ core }) =>
      core.history.some(({ op, outcome }) => {
        const answer = 'what' in op && op.what === 'cancel' ? decodeAnswer(outcome) : null
        return answer?.ok === true && answer.value === true
      })
  }
  if (does.gamble) claims['two draws are told'] = ({ draws }) => draws.length > 1
  return claims
}

function show({ now, core, log, told, asks }: Scene): string {
  const tell = ({ op, rang }: Done): string =>
    'what' in op ? op.what : rang === 0 ? 'nothing' : `ring ${rang}`
  const line = core.history.map(tell).join(' ')
  const heard = `${told.history.length} told, ${asks.length} asked`
  return `${now}: ${line}; ${log.length} not with the backup, ${heard}`
}

/** In all of these every claim holds. */
export const SCOPES: Rows<Scope> = {
  A1: { scope: { does: { later: 1 }, failovers: 1 }, says: 'a timer, a failover', states: 240 },
  A2: {
    scope: { does: { later: 1, cancel: 1 }, failovers: 1 },
    says: 'a timer that is taken back, a failover',
    states: 1700,
  },
  A3: { scope: { does: { later: 2 }, failovers: 1 }, says: 'two timers, a failover', states: 4600 },
  A4: { scope: { does: { later: 1 }, failovers: 2 }, says: 'a timer, two failovers', states: 500 },
  A5: {
    scope: { does: { later: 1 }, recoveries: 1 },
    says: 'a timer, server and backup die at once',
    states: 240,
  },
  A6: {
    scope: { does: { gamble: 2, roll: 1 }, failovers: 1 },
    says: 'draws of which two are told by actions that throw, a failover',
    states: 5500,
  },
  A7: {
    scope: { does: { gamble: 2, roll: 1 }, recoveries: 1 },
    says: 'the same, server and backup die at once',
    states: 5500,
  },
  A8: {
    scope: { does: { later: 2, cancel: 1 }, failovers: 1, recoveries: 1 },
    says: 'two timers, one taken back, all deaths',
    states: 132_000,
    size: 'deep',
  },
}

/** In each of these that claim breaks, in so many steps. */
export const MUTANTS: Rows<Scope> = {
  'A-X1': {
    scope: { does: { later: 1 }, failovers: 1, bug: 'row-stays-at-backup' },
    says: 'a timer that was run is kept by the backup, which runs it too',
    violates: [['timer.once', 11]],
  },
  'A-X2': {
    scope: { does: { later: 1 }, failovers: 1, bug: 'successor-asks-not' },
    says: 'who took over asks for no timer',
    violates: [['timer.runs', 8]],
  },
  'A-X3': {
    scope: { does: { later: 1 }, forged: 1, bug: 'anybody-fires' },
    says: 'the primary runs a timer for any member that asks, due or not',
    violates: [['timer.due', 4]],
  },
  'A-X4': {
    scope: { does: { gamble: 2 }, bug: 'draw-not-spent' },
    says: 'a draw is not spent where its action throws',
    violates: [['draw.once', 6]],
  },
}
