/** Mailboxes that a test opens, in files of their own; they are closed when it ends. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import {
  type Mailbox,
  type MailboxOptions,
  openMailbox,
  type QueueFigures,
} from '../../packages/mailbox/src/index.ts'
import { until } from './until.ts'

/** What a test says of one, the id at least. */
export type Wish = Partial<MailboxOptions> & { id: string }

/** The mailboxes of one file of tests. */
export interface OpenMailboxes {
  /** Of all their files; it goes with the last test. */
  readonly folder: string
  readonly freshFile: () => string
  /** In a file of its own, unless it is said where. */
  readonly open: (options: Wish) => Promise<Mailbox>
  /** Before the test ends. */
  readonly close: (box: Mailbox) => Promise<void>
  /** One that was opened in another way is closed as the others are. */
  readonly add: (box: Mailbox) => Mailbox
}

/** Called once, at the top of a file of tests. @param name of their folder */
export function openMailboxes(name: string): OpenMailboxes {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
  const opened = new Set<Mailbox>()
  let files = 0
  const freshFile = (): string => join(folder, `${++files}.db`)
  const add = (box: Mailbox): Mailbox => {
    opened.add(box)
    return box
  }
  afterEach(async () => {
    for (const box of opened) await box.close()
    opened.clear()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    freshFile,
    add,
    open: async (options) => add(await openMailbox({ store: freshFile(), ...options })),
    close: (box) => {
      opened.delete(box)
      return box.close()
    },
  }
}

type Queue = Pick<QueueFigures, 'waiting' | 'heard' | 'fault'>

/** How the queue to and from a peer stands; empty before there is one. */
export function queueOf(box: Mailbox, peer: string): Queue {
  const found = box.queues().find((queue) => queue.peer === peer)
  return found ?? { waiting: 0, heard: 0, fault: null }
}

/** Waits until no letter to a peer waits. */
export function drained(box: Mailbox, peer: string): Promise<void> {
  return until(() => queueOf(box, peer).waiting === 0)
}

/** Waits for the fault of a pair. */
export async function faultOf(box: Mailbox, peer: string): Promise<string> {
  await until(() => queueOf(box, peer).fault !== null)
  return String(queueOf(box, peer).fault)
}

/** Why it was rejected. */
export function failsWith(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: Error) => error.message,
  )
}
