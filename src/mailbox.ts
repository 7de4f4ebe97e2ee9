/** @module The entry point for mailboxes on Node. */

import { type Mailbox, type MailboxOptions, openIn } from './faces/mail-opening.ts'
import { curvesOnNode } from './drivers/crypto/node.ts'
import { createNodeLoop } from './drivers/net/loop-node.ts'
import { listenStreams } from './drivers/net/websocket-listen.ts'
import { connectWebSocketNode } from './drivers/net/websocket-node.ts'
import { reports } from './drivers/report.ts'
import { openMailSqlite } from './drivers/store/mail-sqlite.ts'
import { wallClock } from './drivers/wall-clock.ts'
import { startWatchdog } from './drivers/watchdog.ts'

export * from './faces/mail-opening.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'

const place = {
  loop: createNodeLoop(),
  connect: connectWebSocketNode,
  curves: curvesOnNode,
  ...reports,
  date: wallClock,
  watch: startWatchdog,
  open: (name: string) => Promise.resolve(openMailSqlite(name)),
  listen: listenStreams,
}

/** Opens a mailbox in a file. @throws HoldfastError `store`, `port-taken` … with the cure */
export function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  return openIn(place, options)
}
