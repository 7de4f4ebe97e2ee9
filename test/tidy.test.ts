/**
 * The order of the house, rule by rule; and each rule is shown a file that breaks it, because a
 * rule that never complained proves nothing. Slow: each rule goes over all files.
 */

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ENTRY_POINTS } from '../tools/entry-points.ts'
import * as layers from '../tools/tidy/layers.ts'
import * as codebase from '../tools/tidy/codebase.ts'
import { EXCEPTIONS, retired } from '../tools/tidy/retired.ts'
import { outside } from '../tools/tidy/outside.ts'
import { undocumented } from '../tools/tidy/public.ts'
import * as shape from '../tools/tidy/shape.ts'
import { parse, shown } from '../tools/tidy/source.ts'
import type { Complaint, Rule } from '../tools/tidy/source.ts'
import * as words from '../tools/tidy/words.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = codebase.sources(root)

function all(rule: Rule): string[] {
  return sources.flatMap(rule).map(shown)
}

/** What the rule says of a file with this text. */
function complaintsOf(rule: Rule, path: string, text: string): string[] {
  return rule(parse(path, text)).map(shown)
}

function said(complaints: Complaint[]): string[] {
  return complaints.map(shown)
}

describe('the codebase is in order', () => {
  test('a module imports lower layers and its own files, a game the public entry points (DO-19)', () => {
    expect(sources.length).toBeGreaterThan(10)
    expect(all(layers.layers)).toEqual([])
  })
  test('members, hubs and mailboxes know nothing of each other', () => {
    expect(all(layers.apart)).toEqual([])
  })
  test('no imports go in a circle', () => {
    expect(said(layers.circles(sources))).toEqual([])
  })
  test('nothing of Node is reached from the doors for pages and workers', () => {
    for (const door of ['browser', 'worker']) {
      expect(said(layers.nodeReached(`packages/holdfast/src/${door}.ts`, sources))).toEqual([])
    }
  })
  test('a server that is bundled needs no optional package', () => {
    expect(all(layers.demanded)).toEqual([])
  })
  test('a mailbox loads nothing of sessions', () => {
    for (const door of ['packages/mailbox/src/index.ts', 'packages/mailbox/src/browser.ts']) {
      expect(said(layers.sessionReached(door, sources))).toEqual([])
    }
  })
  test('who joins loads no part but those of its definitions (AP-17)', () => {
    expect(said(layers.partReached('packages/holdfast/src/join/join.ts', sources))).toEqual([])
  })
  test('no code but that of proofs knows of a bug that is put in on purpose (AP-18)', () => {
    const shipped = sources.filter(({ path }) => {
      return path.startsWith('packages/') && !path.endsWith('.test.ts')
    })
    expect(shipped.length).toBeGreaterThan(250)
    expect(
      shipped.filter(({ text }) => /\b(variants?|mutants?)\b/i.test(text)).map(({ path }) => path),
    ).toEqual([])
  })
  test('clocks, chance, timers, sockets and disks stay outside', () => {
    expect(all(outside)).toEqual([])
  })
  test('machines have no classes', () => {
    expect(all(shape.classes)).toEqual([])
  })
  test('lines and files are short', () => {
    expect(all(shape.lengths), 'split a file').toEqual([])
  })
  test('functions are short', () => {
    expect(all(shape.functions)).toEqual([])
  })
  test('the root can be taken in at a glance', () => {
    expect(said(shape.root(readdirSync(root)))).toEqual([])
  })
  test('names say something', () => {
    expect(all(words.names)).toEqual([])
  })
  test('no name comes back that a word of the field replaced', () => {
    for (const [name, paths] of Object.entries(EXCEPTIONS)) console.info(name, ...paths)
    expect(all(retired)).toEqual([])
  })
  test('what the doors hand out is documented, each member of it (AP-11)', () => {
    expect(said(undocumented(Object.values(ENTRY_POINTS), sources))).toEqual([])
  })
  test('no note to oneself is left', () => {
    expect(all(words.notes)).toEqual([])
  })
  test('no test hides others, and none is skipped without a reason', () => {
    expect(all(words.skips)).toEqual([])
  })
  test('code and docs name nothing that a reader of the repository does not have', () => {
    const found = codebase
      .written(root)
      .flatMap((path) => words.workplace(path, codebase.read(root, path)))
    expect(said(found)).toEqual([])
  })
  test('the lockfile carries no addresses', () => {
    const lockfile = codebase.read(root, 'package-lock.json')
    expect(said(words.addresses('package-lock.json', lockfile))).toEqual([])
  })
})

