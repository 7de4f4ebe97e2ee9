/**
 * A pair of which one store goes back in time, or lives twice: the shipped mailbox, whose letters
 * all say the same, so that nothing but the history tells them apart. The model knows which letter
 * is which.
 *
 * Processes: `a` posts, `b` takes; `c` is a copy of `a` at some moment, alive beside it, and speaks
 * to `b` under the name of `a`. Any store may be put back to any state in which it ever was.
 */

import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailMessage, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import {
  applyTo,
  emptyContent,
  MailMemory,
} from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { MailContent } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { MailChange } from '../../packages/holdfast/src/ports.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { NO_DIGEST } from '../../packages/holdfast/src/wire/history.ts'
import { numbering } from '../../packages/sim/src/checker/cells.ts'
import type { Rows } from './rows.ts'

/** Bugs that may be injected. */
export type HistoryBug =
  | 'no digest'
  | 'no generation'
  | 'digest not durable'
  | 'generation after the greeting'

/** How much happens. */
export interface HistoryScope {
  /** Letters that each process may post in all. */
  letters: number
  /** How often a store is put back. */
  restores: number
  /** Whether `a` may be copied. */
  copies: boolean
  crashes: number
  /** How often they connect. */
  connections: number
  bug?: HistoryBug
}

/** What a disk has: the store, and which letters these are. */
interface Disk {
  content: MailContent
  /** Our letters by number, whatever became of them; where one went back, the newer. */
  posted: number[]
  /** Letters that took effect, in order. */
  effects: number[]
}

interface Process {
  name: 'a' | 'b' | 'c'
  box: mailbox.Mailbox
  disk: Disk
  /** States in which the store once was, never changed: copies of a scene share them. */
  past: Disk[]
  left: number
  /** Letters that came and did not take effect yet, by number. */
  inbox: Record<number, number>
}

interface Mail {
  message: MailMessage
  /** Which letters they are. */
  tags: number[]
}

/** All of it. Copies share processes: a step takes those that it changes through `own`. */
export interface HistoryScene {
  processes: Process[]
  /** Who of `a` and `c` is connected with `b`: its place; null for nobody. */
  line: number | null
  /** To `b`, and from it. */
  there: Mail[]
  back: Mail[]
  left: { restores: number; crashes: number; connections: number }
  lives: number
  letters: number
  /** Letters that ever took effect in any store. */
  done: number[]
  /** Whether anything happened that may bring a fault. */
  strange: boolean
}

const B = 1

function begin(scope: HistoryScope): HistoryScene {
  const { restores, crashes, connections } = scope
  const scene: HistoryScene = {
    processes: [],
    line: null,
    there: [],
    back: [],
    left: { restores, crashes, connections },
    lives: 0,
    letters: 0,
    done: [],
    strange: false,
  }
  for (const name of ['a', 'b'] as const) {
    const disk = { content: emptyContent(), posted: [], effects: [] }
    const left = name === 'a' ? scope.letters : 0
    scene.processes.push(start(scope, scene, { name, disk, past: [], left }))
  }
  return scene
}

/** A process begins on a disk. */
function start(
  scope: HistoryScope,
  scene: HistoryScene,
  kept: Pick<Process, 'name' | 'disk' | 'past' | 'left'>,
): Process {
  const { disk } = kept
  if (scope.bug !== 'generation after the greeting' || lifeOf(disk)[0] === 0) {
    liveAnew(scope, scene, disk)
  }
  const heads = storeOf(disk).heads()
  if (scope.bug === 'digest not durable') {
    for (const head of heads) {
      Object.assign(head, { postedDigest: NO_DIGEST, ackedDigest: NO_DIGEST })
      head.heardDigest = NO_DIGEST
    }
  }
  const box = mailbox.create(heads, { ...mailbox.LIMITS, lettersMax: 9 }, lifeOf(disk))
  return { ...kept, box, inbox: {} }
}

function liveAnew({ bug }: HistoryScope, scene: HistoryScene, { content }: Disk): void {
  const life = new Uint8Array(8).fill(bug === 'no generation' ? 1 : ++scene.lives)
  content.values.set('life', life)
}

