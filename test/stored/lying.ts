/** A hub that lies: all that it says to one process passes here. */

import { type FromHub, fromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { joinIn, type JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import type { Connect } from '../../packages/holdfast/src/ports.ts'
import { environmentOf, HUB_URL, type SessionWorld } from '../../packages/sim/src/session-world.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'

/** What the hub says in place of the truth. */
export type Lie = (said: FromHub) => FromHub

/** Another text in place of the terms of the session. */
export function termsAs(change: (terms: string) => string): Lie {
  return (said) => {
    if (said.kind !== 'added') return said
    return { ...said, entry: { ...said.entry, terms: change(said.entry.terms) } }
  }
}

/** The hub says nothing of a key. */
export const unsealed: Lie = termsAs((terms) => terms.replace(/;?sealed=\w+/, ''))

function over(connect: Connect, lie: Lie): Connect {
  return (url, events) => {
    const message = (bytes: Uint8Array): void => {
      const frame = readFrame(bytes)
      const said = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
      events.message(said ? frameMessage(encode(fromHub, lie(said))) : bytes)
    }
    return connect(url, { ...events, message })
  }
}

/** Joins by a hub that lies to this process. */
export async function joinBy(
  w: SessionWorld,
  lie: Lie,
  options: JoinOptions,
  name = `lied-to-${w.sim.names().length}`,
): Promise<Session> {
  const { connect, ...place } = environmentOf(w.sim.node(name), 'node')
  let settled = false
  const joining = joinIn({ ...place, connect: over(connect, lie) }, { ...options, server: HUB_URL })
  joining.finally(() => (settled = true)).catch(() => {})
  await w.runUntil(() => settled, 60_000)
  return joining
}
