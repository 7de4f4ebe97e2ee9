/**
 * The shipped mailbox in a small world: a few letters, crashes of either side between any two of
 * its steps, and a network that loses, doubles and reorders batches, or connections that break.
 *
 * A side takes something in, which is not durable yet; commits; sends. Between any two of these it
 * may crash, and then has what its disk has. Without connections what is on its way may come any
 * number of times and in any order; with connections it comes in order, and breaks lose it.
 */

import { newHead } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { Mailbox, MailOut, Policy } from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailMessage } from '../../packages/mailbox/src/machine/messages.ts'
import {
  LETTER_OVERHEAD,
  type Letter,
  type MailChange,
  type MailHead,
  type MailShelf,
} from '../../packages/holdfast/src/ports.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { Action, CellModel } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { NO_DIGEST, NO_LIFE } from '../../packages/holdfast/src/wire/history.ts'
import type { Rows } from './rows.ts'

/** Bugs that may be injected. */
type MailBug =
  | 'dedup in memory alone'
  | 'an ack before it is durable'
  | 'effect and number apart'
  | 'cleared when sent'
  | 'sent before it is durable'
  | 'a letter whose handler throws is set aside'

/** How much happens. */
export interface MailScope {
  /** Letters from a to b. */
  letters: number
  /** The handler of b answers each letter with one. */
  replies?: boolean
  /** So often the handler throws at each letter before it works; each letter is poison then. */
  throws?: number
  crashes: number
  losses: number
  /** With connections under this policy, which break so often; else single batches. */
  connections?: { policy: Policy; breaks: number }
  bug?: MailBug
}

/** What is durable. */
interface Disk {
  heads: Record<string, MailHead>
  letters: (Letter & { digest: Uint8Array })[]
  /** What the handler did, one text for each letter. */
  effects: string[]
  /** Bodies of all letters that were ever committed. */
  posted: string[]
}

/** One mailbox with its disk. */
interface Side {
  name: string
  other: string
  box: Mailbox
  disk: Disk
  /** Recorded, not durable. */
  pending: MailChange[]
  /** Lives so often. */
  life: number
}

/** What a side does, and what happens to it. */
type SideInput =
  | { kind: 'post' | 'commit' | 'send' | 'crash' | 'connected' | 'disconnected' | 'late' }
  /** Over a connection: what is due by then. */
  | { kind: 'pump'; now: number }
  | { kind: 'hear'; message: MailMessage }

/** What came of that. */
interface SideStep {
  side: Side
  sent: MailMessage[]
  /** A batch brought nothing new. */
  idle: boolean
}

/** Everything at one instant, as cells. Lists of two are by side. */
export interface MailScene {
  /** What tells the states of each side apart: what is only counted does not. */
  essences: unknown[]
  /** What tells apart what is on its way. */
  keys: readonly string[]
  connected: boolean
  /** What may still happen. */
  left: Readonly<Record<MailBudget, number>>
  /** Whether a batch has brought nothing new. */
  idle: boolean
  sides: Side[]
  net: readonly Mail[]
}

type MailAction = Action<MailScene>
type MailBudget = 'crashes' | 'losses' | 'breaks'

/** What is on its way to a side. */
interface Mail {
  to: number
  message: MailMessage
  /** What tells it apart. */
  key: string
}

/** One model: its scope, and functions that run once for each list of arguments. */
interface MailTables {
  scope: MailScope
  all: cells.Cells
  step(side: Side, input: SideInput): SideStep
  essence(side: Side): unknown
  /** The batch that it would send. */
  batch(side: Side): MailMessage | null
}

/** The model of one scope. */
export function mailboxModel(name: string, scope: MailScope): CellModel<MailScene> {
  const all = cells.create()
  const tables: MailTables = {
    ...{ scope, all },
    step: cells.remember(all, (side: Side, input: SideInput) => step(scope, side, input)),
    essence: cells.remember(all, (side: Side) => cells.same(all, essenceOf(side))),
    batch: cells.remember(all, (side: Side) => batchOf(scope, side)),
  }
  const bothWays = (claim: (from: Side, to: Side) => string | null): Claim => {
    const judged = cells.remember(all, (a: Side, b: Side): true | string => {
      return claim(a, b) ?? claim(b, a) ?? true
    })
    return ({ sides }) => judged(sides[0]!, sides[1]!)
  }
  const fits = cells.remember(all, bytesFit)
  return {
    ...{ name, cells: all, arrays: ['essences', 'sides'], aside: ['sides', 'net'] },
    init: () => begin(tables),
    actions: (scene) => actions(tables, scene),
    always: {
      'mail.once': bothWays(isPrefix),
      ...(!scope.bug && {
        'mail.bounds': ({ sides }: MailScene) =>
          sides.map(fits).find((fault) => fault !== true) ?? true,
      }),
      ...(scope.connections?.policy === 'hello' && {
        'mail.quiet': ({ idle }: MailScene) => !idle || 'a batch brought nothing new',
      }),
    },
    settled: { 'mail.drain': bothWays(isDrained) },
    sometimes: sometimes(scope),
    show,
  }
}