function lifeOf({ content }: Disk): Uint8Array {
  return content.values.get('life') ?? new Uint8Array(8)
}

function storeOf({ content }: Disk): MailMemory {
  return new MailMemory(content, 'model')
}

/** The process at that place, which this scene shares with no other from now on. */
function own({ processes }: HistoryScene, at: number): Process {
  const { past, ...rest } = processes[at]!
  const process = { ...clone(rest), past: past.slice() }
  processes[at] = process
  return process
}

/** Does something in a process, durable before anybody hears of it. */
function turn(process: Process, run: (out: MailOut) => void): void {
  const changes: MailChange[] = []
  process.past.push(clone(process.disk))
  run({ record: (change) => changes.push(change), send: () => {}, emit: () => {} })
  for (const change of changes) applyTo(process.disk.content, change)
}

function peerOf({ name }: Process): string {
  return name === 'b' ? 'a' : 'b'
}

function post(scene: HistoryScene, at: number): void {
  const process = own(scene, at)
  process.left--
  turn(process, (out) => {
    const n = mailbox.post(process.box, 'b', Uint8Array.of(7), out)
    process.disk.posted[n - 1] = ++scene.letters
  })
}

function connect(scope: HistoryScope, scene: HistoryScene, at: number): void {
  scene.left.connections--
  cut(scene)
  scene.line = at
  for (const one of [own(scene, at), own(scene, B)]) {
    mailbox.connected(one.box, 0, peerOf(one))
    if (scope.bug !== 'generation after the greeting') continue
    liveAnew(scope, scene, one.disk)
    one.box.life = lifeOf(one.disk)
  }
}

function cut(scene: HistoryScene): void {
  if (scene.line === null) return
  for (const at of [scene.line, B]) {
    const one = own(scene, at)
    mailbox.disconnected(one.box, peerOf(one))
    one.inbox = {}
  }
  scene.line = null
  scene.there = []
  scene.back = []
}

/** What is due goes out. */
function pump({ bug }: HistoryScope, scene: HistoryScene, at: number): boolean {
  const { box, disk } = own(scene, at)
  const line = at === B ? scene.back : scene.there
  const before = line.length
  const send = (_to: string, message: MailMessage): void => {
    const tags = message.kind === 'batch' ? message.letters.map(({ n }) => disk.posted[n - 1]!) : []
    line.push({ message: bug === 'no digest' ? bare(message) : clone(message), tags })
  }
  mailbox.pump(box, 1_000, storeOf(disk), { record: () => {}, send, emit: () => {} })
  return line.length > before
}

function bare(message: MailMessage): MailMessage {
  const copy = clone(message)
  if (copy.kind === 'batch') copy.before = copy.ackDigest = NO_DIGEST
  if (copy.kind === 'hello') copy.heardDigest = copy.postedDigest = NO_DIGEST
  return copy
}

function arrive(scene: HistoryScene, at: number): void {
  const process = own(scene, at)
  const { message, tags } = (at === B ? scene.there : scene.back).shift()!
  const { box, disk, inbox } = process
  const peer = peerOf(process)
  if (message.kind === 'batch') {
    for (const [place, { n }] of message.letters.entries()) inbox[n] ??= tags[place]!
  }
  turn(process, (out) => {
    mailbox.receive(box, 0, peer, message, storeOf(disk), out)
    for (let letter = mailbox.next(box, 0, peer); letter;) {
      const tag = inbox[letter.n]!
      disk.effects.push(tag)
      if (!scene.done.includes(tag)) scene.done.push(tag)
      mailbox.done(box, 0, peer, out)
      mailbox.settle(box, peer)
      letter = mailbox.next(box, 0, peer)
    }
  })
}

function restart(scope: HistoryScope, scene: HistoryScene, at: number, disk: Disk): void {
  const { name, past, left } = scene.processes[at]!
  if (scene.line === at || at === B) cut(scene)
  scene.processes[at] = start(scope, scene, { name, past, left, disk: clone(disk) })
}

