/** The list of players, best first. */

import type { Session } from 'holdfast'
import { colorOf } from './room.ts'

/** Shows in #scores who is here, with the points that the actions of the game count. */
export function showScores(session: Session): void {
  const list = document.querySelector('#scores')!
  const show = (): void => {
    const rows = session.members.map(({ player, name }) => {
      const score = Number(session.table.get(`score ${player}`) ?? 0)
      const row = document.createElement('li')
      row.textContent = `${name}: ${score}`
      row.style.color = colorOf(player)
      return { row, score }
    })
    rows.sort((one, other) => other.score - one.score)
    list.replaceChildren(...rows.map(({ row }) => row))
  }
  session.on('members', show)
  session.table.on('changed', show)
  show()
}