describe('a broken rule about imports is seen', () => {
  test.each([
    [
      'packages/holdfast/src/link/a.ts',
      `import { b } from '../../../hub/src/machine/b.ts'`,
      'same layer',
    ],
    ['packages/holdfast/src/link/a.ts', `import type { B } from '../session/b.ts'`, 'higher layer'],
    ['packages/holdfast/src/link/a.ts', `export * from '../join/b.ts'`, 'higher layer'],
    ['packages/holdfast/src/link/a.ts', `export { b } from '../join/b.ts'`, 'higher layer'],
    ['packages/holdfast/src/link/a.ts', `const b = await import('../join/b.ts')`, 'higher layer'],
    ['packages/holdfast/src/link/a.ts', `let b: import('../join/b.ts').B`, 'higher layer'],
    [
      'packages/holdfast/src/link/a.test.ts',
      `import { b } from '../../../hub/src/machine/b.ts'`,
      'same layer',
    ],
    ['packages/holdfast/src/link/a.ts', `import { b } from '../../tools/b.ts'`, 'no layer'],
    ['packages/holdfast/src/link/a.ts', `import ws from 'ws'`, 'packages'],
    ['packages/holdfast/src/objects/a.ts', `import { b } from '../join/b.ts'`, 'higher layer'],
    ['packages/holdfast/src/objects/a.ts', `import { b } from '../slots/b.ts'`, 'same layer'],
    ['packages/holdfast/src/objects/protocol/a.ts', `import { b } from '../b.ts'`, 'higher layer'],
    ['packages/holdfast/src/join/a.ts', `import { join } from 'holdfast'`, 'entry points'],
    ['packages/holdfast/src/machine.ts', `import type { B } from './ports.ts'`, 'nothing'],
    ['packages/holdfast/src/codes.ts', `import type { B } from './machine.ts'`, 'nothing'],
    ['packages/holdfast/src/attic/a.ts', `export {}`, 'no module'],
    [
      'games/dots/a.ts',
      `import { b } from '../../packages/holdfast/src/join/b.ts'`,
      'public entry points',
    ],
  ])('%s: %s', (path, text, why) => {
    expect(complaintsOf(layers.layers, path, text)).toEqual([expect.stringContaining(why)])
  })
  test.each([
    [
      'packages/holdfast/src/session/a.ts',
      `import type { B } from '../../../hub/src/machine/b.ts'`,
    ],
    ['packages/holdfast/src/join/a.ts', `import { b } from '../../../hub/src/machine/b.ts'`],
    ['packages/holdfast/src/runtime/a.ts', `import { b } from '../../../hub/src/server/b.ts'`],
    ['packages/hub/src/server/a.ts', `import { b } from '../../../holdfast/src/member/b.ts'`],
    ['packages/hub/src/a.ts', `import { b } from '../../holdfast/src/session/b.ts'`],
    ['packages/hub/src/a.ts', `import type { B } from '../../holdfast/src/kind/b.ts'`],
    ['packages/mailbox/src/a.ts', `import { b } from '../../holdfast/src/objects/protocol/b.ts'`],
    [
      'packages/mailbox/src/machine/a.ts',
      `import type { B } from '../../../holdfast/src/hub-protocol/b.ts'`,
    ],
  ])('%s: %s (apart)', (path, text) => {
    expect(complaintsOf(layers.apart, path, text)).toEqual([expect.stringContaining('are apart')])
  })
  test('a package that is required outside a try', () => {
    const path = 'packages/holdfast/src/drivers/a.ts'
    const load = `const load = () => require('libsql')`
    expect(complaintsOf(layers.demanded, path, `try { ${load}\nload() } catch {}`)).toHaveLength(1)
    expect(complaintsOf(layers.demanded, path, `try { require('libsql') } catch {}`)).toEqual([])
  })
  test.each([
    [
      'packages/holdfast/src/link/a.ts',
      `import { b } from './b.ts'\nimport { c } from '../wire/c.ts'`,
    ],
    [
      'packages/holdfast/src/link/a.ts',
      `const b = "import { b } from '../join/b.ts'" // import('../join/b.ts')`,
    ],
    ['packages/holdfast/src/link/a.test.ts', `import { b } from '../../../sim/src/b.ts'`],
    ['packages/holdfast/src/drivers/net/a.ts', `import { WebSocketServer } from 'ws'`],
    ['packages/holdfast/src/browser.ts', `export * from './index.ts'\nexport * from './join/b.ts'`],
    ['games/dots/a.ts', `import { join } from 'holdfast'\nimport { b } from './b.ts'`],
  ])('and a kept one is not: %s: %s', (path, text) => {
    expect(complaintsOf(layers.layers, path, text)).toEqual([])
  })
  test('a circle, also of types', () => {
    const circle = [
      parse('packages/holdfast/src/wire/a.ts', `import { b } from './b.ts'`),
      parse('packages/holdfast/src/wire/b.ts', `import { c } from './c.ts'`),
      parse('packages/holdfast/src/wire/c.ts', `import type { A } from './a.ts'`),
    ]
    const way = ['a', 'b', 'c', 'a']
      .map((name) => `packages/holdfast/src/wire/${name}.ts`)
      .join(' -> ')
    expect(said(layers.circles(circle))).toEqual([expect.stringContaining(way)])
    expect(layers.circles(circle.slice(0, 2))).toEqual([])
  })
  test('Node behind the door for browsers', () => {
    const door = parse('packages/holdfast/src/browser.ts', `export * from './drivers/net/a.ts'`)
    const inner = parse(
      'packages/holdfast/src/drivers/net/a.ts',
      `import { createSocket } from 'node:dgram'`,
    )
    const found = said(layers.nodeReached('packages/holdfast/src/browser.ts', [door, inner]))
    expect(found).toEqual([expect.stringContaining('node:dgram')])
  })
  test('a session behind a door of mailboxes, unless only its type is named', () => {
    const door = parse(
      'packages/mailbox/src/index.ts',
      `export * from '../../holdfast/src/api/a.ts'`,
    )
    const reached = (text: string): string[] => {
      const inner = parse('packages/holdfast/src/api/a.ts', text)
      return said(layers.sessionReached('packages/mailbox/src/index.ts', [door, inner]))
    }
    const why = [
      expect.stringContaining(
        'packages/holdfast/src/session/b.ts is loaded by packages/mailbox/src/index.ts',
      ),
    ]
    expect(reached(`import { b } from '../session/b.ts'`)).toEqual(why)
    expect(reached(`import { type A, b } from '../session/b.ts'`)).toEqual(why)
    expect(reached(`import type { A } from '../session/b.ts'`)).toEqual([])
  })
})