function copy(scope: HistoryScope, scene: HistoryScene): void {
  const { disk, left } = scene.processes[0]!
  scene.strange = true
  const twin = {
    name: 'c' as const,
    disk: clone(disk),
    past: [],
    left: Math.min(1, left),
  }
  scene.processes.push(start(scope, scene, twin))
}

function* actions(scope: HistoryScope, scene: HistoryScene): Iterable<Action<HistoryScene>> {
  for (const [at, { name, left }] of scene.processes.entries()) {
    if (left > 0) yield { label: `${name} posts`, next: (next) => post(next, at) }
    if (at !== B && scene.line !== at && scene.left.connections > 0) {
      yield { label: `${name} connects`, next: (next) => connect(scope, next, at) }
    }
    yield* ofLine(scope, scene, at)
    yield* mishaps(scope, scene, at)
  }
  if (scope.copies && scene.processes.length === 2) {
    yield { label: 'a is copied', environment: true, next: (next) => copy(scope, next) }
  }
}

function* ofLine(
  scope: HistoryScope,
  scene: HistoryScene,
  at: number,
): Iterable<Action<HistoryScene>> {
  if (scene.line === null || (at !== B && scene.line !== at)) return
  const { name } = scene.processes[at]!
  const coming = at === B ? scene.there : scene.back
  if (coming.length > 0) yield { label: `${name} takes`, next: (next) => arrive(next, at) }
  else yield { label: `${name} sends`, next: (next) => void pump(scope, next, at) }
}

function* mishaps(
  scope: HistoryScope,
  scene: HistoryScene,
  at: number,
): Iterable<Action<HistoryScene>> {
  const { name, past } = scene.processes[at]!
  if (scene.left.crashes > 0) {
    const next = (after: HistoryScene): void => {
      after.left.crashes--
      restart(scope, after, at, after.processes[at]!.disk)
    }
    yield { label: `${name} crashes`, environment: true, next }
  }
  if (scene.left.restores === 0 || name === 'c') return
  for (const place of past.keys()) {
    const next = (after: HistoryScene): void => {
      after.left.restores--
      after.strange = true
      restart(scope, after, at, after.processes[at]!.past[place]!)
    }
    yield { label: `${name} is put back to its state ${place}`, environment: true, next }
  }
}

/** Acked letters took effect somewhere; unless a store went back, nothing is ever faulty. */
function lost({ processes, done }: HistoryScene): true | string {
  for (const { name, disk } of processes) {
    const acked = disk.content.heads.get('b')?.acked ?? 0
    const gone = disk.posted.slice(0, acked).find((tag) => !done.includes(tag))
    if (gone !== undefined) return `letter ${gone} of ${name} was acked and took effect nowhere`
  }
  return true
}

function twice({ processes }: HistoryScene): true | string {
  const { effects } = processes[B]!.disk
  return new Set(effects).size === effects.length || `b did ${effects.join()}`
}

function peace({ processes, strange }: HistoryScene): true | string {
  const faulty = processes.find((one) => faultOf(one) !== null)
  return strange || !faulty || `${faulty.name} has a fault: ${faultOf(faulty)}`
}

function faultOf(process: Process): string | null {
  return process.box.peers.get(peerOf(process))?.fault ?? null
}

/** Who is connected, and has no fault, has the same letters as the other. */
function told({ processes, line }: HistoryScene): true | string {
  if (line === null) return true
  const [from, to] = [processes[line]!, processes[B]!]
  if (faultOf(from) !== null || faultOf(to) !== null) return true
  const { posted } = from.disk
  const n = storeOf(from.disk).head('b')?.posted ?? 0
  const [sent, took] = [posted.slice(0, n).join(), to.disk.effects.join()]
  return sent === took || `${from.name} posted ${sent}, b did ${took}, and neither says so`
}

function copyOf(scene: HistoryScene): HistoryScene {
  const { processes, there, back, left, done } = scene
  return {
    ...scene,
    processes: processes.slice(),
    there: there.slice(),
    back: back.slice(),
    left: { ...left },
    done: done.slice(),
  }
}

