/**
 * Keys that change between two shipped mailboxes: `a` calls `b`, letters go both ways, each may
 * have another key, connections break, and either may crash between any two steps; `e` calls `b`
 * under the name of `a`, with a key of its own or with one that it stole, and says nothing more.
 *
 * A greeting is one step here, by the shipped machine, for nothing of it is kept before its end.
 */

import {
  applyTo,
  emptyContent,
  MailMemory,
} from '../../packages/mailbox/src/drivers/mail-memory.ts'
import type { MailContent } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import {
  completeJob,
  type PeerPolicy,
  beginHandshake,
  receiveHandshake,
} from '../../packages/mailbox/src/machine/handshake.ts'
import type {
  HandshakeStep,
  Handshake,
  Authenticated,
} from '../../packages/mailbox/src/machine/handshake.ts'
import * as keys from '../../packages/mailbox/src/machine/keys.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailMessage, MailOut } from '../../packages/mailbox/src/machine/mailbox.ts'
import { keyText } from '../../packages/mailbox/src/machine/messages.ts'
import type { MailChange } from '../../packages/holdfast/src/ports.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { isSame } from '../../packages/holdfast/src/wire/history.ts'
import type { Rows } from './rows.ts'

/** Bugs that may be injected. */
export type KeyBug =
  | 'a greeting binds'
  | 'old keys are not kept'
  | 'the new key before the letters about it'
  | 'letters about a key before it'
  | 'a key in memory alone'
  | 'a connection binds after its key was replaced'
  | 'connections of before stay'
  | 'keys are not compared'
  | 'a connection goes on after its key was replaced'

/** How much happens. */
export interface KeyScope {
  /** Letters of each. */
  letters: [a: number, b: number]
  /** How often each replaces its key. */
  changes: [a: number, b: number]
  crashes: number
  breaks: number
  /** How often `a` calls. */
  calls: number
  /** The key that `e` has: none, one of its own, the first of `a`. */
  stranger?: 'own' | 'stolen'
  bug?: KeyBug
}

/** What a disk has. */
interface Disk {
  content: MailContent
  /** Seeds by their number, the newest first. */
  seeds: number[]
  /** Bodies that took effect, in order. */
  effects: number[]
}

interface Side {
  name: 'a' | 'b'
  disk: Disk
  box: mailbox.Mailbox
  /** Seeds as the process knows them. */
  seeds: number[]
  /** What a mutant has not written yet. */
  unwritten: 'seeds' | 'letters' | null
  posted: number
  changed: number
  /** The number of the letter about its newest key that this process has posted; 0 for none. */
  told: number
  /** The newest seed of the other by whose key it ever knew it, durably. */
  newest: number
}

/** All of it. */
export interface KeyScene {
  sides: [Side, Side]
  /** Who is connected with `b`, and the keys that the two proved. */
  line: { caller: 'a' | 'e'; keys: [caller: Uint8Array, b: Uint8Array] } | null
  /** To `a`, and to `b`. */
  coming: [MailMessage[], MailMessage[]]
  left: { crashes: number; breaks: number; calls: number; strangers: number }
  seeds: number
  /** One of the two was refused by the other. */
  isRefused: boolean
  /** A stranger was let in with a key that had been replaced, or that never was the right one. */
  isBroken: boolean
}

const [A, B] = [0, 1]
/** The seed of a stranger, and the first one of `a`. */
const [OWN, STOLEN] = [99, 1]

const owned = new Map<number, keys.OwnKey>()

function keyOf(seed: number): keys.OwnKey {
  const own = owned.get(seed)
  if (own) return own
  const bytes = new Uint8Array(32).fill(seed)
  const made = { seed: bytes, key: toyCurves.signer(bytes) as Uint8Array }
  owned.set(seed, made)
  return made
}

function begin({ crashes, breaks, calls, stranger }: KeyScope): KeyScene {
  const side = (name: 'a' | 'b', seed: number): Side => {
    const disk = { content: emptyContent(), seeds: [seed], effects: [] }
    return { name, disk, ...start(disk), unwritten: null, posted: 0, changed: 0, newest: 0 }
  }
  return {
    sides: [side('a', STOLEN), side('b', 2)],
    line: null,
    coming: [[], []],
    left: { crashes, breaks, calls, strangers: stranger ? 2 : 0 },
    seeds: 2,
    isRefused: false,
    isBroken: false,
  }
}

function start({ content, seeds }: Disk): Pick<Side, 'box' | 'seeds' | 'told'> {
  const heads = new MailMemory(content, 'model').heads()
  return { box: mailbox.create(heads), seeds: [...seeds], told: 0 }
}

