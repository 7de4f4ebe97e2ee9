/** Sizes of files, functions and doors, and where a class may stand. */

import { ENTRY_POINTS } from '../entry-points.ts'
import { MACHINES_TOP, OUTSIDE, placeOf } from './layers.ts'
import { complain, isTest, lineAt, walk } from './source.ts'
import type { Complaint, Node, Source } from './source.ts'

/** Ceilings, not aims. */
export const COLUMNS_MAX = 100
/** Lines of a file; a good one has 150. */
export const FILE_LINES_MAX = 900
/** Lines of a function from its first word to its last brace, unless it only fills in a state. */
export const FUNCTION_LINES_MAX = 60
/** Lines of a door. */
export const DOOR_LINES_MAX = 60
/** Entries of the root, without dotfiles and what a command makes. */
export const ROOT_ENTRIES_MAX = 14

const DOOR_FILES: readonly string[] = [
  ...Object.values(ENTRY_POINTS),
  'packages/holdfast/src/index.ts',
]
const MADE = new Set(['node_modules', 'dist', 'build', 'package-lock.json'])

/** Lines that are too long, and files. */
export function lengths({ path, lines }: Source): Complaint[] {
  const complaints: Complaint[] = []
  for (const [index, text] of lines.entries()) {
    const columns = Array.from(text).length
    if (columns > COLUMNS_MAX && !isTitle(path, text) && !IMPORT.test(text)) {
      complaints.push({ path, line: index + 1, what: `has ${columns} columns of ${COLUMNS_MAX}` })
    }
  }
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length
  const max = DOOR_FILES.includes(path) ? DOOR_LINES_MAX : FILE_LINES_MAX
  if (count > max) complaints.push({ path, line: 0, what: `has ${count} lines of ${max}` })
  return complaints
}

// A single name from a long path, which the formatter leaves in one line.
const IMPORT = /^(import|export) (type )?\{ \S+ \} from '/

// The title of a test is its claim, and a claim is not cut in two.
function isTitle(path: string, text: string): boolean {
  return isTest(path) && /^\s*test(\.\w+)?\(/.test(text)
}

/** Functions that are too long. What only holds tests, as a suite does, is not counted. */
export function functions(source: Source): Complaint[] {
  return functionsOf(source).flatMap(({ line, lines }) => {
    if (lines <= FUNCTION_LINES_MAX) return []
    const what = `has a function of ${lines} lines of ${FUNCTION_LINES_MAX}`
    return { path: source.path, line, what }
  })
}

/** Every function of a file but those that only hold tests: where it begins, and its length. */
export function functionsOf(source: Source): { line: number; lines: number }[] {
  const found: { line: number; lines: number }[] = []
  const suites = isTest(source.path) ? holders(source) : new Set<Node>()
  walk(source.program, (node) => {
    if (!isFunction(node) || suites.has(node) || isState(node)) return
    const line = lineAt(source, node.start)
    found.push({ line, lines: lineAt(source, node.end) - line + 1 })
  })
  return found
}

function isFunction(node: Node): boolean {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression'
  )
}

/** Whether all that a function does is to return an object of so many fields: a state at first. */
function isState(node: Node): boolean {
  if (node.type !== 'FunctionDeclaration' || node.body?.body.length !== 1) return false
  const [only] = node.body.body
  return only?.type === 'ReturnStatement' && only.argument?.type === 'ObjectExpression'
}

/** The functions that define tests, and the blocks of `describe`. */
function holders(source: Source): Set<Node> {
  const found = new Set<Node>()
  walk(source.program, (node, above) => {
    if (!isTestCall(node)) return
    for (const at of above) if (isFunction(at)) found.add(at)
    if (node.type !== 'CallExpression' || called(node) !== 'describe') return
    for (const part of node.arguments) found.add(part)
  })
  return found
}

function isTestCall(node: Node): boolean {
  return ['describe', 'test', 'it'].includes(called(node))
}

/** The name in front of a call such as `describe.each(table)('x', …)`, or nothing. */
function called(node: Node): string {
  if (node.type !== 'CallExpression') return ''
  let callee: Node = node.callee
  while (callee.type === 'CallExpression') callee = callee.callee
  if (callee.type === 'MemberExpression') callee = callee.object
  return callee.type === 'Identifier' ? callee.name : ''
}

/** Classes where only machines live. */
export function classes(source: Source): Complaint[] {
  const here = placeOf(source.path)
  if (!here || here.layer > MACHINES_TOP || OUTSIDE.includes(here.module) || isTest(source.path))
    return []
  const complaints: Complaint[] = []
  walk(source.program, (node) => {
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return
    if (source.path === 'packages/holdfast/src/machine.ts' && node.id?.name === 'HoldfastError')
      return
    complaints.push(complain(source, node.start, 'has a class: a machine is data and verbs'))
  })
  return complaints
}

/** More in the root than one can take in. @param entries names of files and folders there */
export function root(entries: readonly string[]): Complaint[] {
  const counted = entries.filter((name) => !name.startsWith('.') && !MADE.has(name))
  if (counted.length <= ROOT_ENTRIES_MAX) return []
  const what = `has ${counted.length} entries of ${ROOT_ENTRIES_MAX}: ${counted.join(' ')}`
  return [{ path: '.', line: 0, what }]
}
