/** Messages of the objects in the source's words, for traces. */

import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import type { TypeRules } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { hear } from '../../packages/sim/src/enact.ts'

const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(KIND).map(([name, kind]) => [kind, name.toUpperCase()]),
)

/** A message in one phrase, such as `MIGRATE 1.1 to 3`: with epoch and count of its version. */
export function phrase(bytes: Uint8Array, types: readonly TypeRules[]): string {
  const heard = hear(bytes, types)
  if (!heard) return NAMES[bytes[0]!] ?? 'something'
  const { word, version, owner } = heard
  const number = `${version.epoch}.${version.count}`
  const left = bytes[0] === KIND.unowned ? ', left behind' : ''
  switch (word) {
    case 'CREATE':
      return `CREATE ${number} of ${owner}${left}`
    case 'MIGRATE':
      return `MIGRATE ${number} to ${owner}${left}`
    case 'DESTROY':
      return `DESTROY ${number} by ${owner}${left}`
    case 'GRANT':
      return `GRANT ${number}, it was of ${owner}`
  }
}