function other({ name }: Side): string {
  return name === 'a' ? 'b' : 'a'
}

/** Does something in a process, durable before anybody hears of it. @returns whether it hangs up */
function turn(scope: KeyScope, side: Side, run: (out: MailOut) => void): boolean {
  const changes: MailChange[] = []
  let isRekeyed = false
  const emit = (event: mailbox.MailEvent): void => void (isRekeyed ||= event.kind === 'key')
  run({ record: (change) => changes.push(change), send: () => {}, emit })
  for (const change of changes) {
    const isLost = scope.bug === 'a key in memory alone' && isRekeyed && change.kind === 'bound'
    if (!isLost) applyTo(side.disk.content, change)
  }
  side.newest = Math.max(side.newest, pinned(side))
  return isRekeyed
}

/** The seed of the key by which a side knows the other, durably; 0 for none. */
function pinned(side: Side): number {
  const key = side.disk.content.heads.get(other(side))?.key
  if (!key) return 0
  return [...owned].find(([, own]) => isSame(own.key, key))?.[0] ?? -1
}

function post(scope: KeyScope, scene: KeyScene, at: number): void {
  const side = scene.sides[at]!
  const body = Uint8Array.of(0, ++side.posted)
  turn(scope, side, (out) => mailbox.post(side.box, other(side), body, out))
}

/** Another key, and the letters about it, in one transaction unless a bug says otherwise. */
function replace(scope: KeyScope, scene: KeyScene, at: number): void {
  const side = scene.sides[at]!
  side.changed++
  side.seeds = [++scene.seeds, ...side.seeds]
  if (scope.bug === 'the new key before the letters about it') side.unwritten = 'letters'
  if (scope.bug === 'letters about a key before it') side.unwritten = 'seeds'
  side.told = 0
  if (side.unwritten !== 'letters') announce(scope, side)
  if (side.unwritten !== 'seeds') side.disk.seeds = [...side.seeds]
  if (side.told === 0 && scope.bug !== 'connections of before stay') cut(scene)
}

function announce(scope: KeyScope, side: Side): void {
  const letter = letterOf(side)
  turn(scope, side, (out) => {
    side.told = keys.announce(side.box, letter, out).get(other(side)) ?? 0
  })
}

function letterOf(side: Side): Uint8Array {
  const [now, ...before] = side.seeds.map(keyOf) as [keys.OwnKey, ...keys.OwnKey[]]
  const text = keyText(
    side.name,
    before.map(({ key }) => key),
    now.key,
  )
  const sign = ({ seed, key }: keys.OwnKey): { key: Uint8Array; signature: Uint8Array } => ({
    key,
    signature: toyCurves.sign(seed, text) as Uint8Array,
  })
  return keys.keyLetter({ before: before.map(sign), now: sign(now) })
}

/** What a mutant left out is written. */
function finish(scope: KeyScope, scene: KeyScene, at: number): void {
  const side = scene.sides[at]!
  if (side.unwritten === 'letters') announce(scope, side)
  else side.disk.seeds = [...side.seeds]
  side.unwritten = null
}

function gateOf({ bug }: KeyScope, { box }: Side): PeerPolicy {
  if (bug === 'keys are not compared') return NOBODY
  const { keyOf: pinOf } = mailbox.pins
  return { ...NOBODY, keyOf: (id) => pinOf(box, id) }
}

const NOBODY: PeerPolicy = {
  refuses: () => null,
  keyOf: () => null,
  formerKey: () => null,
  strange: () => 'strange',
}

/** The keys that a side has for a greeting. */
function shown({ bug }: KeyScope, { seeds }: Side): number[] {
  return bug === 'old keys are not kept' ? seeds.slice(0, 1) : seeds
}

/** A whole greeting. @returns what both know; null if either refused */
function greeting(
  caller: { seeds: readonly number[]; gate: PeerPolicy },
  scope: KeyScope,
  b: Side,
): [atCaller: Authenticated, atB: Authenticated] | null {
  const nonce = new Uint8Array(16)
  const self = { id: 'a', keys: caller.seeds.map(keyOf) }
  const calling = beginHandshake(self, nonce, 'b', caller.gate)
  const gate = gateOf(scope, b)
  const called = beginHandshake({ id: 'b', keys: shown(scope, b).map(keyOf) }, nonce, null, gate)
  const ends = [
    { handshake: calling.handshake, gate: caller.gate },
    { handshake: called.handshake, gate },
  ] as const
  const known: (Authenticated | null)[] = [null, null]
  const said = [calling.first, [] as Uint8Array[]]
  while (said[0]!.length + said[1]!.length > 0) {
    for (const from of [0, 1] as const) {
      const to = ends[1 - from]!
      for (const bytes of said[from]!.splice(0)) {
        const { answers, known: who } = heard(to.handshake, bytes, to.gate)
        said[1 - from]!.push(...answers)
        known[1 - from] ??= who
      }
    }
  }
  const [atCaller, atB] = known
  return atCaller && atB ? [atCaller, atB] : null
}

