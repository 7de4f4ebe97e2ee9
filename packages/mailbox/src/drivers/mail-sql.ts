/**
 * The SQL allowed in handlers: one statement that neither begins nor ends a transaction and does
 * not touch the mailbox's own tables. A statement that ends the transaction as a side effect (`OR
 * ROLLBACK`, a full disk) is detected afterwards.
 */

import { badValue } from '../../../holdfast/src/machine.ts'

const OURS = /^(begin|commit|end|rollback|savepoint|release)$/i
const APART = /^(attach|detach|vacuum|pragma)$/i

/** Rejects other statements. @throws HoldfastError `bad-value` that names the statement */
export function checkSql(text: string): void {
  const { word, rest } = read(text)
  if (OURS.test(word)) throw badValue(`${word} is not for a handler: it runs in a transaction`)
  if (APART.test(word)) throw badValue(`${word} is not for a handler: it would outlive its turn`)
  if (rest !== '') {
    throw badValue(`a handler runs one statement at a time; after the first comes: ${rest}`)
  }
  if (/\bmail_/i.test(text)) {
    throw badValue('tables whose name begins with mail_ are the mailbox’s own')
  }
}

// Tokens: gaps, quoted text, words, and any other character.
const GAP = String.raw`(?:\s|--[^\n]*|/\*[^]*?(?:\*/|$)|;)+`
const QUOTED = ["'[^']*'?", '"[^"]*"?', '`[^`]*`?', String.raw`\[[^\]]*\]?`].join('|')
const NAME = '[a-z_][a-z_0-9$]*'
const TOKEN = new RegExp(`(${GAP})|(${QUOTED})|(${NAME})|([^])`, 'giy')

/** The first word, and the text behind the first statement. */
function read(text: string): { word: string; rest: string } {
  let word = ''
  let isTrigger = false
  let hasBegun = false
  TOKEN.lastIndex = 0
  for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) {
    const [whole, gap, , name] = found
    if (gap === undefined) {
      if (!hasBegun) word = name ?? whole
      hasBegun = true
      isTrigger ||= /^trigger$/i.test(name ?? '')
      continue
    }
    const isOver = hasBegun && bare(gap).includes(';')
    // The statements of a trigger are part of its own statement.
    if (isOver && !(isTrigger && /^create$/i.test(word))) {
      return { word, rest: text.slice(TOKEN.lastIndex).trim().slice(0, 40) }
    }
  }
  return { word, rest: '' }
}

function bare(gap: string): string {
  return gap.replaceAll(/--[^\n]*|\/\*[^]*?(?:\*\/|$)/g, '')
}
