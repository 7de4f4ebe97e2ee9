/**
 * What the members of a simulated run do with pieces: grab, turn, raise and let go of cards; and
 * what must be true of those at every instant and in the end (docs/protocols/pieces.md).
 *
 * Whoever turns a card says how often it was turned before, by what is shown here, and once more.
 * An update is recorded only on top of what its player was shown, so a card's number is how many
 * turns were recorded: none is lost, none counts twice, none goes on from what is void.
 */

import { action, type ActionType } from '../../packages/holdfast/src/actions/actions.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import { type PieceType, secret } from '../../packages/holdfast/src/pieces/types.ts'
import type { PieceOutcome } from '../../packages/holdfast/src/kind/outcomes.ts'
import type { PieceHandle } from '../../packages/holdfast/src/pieces/handles.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import { type Pieces, PIECES_CHANNEL } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { bool, u16, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'

const fields = {
  turns: u16,
  open: bool,
  face: secret(u8, (card, who) => card['open'] === true || card.heldBy === who),
}

/** Its face is seen by who holds it, or by all. */
export const Card: PieceType<typeof fields> = piece('playing card', fields)

/** Lays the cards, unless there are some. */
export const deal: ActionType<number, unknown> = action('deal', (table, count: number) => {
  if (table.all(Card).length > 0) return
  for (let i = 0; i < count; i++) table.create(Card, { face: 1 + table.draw(255) })
})

/** What one process knows of its turns. */
export interface Hand {
  /** How many of each card of each session were recorded, and of how many nobody knows. */
  done: Map<string, number>
  open: Map<string, number>
  /** Turns that may say an older number: they go on from a loose grab, and were not refused. */
  older: Map<string, number>
  /** Cards of which a loose grab is under way. */
  loose: Set<unknown>
  /** Promises that are not settled. */
  waiting: number
  odd: Set<string>
  /** What happened at least once. */
  met: Set<string>
}

/** Nothing yet. */
export function createHand(): Hand {
  const none = { done: new Map(), open: new Map(), older: new Map(), loose: new Set() }
  return { ...none, waiting: 0, odd: new Set(), met: new Set() }
}

/** The pieces at a session's member. */
export function piecesOf(session: Session): Pieces | null {
  const slot = session.member?.mounts.find(({ part }) => part.channel === PIECES_CHANNEL)
  return (slot?.state as Pieces | undefined) ?? null
}

type Handle = PieceHandle<typeof fields>

/** What a hand may do in one turn. @param alive  whether its process still runs */
export function playCards(
  hand: Hand,
  session: Session,
  cards: number,
  chance: Prng,
  alive: () => boolean,
): void {
  const all = session.all(Card)
  if (all.length === 0) {
    if (prng.chance(chance, 0.2)) session.act(deal, cards).catch(() => {})
    return
  }
  for (let turn = 0; turn < 3; turn++) {
    const card = all[prng.below(chance, all.length)]!
    const way = prng.below(chance, 12)
    if (way < 6) turnOver(hand, session, card, way === 0, alive)
    else grasp(hand, card, way)
  }
}

function grasp(hand: Hand, card: Handle, way: number): void {
  const what = way === 9 ? 'loose grab' : 'grasp'
  if (way === 9) hand.loose.add(card)
  settled(hand, move(card, way))
    .then(
      (outcome) => hand.met.add(`a ${what} ${outcome.ok ? 'recorded' : outcome.code}`),
      () => {},
    )
    .finally(() => way === 9 && hand.loose.delete(card))
}

function move(card: Handle, way: number): Promise<PieceOutcome> {
  if (way === 6) return card.grab()
  if (way === 7) return card.grab({ raise: true })
  if (way === 8) return card.grab({ wrest: true })
  if (way === 9) return card.grab({ loose: true })
  return way === 10 ? card.lower() : card.update({ open: !card.state.open })
}