describe('a part that nobody named', () => {
  const reached = (text: string): string[] => {
    const [join, inner] = [
      `import { SessionImpl } from './session-impl.ts'`,
      parse('packages/holdfast/src/join/session-impl.ts', text),
    ]
    return said(
      layers.partReached('packages/holdfast/src/join/join.ts', [
        parse('packages/holdfast/src/join/join.ts', join),
        inner,
      ]),
    )
  }
  test('is seen where all who join load it, but not where its types alone are named', () => {
    for (const aim of ['pieces/pieces', 'calls/calls', 'custom/protocol/custom', 'motion/ages']) {
      expect(reached(`import { create } from '../${aim}.ts'`)).toHaveLength(1)
      expect(reached(`import type { State } from '../${aim}.ts'`)).toEqual([])
    }
  })
})

describe('the outside world is seen where it has no place', () => {
  test.each([
    'Date.now()',
    'new Date()',
    'performance.now()',
    'Math.random()',
    'crypto.getRandomValues(new Uint8Array(1))',
    'globalThis.crypto.randomUUID()',
    'setTimeout(() => {}, 1)',
    'setInterval(() => {}, 1)',
    'setImmediate(() => {})',
    'queueMicrotask(() => {})',
    'process.hrtime()',
    'const clock = { Date }',
    'void fetch("/")',
    'new WebSocket("ws://x")',
    'const later = setTimeout as unknown',
    `import { createSocket } from 'node:dgram'`,
    `export { readFileSync } from 'node:fs'`,
  ])('%s', (text) => {
    expect(complaintsOf(outside, 'packages/holdfast/src/session/a.ts', text)).toHaveLength(1)
    expect(complaintsOf(outside, 'games/dots/rules.ts', text)).toHaveLength(1)
    for (const path of [
      'packages/holdfast/src/drivers/a.ts',
      'packages/mailbox/src/drivers/a.ts',
      'packages/cli/src/a.ts',
      'games/dots/view.ts',
      'bench/a.ts',
    ]) {
      expect(complaintsOf(outside, path, text)).toEqual([])
    }
    expect(complaintsOf(outside, 'packages/holdfast/src/session/a.test.ts', text)).toEqual([])
  })
  test.each([
    '// Date.now() is not for us',
    'const text = "setTimeout"',
    'function tell(performance: number): number { return performance }',
    'const record = { process: 1 }; record.process',
    'let socket: WebSocket | null = null',
    'Math.floor(1.5)',
  ])('and only there: %s', (text) => {
    expect(complaintsOf(outside, 'packages/holdfast/src/session/a.ts', text)).toEqual([])
  })
})

