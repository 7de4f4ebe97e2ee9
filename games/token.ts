/** What two tokens of a player tell: whether the session is the same, and the player. */

// Behind the player stand the key of the room, and what is stored of it, which changes.
const SHAPE =
  /^(?<player>(?<session>[\da-z-]+)\.[1-9]\d*\.[\da-f]+)(\.(?<key>[\da-f]{64})?(\.[\da-f-]+)?)?$/

/** How two tokens stand to each other: `unknown` if one of them cannot be read. */
export type Kin = 'same' | 'other' | 'unknown'

/** Whether two tokens are of one session. A room that ended and began anew is another. */
export function kinOf(one: string, two: string): Kin {
  const [first, second] = [sessionOf(one), sessionOf(two)]
  if (first === undefined || second === undefined) return 'unknown'
  return first === second ? 'same' : 'other'
}

function sessionOf(token: string): string | undefined {
  return SHAPE.exec(token)?.groups?.['session']
}

/** The key of the room in a token; null if it has none. */
export function keyOfToken(token: string): string | null {
  return SHAPE.exec(token)?.groups?.['key'] ?? null
}

/**
 * How a tab got in: as whom it was; as somebody new, for the room had forgotten the player it was,
 * or had ended, or nobody knows why; or as one who never was here.
 */
export type Way = 'back' | 'forgotten' | 'ended' | 'unknown' | 'new'

/** How one who had that token got in. @param now  the token that it has now */
export function wayOf(before: string, now: string): Way {
  const [was, is] = [before, now].map((token) => SHAPE.exec(token)?.groups?.['player'])
  if (was !== undefined && was === is) return 'back'
  const ways = { same: 'forgotten', other: 'ended', unknown: 'unknown' } as const
  return ways[kinOf(before, now)]
}
