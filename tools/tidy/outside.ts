/**
 * Clocks, chance, timers, sockets and disks are reached in drivers/ and in the program, in views
 * of games, in tests, benches and tools; nowhere else, or a seed no longer repeats a run.
 */

import { imports, OUTSIDE, placeOf } from './layers.ts'
import { complain, isTest, walk } from './source.ts'
import type { Complaint, Node, Source } from './source.ts'

/** Global names that lead outside. */
const GLOBALS = new Set(
  `Date performance crypto process navigator document window localStorage sessionStorage indexedDB
  setTimeout setInterval setImmediate queueMicrotask clearTimeout clearInterval clearImmediate
  requestAnimationFrame requestIdleCallback fetch WebSocket WebTransport EventSource XMLHttpRequest
  RTCPeerConnection Worker SharedWorker BroadcastChannel MessageChannel Notification`.split(/\s+/),
)

/** Whether the outside world may be touched in this file. */
function open(path: string): boolean {
  if (isTest(path)) return true
  if (path.startsWith('games/')) return !/\/rules[^/]*$|\/rules\//.test(path)
  if (!/^(packages|proof)\//.test(path) || path.startsWith('packages/create/')) return true
  return path.startsWith('proof/cli/') || OUTSIDE.includes(placeOf(path)?.module ?? '')
}

/** Uses of the outside world in a place that has none. */
export function outside(source: Source): Complaint[] {
  if (open(source.path)) return []
  const complaints: Complaint[] = []
  for (const { to, at } of imports(source)) {
    if (to.startsWith('node:')) complaints.push(complain(source, at, `imports ${to}`))
  }
  const own = declared(source)
  walk(source.program, (node, above) => {
    const name = reach(node, above)
    if (name && !own.has(name)) complaints.push(complain(source, node.start, `uses ${name}`))
  })
  return complaints
}

/** The outside name that a node reaches, if it does. */
function reach(node: Node, above: readonly Node[]): string | null {
  if (node.type !== 'Identifier') return null
  const parent = above.at(-1)
  if (parent?.type === 'MemberExpression' && !parent.computed && parent.property === node) {
    const object = parent.object.type === 'Identifier' ? parent.object.name : ''
    if (object === 'Math' && node.name === 'random') return 'Math.random'
    return object === 'globalThis' && GLOBALS.has(node.name) ? node.name : null
  }
  if (parent?.type === 'Property' && !parent.computed && parent.key === node) return null
  // In a type, a name is only a name.
  if (above.some((at) => at.type.startsWith('TS') && !RUNS.has(at.type))) return null
  return GLOBALS.has(node.name) ? node.name : null
}

/** Nodes of TypeScript that hold code all the same. */
const RUNS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

/** Names that the file declares itself, wherever. */
function declared(source: Source): Set<string> {
  const names = new Set<string>()
  const bind = (pattern: Node | null): void => {
    if (pattern) walk(pattern, (node) => node.type === 'Identifier' && names.add(node.name))
  }
  walk(source.program, (node) => {
    switch (node.type) {
      case 'VariableDeclarator':
        bind(node.id)
        break
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        bind(node.id)
        for (const parameter of node.params) bind(parameter)
        break
      case 'ImportSpecifier':
      case 'ImportNamespaceSpecifier':
        bind(node.local)
        break
      default:
    }
  })
  return names
}