function heard(handshake: Handshake, bytes: Uint8Array, gate: PeerPolicy): HandshakeStep {
  const answers: Uint8Array[] = []
  let greeted = receiveHandshake(handshake, bytes, gate)
  for (;;) {
    answers.push(...greeted.answers)
    const { job } = greeted
    if (!job) return { ...greeted, answers }
    const answer =
      job.kind === 'sign'
        ? toyCurves.sign(job.seed, job.message)
        : toyCurves.verify(job.key, job.message, job.signature)
    greeted = completeJob(handshake, answer as Uint8Array | boolean)
  }
}

function call(scope: KeyScope, scene: KeyScene): void {
  scene.left.calls--
  const [a, b] = scene.sides
  const proved = greeting({ seeds: shown(scope, a), gate: gateOf(scope, a) }, scope, b)
  if (proved) take(scope, scene, 'a', proved)
  else scene.isRefused = true
}

function intrude(scope: KeyScope, scene: KeyScene): void {
  scene.left.strangers--
  const [, b] = scene.sides
  const seed = scope.stranger === 'own' ? OWN : STOLEN
  const proved = greeting({ seeds: [seed], gate: NOBODY }, scope, b)
  if (!proved) return
  if (b.newest !== 0 && b.newest !== seed) scene.isBroken = true
  take(scope, scene, 'e', proved)
}

function take(
  scope: KeyScope,
  scene: KeyScene,
  caller: 'a' | 'e',
  proved: [atCaller: Authenticated, atB: Authenticated],
): void {
  cut(scene)
  const [atCaller, atB] = proved
  scene.line = { caller, keys: [atB.key, atCaller.key] }
  const [a, b] = scene.sides
  if (caller === 'a') join(scope, a, atCaller)
  join(scope, b, atB)
  if (scope.bug === 'a greeting binds') {
    turn(scope, b, (out) => mailbox.pins.bind(b.box, 'a', atB.key, out))
  }
}

/** A side is connected, and says that its key is another one where it has to. */
function join(scope: KeyScope, side: Side, { key, proof }: Authenticated): void {
  const newest = keyOf(side.seeds[0]!).key
  const next = keys.afterProof(side.box, other(side), proof, newest, side.told)
  if (next === 'announce' && scope.bug !== 'the new key before the letters about it') {
    turn(scope, side, (out) => {
      side.told = mailbox.add(side.box, other(side), letterOf(side), out)
    })
  }
  mailbox.connected(side.box, 0, other(side), key)
}

function cut(scene: KeyScene): void {
  if (!scene.line) return
  for (const side of scene.sides) mailbox.disconnected(side.box, other(side))
  scene.line = null
  scene.coming = [[], []]
}

function pump(scene: KeyScene, at: number): void {
  const { box, disk } = scene.sides[at]!
  const to = scene.coming[1 - at]!
  const send = (_to: string, message: MailMessage): void => {
    // Who only greets hears nothing.
    if (scene.line!.caller === 'a') to.push(structuredClone(message))
  }
  const shelf = new MailMemory(disk.content, 'model')
  mailbox.pump(box, 1_000, shelf, { record: () => {}, send, emit: () => {} })
}

function arrive(scope: KeyScope, scene: KeyScene, at: number): void {
  const side = scene.sides[at]!
  const message = scene.coming[at]!.shift()!
  const key = scene.line!.keys[at === A ? 1 : 0]
  const from = other(side)
  const shelf = new MailMemory(side.disk.content, 'model')
  const isRekeyed = turn(scope, side, (out) => {
    const goesOn = scope.bug === 'a connection goes on after its key was replaced'
    mailbox.receive(side.box, 0, from, message, shelf, out, goesOn ? null : key)
    for (let letter = mailbox.next(side.box, 0, from); letter;) {
      const isAboutKey = handle(side, letter.body, out)
      if (goesOn && !isAboutKey) rebind(side, key, out)
      mailbox.done(side.box, 0, from, out)
      mailbox.settle(side.box, from)
      if (scope.bug === 'a connection binds after its key was replaced') rebind(side, key, out)
      letter = mailbox.next(side.box, 0, from)
    }
  })
  if (isRekeyed && scope.bug !== 'a connection goes on after its key was replaced') cut(scene)
}

