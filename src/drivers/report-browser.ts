/**
 * Reports an error that nothing else handles as a page reports uncaught errors; the page goes on.
 */
export function reportInPage(error: unknown, where: string): void {
  reportError(new Error(`${where} threw: ${String(error)}`, { cause: error }))
}
