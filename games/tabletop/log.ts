/**
 * What happened at the table, newest first. What the rules did stands in the table's own rows; what
 * hands did is seen from how the pieces lie, so it is told from when this window came.
 */

import type { Session } from 'holdfast'
import { called, isLawful, isSame, type Moment, momentOf, type Thing } from './kinds.ts'
import { DECK, DISCARD, isAt } from './rules/places.ts'
import { named, numberOf, recordsAfter } from './rules/records.ts'

/** Lines that are kept. */
const LINES_MAX = 50
/** The same done to several things within so many milliseconds is one line. */
const TOGETHER_MS = 700

/** One line. */
export interface Line {
  readonly id: number
  readonly player: number
  readonly text: string
}

interface Seen extends Moment {
  readonly deck: boolean
  readonly face: number | null
}

interface Verb {
  readonly verb: string
  readonly thing: string
  readonly after: string
}

/** See the head of this file. */
export class Log {
  lines: readonly Line[] = []
  readonly #session: Session
  readonly #nameOf: (player: number) => string
  #seen = new Map<number, Seen>()
  #record = 0
  #count = 0
  #newest = { verb: '', player: 0, at: 0, count: 0 }

  constructor(session: Session, things: readonly Thing[], nameOf: (player: number) => string) {
    this.#session = session
    this.#nameOf = nameOf
    this.#tellRecords()
    this.#adopt(things)
  }

  /** Looks what has changed. */
  look(things: readonly Thing[]): void {
    // An action moves many pieces, and says itself what it did.
    if (numberOf(this.#session.table.get('records')) !== this.#record) {
      this.#tellRecords()
      return this.#adopt(things)
    }
    for (const thing of things) {
      const { pending, heldBy, lastBy } = thing.handle
      if (pending || heldBy !== 0) continue
      const before = this.#seen.get(thing.id)
      const now = seenOf(thing)
      this.#seen.set(thing.id, now)
      if (before && lastBy !== 0 && !isLawful(thing) && !isSame(before, now)) {
        this.#tell(lastBy, verbOf(thing, before, now))
      }
    }
  }

  #adopt(things: readonly Thing[]): void {
    this.#seen = new Map(things.map((thing) => [thing.id, seenOf(thing)]))
  }

  #tellRecords(): void {
    for (const { number, player, text } of recordsAfter(this.#session.table, this.#record)) {
      this.#record = number
      this.#add(player, named(text, this.#nameOf))
    }
    this.#record = numberOf(this.#session.table.get('records'))
  }

  #tell(player: number, { verb, thing, after }: Verb): void {
    const now = performance.now()
    const newest = this.#newest
    const kind = `${verb} ${after}`
    const isMore = newest.verb === kind && newest.player === player && now - newest.at < TOGETHER_MS
    const count = isMore ? newest.count + 1 : 1
    this.#newest = { verb: kind, player, at: now, count }
    if (isMore) this.lines = this.lines.slice(1)
    this.#add(player, [verb, isMore ? `${count} pieces` : thing, after].join(' ').trim())
  }

  #add(player: number, text: string): void {
    this.lines = [{ id: this.#count++, player, text }, ...this.lines].slice(0, LINES_MAX)
  }
}

function seenOf(thing: Thing): Seen {
  const isCard = thing.kind === 'card'
  return {
    ...momentOf(thing),
    deck: isCard && thing.handle.state.deck,
    face: isCard ? thing.handle.state.face : null,
  }
}

function verbOf(thing: Thing, before: Seen, now: Seen): Verb {
  const what = called(thing, before.face)
  const said = (verb: string, after = '', name = what): Verb => ({ verb, thing: name, after })
  if (before.at[0] === now.at[0] && before.at[1] === now.at[1] && before.hand === now.hand) {
    if (before.value !== now.value) return said('set', `to ${now.value}`, 'a counter')
    if (before.kind !== now.kind) return said('promoted')
    if (before.up !== now.up) return said(now.up ? 'turned up' : 'turned down')
    return before.king === now.king ? said('turned') : said(now.king ? 'crowned' : 'uncrowned')
  }
  if (now.hand) {
    if (before.hand) return said('moved')
    return before.deck ? said('drew', '', 'a card') : said('took', 'into their hand')
  }
  if (thing.kind === 'card' && isAt(now.at, DISCARD)) return said('discarded')
  if (thing.kind === 'card' && isAt(now.at, DECK) && !before.deck) return said('put', 'on the deck')
  if (before.deck) return now.up ? said('turned up') : said('drew', 'face down')
  return said(before.hand ? 'played' : 'moved')
}
