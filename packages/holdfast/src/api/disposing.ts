/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What ends where a block of `using` or `await using` does. A platform that lacks the symbols has
 * those of its registry instead, so nothing fails there.
 */

/** What ends a thing at once. */
const DISPOSE: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)

/** What ends a thing in a while. */
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)

/** Stops what was begun: called, or by `using`. Calling it again does nothing. */
export interface Stop extends Disposable {
  /** Stops it. */
  (): void
}

/** A function that stops something, for `using` as well. */
export function stopping(stop: () => void): Stop {
  return Object.assign(stop, { [DISPOSE]: stop })
}
