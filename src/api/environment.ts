/** What a place to run in offers: browsers, Node, and the simulator each make one. */

import type { Connect, Loop, OpenDatagrams } from '../ports.ts'

/** A place to run in. */
export interface Environment {
  kind: 'node' | 'browser'
  loop: Loop
  connect: Connect
  /** Carriers besides the relay, best first; each is opened anew for every session. */
  carriers: readonly OpenDatagrams[]
  /** Where the hub is if nobody says: a page's own origin; null where there is none. */
  defaultServer: string | null
  /** Calls when this process is about to end, if that can be known. @returns forgets it */
  onEnd(run: () => void): () => void
}
