// Goal: what is published passes the checks that its users' tools make.
// Method: the package with its `dist` as built, which differs from a packed one in comments and
// maps alone; the oldest compiler that is promised reads its declarations, as they are packed.
// Slow: that compiler reads the declarations of all doors three times.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, test } from 'vitest'
import { shortened } from '../tools/declarations.js'
import { attwOf, doorsOf, publintOf } from '../tools/published.ts'

const FOLDER = resolve('packages/holdfast')
/** Those that a page imports. */
const PAGES = ['holdfast', 'holdfast/browser', 'holdfast/mailbox', 'holdfast/part']

test('publint finds nothing in the packages (AP-16)', async () => {
  expect(await publintOf(FOLDER)).toEqual([])
  expect(await publintOf(resolve('packages/create'))).toEqual([])
})

test('nor do Are the Types Wrong, for ES modules (AP-16)', async () => {
  expect(await attwOf(FOLDER)).toEqual([])
})

const USER = resolve('build/user')
const INSTALLED = join(USER, 'node_modules/holdfast')

function install(): void {
  rmSync(USER, { recursive: true, force: true })
  mkdirSync(INSTALLED, { recursive: true })
  cpSync(join(FOLDER, 'package.json'), join(INSTALLED, 'package.json'))
  const dist = readdirSync(join(FOLDER, 'dist'), { recursive: true, encoding: 'utf8' })
  for (const path of dist.filter((name) => name.endsWith('.d.ts'))) {
    const file = join(INSTALLED, 'dist', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, shortened(readFileSync(join(FOLDER, 'dist', path), 'utf8'), true))
  }
}

// Files that several programs read are parsed once.
const files = new Map<string, ts.SourceFile | undefined>()

/** What TypeScript 5.4 says of our declarations where a program imports those doors. */
function complaintsOf(doors: readonly string[], more: ts.CompilerOptions): string[] {
  const lines = doors.map((door, at) => `import * as door${at} from '${door}'\nvoid door${at}\n`)
  const path = join(USER, `program-${files.size}.ts`)
  writeFileSync(path, lines.join(''))
  const options: ts.CompilerOptions = {
    ...{ target: ts.ScriptTarget.ES2022, strict: true, noEmit: true, ...more },
  }
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => {
    if (!files.has(name)) files.set(name, read(name, ...rest))
    return files.get(name)
  }
  const program = ts.createProgram([path], options, host)
  // Those of other packages may want a newer compiler.
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(USER))
  expect(ours.length).toBeGreaterThan(50)
  const found = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ])
  return [...program.getOptionsDiagnostics(), ...found].map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

describe(`TypeScript ${ts.version} reads the declarations (AP-16)`, () => {
  beforeAll(install)
  const { Bundler, NodeNext } = ts.ModuleResolutionKind
  const { ESNext, NodeNext: NodeModules } = ts.ModuleKind

  test('of every door, as a program on Node resolves them', () => {
    const options = { module: NodeModules, moduleResolution: NodeNext, types: ['node'] }
    expect(complaintsOf(doorsOf(FOLDER), options)).toEqual([])
  })
  test('of every door, as bundlers resolve them', () => {
    const options = { module: ESNext, moduleResolution: Bundler, types: ['node'] }
    expect(complaintsOf(doorsOf(FOLDER), options)).toEqual([])
  })
  test('of the doors for pages, without the types of Node', () => {
    const options = { module: ESNext, moduleResolution: Bundler, types: [] }
    const lib = ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts']
    expect(complaintsOf(PAGES, { ...options, lib })).toEqual([])
  })
})
