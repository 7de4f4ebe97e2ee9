/**
 * Keys as a terminal tells of them: that they went down, and again and again while they are held,
 * but never that they are up. So a held key is one that comes again soon.
 */

import type { Wish } from '../rules/hands.ts'

/** What a key is for. */
export type Key =
  | { readonly kind: 'wish'; readonly wish: Wish }
  | { readonly kind: 'peek'; readonly side: 'left' | 'right' }
  | { readonly kind: 'help' | 'next' | 'enter' | 'leave' | 'close' }

const KEYS: Readonly<Record<string, Key>> = {
  w: { kind: 'wish', wish: 'ahead' },
  s: { kind: 'wish', wish: 'back' },
  a: { kind: 'wish', wish: 'left' },
  d: { kind: 'wish', wish: 'right' },
  x: { kind: 'wish', wish: 'round' },
  c: { kind: 'wish', wish: 'cloak' },
  ' ': { kind: 'wish', wish: 'fire' },
  q: { kind: 'peek', side: 'left' },
  e: { kind: 'peek', side: 'right' },
  h: { kind: 'help' },
  '?': { kind: 'help' },
  '\t': { kind: 'next' },
  '\r': { kind: 'enter' },
  '\n': { kind: 'enter' },
  '\u0003': { kind: 'leave' },
  '\u0004': { kind: 'leave' },
  '\u001b': { kind: 'close' },
  '\u001b[A': { kind: 'wish', wish: 'ahead' },
  '\u001b[B': { kind: 'wish', wish: 'back' },
  '\u001b[D': { kind: 'wish', wish: 'left' },
  '\u001b[C': { kind: 'wish', wish: 'right' },
  '\u001bOA': { kind: 'wish', wish: 'ahead' },
  '\u001bOB': { kind: 'wish', wish: 'back' },
  '\u001bOD': { kind: 'wish', wish: 'left' },
  '\u001bOC': { kind: 'wish', wish: 'right' },
}

// Escape sequences first; then single signs.
// oxlint-disable-next-line no-control-regex
const SIGNS = /\u001b[[O][0-9;]*[A-Za-z~]|[^]/gu

/** What was typed, in order; what is for nothing is passed over. */
export function read(typed: string): Key[] {
  return (typed.match(SIGNS) ?? []).flatMap((sign) => {
    const known = KEYS[sign] ?? KEYS[sign.toLowerCase()]
    return known ?? []
  })
}

/** When each wish came last, and when it was last taken. Plain data. */
export type Repeats = Map<Wish, { heard: number; taken: number }>

/** What comes again so soon is a key that is held, in milliseconds. */
const AGAIN_MS = 120
/** A held key does so often what is not a step, in milliseconds. */
const HELD_MS = 400

/** Whether a wish counts: of a held key that turns or shoots, most are passed over. */
export function counts(repeats: Repeats, wish: Wish, now: number): boolean {
  const { heard, taken } = repeats.get(wish) ?? { heard: -Infinity, taken: -Infinity }
  const isHeld = now - heard < AGAIN_MS
  const goesOn = wish === 'ahead' || wish === 'back'
  const counted = !isHeld || goesOn || now - taken >= HELD_MS
  repeats.set(wish, { heard: now, taken: counted ? now : taken })
  return counted
}
