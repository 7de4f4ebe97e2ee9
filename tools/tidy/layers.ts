/**
 * Who may import whom. A module of packages/ imports modules of lower layers and its own files,
 * never one of its own layer or above; a game imports the public entry points and its own files;
 * packages enter where the outside world does. Types count like code: a module depends on what it
 * knows.
 */

import { complain, isTest, walk } from './source.ts'
import type { Complaint, Node, Source } from './source.ts'

/**
 * The layers of the packages, from the lowest. A name with `.ts` is a file of
 * packages/holdfast/src, any other a folder there, or of the package with whose name it begins.
 */
export const LAYERS: readonly (readonly string[])[] = [
  ['codes.ts', 'machine.ts', 'ports.ts', 'bucket.ts', 'rounds.ts'],
  ['wire', 'motion', 'faults', 'kind/protocol'],
  ['hub-protocol', 'paths'],
  ['link', 'seal', 'replication', 'drivers', 'hub/machine'],
  [
    ...[
      'session',
      'objects/protocol',
      'actions/protocol',
      'pieces/protocol',
      'slots/protocol',
      'calls/protocol',
      'custom/protocol',
    ],
    ...['hub/drivers', 'mailbox/machine', 'mailbox/drivers'],
  ],
  ['member'],
  ['api'],
  ['runtime'],
  ['hub/server', 'mailbox/runtime'],
  ['hub', 'mailbox'],
  ['kind'],
  ['custom', 'slots', 'calls', 'pieces', 'objects'],
  ['actions'],
  ['join'],
  ['index.ts', 'browser.ts', 'node.ts', 'part.ts', 'worker.ts'],
  ['sim', 'cli', 'vite', 'react', 'yjs'],
]

/** The highest layer whose modules are machines: plain data and verbs. */
export const MACHINES_TOP = 5

const CORE = 'packages/holdfast/src/'

/** Where machines meet the outside world: clocks, sockets, disks and packages. */
export const OUTSIDE = ['drivers', 'hub/drivers', 'mailbox/drivers', 'cli', 'react', 'vite']

/** Packages that compute and nothing else, and so may be used on every layer. */
const PURE = ['@noble/hashes', 'fractional-indexing', 'fast-check', 'vitest']

/** One import of a file, whatever its form. */
export interface Import {
  readonly to: string
  readonly at: number
}

/** Imports, re-exports, `import type`, `import()` and `import('…').Type` of a file. */
export function imports(source: Source): Import[] {
  const found: Import[] = []
  walk(source.program, (node) => {
    const to = target(node)
    if (to !== null) found.push({ to, at: node.start })
  })
  return found
}

function target(node: Node): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType': {
      const from = node.source
      return from?.type === 'Literal' && typeof from.value === 'string' ? from.value : null
    }
    default:
      return null
  }
}

