/** Stored rooms of another build. */

import type { ErrorCode } from '../machine.ts'
import type { Part } from '../kind/protocol/part.ts'
import type * as segments from '../session/segments.ts'
import { differenceOf } from '../wire/fields/difference.ts'
import { fingerprint } from '../wire/digest.ts'
import type { Member } from './state.ts'

/** Why a room cannot be opened. */
export interface Unfit {
  readonly code: ErrorCode
  readonly why: string
}

/**
 * Converts a stored room of another build. A part whose types differ must be able to read the other
 * build's; a part that is new here has nothing stored.
 *
 * @returns the room for this build; or why that is impossible
 */
export function adapted(
  { session, options, mounts }: Member,
  found: segments.StoredState,
): segments.StoredState | Unfit {
  const { keptTypes } = session
  if (found.schema === fingerprint(keptTypes)) return found
  const unfit = (difference: string): Unfit => {
    return { code: 'schema', why: `what is kept of this room is of another build: ${difference}` }
  }
  // Types that are too long to be stored as text cannot be converted.
  if (found.schema !== fingerprint(found.types)) {
    return unfit(differenceOf(options.keptTypes, found.types))
  }
  const [here, there] = [byPart(keptTypes), byPart(found.types)]
  let adapted = found
  for (const [part, lines] of there) {
    if (here.get(part) === lines) continue
    const reader = mounts.find((mount) => mount.part.keptAs === part)
    if (!reader) return unfit(differenceOf(options.keptTypes, found.types))
    const made = reread(adapted, reader.part, lines)
    if (typeof made === 'string') return unfit(made)
    adapted = made
  }
  return adapted
}

function reread(
  found: segments.StoredState,
  part: Part,
  lines: string,
): segments.StoredState | string {
  const kept = found.parts.find((one) => one.part === part.channel)
  if (!kept) return found
  const isOwn = (one: { part: number }): boolean => one.part === part.channel
  const behind = found.changes.filter(isOwn).map(({ bytes }) => bytes)
  const bytes = part.reread!(lines, kept.bytes, behind)
  if (typeof bytes === 'string') return bytes
  const parts = found.parts.map((one) => (one === kept ? { ...one, bytes } : one))
  return { ...found, parts, changes: found.changes.filter((one) => !isOwn(one)) }
}

// The lines of each part: by its channel, or by their last word.
function byPart(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [part = ''] = / part \d+ /.exec(line) ?? /\w*$/.exec(line) ?? []
    if (line !== '') parts.set(part, `${parts.get(part) ?? ''}${line}\n`)
  }
  return parts
}
