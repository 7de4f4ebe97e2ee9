/** What nobody else heard of: a warning with the error's own place. The process goes on. */
export function reportOnNode(error: unknown, where: string): void {
  const detail = error instanceof Error ? (error.stack ?? String(error)) : String(error)
  process.emitWarning(`${where} threw`, { type: 'HoldfastWarning', detail })
}