/** @returns whether it was about a key */
function handle(side: Side, body: Uint8Array, out: MailOut): boolean {
  const letter = keys.readKeyLetter(body)
  if (!letter) side.disk.effects.push(body[1]!)
  if (!letter) return false
  const checks = keys.checksOf(side.box, other(side), letter)
  const isRight = checks.every(({ key, message, signature }) => {
    return toyCurves.verify(key, message, signature) === true
  })
  if (checks.length > 0 && isRight) keys.rekey(side.box, other(side), letter, out)
  return true
}

function rebind(side: Side, key: Uint8Array, out: MailOut): void {
  const id = other(side)
  Object.assign(mailbox.peerOf(side.box, id), { key, root: key })
  out.record({ kind: 'bound', peer: id, key, root: key })
}

function crash(scene: KeyScene, at: number): void {
  scene.left.crashes--
  cut(scene)
  const side = scene.sides[at]!
  Object.assign(side, start(side.disk), { unwritten: null })
}

function* actions(scope: KeyScope, scene: KeyScene): Iterable<Action<KeyScene>> {
  const { line, left } = scene
  if (line?.caller !== 'a' && left.calls > 0) {
    yield { label: 'a calls', next: (next) => call(scope, next) }
  }
  for (const at of [A, B]) yield* ofSide(scope, scene, at)
  if (left.strangers > 0) {
    yield { label: 'e calls', environment: true, next: (next) => intrude(scope, next) }
  }
  if (line && left.breaks > 0) {
    const next = (after: KeyScene): void => {
      after.left.breaks--
      cut(after)
    }
    yield { label: 'the connection breaks', environment: true, next }
  }
}

function* ofSide(scope: KeyScope, scene: KeyScene, at: number): Iterable<Action<KeyScene>> {
  const { name, posted, changed, unwritten } = scene.sides[at]!
  if (posted < scope.letters[at]!) {
    yield { label: `${name} posts`, next: (next) => post(scope, next, at) }
  }
  if (unwritten) {
    yield { label: `${name} writes its ${unwritten}`, next: (next) => finish(scope, next, at) }
  } else if (changed < scope.changes[at]!) {
    yield { label: `${name} replaces its key`, next: (next) => replace(scope, next, at) }
  }
  if (scene.coming[at]!.length > 0) {
    yield { label: `${name} takes`, next: (next) => arrive(scope, next, at) }
  } else if (scene.line) {
    yield { label: `${name} sends`, next: (next) => pump(next, at) }
  }
  if (scene.left.crashes > 0) {
    yield { label: `${name} crashes`, environment: true, next: (next) => crash(next, at) }
  }
}

/** Keys only ever become newer, and are those of who they are said to be. */
function forward({ sides }: KeyScene): true | string {
  for (const side of sides) {
    const pin = pinned(side)
    if (pin < side.newest) return `${side.name} knew its peer by key ${side.newest}, now by ${pin}`
  }
  return true
}

function owner({ sides }: KeyScene): true | string {
  const side = sides.find((one) => [OWN, -1].includes(pinned(one)))
  return !side || `${side.name} knows its peer by the key of somebody else`
}

function letters({ sides }: KeyScene): true | string {
  for (const { name, disk } of sides) {
    const wrong = disk.effects.findIndex((body, at) => body !== at + 1)
    if (wrong >= 0) return `${name} did ${disk.effects.join()}`
  }
  return true
}

/** Whoever is connected, and has nothing more to say, knows the other by its newest key. */
function told({ sides, line }: KeyScene): true | string {
  if (line?.caller !== 'a') return true
  for (const [at, side] of sides.entries()) {
    const peer = sides[1 - at]!
    const head = side.disk.content.heads.get(peer.name)
    if ((head?.posted ?? 0) !== (head?.acked ?? 0)) return `a letter of ${side.name} waits for ever`
    const pin = pinned(side)
    if (pin !== 0 && pin !== peer.seeds[0]) return `${side.name} knows ${peer.name} by key ${pin}`
  }
  return true
}

