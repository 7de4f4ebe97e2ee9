/** What the verbs of a session say of what they do not take, and whether rows are the same. */

import type { Verbs } from './kind.ts'

/** Who makes what a verb takes, for the sentence that refuses anything else. */
export const MADE_BY: Readonly<Record<keyof Verbs, string>> = {
  create: 'a type of objects is made by object()',
  all: 'a type of objects or pieces is made by object() or piece()',
  act: 'act takes an action, as action() makes it',
  call: 'a procedure is made by procedure()',
  note: 'a procedure is made by procedure()',
  answer: 'a procedure is made by procedure()',
  part: 'a part of its own is made by slots() or definePart()',
}

/** Rows are never changed in place, and each view that comes has rows of its own. */
export function sameRows(before: readonly object[], now: readonly object[]): boolean {
  return before.length === now.length && JSON.stringify(before) === JSON.stringify(now)
}
