/** A room in a file: `session.export` and `join({ from })`. */

import { badValue, HoldfastError } from '../machine.ts'
import { readSaved, SAVED_MAX, type Saved, writeSaved } from '../directory/saved-room.ts'
import * as member from '../member/member.ts'
import { isSealed } from '../member/room-key.ts'
import type { Runner } from '../runtime/member/runner.ts'
import { shown } from '../wire/fields.ts'

/**
 * The bytes of a file with the room as it stands.
 *
 * @throws HoldfastError `left`, `not-ready`, `forbidden`, `full`
 */
export function exportRoom(runner: Runner | null, hides: boolean): Uint8Array {
  if (!runner) throw new HoldfastError('left', 'cannot export: the session was left')
  const time = runner.sessionTime()
  const saved = runner.do((now, run) => member.save(run, now))
  if (saved && 'code' in saved) {
    throw new HoldfastError(saved.code, `cannot export: ${saved.why}`)
  }
  if (!saved || Number.isNaN(time)) {
    throw new HoldfastError('not-ready', 'cannot export: session time is not known yet')
  }
  if (hides && !isSealed(saved.terms)) {
    const why = 'its pieces have secrets, and without keepRoom.key whoever has the file reads them'
    throw new HoldfastError('forbidden', `cannot export: ${why}`)
  }
  const bytes = writeSaved(saved)
  if (bytes.length <= SAVED_MAX) return bytes
  throw new HoldfastError(
    'full',
    `cannot export: the room has ${bytes.length} bytes, and a file ${SAVED_MAX} at most`,
  )
}

/**
 * The room in a file, as an option of that name.
 *
 * @throws HoldfastError `bad-value`
 */
export function savedIn(name: string, from: unknown): Saved {
  if (!(from instanceof Uint8Array)) {
    throw badValue(`${name} is what session.export gave, a Uint8Array: ${shown(from)}`)
  }
  const saved = readSaved(from)
  if ('why' in saved) throw badValue(`${name} ${saved.why}`)
  return saved
}

/**
 * The same, of this game; null if none is given.
 *
 * @throws HoldfastError `bad-value`
 */
export function savedOf(from: unknown, game: string): Saved | null {
  if (from === undefined) return null
  const saved = savedIn('from', from)
  if (saved.game === game) return saved
  throw badValue(`from is a room of ${shown(saved.game)}, and this is ${shown(game)}`)
}
