/**
 * What truly became of the holds of a run, and what players were told of them.
 *
 * All that servers and backups write is kept as annals. When a member is told that it does not hold
 * a piece any more, the annals say what ended that hold, and so whether its player must hear
 * `lost`, and of whom. Each such loss is told once, and no other (docs/protocols/pieces.md, Rules).
 */

import type { LostHold } from '../packages/holdfast/src/pieces/handles.ts'
import type { InternalSession as Session } from '../packages/holdfast/src/join/session-impl.ts'
import type { Part } from '../packages/holdfast/src/kind/protocol/part.ts'
import type { MountedPart } from '../packages/holdfast/src/member/state.ts'
import {
  GENERATIONS,
  type Pieces,
  PIECES_CHANNEL,
} from '../packages/holdfast/src/pieces/protocol/pieces.ts'
import { Card } from './workloads/pieces.ts'

// A row as somebody wrote it.
interface Written {
  readonly gen: number
  readonly by: number
  readonly heldBy: number
}

/** What was written of each piece of each session, and where each new server began. */
export interface Annals {
  readonly rows: Map<string, Written[]>
  /** By session: the newest generation that whoever served in that epoch knew at its beginning. */
  readonly starts: Map<string, Map<number, number>>
}

/** Nothing yet. */
export function createAnnals(): Annals {
  return { rows: new Map(), starts: new Map() }
}

// A hold that ended, of which its player is to hear.
interface Owed {
  readonly id: number
  readonly says: string
  /** It may be told or not: they let go, and others took it before they heard of either. */
  readonly mayBe?: true
  /** Whether that is a true word about it. */
  fits(lost: LostHold): boolean
}

/** What one process held, and what it was told about that. */
export interface Holds {
  readonly owed: Owed[]
  readonly wrong: string[]
  /** How often it was told, by the reason. */
  readonly told: Record<LostHold['why'], number>
}

interface Watch extends Holds {
  readonly annals: Annals
  readonly session: Session
  readonly state: Pieces
  player: number
  /** Pieces that it holds as it was told, with the generation of that. */
  held: Map<number, number>
  home: string
  /** Pieces whose handles it listens to. */
  readonly heard: Map<number, unknown>
}

/** Watches one process from now on. */
export function watchHolds(annals: Annals, session: Session): Holds {
  const slot = session.member!.mounts.find(({ part }) => part.channel === PIECES_CHANNEL)!
  const state = slot.state as Pieces
  const told = { taken: 0, away: 0, gone: 0 }
  const { player } = state
  const home = session.member!.session.id
  const watch: Watch = {
    ...{ owed: [], wrong: [], told, annals, session, state, player },
    ...{ held: heldBy(state, player), home, heard: new Map() },
  }
  tap(watch, slot)
  const listen = (): void => {
    for (const card of session.all(Card)) {
      if (watch.heard.get(Number(card.id)) === card) continue
      watch.heard.set(Number(card.id), card)
      card.on('lost', (lost) => hear(watch, Number(card.id), lost))
    }
  }
  session.all(Card).subscribe(listen)
  listen()
  return watch
}

// All verbs that change what the part was told or keeps.
function tap(watch: Watch, slot: MountedPart): void {
  const { annals, state } = watch
  const part = slot.part as Part<unknown>
  const tapped: Part<unknown> = {
    ...part,
    apply: (...given) => {
      part.apply!(...given)
      chronicle(annals, idOf(watch), state)
    },
    receive: (...given) => {
      part.receive!(...given)
      compare(watch)
    },
    view: (...given) => {
      part.view!(...given)
      if (state.me !== 0 && state.me === state.primary) begin(annals, idOf(watch), state)
      compare(watch)
    },
    reset: (...given) => {
      part.reset!(...given)
      compare(watch)
    },
  }
  Object.assign(slot, { part: tapped })
}

const idOf = ({ session }: Watch): string => session.member?.session.id ?? ''

function chronicle({ rows }: Annals, home: string, { committed }: Pieces): void {
  for (const { id, gen, by, heldBy } of committed.rows.values()) {
    const key = `${home} ${id}`
    const known = rows.get(key) ?? []
    rows.set(key, known)
    if (!known.some((row) => row.gen === gen)) known.push({ gen, by, heldBy })
  }
}

function begin({ starts }: Annals, home: string, { epoch, committed }: Pieces): void {
  const known = starts.get(home) ?? new Map<number, number>()
  starts.set(home, known)
  if (!known.has(epoch)) known.set(epoch, committed.gen)
}

