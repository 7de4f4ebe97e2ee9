/**
 * Random histories of a store, and whether they are linearizable.
 *
 * Clients that know only what they were answered change and read a few keys at once, with newest
 * and with stale revisions. Then each key is judged by itself: its revisions, in order, are its
 * states, each made by the one change that won, at some moment between that change's call and its
 * answer. What each client was answered limits these moments; if no moments are left, no store with
 * one state at a time gave these answers (Herlihy, Wing, "Linearizability", 1990).
 */

import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Store, StoredRecord, StoreOutcome } from '../../packages/holdfast/src/ports.ts'
import { dice, type Dice } from './until.ts'

/** The outcome of a change. */
export type Outcome = StoreOutcome

/** A call of a client, and the moments of the call and its answer: Infinity for none. */
interface Call {
  readonly start: number
  end: number
}

interface Cas extends Call {
  readonly rev: number
  /** Unlike that of any other change; null removes. */
  readonly value: string | null
  outcome: Outcome
}

interface Get extends Call {
  readonly found: Found | null
}

interface Found {
  readonly value: string
  readonly rev: number
}

/** All that happened at one key. */
interface History {
  readonly key: string
  readonly changes: Cas[]
  readonly gets: Get[]
  /** What it has in the end, and its blob. */
  final: Found | null
  blob: string | null
}

export interface Plan {
  readonly seed: number
  readonly count: number
  /** Lets the store go on: one turn of its loop. */
  readonly turn: () => Promise<void>
  /** Called in the end, before the last look: what the store still owes comes to its end. */
  readonly settle?: () => Promise<void> | void
}

const KEYS = 2
const CLIENTS = 3
const STEPS = 16
/** Histories at once, so that one write has changes of many. */
const AT_ONCE = 200
/** Most findings that are told. */
const TOLD_MAX = 5

/** Plays histories, each at keys of its own. @returns what is wrong, a sentence each */
export async function playHistories(store: Store, plan: Plan): Promise<string[]> {
  const random = dice(plan.seed)
  const wrong: string[] = []
  for (let first = 0; first < plan.count; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, plan.count - first)
    const games = Array.from({ length: count }, (_, at) => new Game(store, random, first + at))
    for (let step = 0; step < STEPS; step++) {
      for (const game of games) game.step()
      await plan.turn()
      // Else the next calls come while these have no answers.
      if (random.below(2) === 0 || step === STEPS - 1) await answered(games, plan)
    }
    await plan.settle?.()
    for (const game of games) game.look()
    await answered(games, plan)
    for (const game of games) wrong.push(...game.judge())
    if (wrong.length > 0) break
  }
  return wrong.slice(0, TOLD_MAX)
}

async function answered(games: readonly Game[], { turn }: Plan): Promise<void> {
  while (games.some(({ open }) => open > 0)) await turn()
}

class Game {
  /** Calls without an answer. */
  open = 0
  readonly #store: Store
  readonly #random: Dice
  readonly #histories: History[]
  /** The revisions that each client was answered for each key, newest last. */
  readonly #known: number[][][]
  #now = 0

  constructor(store: Store, random: Dice, number: number) {
    this.#store = store
    this.#random = random
    this.#histories = Array.from({ length: KEYS }, (_, at) => {
      return { key: `${number}/${at}`, changes: [], gets: [], final: null, blob: null }
    })
    this.#known = Array.from({ length: CLIENTS }, () => this.#histories.map(() => [0]))
  }

  /** One client makes up to three calls, often two at once at one key. */
  step(): void {
    const random = this.#random
    const known = this.#known[random.below(CLIENTS)]!
    const at = random.below(KEYS)
    for (let calls = random.below(4); calls > 0; calls--) {
      if (random.below(2) === 0) this.#get(this.#histories[at]!, known[at]!)
      else this.#cas(this.#histories[at]!, known[at]!)
    }
  }

  /** Reads what each key has in the end. */
  look(): void {
    for (const history of this.#histories) {
      const { key } = history
      this.open += 2
      this.#store.blobs(key, [key], (blobs) => {
        this.open--
        const [blob = null] = blobs instanceof HoldfastError ? [] : blobs
        history.blob = blob && textOf(blob)
      })
      this.#store.get(history.key, (found) => {
        this.open--
        if (!(found instanceof HoldfastError)) history.final = found && readFound(found)
      })
    }
  }

  /** @returns what is wrong */
  judge(): string[] {
    return this.#histories.flatMap((history) => {
      return judge(history).map((what) => `${history.key}: ${what}`)
    })
  }

  #cas({ key, changes }: History, known: number[]): void {
    const random = this.#random
    // Mostly the newest that this client knows.
    const rev = known[random.below(4) === 0 ? random.below(known.length) : known.length - 1]!
    const value = random.below(4) === 0 && rev !== 0 ? null : `${key} ${changes.length}`
    const own: Cas = { rev, value, start: ++this.#now, end: Infinity, outcome: 'unknown' }
    changes.push(own)
    this.open++
    const bytes = value === null ? null : bytesOf(value)
    this.#store.cas({ key, rev, value: bytes, blobs: [[key, bytes]] }, (outcome) => {
      this.open--
      own.outcome = outcome
      // Without a known end it may still be made.
      if (outcome !== 'unknown') own.end = ++this.#now
      if (typeof outcome === 'object' && 'rev' in outcome) known.push(outcome.rev)
    })
  }

  #get({ key, gets }: History, known: number[]): void {
    const start = ++this.#now
    this.open++
    this.#store.get(key, (record) => {
      this.open--
      if (record instanceof HoldfastError) return
      const found = record && readFound(record)
      gets.push({ found, start, end: ++this.#now })
      known.push(found?.rev ?? 0)
    })
  }
}

