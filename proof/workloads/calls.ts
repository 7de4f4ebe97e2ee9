/**
 * Calls in a simulated run: each process calls others at random, writes down what it was asked to
 * run and what it was answered, and at the end the books of all are laid side by side.
 */

import { procedure, type ProcedureType } from '../../packages/holdfast/src/calls/calls.ts'
import type { Session } from '../../packages/holdfast/src/join/session.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../../packages/holdfast/src/faults/prng.ts'
import { HoldfastError, type Millis } from '../../packages/holdfast/src/machine.ts'

/** Is called with a key that is used once, and answers the same. */
export const echo: ProcedureType<string, string> = procedure('echo')
/** Is told such a key. */
export const tell: ProcedureType<string, unknown> = procedure('tell')

const TIMEOUT_MS: Millis = 3_000

/** What one process knows of calls. */
export interface Book {
  /** What came of each call by its key: `under way`, `ok`, or the code of its error. */
  asked: Map<string, string>
  /** How often each key was run or told here. */
  ran: Map<string, number>
  /** Answers that are not what was asked. */
  odd: string[]
}

/** Nothing yet. */
export function createBook(): Book {
  return { asked: new Map(), ran: new Map(), odd: [] }
}

/** Answers calls from now on. */
export function answerCalls(book: Book, session: Session): void {
  const note = (key: string): string => {
    book.ran.set(key, (book.ran.get(key) ?? 0) + 1)
    return key
  }
  session.answer(echo, note)
  session.answer(tell, note)
}

/** Calls somebody, or tells all. @param who  names the caller, once and for all */
export function callSomebody(book: Book, session: Session, who: string, chance: Prng): void {
  const key = `${who} #${book.asked.size + 1}`
  const { members } = session
  const target = prng.chance(chance, 0.3) ? 'primary' : members[prng.below(chance, members.length)]
  if (!target) return
  book.asked.set(key, 'under way')
  if (prng.chance(chance, 0.2)) return tellAll(book, session, key)
  session.call(target, echo, key, { timeoutMs: TIMEOUT_MS }).then(
    (outcome) => {
      if (outcome.ok && outcome.value !== key) {
        book.odd.push(`${key} is answered ${outcome.value}`)
      }
      settle(book, key, outcome.ok ? 'ok' : outcome.code)
    },
    (error: unknown) => settle(book, key, codeOf(error)),
  )
}

function tellAll(book: Book, session: Session, key: string): void {
  let code = 'told'
  try {
    session.note('all', tell, key)
  } catch (error) {
    code = codeOf(error)
  }
  settle(book, key, code)
}

function codeOf(error: unknown): string {
  return error instanceof HoldfastError ? error.code : String(error)
}

function settle(book: Book, key: string, code: string): void {
  if (book.asked.get(key) !== 'under way') book.odd.push(`${key} is settled twice`)
  book.asked.set(key, code)
}

/** How many calls of a process have no end yet. */
export function underWay(book: Book): number {
  return [...book.asked.values()].filter((code) => code === 'under way').length
}

/** With these nothing may have run; with `lost` and `timeout` nobody knows. */
const REFUSED: readonly string[] = ['away', 'unreachable', 'overloaded', 'left']
const OPEN: readonly string[] = ['lost', 'timeout', 'under way']

/** What does not hold over the books of all processes, dead ones too. */
export function wrongCalls(books: readonly Book[]): string[] {
  const wrong = books.flatMap((book) => book.odd.map((what) => `rpc.once: ${what}`))
  const runs = new Map<string, number>()
  for (const { ran } of books) {
    for (const [key, times] of ran) {
      if (times > 1) wrong.push(`rpc.once: ${key} ran ${times} times at one member`)
      runs.set(key, (runs.get(key) ?? 0) + times)
    }
  }
  for (const { asked } of books) {
    for (const [key, code] of asked) {
      const times = runs.get(key) ?? 0
      if (code === 'told') continue
      if (times > 1) wrong.push(`rpc.once: ${key} ran ${times} times`)
      if (code === 'ok' && times === 0) wrong.push(`rpc.truth: ${key} is answered and did not run`)
      if (REFUSED.includes(code) && times > 0) wrong.push(`rpc.truth: ${key} is ${code} and ran`)
      if (![...REFUSED, ...OPEN, 'ok'].includes(code)) wrong.push(`rpc.truth: ${key} is ${code}`)
    }
  }
  return wrong
}

/** What happened to calls at least once. */
export function metCalls(books: readonly Book[]): string[] {
  const ran = new Set(books.flatMap((book) => [...book.ran.keys()]))
  const met = new Set<string>()
  for (const { asked } of books) {
    for (const [key, code] of asked) {
      if (code === 'ok') met.add('a call answered')
      if (code === 'told') met.add('all others told')
      if (code === 'lost')
        met.add(`a call of unknown fate that ${ran.has(key) ? 'ran' : 'did not run'}`)
    }
  }
  return [...met]
}
