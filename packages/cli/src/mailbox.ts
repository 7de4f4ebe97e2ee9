/** `holdfast mailbox`: letters for people at a terminal. */

import { createInterface } from 'node:readline'
import type { CAC } from 'cac'
import type { MailFigures } from '../../mailbox/src/runtime/figures.ts'
import { unseal } from '../../mailbox/src/runtime/letters.ts'
import { toValue } from '../../mailbox/src/runtime/values.ts'
import { readFigures } from '../../mailbox/src/drivers/mail-sqlite.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import { type Mailbox, openMailbox, type Range } from '../../mailbox/src/index.ts'
import type { DeadLetter, MailStore } from '../../holdfast/src/ports.ts'
import { plain, plainJson } from '../../holdfast/src/wire/plain.ts'
import { certificateIn, listOf, ORIGIN_HELP } from './given.ts'
import { printKey, trust } from './mailbox-keys.ts'
import {
  acceptOf,
  committed,
  type Given,
  isInUse,
  need,
  splitPeer,
  withStore,
} from './mailbox-given.ts'

/** Time between two lines of progress. */
const PROGRESS_MS = 1_000
/** A handler that blocks the loop for so long is reported. */
const WATCHDOG_MS = 5_000
const VERB_LIST =
  'serve, send, inspect, key, trust, replace-key, outbox, redirect, dead, adopt, forget or backup'
const ABOUT = `Letters that survive: ${VERB_LIST}`

/** A peer for the examples of the help text. */
const AT_BOB = 'bob=ws://127.0.0.1:8800/mail'

/** Adds the command. */
export function addMailbox(cli: CAC): void {
  cli
    .command('mailbox <verb> [...words]', ABOUT)
    .option('--store <file>', 'File of the mailbox')
    .option('--id <id>', 'Who this is (serve, send)')
    .option('--port <port>', 'serve: port to listen on; 0 takes any free one', { default: 8800 })
    .option('--host <host>', 'serve: address to listen on; 0.0.0.0 for the whole network', {
      default: '127.0.0.1',
    })
    .option('--tls-cert <file>', 'serve: certificate in PEM, which makes it wss')
    .option('--tls-key <file>', 'serve: its key in PEM; default: the same file')
    .option('--origin <origin>', `serve: pages of which origin may come; ${ORIGIN_HELP}`)
    .option('--key-file <file>', 'Gone: each mailbox has a key of its own; see key and --accept')
    .option('--accept <id=key>', 'Who may come, with its key; if given, nobody else may')
    .option('--peer <id=url>', 'Where somebody listens; may be given several times')
    .option('--no-wait', 'send: do not wait until the letters were taken')
    .option('--release <peer/n>', 'dead: print a letter that was set aside, and let it go')
    .option('--discard <peer/n>', 'dead: throw it away')
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
      const run = VERBS[verb]
      if (run) return run(given, words.map(String))
      throw new HoldfastError('bad-value', `mailbox ${verb}: it is ${VERB_LIST}`)
    })
}

const VERBS: Readonly<Record<string, (given: Given, words: string[]) => Promise<void> | void>> = {
  serve,
  send,
  inspect: inspectAny,
  key: printKey,
  trust,
  'replace-key': replaceKey,
  adopt,
  outbox,
  redirect,
  forget: (given, words) => withStore(given, (store) => forget(store, words)),
  backup: (given, words) => withStore(given, (store) => backup(store, words)),
  dead: (given) => withStore(given, (store) => dead(store, given)),
}

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
  box.on('disconnected', ({ peer: whom, why }) =>
    console.error(plain(`${whom ?? 'somebody'}: ${why}`)),
  )
  box.on('fault', ({ peer: whom, why }) => console.error(plain(`${whom}: ${why}`)))
  box.on('trouble', (error) => console.error(plain(error.message)))
  return box
}