function heldBy({ published }: Pieces, player: number): Map<number, number> {
  const rows = [...published.values()].filter((row) => player !== 0 && row.heldBy === player)
  return new Map(rows.map(({ id, gen }) => [id, gen]))
}

function compare(watch: Watch): void {
  const { state, held } = watch
  const home = idOf(watch)
  // On the way back it is in no session and nobody.
  if (state.player === 0 && home === watch.home) return
  const isAnother = state.player !== watch.player || home !== watch.home
  const now = heldBy(state, state.player)
  for (const [id, since] of held) {
    if (isAnother) owe(watch, id, 'it is somebody else now', () => true)
    else if (!now.has(id)) ended(watch, id, since)
  }
  if (home !== watch.home) watch.heard.clear()
  Object.assign(watch, { player: state.player, home, held: now })
}

// Nobody can listen yet to a piece that came with the same word.
function owe({ owed, heard }: Watch, id: number, says: string, fits: Owed['fits']): void {
  // What may be told is not told any more once the next hold ended.
  const stale = owed.findIndex((one) => one.id === id && one.mayBe)
  if (stale >= 0) owed.splice(stale, 1)
  if (heard.has(id)) owed.push({ id, says, fits })
}

// Who is told the table anew may be told of a row that is older, after a recovery.
function ended(watch: Watch, id: number, since: number): void {
  const { annals, state, player, session } = watch
  const row = state.published.get(id)
  if (!row) return owe(watch, id, 'it is gone', ({ why }) => why === 'gone')
  const line = lineOf(annals, idOf(watch), id, since, row.gen)
  const takers = line.filter((one) => one.heldBy !== player)
  // Its player let go, or an action of theirs took it. Of several the table has the last alone.
  const isOurs = takers[0]?.by === player || takers.at(-1)?.by === player
  if (isOurs && takers.every(({ by }) => by === player)) return
  const wasLost = !isOnLine(annals, idOf(watch), since, row.gen)
  const losers = takers.map((one) => one.heldBy || one.by)
  const says = `ended by ${takers.map(({ by, heldBy: to }) => `${by} for ${to}`).join(', ')}`
  owe(watch, id, says, ({ by, why }) => {
    if (why === 'gone' || takers.length === 0) return why !== 'gone'
    if (why === 'away') return losers.includes(0) || wasLost
    if (by) return losers.includes(by.player)
    return !losers.every((loser) => session.members.some((member) => member.player === loser))
  })
  const last = watch.owed.at(-1)
  if (isOurs && last?.id === id) Object.assign(last, { mayBe: true })
}

// What a server wrote that the next did not know is no more.
function isOnLine({ starts }: Annals, home: string, gen: number, upTo: number): boolean {
  const epochOf = (one: number): number => Math.floor(one / GENERATIONS)
  return [...(starts.get(home) ?? [])].every(([epoch, start]) => {
    return epoch <= epochOf(gen) || epoch > epochOf(upTo) || gen <= start
  })
}

// What came between two generations.
function lineOf(annals: Annals, home: string, id: number, after: number, upTo: number): Written[] {
  const written = annals.rows.get(`${home} ${id}`) ?? []
  return written
    .filter(({ gen }) => gen > after && gen <= upTo && isOnLine(annals, home, gen, upTo))
    .toSorted((one, other) => one.gen - other.gen)
}

function hear(watch: Watch, id: number, lost: LostHold): void {
  watch.told[lost.why]++
  const at = watch.owed.findIndex((one) => one.id === id)
  const said = `lost ${id}, ${lost.why} by ${lost.by?.player ?? 'nobody'}`
  if (at < 0) return void watch.wrong.push(`lost.once: ${watch.player} was told "${said}"`)
  const [owed] = watch.owed.splice(at, 1)
  if (owed!.fits(lost)) return
  watch.wrong.push(`lost.by: ${watch.player} was told "${said}", and it was ${owed!.says}`)
}

/** lost.told, lost.once, lost.by: what is not as it shall be, when all is calm. */
export function wrongHolds({ owed, wrong }: Holds, name: string): string[] {
  const due = owed.filter(({ mayBe }) => !mayBe)
  const untold = due.map(({ id, says }) => `lost.told: ${name} did not hear of ${id}: ${says}`)
  return [...wrong, ...untold]
}
