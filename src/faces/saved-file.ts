/** A room in a file: `session.export` and `join({ from })`. */

import { badValue, type ErrorCode, HoldfastError } from '../machine.ts'
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
  const saved = runner?.do((now, run) => member.save(run, now))
  if (!runner || !saved) throw refused('left', 'the session was left')
  if ('code' in saved) throw refused(saved.code, saved.why)
  if (hides) checkSecrets(runner, saved)
  if (Number.isNaN(runner.sessionTime())) {
    throw refused('not-ready', 'session time is not known yet')
  }
  const bytes = writeSaved(saved)
  if (bytes.length <= SAVED_MAX) return bytes
  throw refused('full', `the room has ${bytes.length} bytes, and a file ${SAVED_MAX} at most`)
}

function checkSecrets(runner: Runner, { terms }: Saved): void {
  const { client, me } = runner.member.session
  // A backup has no state of objects that it may not see.
  if (client.view.primary !== me) {
    throw refused('forbidden', 'it has secrets, so its server alone may')
  }
  if (isSealed(terms)) return
  const why = 'it has secrets, and without keepRoom.key whoever has the file reads them'
  throw refused('forbidden', why)
}

function refused(code: ErrorCode, why: string): HoldfastError {
  return new HoldfastError(code, `cannot export: ${why}`)
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