describe('a broken rule about shape is seen', () => {
  const long = `function long(): void {\n${'  void 0\n'.repeat(59)}}\n`
  test('a class on a layer of machines', () => {
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/link/a.ts', 'class Link {}'),
    ).toHaveLength(1)
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/link/a.ts', 'const Link = class {}'),
    ).toHaveLength(1)
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/machine.ts', 'class Other {}'),
    ).toHaveLength(1)
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/machine.ts', 'class HoldfastError {}'),
    ).toEqual([])
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/drivers/a.ts', 'class Socket {}'),
    ).toEqual([])
    expect(
      complaintsOf(shape.classes, 'packages/holdfast/src/join/a.ts', 'class Session {}'),
    ).toEqual([])
  })
  test('a line of 101 columns', () => {
    expect(
      complaintsOf(shape.lengths, 'packages/holdfast/src/a.ts', `// ${'é'.repeat(97)}`),
    ).toEqual([])
    expect(
      complaintsOf(shape.lengths, 'packages/holdfast/src/a.ts', `// ${'é'.repeat(98)}`),
    ).toHaveLength(1)
  })
  test('a line that the formatter could break, and none that it leaves whole', () => {
    const path = `'${'../'.repeat(30)}a.ts'`
    expect(complaintsOf(shape.lengths, 'tools/a.ts', `import { a } from ${path}`)).toEqual([])
    expect(complaintsOf(shape.lengths, 'tools/a.ts', `import { a, b } from ${path}`)).toHaveLength(
      1,
    )
  })
  test('a file of 901 lines, a door of 61', () => {
    expect(
      complaintsOf(shape.lengths, 'packages/holdfast/src/link/a.ts', '\n'.repeat(900)),
    ).toEqual([])
    expect(
      complaintsOf(shape.lengths, 'packages/holdfast/src/link/a.ts', '\n'.repeat(901)),
    ).toHaveLength(1)
    expect(complaintsOf(shape.lengths, 'packages/holdfast/src/node.ts', '\n'.repeat(60))).toEqual(
      [],
    )
    expect(
      complaintsOf(shape.lengths, 'packages/holdfast/src/node.ts', '\n'.repeat(61)),
    ).toHaveLength(1)
  })
  test('a function of 61 lines', () => {
    expect(complaintsOf(shape.functions, 'packages/holdfast/src/link/a.ts', long)).toHaveLength(1)
    expect(
      complaintsOf(
        shape.functions,
        'packages/holdfast/src/link/a.ts',
        long.replace('  void 0\n', ''),
      ),
    ).toEqual([])
    const state = `function state() {\n  return {\n${'    a: 0,\n'.repeat(80)}  }\n}\n`
    expect(complaintsOf(shape.functions, 'packages/holdfast/src/link/a.ts', state)).toEqual([])
    const block = `describe('x', () => {\n${'  void 0\n'.repeat(80)}})\n`
    const suite = `function suite() {\n${"  test('x', () => {})\n".repeat(80)}}\n`
    expect(
      complaintsOf(shape.functions, 'packages/holdfast/src/link/a.test.ts', block + suite),
    ).toEqual([])
    expect(complaintsOf(shape.functions, 'packages/holdfast/src/link/a.ts', suite)).toHaveLength(1)
    expect(
      complaintsOf(
        shape.functions,
        'packages/holdfast/src/link/a.test.ts',
        block.replace('describe', 'test'),
      ),
    ).toHaveLength(1)
  })
  test('a root of 15 entries', () => {
    const entries = Array.from({ length: 14 }, (_, index) => `entry${index}`)
    expect(shape.root([...entries, '.git', 'node_modules', 'dist', 'package-lock.json'])).toEqual(
      [],
    )
    expect(shape.root([...entries, 'one-more'])).toHaveLength(1)
  })
})

