/** Reports errors that nothing else handles. */

/** Emits a process warning of something allowed but hardly intended. */
export function warn(sentence: string): void {
  process.emitWarning(sentence, { type: 'HoldfastWarning' })
}

export const reports = { report, warn }

/** Emits a process warning with the error's own stack; the process goes on. */
export function report(error: unknown, where: string): void {
  const detail = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  process.emitWarning(`${where} threw`, { type: 'HoldfastWarning', detail })
}
