/** The definitions of the game: its objects and actions. The page and the test share this file. */

import {
  action,
  type GameTable,
  type JoinOptions,
  object,
  piece,
  text,
  u32,
  vec2,
  vec3,
} from 'holdfast'

/** From the middle of the arena to its edge, in meters. */
export const EDGE = 10
export const GEMS = 6

/**
 * A player's ball. Its player moves it; everybody else sees it move smoothly, on its velocity. It
 * says whose it is, because the server owns it while its player is away.
 */
export const Ball = object(
  'ball',
  { player: u32, name: text(24), pos: vec3(-EDGE, EDGE, 0.01), vel: vec3(-16, 16, 0.05) },
  { motion: { follow: { pos: 'vel' } } },
)

/** A gem on the floor, which many may reach at once. */
export const Gem = piece('gem', { at: vec2(-EDGE, EDGE, 0.1) })

function place(table: GameTable): void {
  const draw = (): number => table.draw(2 * EDGE - 1) + 1 - EDGE
  table.create(Gem, { at: [draw(), draw()] })
}

/** Puts the gems into an empty arena. */
export const begin = action('begin', (table) => {
  for (let count = table.all(Gem).length; count < GEMS; count++) place(table)
})

/** Takes a gem: it counts once, for the player who was first, whoever dies meanwhile. */
export const collect = action('collect', { gem: text(16) }, (table, { gem }, by) => {
  const found = table.find(Gem, gem)
  if (!found) throw new Error('somebody was faster')
  found.remove()
  place(table)
  table.set(`score ${by.player}`, Number(table.get(`score ${by.player}`) ?? 0) + 1)
})

/** What `join` is given; `keepRoom: '30d'` and other options go here, too. */
export const game = {
  game: 'gems',
  types: [Ball, Gem, begin, collect],
} satisfies JoinOptions