describe('a broken rule about words is seen', () => {
  test.each(['const linkManager = 1', 'function stringUtils() {}', 'interface LinkHelper {}'])(
    'an empty name: %s',
    (text) => {
      expect(complaintsOf(words.names, 'packages/holdfast/src/link/a.ts', text)).toHaveLength(1)
    },
  )
  test('a retired name, and a retired name of a file', () => {
    const text = 'const a = { maySay: 1 }'
    expect(complaintsOf(retired, 'packages/holdfast/src/link/a.ts', text)).toHaveLength(1)
    expect(complaintsOf(retired, 'packages/holdfast/src/link/sheets.ts', '')).toHaveLength(1)
  })
  test('an empty name of a file', () => {
    expect(complaintsOf(words.names, 'packages/holdfast/src/utils/a.ts', '')).toHaveLength(1)
    expect(complaintsOf(words.names, 'packages/holdfast/src/link/helpers.ts', '')).toHaveLength(1)
  })
  test('a public interface of which nothing is said, or of a member of it', () => {
    const door = parse(
      'packages/holdfast/src/node.ts',
      `export * from './index.ts'\nexport { b } from './b.ts'`,
    )
    const inner = parse(
      'packages/holdfast/src/index.ts',
      `export type { A as Z } from './join/a.ts'`,
    )
    const of = (text: string): string[] => {
      return said(
        undocumented(
          ['packages/holdfast/src/node.ts'],
          [door, inner, parse('packages/holdfast/src/join/a.ts', text)],
        ),
      )
    }
    const lines = [
      '/** One. */ export interface A extends Base { a: 1; /** Two. */ b(): void; b(x: 1): void }',
      'interface Base { c: 1 }',
      'export interface Inside { d: 1 }',
    ]
    expect(of(lines.join('\n'))).toEqual([
      'packages/holdfast/src/join/a.ts:1 A.a has no doc comment',
      'packages/holdfast/src/join/a.ts:2 Base is public, and says nothing of itself',
      'packages/holdfast/src/join/a.ts:2 Base.c has no doc comment',
    ])
    expect(of('/** One. */\nexport type A = { a: 1 } & { /** Two. */ b: 2 }')).toEqual([
      'packages/holdfast/src/join/a.ts:2 A.a has no doc comment',
    ])
    expect(of('/** One. */\nexport interface A { /** Two. */ readonly a: 1 }')).toEqual([])
  })
  test('a note to oneself', () => {
    expect(
      complaintsOf(words.notes, 'packages/holdfast/src/link/a.ts', '/* TODO: later */'),
    ).toHaveLength(1)
    expect(complaintsOf(words.notes, 'packages/holdfast/src/link/a.ts', '// FIXME')).toHaveLength(1)
    expect(
      complaintsOf(words.notes, 'packages/holdfast/src/link/a.ts', 'const todo = "TODO"'),
    ).toEqual([])
  })
  test.each([
    `test.only('a', () => {})`,
    `test.skip('a', () => {})`,
    `describe.skip('a', () => {})`,
    `it.todo('a')`,
    `test.skipIf(true)('a', () => {})`,
    `test('a', { skip: true }, () => {})`,
    `test('a', (context) => context.skip())`,
  ])('a test that is not run: %s', (text) => {
    expect(complaintsOf(words.skips, 'packages/holdfast/src/link/a.test.ts', text)).toHaveLength(1)
  })
  test('but a reason is one', () => {
    const text = `test('a', (context) => context.skip('no etcd on this machine'))`
    expect(complaintsOf(words.skips, 'packages/holdfast/src/link/a.test.ts', text)).toEqual([])
  })
  test('a place of ours', () => {
    expect(words.workplace('docs/a.md', 'see homework/main')).toEqual([])
    expect(words.workplace('docs/a.md', `see ${['', 'work', 'main'].join('/')}`)).toHaveLength(1)
    expect(words.workplace('docs/a.md', `after ${['seeds', '002'].join('/')}`)).toHaveLength(1)
  })
  test('an address in the lockfile', () => {
    const line = '      "resolved": "https://registry.example/a.tgz",'
    expect(words.addresses('package-lock.json', line)).toHaveLength(1)
    expect(words.addresses('package-lock.json', '"resolved": "packages/a",')).toEqual([])
  })
})
