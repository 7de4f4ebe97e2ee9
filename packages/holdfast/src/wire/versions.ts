/**
 * Which versions of a protocol a build speaks, as each hello says it in one number: the highest in
 * the low five bits, and above them how many lower ones it speaks as well. A build that speaks one
 * alone says that one, as builds did before there were ranges. What is spoken is the highest that
 * both speak; where there is none, whoever refuses names both ranges.
 */

/** The lowest version that is spoken, and the highest: 1 to 31. */
export interface Versions {
  readonly lowest: number
  readonly highest: number
}

/** How far apart the numbers of lower versions are. */
const STEP = 32

/** One version alone. */
export function only(version: number): Versions {
  return { lowest: version, highest: version }
}

/** As a hello says it; at most 255 if seven lower ones are spoken or fewer. */
export function encodeVersions({ lowest, highest }: Versions): number {
  return highest + STEP * (highest - lowest)
}

/** What a hello says; null if that is no range. */
export function decodeVersions(number: number): Versions | null {
  const highest = number % STEP
  const lowest = highest - Math.floor(number / STEP)
  return lowest >= 1 ? { lowest, highest } : null
}

/** The version to speak with who said that; null if there is none that both speak. */
export function negotiate(own: Versions, number: number): number | null {
  const other = decodeVersions(number)
  if (!other) return null
  const highest = Math.min(own.highest, other.highest)
  return highest >= Math.max(own.lowest, other.lowest) ? highest : null
}

/** For a sentence, such as `version 4` or `versions 3 to 5`. */
export function formatVersions(versions: Versions | number): string {
  const range = typeof versions === 'number' ? decodeVersions(versions) : versions
  if (!range) return `version ${versions as number}`
  const { lowest, highest } = range
  return lowest === highest ? `version ${highest}` : `versions ${lowest} to ${highest}`
}