type Claim = (scene: MailScene) => true | string

function isPrefix(from: Side, to: Side): string | null {
  const { effects } = to.disk
  const { posted } = from.disk
  if (effects.every((effect, at) => effect === posted[at])) return null
  return `${to.name} did [${effects.join()}], ${from.name} posted [${posted.join()}]`
}

function bytesFit({ disk, box, other, pending }: Side): true | string {
  if (pending.length > 0) return true
  const bytes = disk.letters.reduce((sum, { body }) => sum + body.length + 11, 0)
  const known = box.peers.get(other)?.bytes ?? 0
  return known === bytes || `${known} bytes are counted, ${bytes} are kept`
}

function isDrained(from: Side, to: Side): string | null {
  const { posted, letters } = from.disk
  const { effects } = to.disk
  if (effects.length < posted.length) return `lost: ${posted.slice(effects.length).join()}`
  return letters.length > 0 ? `the outbox of ${from.name} still holds ${letters.length}` : null
}

function begin(tables: MailTables): MailScene {
  const { crashes, losses, connections } = tables.scope
  const sides = [fresh(tables.scope, 'a', 'b'), fresh(tables.scope, 'b', 'a')]
  return {
    essences: sides.map((side) => tables.essence(side)),
    ...{ keys: [], connected: false, idle: false, sides, net: [] },
    left: { crashes, losses, breaks: connections?.breaks ?? 0 },
  }
}

function essenceOf({ box, disk, pending, life }: Side): unknown[] {
  return [
    [...box.peers.values()].map(({ link, posted, acked, heard }) => [posted, acked, heard, link]),
    [disk.effects, disk.posted, disk.letters.length, Object.values(disk.heads)],
    pending.map((change) => [change.kind, change.kind === 'posted' ? change.n : 0]),
    life,
  ]
}

function spend(scene: MailScene, name: MailBudget): void {
  scene.left = { ...scene.left, [name]: scene.left[name] - 1 }
}

// One side takes an input.
function act(tables: MailTables, scene: MailScene, at: number, input: SideInput): void {
  const { side, sent, idle } = tables.step(scene.sides[at]!, input)
  scene.sides[at] = side
  scene.essences[at] = tables.essence(side)
  for (const message of sent) put(tables, scene, 1 - at, message)
  scene.idle ||= idle
}

function setNet(scene: MailScene, net: readonly Mail[]): void {
  scene.net = net
  scene.keys = net.map(({ key }) => key)
}

// Without connections what is on its way may come any number of times, so once is enough.
function put({ scope }: MailTables, scene: MailScene, to: number, message: MailMessage): void {
  const mail = { to, message, key: keyOf(to, message) }
  if (scope.connections) return setNet(scene, [...scene.net, mail])
  if (scene.keys.includes(mail.key)) return
  setNet(
    scene,
    [...scene.net, mail].sort((a, b) => (a.key < b.key ? -1 : 1)),
  )
}

// A connection stands, or breaks, and what was on its way is gone.
function connect(tables: MailTables, scene: MailScene, stands: boolean): void {
  scene.connected = stands
  if (!stands) setNet(scene, [])
  const kind = stands ? 'connected' : 'disconnected'
  act(tables, scene, 0, { kind })
  act(tables, scene, 1, { kind })
}

function actions(tables: MailTables, scene: MailScene): MailAction[] {
  const { scope } = tables
  const { sides, connected, left } = scene
  const steps: MailAction[] = []
  const { disk, pending } = sides[0]!
  if (disk.posted.length < scope.letters && pending.length === 0) {
    steps.push({ label: 'a posts', next: (to) => act(tables, to, 0, { kind: 'post' }) })
  }
  for (const at of [0, 1]) steps.push(...ofSide(tables, scene, at))
  const begun = [false, false]
  for (const [index, { to }] of scene.net.entries()) {
    const isDue = !scope.connections || !begun[to]
    begun[to] = true
    if (isDue && sides[to]!.pending.length === 0) steps.push(arrival(tables, index))
    if (left.losses > 0) steps.push(loss(index))
  }
  if (!scope.connections) return steps
  if (!connected) {
    steps.push({ label: 'they connect', next: (to) => connect(tables, to, true) })
  } else if (left.breaks > 0) {
    const breaks = (to: MailScene): void => {
      spend(to, 'breaks')
      connect(tables, to, false)
    }
    steps.push({ label: 'the connection breaks', environment: true, next: breaks })
  }
  return steps
}

