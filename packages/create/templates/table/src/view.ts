/** The cards as the page shows them: on the table, or in the player's own hand. */

import type { PieceHandle, Session } from 'holdfast'
import { Card, faceOf } from './cards.ts'
import { colorOf } from './room.ts'

export type CardHandle = PieceHandle<typeof Card.schema.fields>

export const table = document.querySelector<HTMLElement>('#table')!
export const hand = document.querySelector<HTMLElement>('#hand')!

const buttons = new Map<string, HTMLButtonElement>()

/** Shows all cards. @param add  gives a new one its listeners */
export function show(session: Session, add: (card: CardHandle, button: HTMLElement) => void): void {
  // Of several at one place only the uppermost is reached by Tab.
  const lying = session.all(Card).filter(({ state }) => state.hand === 0)
  const tops = new Map(lying.map((card) => [String(card.state.at), card]))
  for (const [level, card] of session.all(Card).entries()) {
    let button = buttons.get(card.id)
    if (!button) {
      button = document.createElement('button')
      buttons.set(card.id, button)
      add(card, button)
    }
    const { hand: of } = card.state
    if (of !== 0 && of !== session.me.player) {
      button.remove()
      continue
    }
    const parent = of === 0 ? table : hand
    if (button.parentElement !== parent) {
      const hadFocus = document.activeElement === button
      parent.append(button)
      if (hadFocus) button.focus()
    }
    button.tabIndex = of !== 0 || tops.get(String(card.state.at)) === card ? 0 : -1
    button.style.zIndex = String(level)
    paint(card, button)
  }
}

function paint({ state, holder }: CardHandle, button: HTMLElement): void {
  const { at, face, up, hand: of } = state
  button.style.setProperty('--x', String(at[0]))
  button.style.setProperty('--y', String(at[1]))
  button.style.setProperty('--holder', holder ? colorOf(holder.player) : '')
  button.textContent = face === null ? '' : faceOf(face)
  button.setAttribute('aria-label', face === null ? 'a card face down' : faceOf(face))
  button.title = of !== 0 && up ? 'Everybody sees it' : (holder?.name ?? '')
  const kinds = [
    ['back', face === null],
    ['red', face !== null && /[♦♥]/.test(faceOf(face))],
    ['up', up],
    ['held', holder !== null],
  ] as const
  button.className = ['card', ...kinds.filter(([, is]) => is).map(([kind]) => kind)].join(' ')
}

/** Shows who is here, how many cards they have, and which of them they show. */
export function showPlayers(session: Session): void {
  const rows = session.members.map(({ player, name }) => {
    const own = session.all(Card).filter(({ state }) => state.hand === player)
    const shown = own.filter(({ state }) => state.up).map(({ state }) => faceOf(state.face ?? 0))
    const row = document.createElement('li')
    row.textContent = `${name}: ${own.length}`
    if (shown.length > 0) row.textContent += `, shows ${shown.join(' ')}`
    row.style.color = colorOf(player)
    return row
  })
  document.querySelector('#players')!.replaceChildren(...rows)
}
