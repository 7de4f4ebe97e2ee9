/** The list of sessions as the hub has it now, asked for again and again. */

import { type Entry, readEntries } from './entries.ts'

/** How often the list is fetched, in milliseconds. */
const REFRESH_MS = 2_000
/** How long one answer may take, in milliseconds. */
const ANSWER_MS = 4_000

/** The hub of a lobby, as far as its pages have asked it. */
export interface Known {
  entries: readonly Entry[]
  /** Why it does not answer; '' if it does. */
  trouble: string
  asked: boolean
}

/** Asks for as long as the page is there; what was known is kept while nobody answers. */
export function follow(url: URL, told: (known: Known) => void): void {
  let known: Known = { entries: [], trouble: '', asked: false }
  const refresh = async (): Promise<void> => {
    try {
      known = { entries: await ask(url), trouble: '', asked: true }
    } catch (error) {
      known = { ...known, trouble: error instanceof Error ? error.message : String(error) }
    }
    document.body.dataset['hub'] = known.trouble === '' ? 'well' : 'away'
    told(known)
    setTimeout(() => void refresh(), REFRESH_MS)
  }
  told(known)
  void refresh()
}

async function ask(url: URL): Promise<readonly Entry[]> {
  const answer = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) })
  if (!answer.ok) throw new Error(`it said ${answer.status} ${answer.statusText}`)
  const entries = readEntries(await answer.json())
  if (!entries) throw new Error('it sent no list of sessions')
  return entries
}