function ofSide(tables: MailTables, scene: MailScene, at: number): MailAction[] {
  const { scope } = tables
  const side = scene.sides[at]!
  const { name } = side
  const steps: MailAction[] = []
  const does = (what: string, input: SideInput): void => {
    steps.push({ label: `${name} ${what}`, next: (to) => act(tables, to, at, input) })
  }
  if (side.pending.length > 0) does('commits', { kind: 'commit' })
  if (isLate(scope, side)) does('handles its first letter again', { kind: 'late' })
  if (maySend(scope, side)) {
    const batch = scope.connections ? null : tables.batch(side)
    if (batch && !scene.keys.includes(keyOf(1 - at, batch))) does('sends', { kind: 'send' })
    if (scene.connected) {
      does('sends', { kind: 'pump', now: 0 })
      does('sends in time', { kind: 'pump', now: 1_000 })
    }
  }
  if (scene.left.crashes > 0) {
    const next = (to: MailScene): void => {
      spend(to, 'crashes')
      act(tables, to, at, { kind: 'crash' })
      if (to.connected) connect(tables, to, false)
    }
    steps.push({ label: `${name} crashes`, environment: true, next })
  }
  return steps
}

function arrival(tables: MailTables, index: number): MailAction {
  return {
    label: ({ net }) => `${['a', 'b'][net[index]!.to]} takes ${wordOf(net[index]!)}`,
    next: (scene) => {
      const { to, message } = scene.net[index]!
      if (tables.scope.connections) setNet(scene, scene.net.toSpliced(index, 1))
      act(tables, scene, to, { kind: 'hear', message })
    },
  }
}

function loss(index: number): MailAction {
  return {
    label: ({ net }) => `${wordOf(net[index]!)} is lost`,
    environment: true,
    next: (scene) => {
      spend(scene, 'losses')
      setNet(scene, scene.net.toSpliced(index, 1))
    },
  }
}

function wordOf({ message, key }: Mail): string {
  if (message.kind !== 'batch') return `${message.kind} ${key}`
  return `[${message.letters.map(({ n }) => n).join()}] and ack ${message.ack}`
}

function sometimes(scope: MailScope): Record<string, (scene: MailScene) => boolean> {
  if (scope.bug) return {}
  return {
    'all letters took effect': ({ sides }) => sides[1]!.disk.effects.length === scope.letters,
    ...(scope.crashes > 0 && {
      'a letter took effect in a later life': ({ sides }: MailScene) => {
        const { life, disk, pending } = sides[1]!
        return life > 0 && disk.effects.length === 0 && pending.length > 0
      },
    }),
    ...(scope.connections?.policy !== 'hello' && {
      'a letter came again': ({ sides }: MailScene) =>
        sides.some(({ box }) => box.counters.duplicates > 0),
    }),
  }
}

function show({ sides, net }: MailScene): string {
  const each = sides.map(({ name, disk, pending }) => {
    const heads = Object.values(disk.heads).map(
      ({ acked, heard }) => `${acked} acked ${heard} heard`,
    )
    return `${name}: [${disk.effects.join()}] ${heads.join()} ${pending.length} not durable`
  })
  return `${each.join('; ')}; ${net.length} on the way`
}

const LIMITS = { ...mailbox.LIMITS, lettersMax: 3 }

// A side that has posted and heard nothing.
function fresh(scope: MailScope, name: string, other: string): Side {
  return {
    name,
    other,
    box: boxOf(scope, []),
    disk: { heads: {}, letters: [], effects: [], posted: [] },
    pending: [],
    life: 0,
  }
}

function boxOf({ connections, throws, bug }: MailScope, heads: MailHead[]): Mailbox {
  const { policy } = connections ?? LIMITS
  const isSkipped = bug === 'a letter whose handler throws is set aside'
  const onPoison = isSkipped ? 'setAside' : 'stop'
  return mailbox.create(heads, { ...LIMITS, policy, triesMax: throws ?? 1, onPoison })
}

