/** Warns on the console of something allowed but hardly intended. */
export function warnInPage(sentence: string): void {
  console.warn(sentence)
}

/** Reports an error that nothing else handles, as pages report uncaught errors. */
export function reportInPage(error: unknown, where: string): void {
  reportError(new Error(`${where} threw: ${String(error)}`, { cause: error }))
}

/** Reports the same where there is no page: in the worker's log. */
export function reportInWorker(error: unknown, where: string): void {
  console.error(`${where} threw`, error)
}
