/**
 * The world of the pieces' model: a primary, a backup that may lag, hands with links in order to
 * and fro, and others who update at the primary itself. The verbs are the shipped ones; around
 * them stands what session/operations.ts does: operations have numbers by player, outcomes are
 * kept, what is told waits for the backup, and is asked for again after a failover.
 */

import type { Effected } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import { above } from '../../packages/holdfast/src/pieces/protocol/levels.ts'
import {
  encodeOutcome,
  encodeUpdate,
  readBody,
  readNews,
} from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import {
  between,
  create,
  decodeOutcome,
  draft,
  encodeFree,
  newestOf,
  type Op,
  type PieceEvent,
  type Pieces,
  piecesPart,
  type PieceTypes,
  removePending,
  type Row,
  shown,
  update,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { reject, secret } from '../../packages/holdfast/src/pieces/types.ts'
import { bool, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { type PiecesBug, piecesRules } from '../mutants.ts'

/** What a hand may do to a card. */
export type Doing =
  /** Another number. */
  | 'move'
  /** A number that the rules do not take, and one of which they make another. */
  | 'refused'
  | 'clamped'
  | 'grab'
  | 'release'
  | 'wrest'
  /** A loose grab. */
  | 'loose'
  | 'raise'
  /** Into the gap between the table and the lowest. */
  | 'lower'
  /** From now on its face is open to all, or to who holds it alone. */
  | 'open'
  | 'shut'

/** The face of every card: a number that nothing else has. */
export const FACE = 77
const REFUSED = 250
const CLAMPED = 251

const Card = piece(
  'card',
  {
    mark: u8,
    open: bool,
    face: secret(u8, (card, who) => card['open'] === true || card.heldBy === who),
  },
  {
    rules: {
      update: (_card, patch) => {
        if (patch.mark === REFUSED) return reject('no such number')
        return patch.mark === CLAMPED ? { ...patch, mark: CLAMPED + 1 } : patch
      },
    },
  },
)

/** The only type. */
export const TYPES: PieceTypes = [Card.rules]
/** The fields of a card, as masks. */
export const MARK = 1
const OPEN = 2
/** Of the face. */
export const SECRET = 4

/** The fields of a card with this number. */
export function fieldsOf(mark: number, open: boolean, face: number): Op['fields'] {
  return [mark, open ? 1 : 0, face]
}

/** Whether the model's loose grab. */
export function isLoose(doing: Doing): boolean {
  return doing === 'loose'
}

/** What a hand asks for. @param mark  a number that nobody used before */
export function opOf(doing: Doing, state: Pieces, mark: number): Op {
  const none: Op = { hold: 'keep', mask: 0, fields: [], z: null }
  switch (doing) {
    case 'move':
      return { ...none, mask: MARK, fields: fieldsOf(mark, false, 0) }
    case 'refused':
      return { ...none, mask: MARK, fields: fieldsOf(REFUSED, false, 0) }
    case 'clamped':
      return { ...none, mask: MARK, fields: fieldsOf(CLAMPED, false, 0) }
    case 'open':
    case 'shut':
      return { ...none, mask: OPEN, fields: fieldsOf(0, doing === 'open', 0) }
    case 'grab':
    case 'release':
    case 'wrest':
      return { ...none, hold: doing }
    case 'loose':
      return { ...none, hold: 'grab' }
    case 'raise':
      return { ...none, z: above(rowsOf(state)) }
    case 'lower':
      return { ...none, z: between(null, lowest(state)) }
    default:
      return doing satisfies never
  }
}

function rowsOf(state: Pieces) {
  return [...state.published.keys()].map((id) => shown(state, TYPES, id)!)
}

function lowest(state: Pieces): string | null {
  const levels = rowsOf(state).map(({ z }) => z)
  return levels.length === 0 ? null : levels.reduce((one, other) => (one < other ? one : other))
}

/** How often each thing may be done. */
export type Doings = Partial<Record<Doing, number>>

/** How much may happen in one model; what is not given does not happen. */
export interface Scope {
  /** What the checked hand does, and those who update at the primary itself. */
  does: Doings
  others?: Doings
  /** Cards on the table; 1 if not given. */
  cards?: number
  /** Hands with links of their own; 1 if not given. */
  hands?: number
  /** The first hand was the last to let go of all cards. */
  released?: boolean
  failovers?: number
  /** Actions that take all cards out of hands, each in the name of such a player. */
  takes?: readonly number[]
  /** How often who serves lets go of what a hand without a link holds. */
  frees?: number
  /** Links that break and are made anew. */
  absences?: number
  /** Primary and backup die at once: what some hand was told is the session. */
  recoveries?: number
  /** The backup has what was recorded only later. */
  lags?: boolean
  bug?: PiecesBug
  /** Planted in what surrounds the pieces. */
  around?: 'release-early' | 'numbers-not-replicated'
}

/** An update that is recorded, by its generation. */
export interface Recorded {
  gen: number
  piece: number
  /** `player.seq` of a hand's own update, or `g` and the generation of one of the server. */
  id: string
  /** The player whose own it is; 0 of one of the server. */
  by: number
  tag: number
  /** Who did it, and who holds the piece since. */
  actor: number
  heldBy: number
  /** The update of a hand that the server's answers. */
  re: string
  why: string
  /** It sets the level. */
  raises: boolean
  /** The entry of the log. */
  index: number
}

/** An update that came to nothing. */
export interface Discarded {
  id: string
  player: number
  piece: number
  tag: number
  kind: string
  index: number
}

/** What a machine that serves or stands by has. */
export interface Core {
  pieces: Pieces
  last: Record<string, number>
  outcomes: Record<string, Uint8Array>
  history: Recorded[]
  discarded: Discarded[]
  index: number
}

/** An entry of the log that the backup lacks. */
export interface Logged {
  player: number
  seq: number
  outcome: Uint8Array
  changes: readonly Uint8Array[]
  history: Recorded[]
  discarded: Discarded[]
}

/** What comes down to a hand. */
export type Word =
  | { kind: 'news'; index: number; player: number; seq: number; bytes: Uint8Array; gens: Gens }
  | { kind: 'done'; seq: number; outcome: Uint8Array }
  | { kind: 'table'; bytes: Uint8Array }
  | { kind: 'standing'; index: number; seqs: Record<string, number> }
/** Pieces and their generations in news. */
export type Gens = [piece: number, gen: number][]

/** What goes up. */
export type Up = { kind: 'resync' } | { kind: 'operation'; seq: number; body: Uint8Array }

/** What a hand made, as it was. */
export interface Made {
  piece: number
  parent: string
  tag: number
  loose: boolean
}

/** One hand. */
export interface Hand {
  player: number
  pieces: Pieces
  nextSeq: number
  pending: { seq: number; piece: number; inPiece: number; body: Uint8Array }[]
  link: boolean
  /** It was made anew, and the table has not come. */
  waiting: boolean
  up: Up[]
  down: Word[]
  told: { index: number; seqs: Record<string, number>; coming: Uint8Array[] }
  left: Doings
  made: Record<string, Made>
  /** What it was told of each of its updates. */
  fates: Record<string, string>
  /** What it displayed of each piece, in order. */
  seen: Record<string, string[]>
  /** What was wrong with what it was told about its holds; empty while nothing was. */
  amiss: string
}

/** Everything at one instant. */
export interface Scene {
  core: Core
  /** Null where it has all that the primary has. */
  backup: Core | null
  log: Logged[]
  held: { index: number; to: number; word: Word }[]
  hands: Hand[]
  others: Doings
  left: { failovers: number; absences: number; recoveries: number; takes: number[]; frees: number }
  /** Updates that a recovery lost. */
  lost: Recorded[]
}

type Lost = PieceEvent & { kind: 'piece-lost' }

/**
 * What is wrong with what a hand heard with one word; empty if nothing is.
 *
 * @param before  what it had been told
 */
export function amiss(
  { core }: Scene,
  { player, pieces }: Hand,
  before: ReadonlyMap<number, Row>,
  events: readonly PieceEvent[],
): string {
  const told = events.filter((event) => event.kind === 'piece-lost')
  for (const [piece, was] of before) {
    const now = pieces.published.get(piece)
    const said = told.filter(({ id }) => id === piece)
    const ended = was.heldBy === player && now?.heldBy !== player
    if (said.length > 1) return `${player} is told ${said.length} times that it lost ${piece}`
    if (!ended && said.length > 0) return `${player} is told that it lost ${piece}: it did not`
    const line = core.history.filter((each) => {
      return each.piece === piece && each.gen > was.gen && each.gen <= (now?.gen ?? Infinity)
    })
    const isKnown = core.history.some((each) => each.piece === piece && each.gen === was.gen)
    const fault = ended ? wrong(player, line, said[0], isKnown) : ''
    if (fault !== '') return `${fault} (piece ${piece})`
  }
  return ''
}

// @param isKnown  no recovery lost the hold
function wrong(
  player: number,
  line: readonly Recorded[],
  said: Lost | undefined,
  isKnown: boolean,
): string {
  const takers = line.filter(({ heldBy }) => heldBy !== player)
  const isOurs = isKnown && takers[0]?.actor === player
  // Of several the table has the last alone: theirs, if they were the last to let go.
  const last = takers.at(-1)
  const isLast = last?.actor === player && last.heldBy === 0
  if (!said) return isOurs || isLast ? '' : `${player} is not told that it lost its hold`
  if (isOurs && takers.every(({ actor }) => actor === player)) {
    return `${player} is told that it lost what it let go of`
  }
  const whom = takers.map(({ heldBy, actor }) => heldBy || actor)
  if (!isKnown) whom.push(0)
  if (!whom.includes(said.by)) return `${player} is told of ${said.by}, it was ${whom.join()}`
  return said.why === (said.by === 0 ? 'away' : 'taken') ? '' : `${player} is told ${said.why}`
}

/** The player for whom others update. */
export const OTHERS = 9
const part = piecesPart(TYPES)
const silent = { send: () => 0, emit: () => {} }
// The body of what has none.
const NONE = new Uint8Array(0)
const SEED = Uint8Array.of(1, 2, 3, 4)

/** All have the table, and nothing was done. */
export function begin(scope: Scope): Scene {
  const core: Core = {
    pieces: create(SEED),
    last: {},
    outcomes: {},
    history: [],
    discarded: [],
    index: 0,
  }
  lead(scope, core, 1)
  deal(core, scope)
  const hands = Array.from({ length: scope.hands ?? 1 }, (_, i) => handOf(scope, i + 1))
  const { failovers = 0, absences = 0, recoveries = 0, others = {} } = scope
  const { takes = [], frees = 0 } = scope
  const scene: Scene = {
    core,
    backup: null,
    log: [],
    held: [],
    hands,
    others: { ...others },
    left: { failovers, absences, recoveries, takes: [...takes], frees },
    lost: [],
  }
  for (const hand of hands) {
    follow(scope, scene, hand, true)
    while (hand.up.length > 0) arriveUp(scope, scene, hand)
    while (hand.down.length > 0) arriveDown(scope, scene, hand)
  }
  return scene
}

function deal(core: Core, { cards = 1, released }: Scope): void {
  const made = draft(core.pieces, TYPES, part.channel, 0)
  for (let i = 0; i < cards; i++) made.api.create(0, 7, fieldsOf(0, false, FACE), `a${i}`)
  const { changes } = made.done()
  for (const change of changes) part.apply!(core.pieces, change)
  for (const row of core.pieces.committed.rows.values()) {
    if (released) row.lastReleased = 1
    core.history.push({ ...recordedOf(row, `g${row.gen}`, 0), raises: true })
  }
}

function handOf(scope: Scope, player: number): Hand {
  return {
    player,
    pieces: create(undefined, piecesRules(scope.bug ?? null)),
    nextSeq: 1,
    pending: [],
    link: false,
    waiting: true,
    up: [],
    down: [],
    told: { index: 0, seqs: {}, coming: [] },
    left: { ...scope.does },
    made: {},
    fates: {},
    seen: {},
    amiss: '',
  }
}

function lead(scope: Scope, core: Core, epoch: number): void {
  core.pieces.rules = piecesRules(scope.bug ?? null)
  const me = 100 + epoch
  part.view!(core.pieces, 0, viewOf(me, me, epoch, 99), silent)
}

function viewOf(me: number, primary: number, epoch: number, player: number) {
  const members = [{ inc: me, player }]
  return { session: 'a', me, primary, epoch, mesh: false, members, left: false }
}

/** A machine that has what that one has: its bytes, and the accounts. */
function copyOf(core: Core): Core {
  const pieces = create()
  part.restore!(pieces, part.snapshot!(core.pieces))
  const { last, outcomes, history, discarded, index } = core
  return {
    pieces,
    last: { ...last },
    outcomes: { ...outcomes },
    history: [...history],
    discarded: [...discarded],
    index,
  }
}

function recordedOf(row: Row, id: string, index: number): Recorded {
  return {
    gen: newestOf(row),
    piece: row.id,
    id,
    by: 0,
    tag: 0,
    actor: row.by,
    heldBy: row.heldBy,
    re: '',
    why: 'table',
    raises: false,
    index,
  }
}

/** A hand follows who leads now: all that it asked for goes up again, and it wants the table. */
export function follow(scope: Scope, scene: Scene, hand: Hand, asksFirst: boolean): void {
  const { me, epoch } = scene.core.pieces
  part.view!(hand.pieces, 0, viewOf(hand.player, me, epoch, hand.player), silent)
  hand.link = true
  hand.waiting = true
  hand.told.coming = []
  hand.down = []
  hand.up = hand.pending.map(({ seq, body }) => ({ kind: 'operation', seq, body }))
  if (asksFirst) hand.up.unshift({ kind: 'resync' })
  else hand.up.push({ kind: 'resync' })
  release(scope, scene)
}

/** What a hand does is shown at once, and asked for. */
export function act(scene: Scene, hand: Hand, piece: number, doing: Doing): void {
  const state = hand.pieces
  const seq = hand.nextSeq++
  const parent = tip(scene, hand, piece)
  const inPiece = state.nextSeq
  const op = opOf(doing, state, (hand.player - 1) * 20 + seq)
  const loose = isLoose(doing)
  const body = update(state, TYPES, state.published.get(piece)!, op, loose)
  const said = readBody(body)
  const tag = said && 'tag' in said ? said.tag : 0
  hand.left[doing] = (hand.left[doing] ?? 0) - 1
  hand.made[`${hand.player}.${seq}`] = { piece, parent, tag, loose }
  hand.pending.push({ seq, piece, inPiece, body })
  if (hand.link) hand.up.push({ kind: 'operation', seq, body })
  look(scene, hand)
}

/** The update that a hand displays of a piece. */
export function tip(scene: Scene, hand: Hand, piece: number): string {
  const last = hand.pieces.pending.get(piece)?.at(-1)
  const own = last && hand.pending.find((each) => each.inPiece === last.seq)
  if (own) return `${hand.player}.${own.seq}`
  const row = hand.pieces.published.get(piece)
  if (!row) return 'none'
  const newest = newestFor(row, hand.player)
  const all = [...scene.core.history, ...scene.lost]
  return all.find(({ gen, piece: of }) => gen === newest && of === piece)?.id ?? `?${newest}`
}

/** The generation of the newest update of the line as that player has it. */
export function newestFor({ gen, refused }: Row, player: number): number {
  return refused.find(({ by }) => by === player)?.gen ?? gen
}

function look(scene: Scene, hand: Hand): void {
  for (const piece of hand.pieces.published.keys()) {
    const seen = (hand.seen[piece] ??= [])
    const now = tip(scene, hand, piece)
    if (seen.at(-1) !== now) seen.push(now)
  }
}

/** Somebody else updates, at the primary itself, who has seen all. */
export function others(scope: Scope, scene: Scene, piece: number, doing: Doing): void {
  const { core } = scene
  scene.others[doing] = (scene.others[doing] ?? 0) - 1
  const view = { ...create(), told: core.pieces.committed.rows, player: OTHERS }
  const seq = (core.last[OTHERS] ?? 0) + 1
  const op = opOf(doing, view, 150 + seq)
  const tag = core.pieces.committed.gen
  const body = encodeUpdate(TYPES, 0, { seq: 1, id: piece, tag, loose: isLoose(doing), op })
  perform(scope, scene, OTHERS, seq, body, null)
}

/** The next word of a hand reaches the primary. */
export function arriveUp(scope: Scope, scene: Scene, hand: Hand): void {
  const word = hand.up.shift()!
  const { core } = scene
  if (word.kind === 'resync') {
    for (const bytes of part.welcome!(core.pieces)) {
      const seen = part.show!(core.pieces, bytes, hand.player)
      hold(scope, scene, hand, { kind: 'table', bytes: seen })
    }
    const seqs = { ...core.last }
    return hold(scope, scene, hand, { kind: 'standing', index: core.index, seqs })
  }
  const { seq, body } = word
  const last = core.last[hand.player] ?? 0
  if (seq > last + 1) return
  if (seq === last + 1) return perform(scope, scene, hand.player, seq, body, hand)
  const outcome = core.outcomes[`${hand.player} ${seq}`] ?? new Uint8Array(0)
  hold(scope, scene, hand, { kind: 'done', seq, outcome })
}

function perform(
  scope: Scope,
  scene: Scene,
  player: number,
  seq: number,
  body: Uint8Array,
  from: Hand | null,
): void {
  const { core } = scene
  carryOut(scope, scene, player, seq, body, part.perform!(core.pieces, 0, body, player, player))
  if (from)
    hold(scope, scene, from, { kind: 'done', seq, outcome: core.outcomes[`${player} ${seq}`]! })
}

/** An action of that player takes all cards out of hands, at the primary itself. */
export function takeAway(scope: Scope, scene: Scene): void {
  const { core, left } = scene
  const player = left.takes.shift()!
  const made = draft(core.pieces, TYPES, part.channel, player)
  for (const { id } of made.api.rows()) made.api.hold(id, 0)
  const outcome = encodeOutcome({ kind: 'recorded', gen: core.pieces.committed.gen })
  carryOut(scope, scene, OTHERS, (core.last[OTHERS] ?? 0) + 1, NONE, { outcome, ...made.done() })
}

/** Who serves lets go of what a hand holds that is away. */
export function letGo(scope: Scope, scene: Scene, player: number): void {
  const { core } = scene
  scene.left.frees--
  const body = encodeFree([player])
  const effected = part.perform!(core.pieces, 0, body, core.pieces.me, 0)
  carryOut(scope, scene, OTHERS, (core.last[OTHERS] ?? 0) + 1, body, effected)
}

function carryOut(
  scope: Scope,
  scene: Scene,
  player: number,
  seq: number,
  body: Uint8Array,
  { outcome, changes, news }: Effected,
): void {
  const { core } = scene
  const accounts = accountsOf(core, body, `${player}.${seq}`, player, outcome, news)
  const entry: Logged = { player, seq, outcome, changes, ...accounts }
  if (scope.lags || scope.around) scene.backup ??= copyOf(core)
  take(core, entry, true)
  if (scene.backup) scene.log.push(entry)
  if (!scope.lags) replicate(scope, scene)
  if (news) {
    const gens = accounts.history.map(({ piece, gen }): [number, number] => [piece, gen])
    for (const hand of scene.hands) {
      const bytes = part.show!(core.pieces, news, hand.player)
      hold(scope, scene, hand, { kind: 'news', index: core.index, player, seq, bytes, gens })
    }
  }
}

function accountsOf(
  core: Core,
  body: Uint8Array,
  id: string,
  player: number,
  outcome: Uint8Array,
  news: Uint8Array | null,
): Pick<Logged, 'history' | 'discarded'> {
  const said = readBody(body)
  const [tag, piece] = said && 'tag' in said ? [said.tag, said.id] : [0, 0]
  const raises = said !== null && 'tag' in said && said.hasZ
  const entries = news ? readNews(news, TYPES) : []
  const history: Recorded[] = []
  for (const { row, why } of Array.isArray(entries) ? entries : []) {
    if (!row) continue
    const own = why === 'recorded'
    const known = recordedOf(row, own ? id : `g${newestOf(row)}`, core.index + 1)
    const re = row.id === piece ? id : ''
    const done = raises && why !== 'inapplicable'
    history.push({ ...known, by: own ? player : 0, tag, why, re, raises: done })
  }
  const kind = decodeOutcome(outcome)?.kind ?? 'silent'
  const isDone = kind === 'recorded' || kind === 'clamped'
  return {
    history,
    discarded: isDone ? [] : [{ id, player, piece, tag, kind, index: core.index + 1 }],
  }
}

function take(core: Core, entry: Logged, numbered: boolean): void {
  for (const change of entry.changes) part.apply!(core.pieces, change)
  core.index++
  core.history.push(...entry.history)
  core.discarded.push(...entry.discarded)
  if (!numbered) return
  core.last[entry.player] = entry.seq
  core.outcomes[`${entry.player} ${entry.seq}`] = entry.outcome
}

/** The backup takes the next entry of the log, and what waited for that leaves. */
export function replicate(scope: Scope, scene: Scene): void {
  const entry = scene.log.shift()
  const { around, bug } = scope
  if (entry && scene.backup) take(scene.backup, entry, around !== 'numbers-not-replicated')
  // Where a hand is the backup, its own copy is ahead of what it was told.
  const { committed } = (scene.backup ?? scene.core).pieces
  if (bug === 'tag-newer') scene.hands[0]!.pieces.committed.gen = committed.gen
  if (scene.log.length === 0 && around !== 'numbers-not-replicated') scene.backup = null
  release(scope, scene)
}

function hold(scope: Scope, scene: Scene, { player }: Hand, word: Word): void {
  scene.held.push({ index: scene.core.index, to: player, word })
  release(scope, scene)
}

function release(scope: Scope, scene: Scene): void {
  const { core, backup } = scene
  const safe = backup && scope.around !== 'release-early' ? backup.index : core.index
  while (scene.held.length > 0 && scene.held[0]!.index <= safe) {
    const { to, word } = scene.held.shift()!
    const hand = scene.hands.find(({ player }) => player === to)!
    if (hand.link) hand.down.push(word)
  }
}

/** The next word from the primary reaches a hand. */
export function arriveDown(scope: Scope, scene: Scene, hand: Hand): void {
  const word = hand.down.shift()!
  if (word.kind === 'standing') {
    hear(scene, hand, hand.told.coming)
    hand.told = { index: word.index, seqs: { ...word.seqs }, coming: [] }
    hand.waiting = false
  } else if (word.kind === 'table') hand.told.coming.push(word.bytes)
  else if (hand.waiting) return
  else if (word.kind === 'news') {
    const { index, player, seq } = word
    hand.told.index = Math.max(hand.told.index, index)
    hand.told.seqs[player] = Math.max(hand.told.seqs[player] ?? 0, seq)
    hear(scene, hand, [word.bytes])
  } else done(scope, hand, word)
  look(scene, hand)
}

function hear(scene: Scene, hand: Hand, all: readonly Uint8Array[]): void {
  const before = new Map(hand.pieces.published)
  const events: PieceEvent[] = []
  const out = { send: () => 0, emit: (event: unknown) => void events.push(event as PieceEvent) }
  for (const bytes of all) part.receive!(hand.pieces, 0, scene.core.pieces.me, bytes, out)
  hand.amiss ||= amiss(scene, hand, before, events)
}

function done({ bug }: Scope, hand: Hand, { seq, outcome }: Word & { kind: 'done' }): void {
  const at = hand.pending.findIndex((each) => each.seq === seq)
  if (at < 0) return
  const [{ piece, inPiece }] = hand.pending.splice(at, 1) as [Hand['pending'][number]]
  // The source tells nothing of what it refuses in silence.
  if (bug === 'silent-loose' && outcome.length === 0) return
  hand.fates[`${hand.player}.${seq}`] = decodeOutcome(outcome)?.kind ?? 'unknown'
  removePending(hand.pieces, piece, inPiece, silent)
}

/** What was asked for goes up again. */
export function again(hand: Hand): void {
  hand.up = hand.pending.map(({ seq, body }) => ({ kind: 'operation', seq, body }))
}

/** The link of a hand breaks; what was under way is lost. */
export function cut(hand: Hand): void {
  hand.link = false
  hand.up = []
  hand.down = []
}

/** The backup leads; what the primary alone had is lost. */
export function failOver(scope: Scope, scene: Scene): void {
  scene.left.failovers--
  const { core, backup } = scene
  term(scope, scene, backup ?? copyOf(core), core.pieces.epoch + 1)
}

function term(scope: Scope, scene: Scene, core: Core, epoch: number): void {
  const gone = scene.core.history.filter(({ gen }) => core.history.every((at) => at.gen !== gen))
  scene.lost.push(...gone)
  lead(scope, core, epoch)
  Object.assign(scene, { core, backup: null, log: [], held: [] })
  for (const hand of scene.hands) cut(hand)
}

/** Primary and backup are gone: what the hand was told who was told most is the session. */
export function recover(scope: Scope, scene: Scene): void {
  scene.left.recoveries--
  const witness = scene.hands.reduce((one, other) =>
    other.told.index > one.told.index ? other : one,
  )
  const { core: before } = scene
  const pieces = create(Uint8Array.of(9))
  part.restore!(pieces, part.published!(witness.pieces))
  const { index, seqs } = witness.told
  const core: Core = {
    pieces,
    last: { ...seqs },
    outcomes: {},
    history: before.history.filter(({ gen }) => gen <= pieces.committed.gen),
    discarded: [],
    index,
  }
  for (const { player, pending, nextSeq } of scene.hands) {
    const settledUpTo = (pending[0]?.seq ?? nextSeq) - 1
    core.last[player] = Math.max(core.last[player] ?? 0, settledUpTo)
  }
  core.discarded = before.discarded.filter(({ id, player }) => {
    return Number(id.split('.')[1]) <= (core.last[player] ?? 0)
  })
  term(scope, scene, core, before.pieces.epoch + 1)
}

/** A piece as a hand shows it. */
export function shownBy(hand: Hand, piece: number): Row | null {
  return shown(hand.pieces, TYPES, piece)
}
