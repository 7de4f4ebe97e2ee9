/** The definitions of the game: its objects and actions. The page and the test share this file. */

import { action, type GameTable, type JoinOptions, object, piece, text, u32, vec2 } from 'holdfast'

export const WIDTH = 800
export const HEIGHT = 500
export const STARS = 6

/**
 * A player's dot. Its player moves it; everybody else sees it move smoothly. It says whose it is,
 * because the server owns it while its player is away.
 */
export const Dot = object(
  'dot',
  { player: u32, name: text(24), pos: vec2(0, WIDTH, 0.5), vel: vec2(-400, 400, 1) },
  { motion: { follow: { pos: 'vel' } } },
)

/** A star, which many may reach at once. */
export const Star = piece('star', { pos: vec2(0, WIDTH, 1) })

function place(table: GameTable): void {
  table.create(Star, { pos: [20 + table.draw(WIDTH - 40), 20 + table.draw(HEIGHT - 40)] })
}

/** Puts the stars into an empty arena. */
export const begin = action('begin', (table) => {
  for (let count = table.all(Star).length; count < STARS; count++) place(table)
})

/** Takes a star: it counts once, for the player who was first, whoever dies meanwhile. */
export const collect = action('collect', { star: text(16) }, (table, { star }, by) => {
  const found = table.find(Star, star)
  if (!found) throw new Error('somebody was faster')
  found.remove()
  place(table)
  table.set(`score ${by.player}`, Number(table.get(`score ${by.player}`) ?? 0) + 1)
})

/** What `join` is given; `keepRoom: '30d'` and other options go here, too. */
export const game = {
  game: 'stars',
  types: [Dot, Star, begin, collect],
} satisfies JoinOptions