/** The model. */
export function historyModel(name: string, scope: HistoryScope): Model<HistoryScene> {
  const numbers = numbersOf()
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: { 'mail.loss': lost, 'mail.once': twice, 'mail.peace': peace },
    settled: { 'mail.told': told },
    sometimes: scope.bug ? {} : reached(scope),
    canonical: (scene) => essence(scene, numbers),
    copy: copyOf,
    show: ({ processes }) =>
      processes
        .map((one) => `${one.name}: ${one.disk.effects.join()} ${faultOf(one) ?? ''}`)
        .join('; '),
  }
}

function reached({ restores, copies }: HistoryScope): Model<HistoryScene>['sometimes'] {
  const faulty = ({ processes }: HistoryScene): boolean =>
    processes.filter((one) => faultOf(one) !== null).length >= 2
  return {
    'a letter took effect': ({ done }) => done.length > 0,
    ...((restores > 0 || copies) && { 'both sides know of a fault': faulty }),
  }
}

// Names of lives and letters matter, for they tell histories apart; those of the past do too.
function essence(scene: HistoryScene, numbers: Numbers): unknown {
  const { processes, line, there, back, left, done, letters, strange } = scene
  const mails = [there, back].map((mail) => mail.map(numbers.mail))
  return [processes.map(numbers.process), line, mails, left, done, letters, strange]
}

/** What no step changes any more is looked into once, and has a number. */
interface Numbers {
  process(this: void, process: Process): number
  mail(this: void, mail: Mail): number
}

function numbersOf(): Numbers {
  const disk = numbering<Disk>(essenceOf)
  return {
    process: numbering<Process>((process) => processEssence(process, disk)),
    mail: numbering<Mail>(({ message, tags }) => [message, tags]),
  }
}

function processEssence(
  { box, disk, past, left, inbox }: Process,
  numberOf: (disk: Disk) => number,
): unknown {
  return [
    [...box.peers.values()].map(({ posted, acked, heard, fault, link }) => [
      [posted, acked, heard, fault !== null],
      link && [link.known, link.barred, link.complaint !== null, link.greeted, link.asked],
      link && [link.sent, link.acked, link.ackDue, link.wasHeard],
    ]),
    essenceOf(disk),
    past.map(numberOf),
    [left, inbox, box.life[0]],
  ]
}

function essenceOf({ content, posted, effects }: Disk): unknown {
  return [[...content.heads.values()], posted, effects, lifeOf({ content, posted, effects })[0]]
}

const BASE: HistoryScope = { letters: 1, restores: 0, copies: false, crashes: 0, connections: 2 }

/** In all of these every claim holds; `states` is how many there are at least. */
export const SCOPES = {
  H1: {
    says: 'nobody goes back: no fault, whoever crashes',
    scope: { ...BASE, letters: 2, crashes: 1 },
    states: 2_000,
  },
  H2: {
    says: 'either store is put back to any earlier state',
    scope: { ...BASE, letters: 2, restores: 1 },
    states: 2_500,
  },
  H3: {
    says: 'two copies of one store live at once',
    scope: { ...BASE, letters: 2, copies: true },
    states: 10_000,
  },
  H4: {
    says: 'two copies, and a store that is put back',
    scope: { ...BASE, letters: 2, copies: true, restores: 1 },
    states: 98_000,
    size: 'deep',
  },
  H5: {
    says: 'two copies, a store that is put back, a crash',
    scope: { ...BASE, copies: true, restores: 1, crashes: 1 },
    states: 99_000,
    size: 'deep',
  },
} satisfies Rows<HistoryScope>

/** In each of these that claim breaks. */
export const MUTANTS = {
  'H-X1': { scope: mutant('no digest'), violates: [['mail.loss', 12]] },
  'H-X2': { scope: mutant('no generation'), violates: [['mail.loss', 12]] },
  'H-X3': { scope: mutant('digest not durable'), violates: [['mail.peace', 12]] },
  'H-X4': { scope: mutant('generation after the greeting'), violates: [['mail.loss', 12]] },
} satisfies Rows<HistoryScope>

function mutant(bug: HistoryBug): HistoryScope {
  return { ...BASE, letters: 2, restores: 1, crashes: 1, bug }
}
