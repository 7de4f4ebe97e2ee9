/**
 * Captures a card table in virtual time: pieces are dealt, grabbed, moved, released, clamped,
 * refused, wrested, grasped again, raised, shuffled, hidden and swept, and a server dies.
 */

import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import type { Session } from '../../packages/holdfast/src/join/session.ts'
import type { PieceHandle } from '../../packages/holdfast/src/pieces/handles.ts'
import { secret } from '../../packages/holdfast/src/pieces/types.ts'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import { type Pieces, PIECES_CHANNEL } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { bool, text, u32, u8, vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { handled, shuffled } from '../pieces/cards.ts'
import { open, type Stage } from './capture.ts'
import type { Sent } from './ledger.ts'

/** A card: its face is for the eyes of who holds it in their hand. */
export const Card = piece(
  'card',
  {
    at: vec2(0, 1000, 0.5),
    up: bool,
    hand: u32,
    face: secret(text(12), (card, who) => card['up'] === true || card['hand'] === who),
  },
  {
    hold: 'must',
    rules: { update: handled },
  },
)
/** A chip, which anybody pushes. */
export const Chip = piece('chip', { at: vec2(0, 1000, 0.5), worth: u8 })
/** What a reader is told of them. */
export const PIECE_TYPES = [Card.schema.text, Chip.schema.text]
/** What no member may find in what it was sent, before it holds the card. */
export const FACES = ['queen-hearts', 'ten-diamonds', 'ace-of-clubs', 'two-of-stars']

/** Lays them out. */
export const deal = action('deal', (table) => {
  for (const face of FACES) table.create(Card, { at: [10, 10], face })
  for (let worth = 1; worth <= 40; worth++) table.create(Chip, { at: [worth, 0], worth })
  table.set('dealt', FACES.length)
  return FACES.length
})
const shuffle = action('shuffle', (table) => shuffled(table.all(Card), table))
const sweep = action('sweep', (table) => {
  for (const chip of table.all(Chip).slice(0, 30)) chip.remove()
})

/** What was captured. */
export interface TableCapture {
  sent: Sent[]
  /** How much of it was sent before anybody but ada and bea served or stood by. */
  quiet: number
  /** Who is still there at the end. */
  left: string[]
}

/** Plays it. */
export async function captureTable(): Promise<TableCapture> {
  const stage = open('star', [Card, Chip, deal, shuffle, sweep])
  const { sim, sent, until, settled } = stage
  const ada = await stage.join('ada')
  const bea = await stage.join('bea')
  await until('bea stands by', () => ada.safety === 'backed-up')
  const cy = await stage.join('cy')
  const dee = await stage.join('dee', 'browser')
  const all = [ada, bea, cy, dee]
  await until('all are here', () => all.every((one) => one.members.length === 4))
  await settled(ada.act(deal, null))
  await until('all see all', () => all.every((one) => one.all(Chip).length === 40))
  await hands(stage, all)
  await draws(stage, all)
  await settled(dee.act(shuffle, null))
  await settled(ada.act(sweep, null))
  await until('chips are gone', () => all.every((one) => one.all(Chip).length === 10))
  await sim.run(1_000)
  const quiet = sent.length
  await dies(stage, all)
  return { sent, quiet, left: ['bea', 'cy'] }
}

function card(session: Session, id: number): PieceHandle<typeof Card.schema.fields> {
  return session.all(Card).find((one) => one.id === String(id))!
}

// Whoever has left holds nothing that a handle could name; the part knows when it was let go.
function isFree(session: Session, id: number): boolean {
  const { mounts: slots } = (session as InternalSession).member!
  const { published } = slots.find(({ part }) => part.channel === PIECES_CHANNEL)!.state as Pieces
  return published.get(id)!.heldBy === 0
}

async function hands({ sim, settled }: Stage, all: Session[]): Promise<void> {
  const [, bea, cy, dee] = all as [Session, Session, Session, Session]
  const one = card(bea, 1)
  const done = [one.grab({ raise: true })]
  for (let x = 1; x <= 5; x++) {
    done.push(one.update({ at: [x * 10, 40] }))
    await sim.run(20)
  }
  done.push(one.release({ at: [60, 40] }))
  await settled(Promise.all(done))
  // Two at once.
  await settled(Promise.all([card(cy, 2).grab(), card(dee, 2).grab()]))
  const holder = card(cy, 2).holder === cy.me ? cy : dee
  const [mine, theirs] = [card(holder, 2), card(holder === cy ? dee : cy, 2)]
  await settled(mine.update({ at: [950, 1] }))
  await settled(mine.update({ at: [1, 950] }))
  await settled(card(bea, 2).grab())
  await settled(theirs.grab({ wrest: true }))
  await settled(mine.grab({ loose: true }))
  await settled(theirs.release())
  await settled(card(bea, 4).lower())
  const chip = cy.all(Chip)[0]!
  await settled(Promise.all([chip.raise(), dee.all(Chip)[0]!.update({ at: [7, 7] })]))
}

// Into one's hand, where others do not see it; and grasped again before the answer.
async function draws({ settled }: Stage, all: Session[]): Promise<void> {
  const [, , cy, dee] = all as [Session, Session, Session, Session]
  const drawn = card(dee, 3)
  await settled(drawn.grab())
  const released = drawn.release({ at: [5, 5] })
  const again = drawn.grab({ loose: true })
  await settled(Promise.all([released, again]))
  if (drawn.state.face !== FACES[2]) throw new Error(`dee drew ${drawn.state.face}`)
  if (card(cy, 3).state.face !== null) throw new Error('cy looks over a shoulder')
}

// Ada with a card of hers under way, and dee with one in their hand.
async function dies({ sim, until, settled }: Stage, all: Session[]): Promise<void> {
  const [ada, bea, cy, dee] = all as [Session, Session, Session, Session]
  await settled(card(ada, 1).grab())
  const mine = card(cy, 4)
  const done = [mine.grab(), mine.update({ at: [70, 70] })]
  sim.crash('ada')
  done.push(mine.release({ at: [80, 80] }))
  await settled(Promise.all(done))
  await until('bea leads', () => bea.primary?.inc === bea.me.inc && bea.safety === 'backed-up')
  await until('ada holds nothing', () => isFree(cy, 1))
  if (card(dee, 3).holder !== dee.me) throw new Error('dee let go of a card')
  sim.crash('dee')
  await until('dee holds nothing', () => [bea, cy].every((one) => isFree(one, 3)))
  await sim.run(2_000)
}
