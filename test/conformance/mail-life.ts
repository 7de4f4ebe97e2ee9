/**
 * One life of a process that is going to be killed: of one of three mailboxes among whom money
 * moves, or of the keeper of a session, over which a and c write to each other. It is bundled into
 * one file before it runs, for what is killed soon is to be loaded soon.
 */

import { type Mailbox, openMailbox, type Way } from '../../packages/mailbox/src/index.ts'
import {
  join,
  letters,
  offerMail,
  overSession,
  type Session,
} from '../../packages/holdfast/src/node.ts'
import { type FromLife, type Id, IDS, type ToLife } from './mail-life-messages.ts'
import { Bank } from './money.ts'

/** Payments to one peer that may wait before there is another, and that it may owe. */
const WAITING_MAX = 20
/** How long it waits for money, for room or for a hub. */
const PAUSE_MS = 3

let session: Session | null = null
const owed: Record<string, number> = {}
let asked = false
let mine: { box: Mailbox; bank: Bank; hub: string } | null = null

const tell = (message: Partial<FromLife>): void => void process.send!(message)
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

async function begin(id: Id, store: string, port: number, hub: string): Promise<void> {
  const box = await openMailbox({ id, store, ...(id === 'b' && { listen: { port } }) })
  const peers = IDS.filter((one) => one !== id)
  const bank = await Bank.open(box, peers, (from) => tell({ took: from }))
  box.on('acked', () => asked && tell({ acked: true }))
  mine = { box, bank, hub }
  const { sent } = await bank.books()
  const open = Object.fromEntries(peers.map((peer) => [peer, sent[peer]!.length]))
  tell({ open, repaired: box.repaired })
  if (id !== 'b') box.connect('b', `ws://127.0.0.1:${port}/mail`)
}

function refused(error: Error): number {
  tell({ refused: error.message })
  return 0
}

/** Pays so many times, as soon as there is money and room. */
async function pay(bank: Bank, to: string, count: number): Promise<void> {
  const isIdle = owed[to] === undefined || owed[to] === 0
  owed[to] = Math.min((owed[to] ?? 0) + count, WAITING_MAX)
  if (!isIdle) return
  while (owed[to] > 0) {
    const n = bank.waiting(to) < WAITING_MAX ? await bank.pay(to).catch(refused) : null
    if (n === null) await pause()
    else if (n === 0) owed[to] = 0
    else {
      owed[to]--
      tell({ paid: [to, n] })
    }
  }
}

async function enter(hub: string, name: string): Promise<Session> {
  for (;;) {
    try {
      const wish = {
        game: 'bank',
        types: [letters],
        server: hub,
        name,
      } as const
      // Who offers a mailbox may have to serve; who dials has no need to.
      const joined = await join({ ...wish, serves: name !== 'a' })
      joined.on('safety', (safety) => tell({ safe: safety === 'backed-up' }))
      joined.on('status', (status) => {
        if (status === 'lost') void joinAs(hub, name)
      })
      return joined
    } catch {
      await pause()
    }
  }
}

async function joinAs(hub: string, name: string): Promise<void> {
  const isFirst = session === null
  session = await enter(hub, name)
  if (mine && name === 'c') offerMail(session, mine.box)
  // A way leads over the session that there is at that moment.
  const way: Way = (events, peer) => overSession(session!)(events, peer)
  if (mine && name === 'a' && isFirst) mine.box.connect('c', way)
  tell({ joined: true })
}

/** What its books say, as soon as it owes nothing. */
async function report({ bank }: { bank: Bank }): Promise<void> {
  asked = true
  while (Object.values(owed).some((count) => count > 0)) await pause()
  tell({ books: await bank.books() })
}

process.on('message', (message: ToLife) => {
  if ('begin' in message) void begin(message.begin, message.store, message.port, message.hub)
  else if ('keep' in message) void joinAs(message.keep, 'keeper')
  else if ('join' in message) void joinAs(mine!.hub, mine!.box.id)
  else if ('ask' in message) void report(mine!)
  else for (const peer of IDS) if (peer !== mine!.box.id) void pay(mine!.bank, peer, message.pay)
})
process.on('disconnect', () => process.exit())
tell({ loaded: true })