async function serve(given: Given): Promise<void> {
  const box = await openBox(given, true)
  console.error(`${box.id} takes letters at ${box.url}. Ctrl-C ends it.`)
  console.error(`Its key is ${box.key}`)
  box.on('connected', ({ peer }) => console.error(`${plainJson(peer)} is here`))
  box.on('letter', (_tx, from, body) => console.log(plainJson({ from, body })))
  const end = (): void => void box.close().then(() => process.exit(0))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
}

async function send(given: Given, [to, ...bodies]: string[]): Promise<void> {
  if (to === undefined || (bodies.length === 0 && process.stdin.isTTY)) {
    throw new HoldfastError('bad-value', 'mailbox send needs to whom, and what: send bob "hello"')
  }
  const box = await openBox(given, false)
  const posts: Promise<number>[] = []
  for await (const body of bodies.length === 0 ? lines() : bodies) {
    posts.push(box.to(to).post(valueOf(body)))
    if (posts.length % 10_000 === 0) await posts.at(-1)
  }
  await Promise.all(posts)
  console.error(`${posts.length} letters for ${to} are on the disk`)
  if (given.wait !== false) await drained(box, to)
  await box.close()
}

function lines(): AsyncIterable<string> {
  return createInterface({ input: process.stdin })
}

/** The value if the text is JSON, else the text itself. */
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
  const say = (): void => console.error(`${total - waiting()} of ${total} taken by ${to}`)
  const timer = setInterval(say, PROGRESS_MS)
  await new Promise<void>((resolve) => {
    box.on('acked', () => waiting() === 0 && resolve())
    if (waiting() === 0) resolve()
  })
  clearInterval(timer)
  say()
}

/** Inspects a store; for one that is open, reads the figures beside it. */
async function inspectAny(given: Given): Promise<void> {
  try {
    await withStore(given, inspect)
  } catch (error) {
    const shown = readFigures(need(given.store, 'store'))
    if (!isInUse(error) || shown === null) throw error
    const { id, queues, peers, counters, dead, later } = JSON.parse(shown) as Shown
    console.log(plain(`${id} is open; ${peers} peers, ${dead} letters set aside`))
    if (later > 0) console.log(`${later} wait for their time`)
    for (const queue of queues) tellQueue(queue)
    const refused = Object.entries(counters).filter(([, count]) => count > 0)
    for (const [why, count] of refused) console.log(plain(`${why}: ${count}`))
  }
}

type Shown = MailFigures & { peers: number }

function tellQueue(queue: MailFigures['queues'][number]): void {
  const { peer, connected, posted, acked, waiting, bytes, heard, fault, stopped } = queue
  const waits = waiting > 0 ? `${waiting} wait (${bytes} bytes)` : 'none wait'
  const here = connected ? 'connected' : 'not connected'
  console.log(
    plain(
      `${peer}: ${here}, ${posted} posted, ${acked} acked, ${waits}; ` +
        `${heard} of theirs took effect`,
    ),
  )
  if (fault !== null) console.log(plain(`${peer}: ${fault}`))
  if (stopped) console.log(plain(`  letters of ${peer} wait: ${stopped}`))
}

/**
 * Goes on from what a peer has: waits until it is connected, and prints the fate of the letters.
 */
async function adopt(given: Given, [whom]: string[]): Promise<void> {
  if (whom === undefined) throw new HoldfastError('bad-value', 'adopt needs whom: adopt bob')
  const box = await openBox(given, false)
  try {
    await new Promise<void>((resolve) => {
      box.on('fault', ({ peer }) => peer === whom && resolve())
    })
    const { resent, givenUp, strays, missed } = await box.peer(whom).adopt()
    const say = (range: Range | null, what: string): void => {
      if (range) console.log(plain(`letters ${range.first} to ${range.last} ${what}`))
    }
    say(resent, `to ${whom} go again, under new numbers`)
    say(givenUp, `to ${whom} are given up: it had them once and knows them no more`)
    say(strays, `of ${whom} took effect here, and its store knows nothing of them`)
    say(missed, `of ${whom} never came: its store holds them for delivered`)
    console.log(plain(`${whom} was adopted`))
  } finally {
    await box.close()
  }
}

