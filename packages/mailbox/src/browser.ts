/**
 * The entry point for mailboxes in pages: they store in IndexedDB and only dial.
 *
 * @module
 */

import { type Mailbox, type MailboxOptions, openIn } from './mail-opening.ts'
import { curvesInPage } from '../../holdfast/src/drivers/crypto/web-curves.ts'
import { BrowserLoop } from '../../holdfast/src/drivers/net/loop-browser.ts'
import { connectWebSocket } from '../../holdfast/src/drivers/net/websocket.ts'
import { reportInPage, warnInPage } from '../../holdfast/src/drivers/report-browser.ts'
import { openMailIndexedDb } from './drivers/mail-indexeddb.ts'
import { wallClock } from '../../holdfast/src/drivers/wall-clock.ts'

export * from './mail-opening.ts'
export { HoldfastError, type ErrorCode } from '../../holdfast/src/machine.ts'

const platform = {
  connect: connectWebSocket,
  curves: curvesInPage,
  report: reportInPage,
  warn: warnInPage,
  date: wallClock,
  open: openMailIndexedDb,
  listen: null,
}

/** Opens a mailbox in a database of this origin. @throws HoldfastError `store`, with the cure */
export function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  return openIn({ ...platform, loop: new BrowserLoop() }, options)
}
