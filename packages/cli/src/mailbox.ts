/** `holdfast mailbox`: mailboxes from a terminal. */

import { createInterface } from 'node:readline'
import type { CAC } from 'cac'
import { curvesOnNode } from '../../holdfast/src/drivers/crypto/libsodium.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import type { DeadLetter, MailStore } from '../../holdfast/src/ports.ts'
import { toHex } from '../../holdfast/src/wire/bytes.ts'
import { plain, plainJson } from '../../holdfast/src/wire/text/plain.ts'
import { openMailSqlite, readFigures } from '../../mailbox/src/drivers/mail-sqlite.ts'
import { type Mailbox, openMailbox, type Range } from '../../mailbox/src/index.ts'
import type { MailFigures } from '../../mailbox/src/runtime/figures.ts'
import { unseal } from '../../mailbox/src/runtime/letters.ts'
import { checkId, checkKey } from '../../mailbox/src/runtime/options.ts'
import { committed, openKeys } from '../../mailbox/src/runtime/own-keys.ts'
import { toValue } from '../../mailbox/src/runtime/values.ts'
import { certificateIn, listOf, ORIGIN_HELP, type Word } from './given.ts'

const PROGRESS_MS = 1_000
/** A handler that blocks the loop longer is reported. */
const WATCHDOG_MS = 5_000
const VERB_LIST =
  'serve, send, inspect, key, trust, replace-key, outbox, redirect, dead, adopt, forget or backup'
const ABOUT = `Durable letters: ${VERB_LIST}`

interface Given {
  id?: Word
  store?: Word
  port?: Word
  host?: string
  origin?: Word | Word[]
  tlsCert?: string
  tlsKey?: string
  accept?: Word | Word[]
  /** Before 0.2: a file with a shared password. */
  keyFile?: unknown
  peer?: string | string[]
  wait?: boolean
  release?: string
  discard?: string
}

const AT_BOB = 'bob=ws://127.0.0.1:8800/mail'

export function addMailbox(cli: CAC): void {
  cli
    .command('mailbox <verb> [...words]', ABOUT)
    .option('--store <file>', 'File of the mailbox')
    .option('--id <id>', 'Name of this mailbox (serve, send)')
    .option('--port <port>', 'serve: port to listen on; 0 takes any free one', { default: 8800 })
    .option('--host <host>', 'serve: address to listen on; 0.0.0.0 for the whole network', {
      default: '127.0.0.1',
    })
    .option('--tls-cert <file>', 'serve: certificate (PEM) for wss')
    .option('--tls-key <file>', 'serve: its key (PEM); default: the same file')
    .option('--origin <origin>', `serve: origins whose pages may connect; ${ORIGIN_HELP}`)
    .option('--key-file <file>', 'Removed: each mailbox has its own key; see key and --accept')
    .option('--accept <id=key>', 'Mailbox that may connect, with its key; if given, no other may')
    .option('--peer <id=url>', 'Peer and its URL; may be repeated')
    .option('--no-wait', 'send: do not wait until the letters are acknowledged')
    .option('--release <peer/n>', 'dead: print this dead letter and remove it')
    .option('--discard <peer/n>', 'dead: remove this dead letter')
    .example('holdfast mailbox serve --id bob --store bob.db')
    .example(`holdfast mailbox send bob "hello" --id alice --store alice.db --peer ${AT_BOB}`)
    .example(`seq 100000 | holdfast mailbox send bob --id alice --store alice.db --peer ${AT_BOB}`)
    .example('holdfast mailbox serve --id bob --store bob.db --host 0.0.0.0 --tls-cert bob.pem')
    .example('holdfast mailbox inspect --store bob.db')
    .example('holdfast mailbox key --store bob.db')
    .example('holdfast mailbox trust alice 5f1c… --store bob.db')
    .example('holdfast mailbox replace-key --id bob --store bob.db')
    .example(`holdfast mailbox adopt bob --id alice --store alice.db --peer ${AT_BOB}`)
    .example('holdfast mailbox forget alice --store bob.db')
    .example('holdfast mailbox outbox bob --id alice --store alice.db')
    .example('holdfast mailbox redirect bob carol --id alice --store alice.db')
    .example('holdfast mailbox backup copy.db --store bob.db')
    .action((verb: string, words: (string | number)[], given: Given) => {
      const run = VERBS.get(verb)
      if (run) return run(given, words.map(String))
      throw badValue(`mailbox ${verb} is unknown: use ${VERB_LIST}`)
    })
}

