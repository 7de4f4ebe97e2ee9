/** What was done by the rules, as rows of the table: so whoever comes later can read it too. */

import type { Table, Value } from 'holdfast'

/** Records that stay. */
export const RECORDS_MAX = 50

/** What can be read of a table: that of an action, or a session's. */
export type Readable = Pick<Table, 'get' | 'keys'>

/** One record. Players in its text stand as their numbers in braces, such as `{3}`. */
export interface Entry {
  /** From 1. */
  readonly number: number
  readonly player: number
  readonly text: string
}

/** Writes down what that player did. */
export function record(table: Table, player: number, text: string): void {
  const number = numberOf(table.get('records')) + 1
  table.set('records', number)
  table.set(keyOf(number), `${player} ${text}`)
  if (number > RECORDS_MAX) table.delete(keyOf(number - RECORDS_MAX))
}

/** All records after a number, oldest first. */
export function recordsAfter(table: Readable, after: number): Entry[] {
  return table.keys('record.').flatMap((key) => {
    const number = Number(key.slice('record.'.length))
    const found = /^(\d+) (.+)$/.exec(String(table.get(key)))
    if (!found || number <= after) return []
    return [{ number, player: Number(found[1]), text: found[2]! }]
  })
}

/** A text with names in the place of numbers. */
export function named(text: string, nameOf: (player: number) => string): string {
  return text.replaceAll(/\{(\d+)\}/g, (_all, player: string) => nameOf(Number(player)))
}

/** A row that holds a number; 0 for one that does not. */
export function numberOf(value: Value | undefined): number {
  return typeof value === 'number' ? value : 0
}

// Numbers in keys have one length, so that sorted keys are in the order of the numbers.
function keyOf(number: number): string {
  return `record.${String(number).padStart(9, '0')}`
}