/** A state of a key: its revision, 0 for no record, and when it can have begun. */
interface State {
  readonly rev: number
  from: number
  to: number
}

/** What is wrong with a history, a sentence each. */
function judge(history: History): string[] {
  const { changes, gets, final, blob } = history
  const wrong: string[] = []
  const say = (what: string): void => void wrong.push(what)
  if (blob !== (final?.value ?? null)) say(`the record is ${final?.value}, its blob ${blob}`)
  const winners = winnersOf(history, say)
  const states = statesOf(winners, history, say)
  if (wrong.length > 0) return wrong
  const last = states.at(-1)!
  if (last.rev !== (final?.rev ?? 0)) return [`revision ${last.rev} won last, it has ${final?.rev}`]
  limit(states, gets)
  for (const { rev, from, to } of states) {
    if (from > to) say(`revision ${rev} came after ${from} and before ${to}`)
  }
  const fits = ({ start, end }: Call, fit: (rev: number) => boolean): boolean => {
    return states.some(({ rev, from }, at) => {
      return fit(rev) && from < end && (states[at + 1]?.to ?? Infinity) > start
    })
  }
  for (const get of gets) {
    const rev = get.found?.rev ?? 0
    if (!fits(get, (one) => one === rev)) say(`a get from ${get.start} found revision ${rev}`)
  }
  for (const change of changes) {
    if (change.outcome !== 'conflict') continue
    const { rev, value, start } = change
    if (!fits(change, (one) => one !== rev)) say(`${value} lost from ${start}, naming ${rev}`)
  }
  return wrong
}

// The change that made each revision: as it was answered, or as somebody saw it.
function winnersOf(
  { changes, gets, final }: History,
  say: (what: string) => void,
): Map<number, Cas> {
  const winners = new Map<number, Cas>()
  const add = (rev: number, change: Cas): void => {
    const other = winners.get(rev)
    if (other && other !== change) say(`revision ${rev} is ${other.value} and ${change.value}`)
    winners.set(rev, change)
  }
  for (const change of changes) {
    const { outcome, value } = change
    if (value !== null && typeof outcome === 'object' && 'rev' in outcome) add(outcome.rev, change)
  }
  for (const found of [...gets.map((get) => get.found), final]) {
    if (!found) continue
    const change = changes.find(({ value }) => value === found.value)
    if (!change) say(`nobody wrote ${found.value}`)
    else if (change.outcome === 'conflict' || change.outcome instanceof HoldfastError)
      say(`${change.value} is there, and was not made`)
    else add(found.rev, change)
  }
  return winners
}

// The states of a key in order. Each is made by a change that names the one before.
function statesOf(
  winners: ReadonlyMap<number, Cas>,
  { changes, final }: History,
  say: (what: string) => void,
): State[] {
  const states: State[] = [{ rev: 0, from: 0, to: Infinity }]
  const removed = new Set<Cas>()
  const begin = (rev: number, change: Call): void => {
    states.push({ rev, from: change.start, to: change.end })
  }
  const remove = (rev: number): void => {
    const own = changes.filter((one) => one.value === null && one.rev === rev)
    const known = own.find(isMade) ?? own.find(({ outcome }) => outcome === 'unknown')
    if (!known) return say(`revision ${rev} went, and nobody removed it`)
    removed.add(known)
    begin(0, known)
  }
  for (const [rev, change] of [...winners].sort(([a], [b]) => a - b)) {
    const newest = states.at(-1)!.rev
    if (change.rev === 0 && newest !== 0) remove(newest)
    else if (change.rev !== newest) say(`${change.value} named ${change.rev} and won at ${newest}`)
    begin(rev, change)
  }
  const { rev } = states.at(-1)!
  if (!final && rev !== 0) remove(rev)
  const lost = changes.find((one) => one.value === null && isMade(one) && !removed.has(one))
  if (lost) say(`the removal of revision ${lost.rev} won, and something else came`)
  return states
}

function isMade({ outcome }: Cas): boolean {
  return typeof outcome === 'object' && 'rev' in outcome
}

// Who found a state saw neither a time before it nor one after the next.
function limit(states: State[], gets: readonly Get[]): void {
  const at = new Map(states.map(({ rev }, index) => [rev, index]))
  for (const { found, start, end } of gets) {
    if (!found) continue
    const index = at.get(found.rev)!
    const [state, next] = [states[index]!, states[index + 1]]
    state.to = Math.min(state.to, end)
    if (next) next.from = Math.max(next.from, start)
  }
  let from = 0
  for (const state of states) from = state.from = Math.max(from, state.from)
  let to = Infinity
  for (const state of states.toReversed()) to = state.to = Math.min(to, state.to)
}

function readFound({ value, rev }: StoredRecord): Found {
  return { value: textOf(value), rev }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