// One side takes an input.
function step(scope: MailScope, before: Side, input: SideInput): SideStep {
  const side = clone(before)
  const sent: MailMessage[] = []
  const out = sink(scope, side, sent)
  const done = { side, sent, idle: false }
  switch (input.kind) {
    case 'post':
      post(side, out)
      break
    case 'commit':
      commit(scope, side)
      break
    case 'send':
      out.send(side.other, batchOf(scope, side)!)
      break
    case 'pump':
      mailbox.pump(side.box, input.now, shelfOf(scope, side), out)
      break
    case 'hear':
      hear(scope, side, input.message, out)
      done.idle = input.message.kind === 'batch' && side.pending.length === 0
      break
    case 'late':
      handle(scope, side, Infinity, out)
      break
    case 'crash':
      crash(scope, side)
      break
    case 'connected':
      mailbox.connected(side.box, 0, side.other)
      break
    case 'disconnected':
      mailbox.disconnected(side.box, side.other)
  }
  return done
}

// Keeps records, and what is sent.
function sink(scope: MailScope, side: Side, sent: MailMessage[]): MailOut {
  return {
    record: (change) => side.pending.push(change),
    send: (_to, message) => {
      sent.push(message)
      if (scope.bug === 'cleared when sent') side.disk.letters = []
    },
    emit: () => {},
  }
}

// What tells mail to that side apart.
function keyOf(to: number, message: MailMessage): string {
  if (message.kind === 'hello') return `${to} hello ${message.heard} ${message.posted}`
  if (message.kind === 'fault') return `${to} fault`
  const letters = message.letters.map(({ n, body }) => `${n} ${textOf(body)}`)
  return `${to} ${letters.join()} ${message.ack}`
}

// The letter tells which life of its writer it is from.
function post(side: Side, out: MailOut): void {
  const n = side.disk.posted.length + 1
  mailbox.post(side.box, side.other, bytesOf(`${side.name}${n}.${side.life}`), { ...out })
}

// What was recorded becomes durable, all at once unless a bug says otherwise.
function commit({ bug }: MailScope, side: Side): void {
  const apart = bug === 'effect and number apart' && side.pending.length > 1
  const now = apart ? side.pending.splice(0, 1) : side.pending.splice(0)
  for (const change of now) apply(side, change, bug)
}

function apply({ disk }: Side, change: MailChange, bug: MailBug | undefined): void {
  if (change.kind === 'set') return void disk.effects.push(textOf(change.value!))
  if (!('n' in change)) return
  const { peer, n } = change
  disk.heads[peer] ??= newHead(peer)
  const head = disk.heads[peer]
  if (change.kind === 'posted') {
    head.posted = n
    head.bytes += change.body.length + LETTER_OVERHEAD
    head.postedDigest = change.digest
    disk.letters.push({ n, body: change.body, digest: change.digest })
    disk.posted.push(textOf(change.body))
  } else if (change.kind === 'tried') {
    head.tries++
  } else if (change.kind === 'acked') {
    head.acked = n
    head.bytes -= change.bytes
    head.ackedDigest = change.digest
    disk.letters = disk.letters.filter((letter) => letter.n > n)
  } else if (change.kind === 'heard' && bug !== 'dedup in memory alone') {
    head.heard = n
    head.tries = 0
    head.heardDigest = change.digest
  }
}

// The letters of a side that its network sees.
function shelfOf({ bug }: MailScope, { disk, pending }: Side): MailShelf {
  const early = pending.filter((change) => change.kind === 'posted')
  const all = bug === 'sent before it is durable' ? [...disk.letters, ...early] : disk.letters
  const above = (after: number): Letter[] =>
    all.filter(({ n }) => n > after).map(({ n, body }) => ({ n, body }))
  const mark = (n: number): Uint8Array | null => all.find((one) => one.n === n)?.digest ?? null
  const acked = Object.values(disk.heads)[0]?.ackedDigest ?? NO_DIGEST
  return {
    letters: (_peer, after) => {
      const letters = above(after)
      const before = letters.length > 0 ? (mark(letters[0]!.n - 1) ?? acked) : NO_DIGEST
      return { life: NO_LIFE, before, letters }
    },
    mark: (_peer, n) => mark(n),
    weigh: (_peer, after, upTo) =>
      above(after)
        .filter(({ n }) => n <= upTo)
        .reduce((sum, { body }) => sum + body.length + LETTER_OVERHEAD, 0),
  }
}

// Whether a side may send: when all is durable, unless a bug says otherwise.
function maySend({ bug }: MailScope, { pending }: Side): boolean {
  if (bug === 'an ack before it is durable' || bug === 'sent before it is durable') return true
  return pending.length === 0
}

