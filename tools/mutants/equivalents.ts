/**
 * Changes that change nothing that anybody could see, each with the reason. Of what is drawn they
 * may be one in ten.
 */

import type { Change } from './sites.ts'

/** A change, and why no test could tell. */
export interface Equivalent extends Change {
  readonly why: string
}

function equivalent(place: string, text: string, put: string, why: string, nth = 0): Equivalent {
  const [file = '', within = ''] = place.split(' ')
  return { file: `src/${file}`, within, text, put, nth, why }
}

/** The list, room by room. */
export const EQUIVALENTS: readonly Equivalent[] = [
  equivalent(
    'wire/bytes.ts finish',
    'length > PLAIN_MAX',
    'false',
    'Both ways copy the same bytes; few are copied faster by hand, many by the library.',
  ),
  equivalent(
    'objects/fan-out.ts oweAll',
    "replica.dead && !rules.tombstone('tell')",
    'false',
    'What is gone is told like all else; only a proof has the rule say otherwise, to find that.',
  ),
  equivalent(
    'directory/attaching.ts detach',
    'members?.get(inc) !== connection',
    '!members',
    'A second lock: a stream whose member has a newer one has no number any more (standDown).',
  ),
]
