/** The error that ends a turn which must begin again. */

/** A handler's SQL ended the transaction of the turn. */
export class Ended extends Error {
  readonly why: Error
  /** The letter that was handled; null for a transaction that a caller asked for. */
  readonly letter: { peer: string; n: number } | null
  reject: (error: Error) => void = () => {}

  constructor(why: Error, letter: Ended['letter']) {
    super(why.message)
    this.why = why
    this.letter = letter
  }
}