/** Draws another key; the letters about it leave when the mailbox is served or sends next. */
async function replaceKey(given: Given): Promise<void> {
  const box = await openBox({ ...given, peer: [] }, false)
  try {
    console.log(await box.replaceKey())
  } finally {
    await box.close()
  }
}

/** Prints all letters that wait for a peer, one a line. */
async function outbox(given: Given, [whom]: string[]): Promise<void> {
  if (whom === undefined) throw new HoldfastError('bad-value', 'outbox needs whose: outbox bob')
  const box = await openBox({ ...given, peer: [] }, false)
  try {
    for (let after = 0; ;) {
      const page = box.peer(whom).outbox({ after })
      for (const { n, at, body } of page) {
        const when = at === null ? '' : ` ${new Date(at).toISOString()}`
        console.log(`${plain(whom)}/${n}${when}: ${plainJson(body)}`)
      }
      if (page.length === 0) return void (after === 0 && console.log('no letters wait'))
      after = page.at(-1)!.n
    }
  } finally {
    await box.close()
  }
}

async function redirect(given: Given, [whom, to]: string[]): Promise<void> {
  if (whom === undefined || to === undefined) {
    throw new HoldfastError('bad-value', 'redirect needs whose and to whom: redirect bob carol')
  }
  const box = await openBox({ ...given, peer: [] }, false)
  try {
    const { moved } = await box.peer(whom).redirect(to)
    console.log(plain(`${moved} letters for ${whom} go to ${to} now, and ${whom} is forgotten`))
  } finally {
    await box.close()
  }
}

async function forget(store: MailStore, [whom]: string[]): Promise<void> {
  const head = whom === undefined ? null : store.head(whom)
  if (!head) throw new HoldfastError('not-found', `nothing is known of ${plain(whom ?? 'nobody')}`)
  await committed(store, { kind: 'begun', peer: head.peer, head: null })
  console.log(plain(`${head.peer} is forgotten, with ${head.posted - head.acked} letters to it`))
}

function backup(store: MailStore, [to]: string[]): void {
  if (to === undefined) throw new HoldfastError('bad-value', 'backup needs a new file')
  store.backup(to)
  console.log(plain(`${store.name} was copied to ${to}`))
}

function inspect(store: MailStore): void {
  const heads = store.heads()
  if (heads.length === 0) console.log(`${store.name}: no letters were ever sent or taken`)
  for (const { peer, posted, acked, bytes, heard } of heads) {
    const waits = posted > acked ? `${posted - acked} wait (${bytes} bytes)` : 'none wait'
    const taken = `${posted} posted, ${acked} acked, ${waits}; ${heard} of theirs took effect`
    console.log(`${plain(peer)}: ${taken}`)
  }
  const count = store.deadCount()
  if (count > 0) console.log(`${count} were set aside: see holdfast mailbox dead`)
}

async function dead(store: MailStore, { release, discard }: Given): Promise<void> {
  const named = release ?? discard
  const letters = store.dead()
  if (named === undefined) {
    if (letters.length === 0) console.log('no letters were set aside')
    for (const { peer, n, why, body } of letters) {
      console.log(`${plain(`${peer}/${n}: ${why}`)}: ${plainJson(toValue(unseal(body).body))}`)
    }
    return
  }
  const letter = find(letters, named)
  if (release !== undefined) {
    console.log(plainJson({ from: letter.peer, body: toValue(unseal(letter.body).body) }))
  }
  await committed(store, { kind: 'buried', peer: letter.peer, n: letter.n })
}

function find(letters: readonly DeadLetter[], named: string): DeadLetter {
  const letter = letters.find(({ peer, n }) => `${peer}/${n}` === named)
  if (letter) return letter
  const known = letters.map(({ peer, n }) => `${peer}/${n}`).join(', ')
  throw new HoldfastError(
    'not-found',
    `no letter ${named} was set aside; there are: ${known || 'none'}`,
  )
}
