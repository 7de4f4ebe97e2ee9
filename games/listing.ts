/** The list of sessions as the hub has it now, a page at a time, asked for again and again. */

import { type Entry, merged, nextOf, readEntries } from './entries.ts'

/** How often the list is fetched, in milliseconds. */
const REFRESH_MS = 2_000
/** How long one answer may take, in milliseconds. */
const ANSWER_MS = 4_000
/** Most pages that are fetched each time. */
const PAGES_MAX = 10

/** The hub of a lobby, as far as its pages have asked it. */
export interface Known {
  entries: readonly Entry[]
  /** Whether the hub has more of them, for whoever asks. */
  more: boolean
  /** Why it does not answer; '' if it does. */
  trouble: string
  asked: boolean
}

/** Nothing was asked yet. */
export const NOTHING: Known = { entries: [], more: false, trouble: '', asked: false }

/**
 * Asks for as long as the page is there; what was known is kept while nobody answers.
 *
 * @returns shows one more page from the next time on
 */
export function follow(url: URL, told: (known: Known) => void): () => void {
  let known = NOTHING
  let pages = 1
  const refresh = async (): Promise<void> => {
    try {
      known = { ...(await ask(url, pages)), trouble: '', asked: true }
    } catch (error) {
      known = { ...known, trouble: error instanceof Error ? error.message : String(error) }
    }
    document.body.dataset['hub'] = known.trouble === '' ? 'well' : 'away'
    told(known)
    setTimeout(() => void refresh(), REFRESH_MS)
  }
  told(known)
  void refresh()
  return () => void (pages = Math.min(PAGES_MAX, pages + 1))
}

async function ask(url: URL, pages: number): Promise<Pick<Known, 'entries' | 'more'>> {
  const found: Entry[][] = []
  let next: URL | null = url
  while (next && found.length < pages) {
    const answer: Response = await fetch(next, {
      cache: 'no-store',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (!answer.ok) throw new Error(`it said ${answer.status} ${answer.statusText}`)
    const entries = readEntries(await answer.json())
    if (!entries) throw new Error('it sent no list of sessions')
    found.push(entries)
    next = nextOf(answer.headers.get('link'), url)
  }
  return { entries: merged(found), more: next !== null && pages < PAGES_MAX }
}