type Run = (given: Given, words: string[]) => Promise<void> | void

const VERBS = new Map<string, Run>([
  ['serve', serve],
  ['send', send],
  ['inspect', inspectAny],
  ['key', printKey],
  ['trust', trust],
  ['replace-key', replaceKey],
  ['adopt', adopt],
  ['outbox', outbox],
  ['redirect', redirect],
  ['forget', (given, words) => withStore(given, (store) => forget(store, words))],
  ['backup', (given, words) => withStore(given, (store) => backup(store, words))],
  ['dead', (given) => withStore(given, (store) => dead(store, given))],
])

async function openBox(given: Given, listens: boolean): Promise<Mailbox> {
  const { host = '127.0.0.1', port, peer = [], origin } = given
  const tls = listens ? certificateIn(given.tlsCert, given.tlsKey) : null
  const box = await openMailbox({
    id: need(given.id, 'id'),
    store: need(given.store, 'store'),
    ...acceptOf(given),
    watchdogMs: WATCHDOG_MS,
    peers: Object.fromEntries([peer].flat().map(splitPeer)),
    ...(listens && {
      listen: { port: Number(port), host, origins: listOf(origin), ...(tls && { tls }) },
    }),
  })
  if (box.repaired !== null) console.error(plain(box.repaired))
  const log = ({ peer, why }: { peer: string | null; why: string }): void => {
    console.error(plain(`${peer ?? 'a stranger'}: ${why}`))
  }
  box.on('disconnected', log)
  box.on('fault', log)
  box.on('trouble', (error) => console.error(plain(error.message)))
  return box
}

async function withBox(given: Given, run: (box: Mailbox) => Promise<void> | void): Promise<void> {
  const box = await openBox(given, false)
  try {
    await run(box)
  } finally {
    await box.close()
  }
}

async function serve(given: Given): Promise<void> {
  const box = await openBox(given, true)
  console.error(`${box.id} accepts letters at ${box.url}. Press Ctrl-C to stop.`)
  console.error(`Its key is ${box.key}`)
  box.on('connected', ({ peer }) => console.error(`${plainJson(peer)} connected`))
  box.on('letter', (_tx, from, body) => console.log(plainJson({ from, body })))
  const end = (): void => void box.close().then(() => process.exit(0))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
}

async function send(given: Given, [to, ...bodies]: string[]): Promise<void> {
  if (to === undefined || (bodies.length === 0 && process.stdin.isTTY)) {
    throw badValue('mailbox send takes a peer and letters: send bob "hello"')
  }
  const box = await openBox(given, false)
  const posts: Promise<number>[] = []
  for await (const body of bodies.length === 0 ? lines() : bodies) {
    posts.push(box.to(to).post(valueOf(body)))
    if (posts.length % 10_000 === 0) await posts.at(-1)
  }
  await Promise.all(posts)
  console.error(`${posts.length} letters for ${to} are stored`)
  if (given.wait !== false) await drained(box, to)
  await box.close()
}

function lines(): AsyncIterable<string> {
  return createInterface({ input: process.stdin })
}

/** The JSON value, or else the text itself. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

async function drained(box: Mailbox, to: string): Promise<void> {
  const waiting = (): number => box.queues().find(({ peer }) => peer === to)?.waiting ?? 0
  const total = waiting()
  const print = (): void => console.error(`${total - waiting()} of ${total} acknowledged by ${to}`)
  const timer = setInterval(print, PROGRESS_MS)
  await new Promise<void>((resolve) => {
    box.on('acked', () => waiting() === 0 && resolve())
    if (waiting() === 0) resolve()
  })
  clearInterval(timer)
  print()
}

/** Inspects a store, or the published figures of an open one. */
async function inspectAny(given: Given): Promise<void> {
  try {
    await withStore(given, inspect)
  } catch (error) {
    const shown = readFigures(need(given.store, 'store'))
    if (!isInUse(error) || shown === null) throw error
    const { id, queues, peers, counters, dead, later } = JSON.parse(shown) as Shown
    console.log(plain(`${id} is open; ${peers} peers, ${dead} dead letters`))
    if (later > 0) console.log(`${later} tasks are scheduled`)
    for (const queue of queues) {
      const { peer, connected, fault, stopped } = queue
      const here = connected ? 'connected' : 'not connected'
      console.log(plain(`${peer}: ${here}, ${exchanged(queue, queue.waiting)}`))
      if (fault !== null) console.log(plain(`${peer}: ${fault}`))
      if (stopped) console.log(plain(`  letters of ${peer} wait: ${stopped}`))
    }
    const refused = Object.entries(counters).filter(([, count]) => count > 0)
    for (const [why, count] of refused) console.log(plain(`${why}: ${count}`))
  }
}

