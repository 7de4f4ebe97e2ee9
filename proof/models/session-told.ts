/** What could be seen from outside in the session's model, and what was broken by that. */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'

/** What could be seen from outside so far. */
export interface Seen {
  /** Who was registered as primary in each epoch. */
  primaries: PeerId[]
  /** The members as told, by the version of the view. */
  views: string[]
  /** By number of an operation: the place it was acknowledged with, and the epoch. */
  acknowledged: { place: number; epoch: number }[]
  /** Who asked for it was told that somebody is put out. */
  expelled: boolean
  /** So was who asked for the pardon; and whose votes were answered. */
  pardoned: boolean
  voted: readonly PeerId[]
  /** A claim that was broken by what was told, and how. */
  broken: string
}

/** Something that is seen from outside, and what it says. */
export type News =
  | { kind: 'primary'; primary: PeerId }
  | { kind: 'view'; mv: number; members: PeerId[] }
  | { kind: 'done'; id: number; place: number; epoch: number }
  | { kind: 'expelled'; done: boolean }
  | { kind: 'pardoned' }
  | { kind: 'voted'; by: PeerId }
  | { kind: 'nothing' }
  | { kind: 'broken'; why: string }

/** Nothing was seen but the founder, as the primary of the first epoch. */
export const NOTHING_SEEN: Seen = {
  ...{ primaries: [0, 1], views: [], acknowledged: [] },
  ...{ expelled: false, pardoned: false, voted: [], broken: '' },
}

/** What was seen with that news behind. */
export function see(before: Seen, news: News): Seen {
  const { primaries, views, acknowledged } = before
  const seen: Seen = {
    ...before,
    primaries: [...primaries],
    views: [...views],
    acknowledged: [...acknowledged],
  }
  switch (news.kind) {
    case 'primary':
      seen.primaries.push(news.primary)
      break
    case 'view':
      hearView(seen, news.mv, news.members)
      break
    case 'done':
      hearDone(seen, news)
      break
    case 'expelled':
      seen.expelled = true
      if (!news.done) seen.broken ||= 'kick.once: it was done, and was told as refused'
      break
    case 'pardoned':
      seen.pardoned = true
      break
    case 'voted':
      seen.voted = [...new Set([...seen.voted, news.by])].toSorted((a, b) => a - b)
      break
    case 'nothing':
      break
    case 'broken':
      seen.broken ||= news.why
  }
  return seen
}

function hearView(seen: Seen, mv: number, members: PeerId[]): void {
  const told = members.join(' ')
  const before = seen.views[mv]
  if (before === told) return
  if (before) {
    seen.broken ||= `view.linear: version ${mv} was told as ${before} and as ${told}`
  }
  while (seen.views.length < mv) seen.views.push('')
  seen.views[mv] = told
  // Numbers are never used again: who was here and went does not come back.
  for (const inc of members) {
    const wasHere = (text: string): boolean => text.split(' ').includes(`${inc}`)
    const first = seen.views.findIndex(wasHere)
    const last = seen.views.findLastIndex(wasHere)
    const away = seen.views.findIndex(
      (text, at) => at > first && at < last && text !== '' && !wasHere(text),
    )
    if (away < 0) continue
    seen.broken ||= `view.linear: ${inc} was removed in version ${away} and is here in ${last}`
  }
}

// The outcome of an operation was told.
function hearDone(seen: Seen, { id, place, epoch }: News & { kind: 'done' }): void {
  const before = seen.acknowledged[id]
  while (seen.acknowledged.length < id) seen.acknowledged.push({ place: 0, epoch: 0 })
  if (before && before.place !== 0) {
    if (before.place !== place) {
      seen.broken ||= `once: operation ${id} was told as number ${before.place} and ${place}`
    }
  } else seen.acknowledged[id] = { place, epoch }
  const other = seen.acknowledged.findIndex((done, at) => at !== id && done.place === place)
  if (other > 0)
    seen.broken ||= `commit.fork: operations ${other} and ${id} are both number ${place}`
}
