/** Where errors go that nobody else hears of. */

/** A warning of the process, with the error's own place: the process goes on. */
export function report(error: unknown, where: string): void {
  const detail = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  process.emitWarning(`${where} threw`, { type: 'HoldfastWarning', detail })
}
