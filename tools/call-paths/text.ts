/** What docs/ARCHITECTURE.md says that each path enters: the table that the stacks are held to. */

import type { Limit } from './stacks.ts'

/** A row of the table. */
export interface Row extends Limit {
  /** The modules, in the order in which they are first met. */
  readonly modules: readonly string[]
  /** Why a module is entered again; empty if none is. */
  readonly why: string
}

const PATH = /^a `?(datagram|set|letter|segment)`?$|^an `(act)`$/

/** The rows by their path. */
export function rowsOf(text: string): Map<string, Row> {
  const found = new Map<string, Row>()
  for (const line of text.split('\n')) {
    const [, name = '', most, modules = '', again = '', why = ''] = line.split('|')
    const [, one, other] = PATH.exec(name.trim()) ?? []
    const path = one ?? other
    if (path === undefined) continue
    const row = {
      most: Number(most),
      modules: words(modules),
      again: words(again),
      why: why.trim(),
    }
    found.set(path, row)
  }
  return found
}

function words(cell: string): string[] {
  return cell
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
