/**
 * The entry point for mailboxes in pages: the store is IndexedDB, and pages only dial connections.
 *
 * @module
 */

import { type Mailbox, type MailboxOptions, openIn } from './faces/mail-opening.ts'
import { createBrowserLoop } from './drivers/net/loop-browser.ts'
import { connectWebSocket } from './drivers/net/websocket.ts'
import { reportInPage } from './drivers/report-browser.ts'
import { openMailIndexedDb } from './drivers/store/mail-indexeddb.ts'
import { wallClock } from './drivers/wall-clock.ts'

export * from './faces/mail-opening.ts'
export { HoldfastError, type ErrorCode } from './machine.ts'

/** Opens a mailbox in a database of this origin. @throws HoldfastError `store` with the cure */
export function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  return openIn(
    {
      loop: createBrowserLoop(),
      connect: connectWebSocket,
      report: reportInPage,
      date: wallClock,
      open: openMailIndexedDb,
      listen: null,
    },
    options,
  )
}
