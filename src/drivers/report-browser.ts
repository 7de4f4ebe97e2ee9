/** What nobody else heard of, told as a page tells errors that nobody caught. It goes on. */
export function reportInPage(error: unknown, where: string): void {
  reportError(new Error(`${where} threw: ${String(error)}`, { cause: error }))
}
