/** Tests that say in front of their title which requirements they prove: `B3, B12: …`. */

import { isTest, walk } from '../tidy/source.ts'
import type { Node, Source } from '../tidy/source.ts'
import { readNeeds } from './needs.ts'

/** One test that claims numbers. */
export interface Claim {
  readonly numbers: readonly string[]
  readonly path: string
  /** Without the numbers. */
  readonly title: string
  /** What a machine must have, or the test is skipped; null if it runs anywhere. */
  readonly needs: string | null
}

/** The titles of some test files as they run, by path, each with the names of its groups. */
export type Listing = (paths: readonly string[]) => ReadonlyMap<string, readonly string[]>

const NUMBERS = String.raw`[BOTSM]\d+(?:(?:, |-|–)[BOTSM]\d+)*`
const PREFIX = new RegExp(`^(${NUMBERS}): (.+)$`, 's')
/** The same within the name of a run, which has the names of its groups in front. */
const WITHIN = new RegExp(`(?:^| > )(${NUMBERS}: .+)$`, 's')
/** A cell of a table out of which titles are made. */
const CELL = new RegExp(`^${NUMBERS}(: |$)`)
/** What a title of `test.each` leaves open. */
const OPEN = /%[#a-z]|\$[\w.]+/g

/** The claims of a title; null if it makes none. A range such as `T56-T61` means all of it. */
export function readTitle(title: string): { numbers: string[]; title: string } | null {
  const [, list, rest] = PREFIX.exec(title) ?? []
  if (list === undefined || rest === undefined) return null
  const numbers = list.split(', ').flatMap((item) => {
    const [from = '', to] = item.split(/[-–]/)
    if (to === undefined) return [from]
    const [first, last] = [Number(from.slice(1)), Number(to.slice(1))]
    return Array.from({ length: last - first + 1 }, (_, index) => `${from[0]}${first + index}`)
  })
  return { numbers, title: rest }
}

/**
 * All claims of the test files among the sources.
 *
 * A title is read as it is written. Where the writing does not say whether a test claims a number,
 * or what it shows, the titles of its file are taken from `listing`.
 */
export function claims(sources: readonly Source[], listing: Listing): Claim[] {
  const tests = sources.filter(({ path }) => isTest(path))
  const asRun = listing(tests.filter((source) => isVague(source)).map(({ path }) => path))
  return tests.flatMap((source) => {
    const names = asRun.get(source.path)
    return names ? ofRun(source, names) : asWritten(source)
  })
}

function asWritten(source: Source): Claim[] {
  const needs = readNeeds(source)
  const found: Claim[] = []
  walk(source.program, (node) => {
    const read = readTitle(titleOf(node)?.text ?? '')
    if (read) found.push({ ...read, path: source.path, needs: needs(node) })
  })
  return found
}

function ofRun(source: Source, names: readonly string[]): Claim[] {
  const needs = readNeeds(source)(source.program)
  return names.flatMap((name) => {
    const read = readTitle(WITHIN.exec(name)?.[1] ?? '')
    return read ? [{ ...read, path: source.path, needs }] : []
  })
}

/** Whether titles are made from a table that has numbers, or say nothing but what is filled in. */
function isVague(source: Source): boolean {
  const titles: Title[] = []
  let table = false
  walk(source.program, (node, above) => {
    const title = titleOf(node)
    if (title) titles.push(title)
    if (node.type !== 'Literal' || typeof node.value !== 'string') return
    // What is given to a call is the title of a test or a group, or none of ours.
    table ||= above.at(-1)?.type !== 'CallExpression' && CELL.test(node.value)
  })
  return titles.some(({ text, parts }) => {
    if (table && parts.length > 1 && parts[0] === '') return true
    return (
      parts.length > 1 && /^\P{L}*(\([A-Z]+-\d+\))?$/u.test(readTitle(text)?.title ?? 'as it is')
    )
  })
}

interface Title {
  /** With `…` for what is filled in. */
  text: string
  /** What stands between that. */
  parts: string[]
}

/** The title of a call such as `test('…', …)` or `test.each(table)('…', …)`. */
function titleOf(node: Node): Title | null {
  if (node.type !== 'CallExpression') return null
  let callee: Node = node.callee
  const each = callee.type === 'CallExpression'
  while (callee.type === 'CallExpression') callee = callee.callee
  if (callee.type === 'MemberExpression') callee = callee.object
  if (callee.type !== 'Identifier' || !['test', 'it'].includes(callee.name)) return null
  const [title] = node.arguments
  if (title?.type === 'Literal' && typeof title.value === 'string') {
    return { text: title.value, parts: each ? title.value.split(OPEN) : [title.value] }
  }
  if (title?.type !== 'TemplateLiteral') return null
  const parts = title.quasis.map(({ value }) => value.cooked ?? '')
  return { text: parts.join('…'), parts }
}