type Shown = MailFigures & { peers: number }

function inspect(store: MailStore): void {
  const heads = store.heads()
  if (heads.length === 0) console.log(`${store.name}: no letters were ever sent or received`)
  for (const head of heads) {
    console.log(`${plain(head.peer)}: ${exchanged(head, head.posted - head.acked)}`)
  }
  const count = store.deadCount()
  if (count > 0) console.log(`${count} dead letters: see holdfast mailbox dead`)
}

function exchanged(
  { posted, acked, bytes, heard }: Record<'posted' | 'acked' | 'bytes' | 'heard', number>,
  waiting: number,
): string {
  const waits = waiting > 0 ? `${waiting} waiting (${bytes} bytes)` : 'none waiting'
  return `${posted} posted, ${acked} acked, ${waits}; ${heard} of theirs took effect`
}

/** Adopts a peer's numbers once it is connected, and prints the fate of the letters. */
function adopt(given: Given, [whom]: string[]): Promise<void> {
  if (whom === undefined) throw badValue('adopt takes a peer: adopt bob')
  return withBox(given, async (box) => {
    await new Promise<void>((resolve) => {
      box.on('fault', ({ peer }) => peer === whom && resolve())
    })
    const { resent, givenUp, strays, missed } = await box.peer(whom).adopt()
    const print = (range: Range | null, what: string): void => {
      if (range) console.log(plain(`letters ${range.first} to ${range.last} ${what}`))
    }
    print(resent, `to ${whom} are sent again, under new numbers`)
    print(givenUp, `to ${whom} are lost: it had received them and lost its store`)
    print(strays, `of ${whom} took effect here, but are unknown to its store`)
    print(missed, `of ${whom} never arrived, but its store counts them as delivered`)
    console.log(plain(`${whom} was adopted`))
  })
}

/** Replaces the key; the letters about it are sent when the mailbox is next served or sends. */
function replaceKey(given: Given): Promise<void> {
  return withBox({ ...given, peer: [] }, async (box) => console.log(await box.replaceKey()))
}

function outbox(given: Given, [whom]: string[]): Promise<void> {
  if (whom === undefined) throw badValue('outbox takes a peer: outbox bob')
  return withBox({ ...given, peer: [] }, (box) => {
    for (let after = 0; ;) {
      const page = box.peer(whom).outbox({ after })
      for (const { n, at, body } of page) {
        const when = at === null ? '' : ` ${new Date(at).toISOString()}`
        console.log(`${plain(whom)}/${n}${when}: ${plainJson(body)}`)
      }
      if (page.length === 0) return void (after === 0 && console.log('no letters are waiting'))
      after = page.at(-1)!.n
    }
  })
}

function redirect(given: Given, [whom, to]: string[]): Promise<void> {
  if (whom === undefined || to === undefined) {
    throw badValue('redirect takes two peers: redirect bob carol')
  }
  return withBox({ ...given, peer: [] }, async (box) => {
    const { moved } = await box.peer(whom).redirect(to)
    console.log(plain(`${moved} letters for ${whom} go to ${to} now, and ${whom} is forgotten`))
  })
}

async function forget(store: MailStore, [whom]: string[]): Promise<void> {
  const head = whom === undefined ? null : store.head(whom)
  if (!head) throw new HoldfastError('not-found', `nothing is known of ${plain(whom ?? 'nobody')}`)
  await committed(store, [{ kind: 'begun', peer: head.peer, head: null }])
  console.log(plain(`${head.peer} is forgotten, with ${head.posted - head.acked} letters to it`))
}

