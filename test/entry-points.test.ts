// Goal: what an application imports stays there, and nobody adds a name without saying so.
// Method: the names that each door exports, types too, held against a list; UPDATE=1 rewrites it.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ENTRY_POINTS } from '../tools/entry-points.ts'
import { parse } from '../tools/tidy/source.ts'
import type { Node } from '../tools/tidy/source.ts'

const FILE = 'test/data/doors.txt'

type Statement = Extract<Node, { type: 'ExportNamedDeclaration' }>

/** What a file exports, by name: whether it is there when the program runs. */
function exportsOf(path: string): Map<string, 'value' | 'type'> {
  const found = new Map<string, 'value' | 'type'>()
  const { program } = parse(path, readFileSync(path, 'utf8'))
  if (program.type !== 'Program') return found
  for (const statement of program.body) {
    if (statement.type === 'ExportAllDeclaration') {
      const aim = join(dirname(path), statement.source.value)
      const isType = statement.exportKind === 'type'
      for (const [name, kind] of exportsOf(aim)) {
        // A name that comes as a value and as a type is a value.
        if (found.get(name) !== 'value') found.set(name, isType ? 'type' : kind)
      }
    } else if (statement.type === 'ExportNamedDeclaration') {
      for (const name of declared(statement)) found.set(name, kindOf(statement))
      for (const { exported, exportKind } of statement.specifiers) {
        const name = exported.type === 'Identifier' ? exported.name : exported.value
        const isType = exportKind === 'type' || statement.exportKind === 'type'
        found.set(name, isType ? 'type' : 'value')
      }
    }
  }
  return found
}

function declared({ declaration }: Statement): string[] {
  if (!declaration) return []
  if (declaration.type !== 'VariableDeclaration') {
    return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : []
  }
  return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
}

function kindOf({ exportKind }: Statement): 'value' | 'type' {
  return exportKind === 'type' ? 'type' : 'value'
}

function listOf(door: keyof typeof ENTRY_POINTS): string[] {
  const names = [...exportsOf(ENTRY_POINTS[door])].map(([name, kind]) => `${door}: ${kind} ${name}`)
  return names.toSorted()
}

test('the doors export what they did, no name more and none less', () => {
  const now = (Object.keys(ENTRY_POINTS) as (keyof typeof ENTRY_POINTS)[]).flatMap(listOf)
  if (process.env['UPDATE'] === '1') writeFileSync(FILE, `${now.join('\n')}\n`)
  const written = readFileSync(FILE, 'utf8').trim().split('\n')
  const cure = 'if that is meant, UPDATE=1'
  expect(
    now.filter((name) => !written.includes(name)),
    `new: ${cure}`,
  ).toEqual([])
  expect(
    written.filter((name) => !now.includes(name)),
    `gone: ${cure}`,
  ).toEqual([])
})

async function running(): Promise<[door: keyof typeof ENTRY_POINTS, found: object][]> {
  const found: Record<keyof typeof ENTRY_POINTS, object> = {
    node: await import('../packages/holdfast/src/node.ts'),
    browser: await import('../packages/holdfast/src/browser.ts'),
    worker: await import('../packages/holdfast/src/worker.ts'),
    hub: await import('../packages/hub/src/index.ts'),
    sim: await import('../packages/sim/src/index.ts'),
    react: await import('../packages/react/src/index.ts'),
    vite: await import('../packages/vite/src/index.ts'),
    yjs: await import('../packages/yjs/src/index.ts'),
    part: await import('../packages/holdfast/src/part.ts'),
    mailbox: await import('../packages/mailbox/src/index.ts'),
    'mailbox-browser': await import('../packages/mailbox/src/browser.ts'),
  }
  return Object.entries(found) as [keyof typeof ENTRY_POINTS, object][]
}

test('the list has what the doors have when they run', async () => {
  for (const [door, found] of await running()) {
    const values = [...exportsOf(ENTRY_POINTS[door])].filter(([, kind]) => kind === 'value')
    expect(values.map(([name]) => name).toSorted()).toEqual(Object.keys(found).toSorted())
  }
})

test('no door hands out a class, but for the error that all throw (AP-11)', async () => {
  const classes = (await running()).flatMap(([door, found]) =>
    Object.entries(found)
      .filter(([, value]) => typeof value === 'function' && /^class\b/.test(`${value}`))
      .map(([name]) => `${door}: ${name}`),
  )
  expect(classes.filter((name) => !name.endsWith(': HoldfastError'))).toEqual([])
})
