/** `holdfast mailbox key` and `trust`: by which keys mailboxes know each other. */

import { curvesOnNode } from '../../holdfast/src/drivers/crypto/node.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { readFigures } from '../../mailbox/src/drivers/mail-sqlite.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { MailStore } from '../../holdfast/src/ports.ts'
import type { MailFigures } from '../../mailbox/src/runtime/figures.ts'
import { checkId, checkKey } from '../../mailbox/src/runtime/options.ts'
import { openKeys } from '../../mailbox/src/runtime/own-keys.ts'
import { plain } from '../../holdfast/src/wire/plain.ts'
import { committed, type Given, isInUse, need, withStore } from './mailbox-given.ts'
import { toHex } from '../../holdfast/src/wire/bytes.ts'

/** Prints the key of the mailbox, or that by which it knows a peer. */
export async function printKey(given: Given, [whom]: string[]): Promise<void> {
  try {
    await withStore(given, async (store) => {
      console.log(whom === undefined ? await ownKey(store) : theirKey(store, whom))
    })
  } catch (error) {
    const shown = readFigures(need(given.store, 'store'))
    if (whom !== undefined || !isInUse(error) || shown === null) throw error
    console.log(plain((JSON.parse(shown) as MailFigures).key))
  }
}

/** A store that was never opened by a mailbox has none yet: then it is drawn here. */
async function ownKey(store: MailStore): Promise<string> {
  const loop = createNodeLoop()
  const random = (count: number): Uint8Array => loop.random(count)
  const { identity, changes } = await openKeys('', store, await curvesOnNode(), random)
  await committed(store, ...changes)
  return toHex(identity.keys[0]!.key)
}

function theirKey(store: MailStore, whom: string): string {
  const key = store.head(whom)?.key
  if (key) return toHex(key)
  throw new HoldfastError('not-found', `${plain(whom)} is known by no key`)
}

/** Knows a peer by that key from now on. */
export async function trust(given: Given, [whom, text]: string[]): Promise<void> {
  if (whom === undefined || text === undefined) {
    throw new HoldfastError('bad-value', 'trust needs whom, and by which key: trust alice KEY')
  }
  const [peer, key] = [checkId(whom), checkKey(`the key of ${plain(whom)}`, text)]
  await withStore(given, (store) => committed(store, { kind: 'bound', peer, key, root: key }))
  console.log(plain(`${peer} is known by that key`))
}