// Says how often it was turned, and may let go of it with that.
function turnOver(
  hand: Hand,
  session: Session,
  card: Handle,
  releases: boolean,
  alive: () => boolean,
): void {
  const { id } = session.member!.session
  // On the way back it is in none yet, and may come to another.
  if (id === '') return
  const key = `${id} ${card.id}`
  const patch = { turns: card.state.turns + 1 }
  // It goes on from a grab that is honoured though others turned the card meanwhile (O51): what it
  // says of their turns is what was shown when they were not known.
  const isLoose = hand.loose.has(card)
  add(hand.open, key, 1)
  if (isLoose) add(hand.older, key, 1)
  const answer = settled(hand, releases ? card.release(patch) : card.update(patch))
  answer.then(
    (outcome) => {
      // Of what is lost nobody knows, so it stays open.
      const isLost = !outcome.ok && outcome.code === 'lost'
      if (isLost) hand.met.add('a turn of fate lost')
      if (isLoose && !outcome.ok) add(hand.older, key, -1)
      if (!alive() || isLoose || isLost) return
      add(hand.open, key, -1)
      if (outcome.ok) add(hand.done, key, 1)
      hand.met.add(`a turn ${outcome.ok ? 'recorded' : outcome.code}`)
    },
    (error: unknown) => {
      const code = error instanceof HoldfastError ? error.code : String(error)
      hand.met.add(`a turn of fate ${code}`)
      if (code === 'overloaded') add(hand.open, key, -1)
      else if (code !== 'left') hand.odd.add(`a turn ends with ${code}`)
    },
  )
}

async function settled<Value>(hand: Hand, answer: Promise<Value>): Promise<Value> {
  hand.waiting++
  try {
    return await answer
  } finally {
    hand.waiting--
  }
}

function add(to: Map<string, number>, key: string, by: number): void {
  to.set(key, (to.get(key) ?? 0) + by)
}

/** All that a session was told of its cards, in one order; what is secret aside. */
export function cardsOf(session: Session): string[] {
  const state = piecesOf(session)
  const rows = [...(state?.published.values() ?? [])].sort((one, other) => one.id - other.id)
  return rows.map(({ id, gen, by, z, zg, heldBy, lastReleased, fields: [turns, open] }) => {
    return `${id}: ${gen} by ${by} at ${z} ${zg}, ${heldBy}/${lastReleased}, ${turns} ${open}`
  })
}

/** What is not in order with the cards of one session, in peace. */
export function unsettledCards(session: Session, hand: Hand, players: readonly number[]): string[] {
  const state = piecesOf(session)
  if (!state) return []
  const found: string[] = []
  if (state.pending.size > 0) found.push(`note: ${state.pending.size} cards have updates of ours`)
  if (hand.waiting > 0) found.push(`told: ${hand.waiting} updates have no outcome`)
  if (session.all(Card).some(({ pending }) => pending)) found.push('note: a card is pending')
  for (const { id, heldBy } of state.published.values()) {
    if (heldBy !== 0 && !players.includes(heldBy))
      found.push(`${id} is held by ${heldBy}, who went`)
  }
  const levels = [...state.published.values()].map(({ z, zg }) => `${z} ${zg}`)
  if (new Set(levels).size < levels.length) found.push('z.total: two cards at one level')
  return found
}

/** Faces that were told to who may not see them. */
export function bareFaces(session: Session): string[] {
  const state = piecesOf(session)
  if (!state) return []
  const { rules } = Card
  const found: string[] = []
  for (const row of state.published.values()) {
    // Where each secret field is hidden from this player already, no rule needs to be asked.
    if ((rules.secret & ~row.hidden) === 0) continue
    if ((rules.hides(row, state.player) & ~row.hidden) === 0) continue
    found.push(`secret: ${state.player} was told the face of card ${row.id}`)
  }
  return found
}

/**
 * What does not hold of how often cards were turned.
 *
 * @param hands  of all processes, dead ones too
 * @param recovered  then what was recorded may be lost
 */
export function wrongTurns(session: Session, hands: readonly Hand[], recovered: boolean): string[] {
  const found = hands.flatMap(({ odd }) => [...odd])
  const sum = (books: Map<string, number>[], key: string): number => {
    return books.reduce((total, book) => total + (book.get(key) ?? 0), 0)
  }
  for (const { id, fields: own } of piecesOf(session)?.published.values() ?? []) {
    const key = `${session.member!.session.id} ${id}`
    const turns = Number(own[0])
    const done = sum(
      hands.map((hand) => hand.done),
      key,
    )
    const open = sum(
      hands.map((hand) => hand.open),
      key,
    )
    const older = sum(
      hands.map((hand) => hand.older),
      key,
    )
    const said = `card ${id} was turned ${turns} times, of ${done} recorded and ${open} unknown`
    if (turns > done + open) found.push(`once: ${said}`)
    if (turns < done && older === 0 && !recovered) found.push(`commit.kept: ${said}`)
  }
  return found
}
