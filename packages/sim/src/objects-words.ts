/**
 * Messages of the objects in the source's words, for traces and for what is drawn: CREATE of an
 * object that never changed hands, MIGRATE of one that did, DESTROY of one that is gone.
 */

import type { PeerId } from '../../holdfast/src/machine.ts'
import { KIND, readEntry } from '../../holdfast/src/objects/protocol/messages.ts'
import type { Said, TypeRules } from '../../holdfast/src/objects/protocol/objects.ts'
import {
  compare,
  FIRST,
  readVersion,
  type Version,
} from '../../holdfast/src/objects/protocol/stamp.ts'
import { createReader, readU8 } from '../../holdfast/src/wire/bytes.ts'

/** The three that tell of an object, the one that starts a migration, and all others. */
export type Word = 'CREATE' | 'MIGRATE' | 'DESTROY' | 'GRANT' | 'other'

/** What a message says of the only object. */
export interface Heard {
  word: Word
  /** Of a GRANT, the version that the grantee is to tell of. */
  version: Version
  /** Who owns it; of one that is gone, who says so. Of a GRANT, who owned it so far. */
  owner: PeerId
}

/** Reads a message about one object. */
export function hear(bytes: Uint8Array, types: readonly TypeRules[]): Heard {
  const reader = createReader(bytes)
  const kind = readU8(reader)
  const granted = kind === KIND.grant ? readVersion(reader) : null
  if (!granted && kind !== KIND.tell && kind !== KIND.unowned) {
    return { word: 'other', version: FIRST, owner: 0 }
  }
  const said = readEntry(reader, types)
  const { version, owner } = said
  return granted
    ? { word: 'GRANT', version: granted, owner }
    : { word: wordOf(said), version, owner }
}

function wordOf({ dead, version }: Said): Word {
  if (dead) return 'DESTROY'
  return compare(version, FIRST) === 0 ? 'CREATE' : 'MIGRATE'
}

const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(KIND).map(([name, kind]) => [kind, name.toUpperCase()]),
)

/** A message in one phrase, such as `MIGRATE 1.1 to 3`: with epoch and count of its version. */
export function phrase(bytes: Uint8Array, types: readonly TypeRules[]): string {
  const { word, version, owner } = hear(bytes, types)
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
    case 'other':
      return NAMES[bytes[0]!] ?? 'something'
  }
}