/** The path that a relative import means; null for a package. */
export function resolve(from: string, to: string): string | null {
  if (!to.startsWith('.')) return null
  const parts = from.split('/').slice(0, -1)
  for (const part of to.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** The layer of a path in packages/ and its module there; null if it is on none. */
export function placeOf(path: string): { layer: number; module: string } | null {
  const [, owner = '', inner = ''] = /^packages\/(\w+)\/src\/(.+)$/.exec(path) ?? []
  const [top = '', second = ''] = inner.split('/')
  // Files of another package, or of one without layers of its own, are one module.
  const names = owner === 'holdfast' ? [`${top}/${second}`, top] : [`${owner}/${top}`, owner]
  const module = names.find((name) => LAYERS.some((modules) => modules.includes(name)))
  if (module === undefined) return null
  const layer = LAYERS.findIndex((modules) => modules.includes(module))
  // The files of the lowest layer belong together, and so do the entry points.
  return { layer, module: module.endsWith('.ts') ? `layer ${layer}` : module }
}

/** The path of a file that is named by its module: `link/timing/loss.ts`, `hub/machine/hub.ts`. */
export function fileOf(name: string): string {
  const [, owner = 'holdfast', inner = name] =
    /^(hub|mailbox|sim|cli|vite|react|yjs)\/(.+)$/.exec(name) ?? []
  return `packages/${owner}/src/${inner}`
}

/** Imports that break the order of the layers. */
export function layers(source: Source): Complaint[] {
  const { path } = source
  if (path.startsWith('games/')) return games(source)
  // A template is an app of its own.
  if (!path.startsWith('packages/') || path.startsWith('packages/create/')) return []
  const here = placeOf(path.replace(/\.test\.ts$/, '.ts'))
  if (!here) return [complain(source, 0, 'is in no module of a layer: see tools/tidy/layers.ts')]
  const complaints: Complaint[] = []
  for (const { to, at } of imports(source)) {
    const why = wrong(source, here, to)
    if (why) complaints.push(complain(source, at, `imports ${to}: ${why}`))
  }
  return complaints
}

function wrong(source: Source, here: { layer: number; module: string }, to: string): string | null {
  const { path } = source
  const aim = resolve(path, to)
  if (aim === null) {
    const open = here.layer > MACHINES_TOP || OUTSIDE.includes(here.module) || isTest(path)
    const pure = PURE.some((name) => to === name || to.startsWith(`${name}/`))
    if (to === 'holdfast' || to.startsWith('holdfast/')) return 'entry points are for those outside'
    return open || pure ? null : 'packages enter through drivers/'
  }
  const lowest = `${CORE}codes.ts`
  if (path === lowest || (path === `${CORE}machine.ts` && aim !== lowest)) {
    return 'the lowest layer imports nothing'
  }
  const there = placeOf(aim)
  if (!there) return isTest(path) && aim.startsWith('test/') ? null : 'it is on no layer'
  if (there.module === here.module || there.layer < here.layer) return null
  // A machine is tested in the simulator, which is on the layer of some machines.
  if (isTest(path) && there.module === 'sim') return null
  const which = there.layer === here.layer ? 'on the same layer as' : 'on a higher layer than'
  return `${there.module} (layer ${there.layer}) is ${which} ${here.module} (layer ${here.layer})`
}

function games(source: Source): Complaint[] {
  const complaints: Complaint[] = []
  for (const { to, at } of imports(source)) {
    const aim = resolve(source.path, to)
    if (aim !== null && !aim.startsWith('games/') && source.path !== 'games/vite.config.ts') {
      complaints.push(
        complain(source, at, `imports ${to}: a game knows only the public entry points`),
      )
    }
  }
  return complaints
}

/** Packages that are required outside a `try`: inside, bundlers for servers let them be missing. */
export function demanded(source: Source): Complaint[] {
  if (!source.path.startsWith('packages/') || isTest(source.path)) return []
  const complaints: Complaint[] = []
  walk(source.program, (node, above) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return
    if (node.callee.name !== 'require') return
    const around = above.findLast(({ type }) => /^TryStatement$|Function/.test(type))
    if (around?.type === 'TryStatement') return
    complaints.push(complain(source, node.start, 'requires a package outside a try'))
  })
  return complaints
}

/** What members, hubs and mailboxes may all use. */
const SHARED = /^(layer 0|wire|motion|faults|link|seal|replication|drivers|api)$/

/** Which of them a module is of; `any` for what all may use. */
function side(path: string): 'hub' | 'mailbox' | 'member' | 'hub-protocol' | 'any' {
  const module = placeOf(path)?.module ?? ''
  if (/^hub(\/|$)/.test(module)) return 'hub'
  if (/^mailbox(\/|$)/.test(module)) return 'mailbox'
  if (module === 'hub-protocol') return module
  return module === '' || SHARED.test(module) ? 'any' : 'member'
}

/** Imports by which a member would know the hub, the hub members, or a mailbox either. */
export function apart(source: Source): Complaint[] {
  const { path } = source
  if (!/^packages\/(holdfast|hub|mailbox)\//.test(path) || isTest(path)) return []
  const here = side(path)
  return imports(source).flatMap(({ to, at }) => {
    const aim = resolve(path, to)
    const there = aim === null ? 'any' : side(aim)
    const isWrong =
      here === 'mailbox'
        ? ['hub', 'member', 'hub-protocol'].includes(there)
        : here === 'hub'
          ? ['member', 'mailbox'].includes(there)
          : there === 'hub'
    return isWrong
      ? complain(source, at, `imports ${to}: hubs, members and mailboxes are apart`)
      : []
  })
}

/** Circles of imports among the files. */
export function circles(sources: readonly Source[]): Complaint[] {
  const known = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const complaints: Complaint[] = []
  const visit = (path: string, way: readonly string[]): void => {
    const source = known.get(path)
    if (!source || done.has(path)) return
    for (const { to, at } of imports(source)) {
      const aim = resolve(path, to) ?? ''
      const from = [...way, path].indexOf(aim)
      if (from >= 0) {
        const circle = [...way, path].slice(from).join(' -> ')
        complaints.push(complain(source, at, `closes a circle: ${circle} -> ${aim}`))
      } else visit(aim, [...way, path])
    }
    done.add(path)
  }
  for (const path of known.keys()) visit(path, [])
  return complaints
}

/** What of Node an entry point for browsers reaches. @param door such as that for browsers */
export function nodeReached(door: string, sources: readonly Source[]): Complaint[] {
  return reached(door, sources, imports).flatMap(({ source, to, at, aim }) => {
    if (aim !== null || !/^(node:|(ws|libsql|cac|sodium-native|libsodium-wrappers)$)/.test(to))
      return []
    return complain(source, at, `${to} is not to be had where ${door} leads`)
  })
}

/** Modules that a mailbox does without, besides those of members: it needs no session. */
const OF_SESSIONS = ['link', 'seal', 'replication', 'hub-protocol', 'motion']

/** What of sessions is loaded with an entry point of mailboxes; types alone load nothing. */
export function sessionReached(door: string, sources: readonly Source[]): Complaint[] {
  return reached(door, sources, loads).flatMap(({ source, at, aim }) => {
    if (aim === null) return []
    const isOfSession = ['hub', 'member'].includes(side(aim))
    if (!isOfSession && !OF_SESSIONS.includes(placeOf(aim)?.module ?? '')) return []
    return complain(source, at, `${aim} is loaded by ${door}, and a mailbox needs no session`)
  })
}

/** Parts of sessions, each with its machine: each comes with the definitions that need it. */
const PARTS = new Set([
  'motion',
  ...LAYERS.flat().flatMap((name) => /^(?!kind\/)(\w+)\/protocol$/.exec(name)?.[1] ?? []),
])

/** What of parts is loaded with a file that is to know none. @param door such as `join.ts` */
export function partReached(door: string, sources: readonly Source[]): Complaint[] {
  return reached(door, sources, loads).flatMap(({ source, at, aim }) => {
    const module = aim === null ? '' : (placeOf(aim)?.module ?? '')
    if (!PARTS.has(module.replace(/\/protocol$/, ''))) return []
    return complain(source, at, `${aim} is loaded by ${door}: parts come by definitions`)
  })
}

/** Imports of a file that load another when it runs. */
function loads(source: Source): Import[] {
  return imports(source).filter(({ at }) => {
    return !/^(import|export)\s+type\b|^import\(/.test(source.text.slice(at, at + 20))
  })
}

/** All imports of files to which an entry point leads. */
function reached(
  door: string,
  sources: readonly Source[],
  importsOf: (source: Source) => Import[],
): (Import & { source: Source; aim: string | null })[] {
  const known = new Map(sources.map((source) => [source.path, source]))
  const seen = new Set([door])
  const found: (Import & { source: Source; aim: string | null })[] = []
  // A set that grows while it is walked through.
  for (const path of seen) {
    const source = known.get(path)
    for (const one of source ? importsOf(source) : []) {
      const aim = resolve(path, one.to)
      if (aim !== null) seen.add(aim)
      found.push({ ...one, source: source!, aim })
    }
  }
  return found
}
