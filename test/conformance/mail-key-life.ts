/**
 * One life of a mailbox of two that write to each other and replace their keys all the time, until
 * they are killed. It is bundled into one file before it runs, for what is killed soon is to be
 * loaded soon. Usage: ID STORE PORT
 */

import { openMailbox } from '../../packages/mailbox/src/index.ts'

/** What a life has by now. */
export interface KeyBooks {
  key: string
  /** By which key it knows the other. */
  knows: string | null
  waiting: number
  sent: number
  took: number
  /** What did not hold, a sentence each. */
  wrong: string[]
}

/** What a life tells. */
export type FromKeyLife =
  | { kind: 'open' | 'took' | 'replacing' | 'replaced' }
  | { kind: 'books'; books: KeyBooks }

const WAITING_MAX = 20

const [id, store, port] = process.argv.slice(2) as [string, string, string]
const tell = (message: FromKeyLife): void => void process.send!(message)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const listens = id === 'b'
const peer = listens ? 'a' : 'b'
const box = await openMailbox({ id, store, ...(listens && { listen: { port: Number(port) } }) })
let isResting = false

box.on('letter', (tx, _from, body) => {
  const had = Number(tx.get('took') ?? 0)
  if (body !== had + 1) tx.set('wrong', `${String(body)} came after ${had}`)
  tx.set('took', had + 1)
  tell({ kind: 'took' })
})
if (!listens) box.connect(peer, `ws://127.0.0.1:${port}/mail`)
tell({ kind: 'open' })

const waiting = (): number => box.queues().find((queue) => queue.peer === peer)?.waiting ?? 0

async function write(): Promise<void> {
  while (!isResting) {
    await turn()
    if (waiting() >= WAITING_MAX) continue
    await box.transact((tx) => {
      const n = Number(tx.get('sent') ?? 0) + 1
      tx.set('sent', n)
      tx.post(peer, n)
    })
  }
}

async function replace(): Promise<void> {
  while (!isResting) {
    await turn()
    // Else letters about keys would be all that waits for the other, which may be dead for a while.
    if (waiting() > 2) continue
    tell({ kind: 'replacing' })
    await box.replaceKey()
    tell({ kind: 'replaced' })
  }
}

process.on('message', () => {
  isResting = true
  const count = (name: string): number => Number(box.get(name) ?? 0)
  const wrong = [box.get('wrong') ?? [], box.dead().map(({ why }) => why)].flat() as string[]
  const books = { sent: count('sent'), took: count('took'), waiting: waiting(), wrong }
  tell({ kind: 'books', books: { key: box.key, knows: box.peer(peer).key, ...books } })
})
process.on('disconnect', () => process.exit())
await Promise.all([write(), replace()])
