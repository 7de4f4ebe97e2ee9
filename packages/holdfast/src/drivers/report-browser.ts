/** Says in the console what is allowed, and hardly meant. */
export function warnInPage(sentence: string): void {
  console.warn(sentence)
}

/**
 * Reports an error that nothing else handles as a page reports uncaught errors; the page goes on.
 */
export function reportInPage(error: unknown, where: string): void {
  reportError(new Error(`${where} threw: ${String(error)}`, { cause: error }))
}