// One batch, as a carrier without connections sends it; null if there is nothing to say.
function batchOf(scope: MailScope, side: Side): MailMessage | null {
  const message = mailbox.batchFor(side.box, side.other, 0, shelfOf(scope, side))
  const isEmpty = message.kind === 'batch' && message.letters.length === 0 && message.ack === 0
  return isEmpty ? null : message
}

// A side takes something from the network, and its handler does what it does.
function hear(scope: MailScope, side: Side, message: MailMessage, out: MailOut): void {
  mailbox.receive(side.box, 0, side.other, message, shelfOf(scope, side), out)
  handle(scope, side, 0, out)
}

// Whether a letter waits to be handled again.
function isLate({ throws }: MailScope, { box, other, pending }: Side): boolean {
  const peer = box.peers.get(other)
  return throws !== undefined && pending.length === 0 && peer !== undefined && mailbox.waits(peer)
}

function handle(scope: MailScope, side: Side, now: number, out: MailOut): void {
  for (let letter = mailbox.next(side.box, now, side.other); letter;) {
    if (mailbox.peerOf(side.box, side.other).tries < (scope.throws ?? 0)) {
      mailbox.failed(side.box, 0, side.other, 'it threw', out)
      letter = mailbox.next(side.box, 0, side.other)
      continue
    }
    out.record({ kind: 'set', key: 'effect', value: letter.body })
    if (scope.replies && side.name === 'b') {
      mailbox.post(side.box, side.other, bytesOf(`re ${textOf(letter.body)}`), out)
    }
    mailbox.done(side.box, 0, side.other, out)
    letter = mailbox.next(side.box, 0, side.other)
  }
}

// A process dies, and another begins with what the disk has.
function crash(scope: MailScope, side: Side): void {
  side.life++
  side.pending = []
  side.box = boxOf(scope, Object.values(side.disk.heads))
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

function textOf(body: Uint8Array): string {
  return String.fromCharCode(...body)
}

/** In all of these every claim holds; `states` is how many there are at least. */
export const SCOPES = {
  MB1: {
    proves: 'S1, S6, S7',
    says: 'two letters, two crashes, two losses, doubles in any order',
    scope: { letters: 2, crashes: 2, losses: 2 },
    states: 12_000,
  },
  MB2: {
    says: 'three letters, three crashes, two losses, doubles in any order',
    scope: { letters: 3, crashes: 3, losses: 2 },
    states: 500_000,
    size: 'deep',
  },
  MB3: {
    proves: 'S31',
    says: 'a letter that is answered in the transaction of its effect',
    scope: { letters: 1, replies: true, crashes: 2, losses: 1 },
    states: 700,
  },
  MB4: {
    proves: 'S3, S8, S9',
    says: 'connections on which each says what it has',
    scope: {
      letters: 2,
      replies: true,
      crashes: 1,
      losses: 0,
      connections: { policy: 'hello', breaks: 1 },
    },
    states: 4_000,
  },
  MB5: {
    proves: 'S5',
    says: 'connections on which all is sent just in case',
    scope: { letters: 2, crashes: 1, losses: 0, connections: { policy: 'preemptive', breaks: 1 } },
    states: 5_000,
  },
  MB6: {
    says: 'a handler that throws twice at each letter, which is poison then',
    scope: { letters: 2, throws: 2, crashes: 1, losses: 0 },
    states: 500,
  },
} satisfies Rows<MailScope>

/** In each of these that claim breaks, after so many steps. */
export const MUTANTS = {
  'MB-X1': {
    proves: 'S17',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'dedup in memory alone' },
    violates: [['mail.once', 8]],
  },
  'MB-X2': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 1, bug: 'an ack before it is durable' },
    violates: [['mail.drain', 10]],
  },
  'MB-X3': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'effect and number apart' },
    violates: [['mail.once', 8]],
  },
  'MB-X4': {
    proves: 'S1',
    scope: { letters: 1, crashes: 0, losses: 1, bug: 'cleared when sent' },
    violates: [['mail.drain', 4]],
  },
  'MB-X5': {
    proves: 'S31',
    scope: { letters: 1, crashes: 1, losses: 0, bug: 'sent before it is durable' },
    violates: [['mail.once', 4]],
  },
  'MB-X6': {
    scope: {
      letters: 2,
      throws: 1,
      crashes: 0,
      losses: 0,
      bug: 'a letter whose handler throws is set aside',
    },
    violates: [['mail.drain', 11]],
  },
} satisfies Rows<MailScope>
