/** What ends a turn that is to be begun anew. */

/** SQL of a handler ended the transaction of the turn. */
export class Ended extends Error {
  readonly why: Error
  /** The letter that was handled; null for a transaction that somebody asked for. */
  readonly letter: { peer: string; n: number } | null
  reject: (error: Error) => void = () => {}

  constructor(why: Error, letter: Ended['letter']) {
    super(why.message)
    this.why = why
    this.letter = letter
  }
}
