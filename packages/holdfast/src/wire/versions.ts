/**
 * The range of protocol versions that a build speaks, as one number in each hello: the highest in
 * the low five bits, the count of lower ones above them. A single version is encoded as itself, as
 * before ranges existed. Two builds use the highest version both speak; if there is none, the
 * refusal names both ranges.
 */

/** The lowest and the highest version: 1 to 31. */
export interface Versions {
  readonly lowest: number
  readonly highest: number
}

/** The weight of the number of lower versions. */
const STEP = 32

export function only(version: number): Versions {
  return { lowest: version, highest: version }
}

/** The number for a hello; at most 255 with up to seven lower versions. */
export function encodeVersions({ lowest, highest }: Versions): number {
  return highest + STEP * (highest - lowest)
}

/** The range of a hello's number; null if it is invalid. */
export function decodeVersions(number: number): Versions | null {
  const highest = number % STEP
  const lowest = highest - Math.floor(number / STEP)
  return lowest >= 1 ? { lowest, highest } : null
}

/** The highest version that we and the sender of that number speak; null if none. */
export function negotiate(own: Versions, number: number): number | null {
  const other = decodeVersions(number)
  if (!other) return null
  const highest = Math.min(own.highest, other.highest)
  return highest >= Math.max(own.lowest, other.lowest) ? highest : null
}

/** What the user of an outdated build has to do, for a sentence. */
export const RELOAD = 'reload the page, or update this program'
export const OUTDATED_ROOM = 'its members have to reload first'

/** Whether all versions of a hello's number are newer than ours. */
export function isNewer(own: Versions, number: number): boolean {
  return (decodeVersions(number)?.lowest ?? 0) > own.highest
}

/** For a sentence, such as `version 4` or `versions 3 to 5`. */
export function formatVersions(versions: Versions | number): string {
  const range = typeof versions === 'number' ? decodeVersions(versions) : versions
  if (!range) return `version ${versions as number}`
  const { lowest, highest } = range
  return lowest === highest ? `version ${highest}` : `versions ${lowest} to ${highest}`
}
