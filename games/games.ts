/** The games of the lobby, in its order. The compiler asks for a picture of each. */

/** What the lobby says of a game. */
export interface Game {
  /** Its folder, which is also what its sessions are called. */
  readonly id: string
  readonly title: string
  readonly about: string
  /** What one can do without others. */
  readonly alone?: { readonly query: string; readonly text: string }
}

export const GAMES = [
  {
    id: 'dots',
    title: 'Dots',
    about:
      'Everybody is a dot, and pins stay where you drop them. Close the window that serves: the ' +
      'dots of the others keep moving.',
  },
  {
    id: 'teapots',
    title: 'Dueling Teapots',
    about:
      'Sugar cubes fly over the tea table, round the cake and off the rim. Three hits topple a ' +
      'pot.',
  },
  {
    id: 'tabletop',
    title: 'Tabletop',
    about:
      'Cards, chess, draughts and dice on one table. Hands stay hidden, and no move is lost when ' +
      'a machine dies.',
  },
  {
    id: 'mazewar',
    title: 'Mazewar',
    about:
      'Eyeballs hunt each other down the corridors of a maze. Every window computes the same ' +
      'world.',
    alone: { query: 'practice', text: 'Practise' },
  },
] as const satisfies readonly Game[]

/** The folder of a game. */
export type GameId = (typeof GAMES)[number]['id']

/** Whether a folder is that of a game. */
export function isGame(folder: string): folder is GameId {
  return GAMES.some(({ id }) => id === folder)
}
