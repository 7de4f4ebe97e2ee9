/** @module The entry point for mailboxes on Node. */

import { type Mailbox, type MailboxOptions, openIn } from './mail-opening.ts'
import { curvesOnNode } from '../../holdfast/src/drivers/crypto/libsodium.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { listenStreams } from '../../holdfast/src/drivers/net/server/websocket-listen.ts'
import { connectWebSocketNode } from '../../holdfast/src/drivers/net/websocket-node.ts'
import { reports } from '../../holdfast/src/drivers/report.ts'
import { openMailSqlite } from './drivers/mail-sqlite.ts'
import { wallClock } from '../../holdfast/src/drivers/wall-clock.ts'
import { startWatchdog } from './drivers/watchdog.ts'

export * from './mail-opening.ts'
export { HoldfastError, type ErrorCode } from '../../holdfast/src/machine.ts'

const platform = {
  loop: createNodeLoop(),
  connect: connectWebSocketNode,
  curves: curvesOnNode,
  ...reports,
  date: wallClock,
  watch: startWatchdog,
  open: (name: string) => Promise.resolve(openMailSqlite(name)),
  listen: listenStreams,
}

/** Opens a mailbox in a file. @throws HoldfastError such as `store`, `port-taken`, with the cure */
export function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  return openIn(platform, options)
}
