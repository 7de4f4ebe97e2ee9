/** What is attacked, from where, and until when. */
export interface Target {
  url: string
  addresses: readonly string[]
  /** A room that is played in. */
  game: string
  room: string
  /** Of the game. */
  schema: number
  /** As `performance.now()` counts. */
  until: number
}
