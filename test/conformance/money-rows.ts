/** All that the store of a mailbox with a book has, as text. */

import type { MailStore } from '../../packages/holdfast/src/ports.ts'
import { contentOf } from './mail-store.ts'

/** The same text if and only if letters, numbers, values and rows are the same. */
export function bankOf(store: MailStore): string {
  const tables = ['book', 'sent', 'took', 'wrong']
  const rows = tables.map((table) => store.sql!.run(`SELECT * FROM ${table} ORDER BY rowid`, []))
  // What was read in a transaction that nothing came of.
  store.abandon()
  return JSON.stringify([contentOf(store), rows])
}
