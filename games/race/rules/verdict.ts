/** What X believes after each message, and what came of it all, in words. */

import type { Standing } from 'holdfast/sim'
import type { Arrow, Picture } from './picture.ts'

/** What X made of one message. */
export interface Belief {
  name: string
  from: string
  /** Whether it changed anything. */
  took: boolean
  /** Why it did, or did not. */
  why: string
  /** What X believes now. */
  now: string
  /** It is older than what X had been told by then. */
  misled: boolean
}

/** How it ends: all is well; well in the end alone; they differ for ever. */
export interface Verdict {
  kind: 'well' | 'luck' | 'paradox'
  says: string
}

/** After each message to X. */
export function beliefs(picture: Picture): Belief[] {
  const misled = misledAt(picture)
  return picture.arrows.map((arrow, place) => ({
    name: arrow.name,
    from: arrow.message.from,
    took: took(picture, arrow),
    why: why(picture, arrow),
    now: held(picture, arrow.after),
    misled: misled[place]!,
  }))
}

// In the first form nothing is kept of what is gone, so a DESTROY of nothing does nothing.
function took({ fixed }: Picture, { before, after }: Arrow): boolean {
  if (!fixed && before.kind === 'unknown' && after.kind === 'gone') return false
  return JSON.stringify(before) !== JSON.stringify(after)
}

function held({ fixed }: Picture, standing: Standing): string {
  if (standing.kind === 'owned') {
    return `${standing.owner}’s object${fixed ? `, version ${standing.count}` : ''}`
  }
  if (standing.kind === 'gone' && fixed) return `gone; version ${standing.count} is remembered`
  return 'no such object'
}

function why(picture: Picture, arrow: Arrow): string {
  const { fixed } = picture
  const { message, before } = arrow
  const taken = took(picture, arrow)
  const nothing = before.kind === 'unknown' || (!fixed && before.kind === 'gone')
  if (message.word === 'CREATE') {
    if (taken) return nothing && before.kind === 'gone' ? 'nothing says that it is old' : ''
    return fixed && before.kind !== 'unknown'
      ? `version 0 is older than ${before.count}`
      : 'X has it already'
  }
  if (message.word === 'DESTROY') return taken ? '' : 'there is nothing to destroy'
  if (taken) return nothing ? 'it acts as a CREATE' : ''
  if (fixed && before.kind !== 'unknown')
    return `version ${message.count} is older than ${before.count}`
  return 'there is nothing to migrate'
}

// X takes for the owner who is not any more, as it was told before.
function misledAt({ arrows }: Picture): boolean[] {
  let told = 0
  return arrows.map(({ message, after }) => {
    told = Math.max(told, message.count)
    return after.kind === 'owned' && after.count < told
  })
}

/** What came of it, in one sentence. */
export function judge(picture: Picture): Verdict {
  const { ends, agree, arrows, scenario } = picture
  const own = ends['X']!
  const misled = arrows[misledAt(picture).indexOf(true)]
  if (!agree) return { kind: 'paradox', says: `${differ(picture, own)}${cause(picture)}` }
  if (misled?.after.kind === 'owned') {
    const { owner } = misled.after
    const told = arrows.find(({ message }) => message.word === 'MIGRATE')!
    return {
      kind: 'luck',
      says:
        `All agree in the end, but by luck: after ${misled.name} X took ${owner} for the owner, ` +
        `though it had been sent ${told.name} before.`,
    }
  }
  const all = `All ${['four', 'five'][scenario.members.length - 4]} agree`
  const end = own.kind === 'owned' ? `the object is ${own.owner}’s` : 'the object is gone'
  return { kind: 'well', says: `${all}: ${end}.` }
}

function differ({ ends, scenario }: Picture, own: Standing): string {
  const other = ends[scenario.owners.at(-1)!]!
  const who = own.kind === 'owned' ? own.owner : null
  if (who === null) return 'X knows of no object, and the others do: '
  return other.kind === 'owned'
    ? `X takes ${who} for the owner, everybody else ${other.owner}: `
    : `X keeps an object of ${who} that is gone for everybody else: `
}

function cause({ arrows }: Picture): string {
  const created = arrows.findIndex(({ message }) => message.word === 'CREATE')
  const early = arrows.slice(0, created)
  if (early.some(({ message }) => message.word === 'DESTROY')) {
    return 'C came after D, and nothing in it says that it is old.'
  }
  const names = early.map(({ name }) => name).join(' and ')
  return `${names} came before C, when there was nothing to migrate.`
}
