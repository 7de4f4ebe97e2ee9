/**
 * Workload of actions: they draw random numbers and then throw, or end holds of cards. Each process
 * notes its answers: no draw is published twice, and what was answered is in the table.
 */

import { action, type ActionType } from '../../packages/holdfast/src/actions/actions.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import { Card } from './pieces.ts'

/** A draw is one of so many, so that two are hardly ever the same by chance. */
const SIDES: number = 2 ** 31
const UNDER_WAY_MAX = 12

/** What an action does to a card besides. */
const DOES = ['nothing', 'claim', 'clear', 'turn up', 'swap', 'keep'] as const

interface Play {
  readonly name: string
  readonly does: (typeof DOES)[number]
  readonly at: number
  readonly draws: number
  readonly throws: boolean
}

const done = (name: string): string => `did ${name}`

/** Draws, does something, and may throw then: what it drew is told in either case. */
export const play: ActionType<Play, string> = action(
  'play',
  (table, { name, does, at, draws, throws }: Play, by): string => {
    const drawn = Array.from({ length: draws }, () => table.draw(SIDES)).join(' ')
    const cards = table.all(Card)
    const card = cards[at % cards.length]
    if (does === 'claim') card?.hold(by.player)
    if (does === 'clear') for (const one of cards) one.hold(0)
    if (does === 'turn up') card?.set({ open: true })
    if (does === 'keep') table.keep(by.player)
    if (does === 'swap' && card) {
      card.remove()
      table.create(Card, { face: 1 + (at % 255) })
    }
    table.set(done(name), Number(table.get(done(name)) ?? 0) + 1)
    if (throws) throw new Error(drawn)
    return drawn
  },
)

/** What one process asked for, and what it was answered. */
export interface Plays {
  asked: number
  waiting: number
  /** By the name of an action: in which session it was answered, and whether it was done. */
  readonly answered: Map<string, { readonly home: string; readonly ok: boolean }>
  readonly names: Set<string>
  /** Lots that it was told, with the action. */
  readonly draws: string[]
  thrown: number
  readonly odd: Set<string>
}

/** Nothing yet. */
export function createPlays(): Plays {
  const none = { answered: new Map(), names: new Set<string>(), odd: new Set<string>() }
  return { asked: 0, waiting: 0, draws: [], thrown: 0, ...none }
}

/** Asks for one. @param who  the process, by a name that no other has */
export function ask(
  plays: Plays,
  session: Session,
  who: string,
  wish: Omit<Play, 'name'>,
  alive: () => boolean,
): void {
  if (plays.waiting >= UNDER_WAY_MAX) return
  const name = `${who}/${++plays.asked}`
  plays.names.add(name)
  plays.waiting++
  session.act(play, { name, ...wish }).then(
    (outcome) => {
      plays.waiting--
      // Of what is lost or has no answer nobody was told anything.
      if (!alive() || (!outcome.ok && outcome.code !== 'refused')) return
      const home = session.member?.session.id ?? ''
      const said = outcome.ok ? outcome.value : outcome.reason
      if (!outcome.ok) plays.thrown++
      if (outcome.ok === wish.throws) plays.odd.add(`outcome: ${name} was answered "${said}"`)
      plays.answered.set(name, { home, ok: outcome.ok })
      if (said !== '') plays.draws.push(...said.split(' '))
    },
    () => void plays.waiting--,
  )
}

/** What a process may ask for in one turn. */
export function randomPlay(chance: Prng): Omit<Play, 'name'> {
  const draws = prng.below(chance, 4)
  const throws = prng.chance(chance, 0.5)
  // None but its first keeps a player.
  const does = DOES[prng.below(chance, DOES.length - 1)]!
  return { does, at: prng.below(chance, 100), draws, throws }
}

/** draw.once: draws that were told twice, over all processes of a run. */
export function repeatedDraws(all: readonly Plays[]): string[] {
  const told = all.flatMap(({ draws }) => draws)
  const twice = told.filter((draw, at) => told.indexOf(draw) !== at)
  return twice.map((draw) => `draw.once: ${draw} was told twice`)
}

/**
 * What does not hold of the answers of one process.
 *
 * @param isSteady  nothing that it was told may be lost
 */
export function wrongPlays(session: Session, plays: Plays, isSteady: boolean): string[] {
  const home = session.member?.session.id
  const found = [...plays.odd]
  for (const name of plays.names) {
    const times = Number(session.table.get(done(name)) ?? 0)
    const answer = plays.answered.get(name)
    if (times > 1) found.push(`once: ${name} was done ${times} times`)
    if (answer?.home !== home) continue
    if (!answer!.ok && times > 0) found.push(`once: ${name} was refused, and is done`)
    if (answer!.ok && times === 0 && isSteady) found.push(`commit.kept: ${name} is not done`)
  }
  return found
}
