/**
 * Several definitions of one part: their states are one state of the machine, so the protocol knows
 * nothing of it. Operations, changes and messages begin with one byte, the place of their
 * definition among all, by name. A snapshot has the names, so a newer build may add definitions to
 * a stored room.
 */

import type { Author } from './protocol/custom.ts'
import { CUSTOM_BYTES_MAX, CUSTOM_SNAPSHOT_MAX, customSnapshot } from './protocol/custom.ts'
import { misfit } from '../machine.ts'
import { joined } from '../wire/bytes.ts'
import { blob, decode, encode, list, record, text } from '../wire/layout.ts'

/** Most definitions of one part in a game. */
export const DEFINITIONS_MAX = 64

const states = list(record({ name: text(32), state: blob(CUSTOM_SNAPSHOT_MAX) }), DEFINITIONS_MAX)

/** Puts the place of a definition before its bytes. */
export function addressed(place: number, bytes: Uint8Array): Uint8Array {
  return joined(Uint8Array.of(place), bytes)
}

/**
 * One author for all.
 *
 * @param names  those of the definitions, in the order of the authors
 * @param report  takes the error of a snapshot that is too large
 */
export function several(
  authors: readonly Author[],
  names: readonly string[],
  report: (error: Error) => void,
): Author {
  return {
    create: () => authors.map((author) => author.create()),
    perform: (state, operation, by) => {
      const [place = authors.length] = operation
      const author = authors[place]
      if (!author) return { kind: 'refused', reason: 'it is for no definition of this part' }
      const made = author.perform((state as unknown[])[place], operation.subarray(1), by)
      if (made.kind !== 'done') return made
      const changes = made.changes.map((change) => addressed(place, change))
      if (changes.every(({ length }) => length <= CUSTOM_BYTES_MAX)) return { ...made, changes }
      return { kind: 'failed', reason: `a change has at most ${CUSTOM_BYTES_MAX - 1} bytes` }
    },
    apply: (state, change) => {
      const [place = authors.length] = change
      authors[place]?.apply((state as unknown[])[place], change.subarray(1))
    },
    snapshot: (state) => {
      const all = authors.map((author, place) => author.snapshot((state as unknown[])[place]))
      if (all.includes(null)) return null
      const bytes = encode(
        states,
        all.map((one, place) => ({ name: names[place]!, state: one! })),
      )
      if (bytes.length <= CUSTOM_SNAPSHOT_MAX) return bytes
      const what = `the parts ${names.map((name) => `"${name}"`).join(', ')}`
      report(misfit(`${what} have at most ${CUSTOM_SNAPSHOT_MAX} bytes: ${bytes.length}`))
      return null
    },
    restore: (bytes) => {
      const decoded = decode(states, bytes)
      if (!decoded?.every(({ name }) => names.includes(name))) return null
      const all = authors.map((author, place) => {
        const found = decoded.find(({ name }) => name === names[place])
        return found ? author.restore(found.state) : author.create()
      })
      return all.includes(null) ? null : all
    },
  }
}

/**
 * Reads what a build with fewer definitions stored.
 *
 * @param ours  the lines of our definitions in stored rooms
 * @returns a snapshot of ours, or why it cannot be read
 */
export function rereadBy(
  author: Author,
  ours: readonly string[],
): (types: string, bytes: Uint8Array, changes: readonly Uint8Array[]) => Uint8Array | string {
  return (types, bytes, changes) => {
    const theirs = types.split('\n').filter((line) => line !== '')
    const places = theirs.map((line) => ours.indexOf(line))
    const other = theirs[places.indexOf(-1)]
    if (other !== undefined) return `this build has no ${other}`
    const stored = decode(customSnapshot, bytes)
    const state = stored?.state ? author.restore(stored.state) : null
    if (!stored || state === null) return 'the state of a part cannot be read'
    for (const change of changes) {
      const place = places[change[0] ?? places.length]
      if (place !== undefined) author.apply(state, addressed(place, change.subarray(1)))
    }
    const made = stored.made + changes.length
    return encode(customSnapshot, { made, state: author.snapshot(state) })
  }
}