/** The model. */
export function keyModel(name: string, scope: KeyScope): Model<KeyScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'keys.open': ({ isRefused }) => !isRefused || 'a and b do not let each other in',
      'keys.shut': ({ isBroken }) => !isBroken || 'b lets in a stranger for a',
      'keys.forward': forward,
      'keys.owner': owner,
      'keys.letters': letters,
    },
    settled: { 'keys.told': told },
    sometimes: scope.bug ? {} : reached(scope),
    canonical: essence,
    show: ({ sides }) =>
      sides.map((one) => `${one.name}: key ${one.seeds[0]}, knows ${pinned(one)}`).join('; '),
  }
}

function reached({ changes: [ofA, ofB], stranger }: KeyScope): Model<KeyScene>['sometimes'] {
  const knows = (at: number) => (scene: KeyScene) => {
    const side = scene.sides[at]!
    return side.newest > 2 && told(scene) === true && scene.line?.caller === 'a'
  }
  return {
    ...(ofA > 0 && { 'b knows a by another key, and they are connected': knows(B) }),
    ...(ofB > 0 && { 'a knows b by another key, and they are connected': knows(A) }),
    ...(stranger && { 'a stranger is let in': ({ line }) => line?.caller === 'e' }),
  }
}

function essence({ sides, line, coming, left, isRefused, isBroken }: KeyScene): unknown {
  const each = sides.map(({ box, disk, seeds, unwritten, posted, changed, newest, told }) => [
    [...box.peers.values()].map((peer) => [
      [peer.posted, peer.acked, peer.heard, peer.fault, peer.key, peer.came],
      peer.link && [peer.link.known, peer.link.greeted, peer.link.asked, peer.link.sent],
      peer.link && [peer.link.acked, peer.link.ackDue, peer.link.wasHeard, peer.link.unacked > 0],
    ]),
    [[...disk.content.heads.values()], disk.seeds, disk.effects],
    [seeds, unwritten, posted, changed, newest, told],
  ])
  return [each, line, coming, left, isRefused, isBroken]
}

const BASE: KeyScope = { letters: [1, 0], changes: [0, 0], crashes: 0, breaks: 0, calls: 3 }

/** In all of these every claim holds; `states` is how many there are at least. */
export const SCOPES = {
  K1: {
    says: 'a key is replaced, whoever crashes and whatever breaks',
    scope: { ...BASE, changes: [1, 0], crashes: 2, breaks: 1, calls: 4 },
    states: 2_500,
  },
  K2: {
    says: 'both replace their keys',
    scope: { ...BASE, changes: [1, 1], breaks: 1 },
    states: 1_500,
  },
  K3: {
    says: 'a key is replaced twice, and the first is in wrong hands',
    scope: { ...BASE, changes: [2, 0], breaks: 1, stranger: 'stolen' },
    states: 5_000,
  },
  K4: {
    says: 'a stranger calls under the name of a',
    scope: { ...BASE, changes: [1, 0], stranger: 'own', crashes: 1 },
    states: 2_000,
  },
  K5: {
    says: 'both replace their keys, and write, whoever crashes and whatever breaks',
    scope: { ...BASE, letters: [1, 1], changes: [1, 1], crashes: 1, breaks: 1 },
    states: 60_000,
    size: 'deep',
  },
} satisfies Rows<KeyScope>

/** In each of these that claim breaks. */
export const MUTANTS = {
  'K-X1': { scope: mutant('a greeting binds', 'own'), violates: [['keys.owner', 1]] },
  'K-X2': { scope: mutant('old keys are not kept'), violates: [['keys.open', 10]] },
  'K-X3': {
    scope: mutant('the new key before the letters about it'),
    violates: [['keys.told', 14]],
  },
  'K-X4': { scope: mutant('letters about a key before it'), violates: [['keys.open', 10]] },
  'K-X5': { scope: mutant('a key in memory alone'), violates: [['keys.told', 15]] },
  'K-X6': {
    scope: mutant('a connection binds after its key was replaced'),
    violates: [['keys.told', 13]],
  },
  'K-X7': { scope: mutant('connections of before stay'), violates: [['keys.told', 10]] },
  'K-X8': { scope: mutant('keys are not compared', 'stolen'), violates: [['keys.shut', 9]] },
  'K-X9': {
    scope: { ...mutant('a connection goes on after its key was replaced'), letters: [2, 0] },
    violates: [['keys.forward', 11]],
  },
} satisfies Rows<KeyScope>

function mutant(bug: KeyBug, stranger?: 'own' | 'stolen'): KeyScope {
  const more = stranger ? { stranger } : {}
  return { ...BASE, changes: [1, 0], crashes: 1, breaks: 1, ...more, bug }
}
