/** The options of `holdfast mailbox`, and the store that they name. */

import { openMailSqlite } from '../../mailbox/src/drivers/mail-sqlite.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { MailChange, MailStore } from '../../holdfast/src/ports.ts'
import { plain } from '../../holdfast/src/wire/plain.ts'
import type { Word } from './given.ts'

/** The options of the command. */
export interface Given {
  id?: string | number
  store?: string | number
  port?: string | number
  host?: string
  origin?: Word | Word[]
  tlsCert?: string
  tlsKey?: string
  accept?: Word | Word[]
  /** Until 0.2: a file with a password of all. */
  keyFile?: unknown
  peer?: string | string[]
  wait?: boolean
  release?: string
  discard?: string
}

/** The value of an option. @throws HoldfastError `bad-value` if it is missing */
export function need(value: string | number | undefined, option: string): string {
  if (value !== undefined && value !== '') return String(value)
  throw new HoldfastError('bad-value', `--${option} is needed`)
}

/** A peer and where it listens. @throws HoldfastError `bad-value` */
export function splitPeer(text: string): [id: string, url: string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new HoldfastError(
    'bad-value',
    `--peer is an id and a URL, as bob=ws://host:8800/mail: ${text}`,
  )
}

/** Which mailboxes may come. @throws HoldfastError `bad-value` for the password of before 0.2 */
export function acceptOf({ accept, keyFile }: Given): { accept?: Record<string, string | null> } {
  if (keyFile !== undefined) {
    throw new HoldfastError(
      'bad-value',
      '--key-file is gone, for each mailbox has a key of its own, which holdfast mailbox key ' +
        'prints; give those that may come by --accept alice=KEY',
    )
  }
  if (accept === undefined) return {}
  const pairs = [accept].flat().map((one) => {
    const [id, key = ''] = String(one).split(/=(?=[^=]*$)/)
    return [id, key === '' ? null : key]
  })
  return { accept: Object.fromEntries(pairs) as Record<string, string | null> }
}

/** Does something with the store. */
export function withStore(
  given: Given,
  run: (store: MailStore) => void | Promise<void>,
): Promise<void> {
  const store = openMailSqlite(need(given.store, 'store'))
  if (store.repaired !== null) console.error(plain(store.repaired))
  return Promise.resolve()
    .then(() => run(store))
    .finally(() => store.close())
}

/** Whether a store could not be opened because its mailbox is open. */
export function isInUse(error: unknown): boolean {
  return error instanceof HoldfastError && error.message.includes('it is in use by')
}

/** Makes changes durable. */
export function committed(store: MailStore, ...changes: MailChange[]): Promise<void> {
  return new Promise((resolve, reject) => {
    store.commit(changes, (error) => (error ? reject(error) : resolve()))
  })
}
