/** Whether there is room for letters, before they are posted. */

import { HoldfastError } from '../../../holdfast/src/machine.ts'
import { hasRoom, type Mailbox, peerOf } from '../machine/mailbox.ts'
import { type Later, LATER_MAX } from './later.ts'

/**
 * Letters of handlers may fill the limits once more: otherwise two mailboxes with full outboxes
 * whose handlers answer would wait for each other for ever.
 */
export const RESERVE = 2

/**
 * @param times  RESERVE for letters of handlers, which free room by being handled
 * @throws HoldfastError `outbox-full` if so many letters and bytes do not fit
 */
export function checkRoom(
  box: Mailbox,
  to: string,
  letters: number,
  bytes: number,
  times = 1,
): void {
  if (hasRoom(box, to, letters, bytes, times)) return
  const { lettersMax, bytesMax } = box.limits
  const { posted, acked, bytes: full } = peerOf(box, to)
  throw new HoldfastError(
    'outbox-full',
    `the outbox to ${to} is full: ${posted - acked} letters of ${lettersMax}, ` +
      `${full} bytes of ${bytesMax}; wait until ${to} has taken some`,
  )
}

/** Checks that so many more letters may be delayed. @throws HoldfastError `outbox-full` */
export function checkLater({ count }: Later, letters: number): void {
  if (count + letters <= LATER_MAX) return
  throw new HoldfastError('outbox-full', `${LATER_MAX} letters wait for their time already`)
}
