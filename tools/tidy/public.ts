/** What the doors hand out: every interface and each of its members says what it is. */

import { dirname, join } from 'node:path/posix'
import { complain } from './source.ts'
import type { Complaint, Node, Source } from './source.ts'
import { declares, hasDocstring } from './words.ts'

type Sources = ReadonlyMap<string, Source>

/** A declaration, and where it stands. */
interface Found {
  readonly source: Source
  readonly node: Node
}

/**
 * Public interfaces without a doc comment, and members of theirs without one. Of several overloads
 * the first speaks for all.
 */
export function undocumented(doors: readonly string[], all: readonly Source[]): Complaint[] {
  const sources = new Map(all.map((source) => [source.path, source]))
  const found = new Map<Node, Found>()
  for (const door of doors) {
    for (const name of namesOf(sources, door)) {
      const known = find(sources, door, name)
      if (known) withBases(sources, known, found)
    }
  }
  return [...found.values()].flatMap(complaintsOf)
}

function complaintsOf({ source, node }: Found): Complaint[] {
  const name = declares(node)[0]!
  const complaints: Complaint[] = []
  const isExported = source.text.slice(0, node.start).endsWith('export ')
  const start = isExported ? node.start - 'export '.length : node.start
  if (!hasDocstring(source, start)) {
    complaints.push(complain(source, node.start, `${name} is public, and says nothing of itself`))
  }
  const told = new Set<string>()
  for (const member of membersOf(node)) {
    const called = nameOf(source, member)
    if (!told.has(called) && !hasDocstring(source, member.start)) {
      complaints.push(complain(source, member.start, `${name}.${called} has no doc comment`))
    }
    told.add(called)
  }
  return complaints
}

function membersOf(node: Node): readonly Node[] {
  if (node.type === 'TSInterfaceDeclaration') return node.body.body
  return node.type === 'TSTypeAliasDeclaration' ? literals(node.typeAnnotation) : []
}

// An object in braces, also where it is one of several that are put together.
function literals(type: Node): readonly Node[] {
  if (type.type === 'TSTypeLiteral') return type.members
  return type.type === 'TSIntersectionType' ? type.types.flatMap(literals) : []
}

function nameOf({ text }: Source, member: Node): string {
  return 'key' in member && member.key ? text.slice(member.key.start, member.key.end) : '()'
}

// What it extends is handed out with it.
function withBases(sources: Sources, found: Found, into: Map<Node, Found>): void {
  const { source, node } = found
  const isType = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
  if (!isType || into.has(node)) return
  into.set(node, found)
  if (node.type !== 'TSInterfaceDeclaration') return
  for (const { expression } of node.extends) {
    const name = source.text.slice(expression.start, expression.end)
    const base = find(sources, source.path, name)
    if (base) withBases(sources, base, into)
  }
}

function bodyOf(source: Source | undefined): readonly Node[] {
  return source?.program.type === 'Program' ? source.program.body : []
}

function namesOf(sources: Sources, path: string): string[] {
  return bodyOf(sources.get(path)).flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration') {
      return namesOf(sources, aimOf(path, statement.source.value))
    }
    if (statement.type !== 'ExportNamedDeclaration') return []
    const own = statement.declaration ? declares(statement.declaration) : []
    return [...own, ...statement.specifiers.map(({ exported }) => word(exported))]
  })
}

function find(sources: Sources, path: string, name: string): Found | null {
  const source = sources.get(path)
  if (!source) return null
  for (const statement of bodyOf(source)) {
    const node =
      'declaration' in statement && statement.declaration ? statement.declaration : statement
    if (declares(node as Node).includes(name)) return { source, node: node as Node }
    const way = wayOf(statement, name)
    if (!way) continue
    const there = way.from === null ? path : aimOf(path, way.from)
    const found = there === path && way.name === name ? null : find(sources, there, way.name)
    if (found) return found
  }
  return null
}

/** From which file a statement has that name, and what it is called there; null: this file. */
function wayOf(statement: Node, name: string): { from: string | null; name: string } | null {
  switch (statement.type) {
    case 'ExportAllDeclaration':
      return { from: statement.source.value, name }
    case 'ExportNamedDeclaration': {
      const one = statement.specifiers.find(({ exported }) => word(exported) === name)
      return one ? { from: statement.source?.value ?? null, name: word(one.local) } : null
    }
    case 'ImportDeclaration': {
      const one = statement.specifiers.find(({ local }) => local.name === name)
      const isNamed = one?.type === 'ImportSpecifier'
      return isNamed ? { from: statement.source.value, name: word(one.imported) } : null
    }
    default:
      return null
  }
}

function word(name: { type: string; name?: string; value?: unknown }): string {
  return name.name ?? String(name.value)
}

function aimOf(path: string, aim: string): string {
  return aim.startsWith('.') ? join(dirname(path), aim) : aim
}
