/** A table of rows alone, for tests of rules that need no session. */

import type { Table, Value } from 'holdfast'

/** See the head of this file. */
export function tableOfRows(): Table & { rows: Map<string, Value> } {
  const rows = new Map<string, Value>()
  return {
    rows,
    get: (key) => rows.get(key),
    set: (key, value) => void rows.set(key, value),
    delete: (key) => void rows.delete(key),
    keys: (prefix = '') => [...rows.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
    now: 0,
    later: () => 0,
    cancel: () => false,
    here: [],
    keep: () => {},
    kept: () => [],
  }
}
