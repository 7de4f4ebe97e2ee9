/** The lists and claims of this repository, judged. */

import { read, sources } from '../tidy/codebase.ts'
import { claims } from './claims.ts'
import { listingOf } from './listing.ts'
import { COUNTS, readList } from './lists.ts'
import { judge } from './report.ts'
import type { Verdict } from './report.ts'

/** Judges the repository. @param root its path */
export function verdict(root: string): Verdict {
  const lists = Object.keys(COUNTS).map((letter) => {
    return readList(letter, read(root, `tools/requirements/${letter}.md`))
  })
  return judge(lists, claims(sources(root), listingOf(root)))
}
