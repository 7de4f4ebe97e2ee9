/**
 * What the functions of a game do to pieces on the primary: several at once, and what no player
 * could foresee (deal, shuffle, capture). All of it is one entry of the log (protocols, actions).
 */

import type { Draft } from '../machine.ts'
import type { Quantised } from '../wire/schema.ts'
import { encodeDraws, encodeGone, encodeRow } from './changes.ts'
import { server } from './decide.ts'
import { initialFields, take } from './fields.ts'
import { draw } from './lots.ts'
import { encodeNews, type Entry } from './messages.ts'
import { copyRow, nextGen, type Pieces, PIECES_MAX, type PieceTypes, type Row } from './state.ts'

/** Longest news of one action, in bytes. */
const NEWS_MAX: number = 40 * 1024

/** The pieces as a function of the game sees them, and as it makes them. */
export interface PieceDraft {
  /** All that there are by now. */
  rows(): Row[]
  get(id: number): Row | null
  /** @throws Error if there are too many */
  create(type: number, mask: number, fields: Quantised, z: string): Row
  change(id: number, mask: number, fields: Quantised): void
  hold(id: number, player: number): void
  level(id: number, z: string): void
  remove(id: number): void
  /** 0 to below `sides`, each as likely; nobody can foresee it. */
  draw(sides: number): number
}

/** What an action of that player does, until it is done. */
export function draft(
  pieces: Pieces,
  types: PieceTypes,
  part: number,
  player: number,
): Draft & { face: PieceDraft } {
  const made = new Made(pieces, types, player)
  return { face: made, done: () => ({ part, ...made.done() }) }
}

class Made implements PieceDraft {
  readonly #pieces: Pieces
  readonly #types: PieceTypes
  readonly #player: number
  // Null for those that are gone.
  readonly #rows = new Map<number, Row | null>()
  readonly #raised = new Set<number>()
  #nextId: number
  #draws: number

  constructor(pieces: Pieces, types: PieceTypes, player: number) {
    this.#pieces = pieces
    this.#types = types
    this.#player = player
    this.#nextId = pieces.kept.nextId
    this.#draws = pieces.kept.draws
  }

  rows(): Row[] {
    const kept = [...this.#pieces.kept.rows.values()].filter(({ id }) => !this.#rows.has(id))
    return [...kept, ...[...this.#rows.values()].filter((row) => row !== null)]
  }

  get(id: number): Row | null {
    const row = this.#rows.get(id)
    return row === undefined ? (this.#pieces.kept.rows.get(id) ?? null) : row
  }

  create(type: number, mask: number, fields: Quantised, z: string): Row {
    const rules = this.#types[type]!
    const count = this.rows().length
    if (count >= PIECES_MAX) throw new RangeError(`a session has ${PIECES_MAX} pieces: ${count}`)
    const id = this.#nextId++
    const none = { hidden: 0, gen: 0, by: 0, lastClient: 0, genBefore: 0, byBefore: 0, zg: 0 }
    const row = { id, type, fields: initialFields(rules), z, heldBy: 0, lastReleased: 0, ...none }
    take(rules, row, fields, mask)
    this.#rows.set(id, row)
    this.#raised.add(id)
    return row
  }

  change(id: number, mask: number, fields: Quantised): void {
    const row = this.#open(id)
    take(this.#types[row.type]!, row, fields, mask)
  }

  hold(id: number, player: number): void {
    Object.assign(this.#open(id), { heldBy: player, lastReleased: 0 })
  }

  level(id: number, z: string): void {
    this.#open(id).z = z
    this.#raised.add(id)
  }

  remove(id: number): void {
    this.#open(id)
    this.#rows.set(id, null)
  }

  draw(sides: number): number {
    if (!Number.isInteger(sides) || sides < 1 || sides > 2 ** 31) {
      throw new RangeError(`a draw is out of 1 to ${2 ** 31}: ${sides}`)
    }
    return draw(this.#pieces.kept.seed, this.#draws++, sides)
  }

  #open(id: number): Row {
    const row = this.get(id)
    if (!row) throw new RangeError(`there is no piece ${id}`)
    if (this.#rows.has(id)) return row
    const made = copyRow(row)
    this.#rows.set(id, made)
    return made
  }

  done(): { changes: Uint8Array[]; news: Uint8Array | null } {
    const { kept, epoch } = this.#pieces
    const types = this.#types
    const changes: Uint8Array[] = []
    if (this.#draws !== kept.draws) changes.push(encodeDraws(this.#draws))
    let gen = nextGen(kept, epoch)
    const entries: Entry[] = []
    for (const [id, made] of this.#rows) {
      if (!made && !kept.rows.has(id)) continue
      const row = made && server(made, gen, this.#player)
      if (row && this.#raised.has(id)) row.zg = gen
      changes.push(row ? encodeRow(types, row) : encodeGone(id, gen))
      entries.push({ id, row, why: 'table', seq: 0, reason: '' })
      gen++
    }
    if (entries.length === 0) return { changes, news: null }
    const news = encodeNews(types, entries)
    if (news.length <= NEWS_MAX) return { changes, news }
    throw new RangeError(`an action changes ${NEWS_MAX} bytes of pieces: ${news.length}`)
  }
}