function backup(store: MailStore, [to]: string[]): void {
  if (to === undefined) throw badValue('backup takes a new file: backup copy.db')
  store.backup(to)
  console.log(plain(`${store.name} was copied to ${to}`))
}

async function dead(store: MailStore, { release, discard }: Given): Promise<void> {
  const named = release ?? discard
  const letters = store.dead()
  const nameOf = ({ peer, n }: DeadLetter): string => `${peer}/${n}`
  const valueIn = ({ body }: DeadLetter): unknown => toValue(unseal(body).body)
  if (named === undefined) {
    if (letters.length === 0) console.log('no dead letters')
    for (const letter of letters) {
      console.log(`${plain(`${nameOf(letter)}: ${letter.why}`)}: ${plainJson(valueIn(letter))}`)
    }
    return
  }
  const letter = letters.find((one) => nameOf(one) === named)
  if (!letter) {
    const known = letters.map(nameOf).join(', ') || 'none'
    throw new HoldfastError('not-found', `${named} is no dead letter; there are: ${known}`)
  }
  if (release !== undefined) console.log(plainJson({ from: letter.peer, body: valueIn(letter) }))
  await committed(store, [{ kind: 'buried', peer: letter.peer, n: letter.n }])
}

/** Prints the mailbox's key, or the key of a peer. */
async function printKey(given: Given, [whom]: string[]): Promise<void> {
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

/** The mailbox's own key, generated if the store is new. */
async function ownKey(store: MailStore): Promise<string> {
  const loop = createNodeLoop()
  const random = (count: number): Uint8Array => loop.random(count)
  const { identity, changes } = await openKeys('', store, await curvesOnNode(), random)
  await committed(store, changes)
  return toHex(identity.keys[0]!.key)
}

function theirKey(store: MailStore, whom: string): string {
  const key = store.head(whom)?.key
  if (key) return toHex(key)
  throw new HoldfastError('not-found', `${plain(whom)} has no known key`)
}

async function trust(given: Given, [whom, text]: string[]): Promise<void> {
  if (whom === undefined || text === undefined) {
    throw badValue('trust takes a peer and its key: trust alice KEY')
  }
  const [peer, key] = [checkId(whom), checkKey(`the key of ${plain(whom)}`, text)]
  await withStore(given, (store) => committed(store, [{ kind: 'bound', peer, key, root: key }]))
  console.log(plain(`${peer} is known by that key`))
}

/** The value of a required option. @throws HoldfastError `bad-value` if it is missing */
function need(value: string | number | undefined, option: string): string {
  if (value !== undefined && value !== '') return String(value)
  throw badValue(`--${option} is required`)
}

/** Splits ID=URL. @throws HoldfastError `bad-value` */
function splitPeer(text: string): [id: string, url: string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw badValue(`--peer is an id and a URL, as bob=ws://host:8800/mail: ${text}`)
}

/** Parses `--accept`. @throws HoldfastError `bad-value`, also for the old shared password */
function acceptOf({ accept, keyFile }: Given): { accept?: Record<string, string | null> } {
  if (keyFile !== undefined) {
    throw badValue(
      '--key-file was removed: each mailbox has its own key, which holdfast mailbox key prints; ' +
        'list the mailboxes that may connect with --accept alice=KEY',
    )
  }
  if (accept === undefined) return {}
  const pairs = [accept].flat().map((one) => {
    const [id, key = ''] = String(one).split(/=(?=[^=]*$)/)
    return [id, key === '' ? null : key]
  })
  return { accept: Object.fromEntries(pairs) as Record<string, string | null> }
}

function withStore(given: Given, run: (store: MailStore) => void | Promise<void>): Promise<void> {
  const store = openMailSqlite(need(given.store, 'store'))
  if (store.repaired !== null) console.error(plain(store.repaired))
  return Promise.resolve()
    .then(() => run(store))
    .finally(() => store.close())
}

/** Whether a store failed to open because its mailbox is open. */
function isInUse(error: unknown): boolean {
  return error instanceof HoldfastError && error.message.includes('it is in use by')
}
