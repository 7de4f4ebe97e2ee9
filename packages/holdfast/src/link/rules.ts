/** The decisions of links as they really run; tests replace them by injected bugs. */

import { rulesOf } from '../machine.ts'
import * as reliable from './reliable.ts'
import type { LinkRules } from './state.ts'
import { hasNumber } from './build.ts'

/** The rules of every real link. */
export const RULES: LinkRules = rulesOf<LinkRules>({
  hasNumber,
  refuses: (tooFar) => tooFar,
  take: ({ incoming }, id, flags, bytes, arrivals) => {
    return reliable.take(incoming, id, flags, bytes, arrivals)
  },
})
