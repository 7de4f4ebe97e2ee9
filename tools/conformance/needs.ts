/** Tests that are skipped where something is missing: `context.skip(why) // needs tmux`. */

import { lineAt, walk } from '../tidy/source.ts'
import type { Node, Source } from '../tidy/source.ts'

/** Stands where a test may be skipped and nothing says for want of what. */
export const UNSAID = 'something unsaid'

/**
 * What the tests of a file need.
 *
 * @returns for any part of the file what it needs, a list in words; null if nothing. A test that
 * asks a function of its file whether it is to be skipped needs what that function does.
 */
export function readNeeds(source: Source): (part: Node) => string | null {
  const asked = new Map<string, string>()
  const needsOf = (part: Node): string | null => {
    const found = new Set<string>()
    walk(part, (node) => {
      if (node.type !== 'CallExpression') return
      const { callee } = node
      if (callee.type === 'Identifier') found.add(asked.get(callee.name) ?? '')
      else if (isSkip(callee)) found.add(saidAt(source, node.start))
    })
    found.delete('')
    return found.size > 0 ? [...found].join('; ') : null
  }
  walk(source.program, (node) => {
    if (node.type !== 'FunctionDeclaration' || !node.id) return
    const needs = needsOf(node)
    if (needs !== null) asked.set(node.id.name, needs)
  })
  return needsOf
}

function isSkip(callee: Node): boolean {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false
  const of = callee.object
  return callee.property.name === 'skip' && of.type === 'Identifier' && of.name === 'context'
}

function saidAt(source: Source, offset: number): string {
  const line = source.lines[lineAt(source, offset) - 1] ?? ''
  return / \/\/ needs (.+)$/.exec(line)?.[1] ?? UNSAID
}
