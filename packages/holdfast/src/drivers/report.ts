/** Reports errors that nothing else handles. */

/** Emits a warning of the process: something is allowed, and hardly meant. */
export function warn(sentence: string): void {
  process.emitWarning(sentence, { type: 'HoldfastWarning' })
}

/** Both, as a place has them. */
export const reports = { report, warn }

/** Emits a warning of the process, with the error's own stack: the process goes on. */
export function report(error: unknown, where: string): void {
  const detail = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  process.emitWarning(`${where} threw`, { type: 'HoldfastWarning', detail })
}
