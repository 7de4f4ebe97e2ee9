/**
 * One file of the codebase, parsed: what the rules look at, and what they answer.
 *
 * The parser is the one Vite carries, so a comment or a string never counts as code.
 */

import { parseSync } from 'vite'
import type { ESTree, ParseResult } from 'vite'

/** Any node of the syntax tree. */
export type Node = ESTree.Node

/** A parsed file. */
export interface Source {
  /** From the root of the repository, with `/` between. */
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  readonly program: Node
  readonly comments: ParseResult['comments']
}

/** A rule that was broken, and where. */
export interface Complaint {
  readonly path: string
  /** From 1; 0 stands for the file as a whole. */
  readonly line: number
  readonly what: string
}

/** A rule that looks at one file at a time. */
export type Rule = (source: Source) => Complaint[]

/** Reads one file. @throws Error where it does not parse */
export function parse(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text)
  const [error] = errors
  if (error) throw new Error(`${path} does not parse: ${error.message}`)
  return { path, text, lines: text.split('\n'), program, comments }
}

/** The line of a place in the text. */
export function lineAt(source: Source, offset: number): number {
  return source.text.slice(0, offset).split('\n').length
}

/** A complaint about a place. */
export function complain(source: Source, offset: number, what: string): Complaint {
  return { path: source.path, line: lineAt(source, offset), what }
}

/** As a line for people. */
export function shown({ path, line, what }: Complaint): string {
  return line > 0 ? `${path}:${line} ${what}` : `${path} ${what}`
}

/** Visits every node, parents first. `above` is the way down to it, the nearest last. */
export function walk(node: Node, visit: (node: Node, above: readonly Node[]) => void): void {
  const above: Node[] = []
  const step = (at: Node): void => {
    visit(at, above)
    above.push(at)
    for (const child of children(at)) step(child)
    above.pop()
  }
  step(node)
}

function children(node: Node): Node[] {
  const found: Node[] = []
  for (const value of Object.values(node) as unknown[]) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isNode(item)) found.push(item)
    }
  }
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** Whether it is a test, which may do what the tested may not. */
export function isTest(path: string): boolean {
  return path.startsWith('test/') || path.endsWith('.test.ts') || path.endsWith('.test.tsx')
}
