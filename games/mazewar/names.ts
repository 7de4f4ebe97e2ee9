/** What bots are called, and what a rat is called whose player nobody knows. */

const NAMES = `Remy Algernon Nibbles Templeton Splinter Gouda Whiskers Brie Scabbers Basil Fidget
  Ratty`.split(/\s+/)

/** @param index  from 1 */
export function botNameOf(index: number): string {
  const again = Math.floor((index - 1) / NAMES.length)
  const name = NAMES[(index - 1) % NAMES.length]!
  return again === 0 ? name : `${name} ${again + 1}`
}

const NAME_MAX = 16

/** A name that another says, as it may stand on a screen. */
export function shownName(name: string): string {
  const shown = name.replaceAll(/[\p{Other}\p{Line_Separator}\p{Paragraph_Separator}]/gu, '')
  return Array.from(shown.trim()).slice(0, NAME_MAX).join('')
}

/** A rat of the LAN that never said a name has its number; behind a bridge that is a small one. */
export function nameOnLan(rat: number): string {
  if (rat < 1024) return `LAN ${rat}`
  return `LAN ${(rat >>> 0).toString(16).padStart(8, '0').slice(-4)}`
}
