/**
 * A room, its tender, and a hub that wants to claim it: the shipped machine of the hub, twice, on a
 * store that takes its time, with a primary at one hub and a member at the other.
 *
 * The first hub is awake until it stands still, or its changes do not come to the store; then each
 * of its steps comes when it likes. The second is awake, and claims. The member asks to recover the
 * room as soon as it is attached. Time passes in steps that all clocks share.
 */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Millis } from '../../packages/holdfast/src/machine.ts'
import {
  KEY_BYTES,
  SIGNATURE_BYTES,
  type StoreChange,
  type StoredRecord,
} from '../../packages/holdfast/src/ports.ts'
import * as leases from '../../packages/holdfast/src/session/lease.ts'
import type { Lease } from '../../packages/holdfast/src/session/lease.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import * as heartbeat from '../../packages/hub/src/machine/heartbeat.ts'
import * as machine from '../../packages/hub/src/machine/hub.ts'
import type { Hub, Turn } from '../../packages/hub/src/machine/hub.ts'
import { encodePlace, readPlace } from '../../packages/hub/src/machine/places.ts'
import { placeOf, rowAt } from '../../packages/hub/src/machine/register.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { copyOf, unspent } from './kept-hub.ts'
import type { Rows } from './rows.ts'

type TenderBug =
  | 'a primary hears that it was heard before the heartbeat is acknowledged'
  | 'a hub that was fenced goes on under its name'
  | 'a follower of the store says which hubs there are'
  | 'a hub claims a room whose tender lives'
  | 'a claim counts the lease from before it'

interface TenderScope {
  /** Steps of time. */
  ticks: number
  /** Answers to changes of the first hub that are lost. */
  losses: number
  /** Whether the second hub waits for the record of the room; all else it has at once. */
  slow?: boolean
  bug?: TenderBug
}

interface OneHub {
  hub: Hub
  /** Records that must be written, and that it wants to read. */
  owed: string[]
  loads: string[]
  /** Whether it passed its stream on: no other hub is reached. */
  isPassing: boolean
  /** Changes on their way, by key, and their answers once the store has them. */
  sent: Record<string, { change: StoreChange; answer: { rev: number } | 'conflict' | null }>
  /** Changes whose end it does not know: it reads the record next. */
  looks: Record<string, StoreChange>
}

interface TenderScene {
  now: Millis
  hubs: OneHub[]
  records: Record<string, StoredRecord>
  /** The newest revision of each record, also of a removed one. */
  revs: Record<string, number>
  lease: Lease
  /** Whether the first hub has done so far what was due. */
  isAwake: boolean
  /** Whether the primary has a stream, and the member is attached. */
  isOpen: boolean
  isAttached: boolean
  left: { ticks: number; losses: number }
}

const SPAN_MS: Millis = 5_000
const PLACE = { game: 'g', room: 'r' }
const KEY: string = placeOf(PLACE)
const STREAM = 1
const SEED = new Uint8Array(KEY_BYTES)
const SIGNATURE = new Uint8Array(SIGNATURE_BYTES)
const SESSION = 's'
const BOOTS = [1, 2]

const proof = (inc: number): Uint8Array => proofOf(new Uint8Array(16).fill(inc), 'register')
const LISTED = [1, 2].map((inc) => {
  const key = new Uint8Array(KEY_BYTES).fill(inc)
  return { inc, player: inc, hash: digest(proof(inc)), link: key, key }
})

/** The model of that scope. */
export function tenderModel(name: string, scope: TenderScope): Model<TenderScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: { 'lease.safe': safe, 'tender.one': one },
    sometimes: {
      'the session recovered': ({ records }) => primaryOf(records[KEY]) === 2,
      'the lease renewed': ({ lease }) => lease.until > leases.LEASE_MS,
      'a hub starts over': ({ hubs }) => hubs[0]!.hub.counters.fenced > 0,
    },
    copy: ({ hubs, ...rest }) => ({
      ...clone(rest),
      hubs: hubs.map(({ hub, ...more }) => ({ ...clone(more), hub: copyOf(hub) })),
    }),
    canonical: essence,
  }
}

function begin(scope: TenderScope): TenderScene {
  const { bug, ticks, losses } = scope
  const scene: TenderScene = {
    ...{ now: 0, hubs: [], records: {}, revs: {}, isAwake: true },
    ...{ isOpen: true, isAttached: false },
    lease: leases.create(true, leases.LEASE_MS),
    left: { ticks, losses },
  }
  const register = { epoch: 1, primary: 1, backup: 0 }
  const entry = {
    ...({ ...PLACE, session: SESSION, playersMax: 8, topology: 'star', terms: '' } as const),
    ...({ register, players: 2, standing: 'open' } as const),
  }
  const none = { entrants: [], invitations: [] }
  const session = { entry, members: LISTED, recovers: true, hosts: false, ...none }
  put(scene, KEY, encodePlace({ boot: 1, write: 0, lasts: true, session, stored: null }))
  for (const [at, boot] of BOOTS.entries()) {
    const hub = machine.create(0, boot, SEED, null, unspent())
    scene.hubs[at] = { hub, owed: [], loads: [], isPassing: false, sent: {}, looks: {} }
    machine.startSharing(hub, 0)
    for (const [key, found] of Object.entries(scene.records)) machine.restore(hub, 0, key, found)
    machine.wake(turnOf(scene, at))
    settle(scope, scene, at)
  }
  for (const at of [0, 1]) {
    machine.addStream(turnOf(scene, at), STREAM, '10.0.0.1')
    say(scene, at, { kind: 'hello', version: HUB_VERSION })
    const inc = at + 1
    say(scene, at, { kind: 'attach', request: 0, session: SESSION, inc, proof: proof(inc) })
    settle(scope, scene, at)
  }
  const known = scene.hubs[1]!.hub.heartbeat!.hubs.get(1)!
  if (bug === 'a hub claims a room whose tender lives') known.goneAt = 0
  return scene
}

// All that a hub has of the store at once.
function settle(scope: TenderScope, scene: TenderScene, at: number): void {
  const own = scene.hubs[at]!
  const isQuick = (key: string): boolean => !scope.slow || at === 0 || key !== KEY
  while (own.isPassing || [...own.owed, ...own.loads].some(isQuick)) {
    if (own.isPassing) machine.endPassed(turnOf(scene, at), STREAM)
    own.isPassing = false
    for (const key of own.loads.filter(isQuick)) read(scope, scene, at, key)
    for (const key of own.owed.filter(isQuick)) {
      write(scene, at, key)
      if (!own.sent[key]) continue
      make(scene, at, key)
      answer(scope, scene, at, key)
      if (own.looks[key]) look(scope, scene, at, key)
    }
  }
}

function put({ records, revs }: TenderScene, key: string, value: Uint8Array | null): number {
  const rev = (revs[key] ?? 0) + 1
  revs[key] = rev
  if (!value) {
    delete records[key]
    return 0
  }
  records[key] = { value, rev }
  return rev
}

function turnOf(scene: TenderScene, at: number): Turn {
  const own = scene.hubs[at]!
  const nothing = (): void => {}
  const add = (list: string[], key: string): void => {
    if (!list.includes(key)) list.push(key)
  }
  const out = {
    send: (_stream: number, bytes: Uint8Array) => hear(scene, at, bytes),
    record: (key: string) => add(own.owed, key),
    load: (key: string) => add(own.loads, key),
    pass: () => void (own.isPassing = true),
    sign: () => SIGNATURE,
    close: (stream: number) => {
      if (at === 0) scene.isOpen = false
      else scene.isAttached = false
      machine.removeStream(turnOf(scene, at), stream)
    },
    ...{
      unpass: nothing,
      read: nothing,
      relay: nothing,
      knock: nothing,
      consult: nothing,
      check: nothing,
    },
    roomChanged: nothing,
  }
  return { hub: own.hub, now: scene.now, out }
}

function say(scene: TenderScene, at: number, message: ToHub): void {
  machine.receive(turnOf(scene, at), STREAM, frameMessage(encode(toHub, message)))
}

function hear(scene: TenderScene, at: number, bytes: Uint8Array): void {
  const frame = readFrame(bytes)
  const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
  if (at === 0 && message?.kind === 'areYouAlive') answerHub(scene, message)
  if (at === 1 && message?.kind === 'attached') scene.isAttached = true
}

// The primary answers at once: that words come late is what the model of the lease shows.
function answerHub(scene: TenderScene, message: FromHub & { kind: 'areYouAlive' }): void {
  const { lease, now } = scene
  const { nonce, heard } = message
  leases.reached(lease, heard)
  leases.noteYes(lease, now, nonce)
  say(scene, 0, { kind: 'yes', session: SESSION, epoch: 1, nonce, players: 2 })
}

function primaryOf(found: StoredRecord | undefined): number {
  return found ? readPlace(found.value)!.session.entry.register.primary : 0
}

// The first hub's primary publishes nothing once the register names another one.
function safe({ records, lease, now }: TenderScene): true | string {
  if (primaryOf(records[KEY]) === 1 || !leases.holds(lease, now, [2])) return true
  return `the register names 2, and the lease of 1 ends at ${lease.until} ms: it is ${now}`
}

// Of the hubs that are not fenced one has the room.
function one({ hubs, records }: TenderScene): true | string {
  const have = hubs.filter(({ hub }) => {
    return rowAt(hub.registers, KEY) && heartbeat.keyOf(hub.boot) in records
  })
  return have.length <= 1 || 'two hubs that live have the room'
}

function* actions(scope: TenderScope, scene: TenderScene): Iterable<Action<TenderScene>> {
  const { left, hubs, now } = scene
  if (left.ticks > 0) {
    yield {
      label: `${SPAN_MS} ms pass`,
      environment: true,
      next: (copy) => pass(scope, copy),
    }
  }
  if (scene.isAwake) {
    const next = (copy: TenderScene): void => void (copy.isAwake = false)
    yield { label: 'hub 0 stands still, or is cut off', environment: true, next }
  }
  for (const [at, own] of hubs.entries()) {
    if (at === 0 && scene.isAwake) continue
    const act = (what: string, run: (copy: TenderScene) => void): Action<TenderScene> => {
      return { label: `hub ${at} ${what}`, environment: true, next: run }
    }
    if (at === 0 && machine.deadline(own.hub) <= now) {
      yield act('wakes', (copy) => {
        machine.wake(turnOf(copy, at))
        forgets(scope, copy.hubs[at]!.hub)
      })
    }
    yield* ofStore(scope, scene, at, act)
  }
  if (scene.isAttached) {
    yield { label: 'the member asks to recover', next: (copy) => recover(scope, copy) }
  }
}

function pass(scope: TenderScope, scene: TenderScene): void {
  scene.left.ticks--
  for (let beats = SPAN_MS / heartbeat.BEAT_MS; beats > 0; beats--) {
    scene.now += heartbeat.BEAT_MS
    if (scene.isAwake) wake(scope, scene, 0)
    wake(scope, scene, 1)
  }
}

function wake(scope: TenderScope, scene: TenderScene, at: number): void {
  machine.wake(turnOf(scene, at))
  settle(scope, scene, at)
  forgets(scope, scene.hubs[at]!.hub)
}

type Act = (what: string, run: (copy: TenderScene) => void) => Action<TenderScene>

function* ofStore(
  scope: TenderScope,
  { left, hubs }: TenderScene,
  at: number,
  act: Act,
): Iterable<Action<TenderScene>> {
  const { owed, loads, sent, looks } = hubs[at]!
  for (const key of owed) {
    if (key in sent || key in looks) continue
    yield act(`writes ${key}`, (copy) => write(copy, at, key))
  }
  for (const [key, { answer: said }] of Object.entries(sent)) {
    if (!said) yield act(`has ${key} at the store`, (copy) => make(copy, at, key))
    else yield act(`hears of ${key}`, (copy) => answer(scope, copy, at, key))
    if (at === 0 && left.losses > 0) yield act(`loses the answer`, (copy) => lose(copy, at, key))
  }
  for (const key of Object.keys(looks)) {
    yield act(`looks at ${key}`, (copy) => look(scope, copy, at, key))
  }
  for (const key of loads) yield act(`reads ${key}`, (copy) => read(scope, copy, at, key))
}

function write(scene: TenderScene, at: number, key: string): void {
  const own = scene.hubs[at]!
  own.owed = own.owed.filter((each) => each !== key)
  const change = machine.beginWrite(own.hub, key)
  if (change) own.sent[key] = { change, answer: null }
}

function make(scene: TenderScene, at: number, key: string): void {
  const sent = scene.hubs[at]!.sent[key]!
  const { rev, value } = sent.change
  const isNext = (scene.records[key]?.rev ?? 0) === rev
  sent.answer = isNext ? { rev: put(scene, key, value) } : 'conflict'
}

function answer(scope: TenderScope, scene: TenderScene, at: number, key: string): void {
  const own = scene.hubs[at]!
  const { change, answer: said } = own.sent[key]!
  delete own.sent[key]
  if (said === 'conflict') own.looks[key] = change
  else machine.confirmWrite(turnOf(scene, at), key, said!.rev)
  forgets(scope, own.hub)
}

function lose(scene: TenderScene, at: number, key: string): void {
  const own = scene.hubs[at]!
  scene.left.losses--
  own.looks[key] = own.sent[key]!.change
  delete own.sent[key]
}

function look({ bug }: TenderScope, scene: TenderScene, at: number, key: string): void {
  const own = scene.hubs[at]!
  const change = own.looks[key]!
  delete own.looks[key]
  const found = scene.records[key] ?? null
  const isFenced = !found && change.rev > 0 && key === heartbeat.keyOf(own.hub.boot)
  if (isFenced && bug === 'a hub that was fenced goes on under its name') {
    Object.assign(own.hub.heartbeat!, { rev: 0, change: null, requestedAt: null })
    return
  }
  if (machine.settleWrite(turnOf(scene, at), key, found)) own.sent[key] = { change, answer: null }
  if (!own.hub.heartbeat!.isFenced) return
  for (const stream of own.hub.connections.keys()) turnOf(scene, at).out.close(stream, FENCED)
  own.owed = []
  machine.startOver(turnOf(scene, at), own.hub.boot + BOOTS.length)
}

const FENCED = { kind: 'full', why: '' } as const

function read({ bug }: TenderScope, scene: TenderScene, at: number, key: string): void {
  const own = scene.hubs[at]!
  own.loads = own.loads.filter((each) => each !== key)
  const isOld = bug === 'a follower of the store says which hubs there are'
  const found = isOld && key === heartbeat.keyOf(1) ? null : (scene.records[key] ?? null)
  machine.receiveRecord(turnOf(scene, at), key, found)
}

// What a planted bug does after each step.
function forgets({ bug }: TenderScope, hub: Hub): void {
  if (bug === 'a primary hears that it was heard before the heartbeat is acknowledged') {
    hub.registers.confirmedAt = Infinity
  }
  const row = rowAt(hub.registers, KEY)
  if (row && bug === 'a claim counts the lease from before it' && hub.boot === 2) row.lastYes = 0
}

function recover(scope: TenderScope, scene: TenderScene): void {
  const own = { session: SESSION, inc: 2, proof: proof(2), expect: 1, primary: 2, backup: 0 }
  say(scene, 1, { kind: 'change', request: 1, why: 'recover', ...own })
  settle(scope, scene, 1)
}

function essence(scene: TenderScene): unknown {
  const { now, hubs, records, lease, isAwake, isOpen, isAttached, left } = scene
  const each = hubs.map(({ hub, owed, loads, sent, looks }) => {
    const { boot, registers, heartbeat: own, elsewhere, claims, waiting } = hub
    const row = rowAt(registers, KEY)
    const known = row && [row.entry.register, row.lastYes, row.yes, row.heard, row.pending]
    const beats = own && { ...own, change: own.change?.rev, beats: 0 }
    const place = hub.places.get(KEY)
    const writing = place && [place.rev, place.writing?.kind]
    const times = [registers.asking.dueAt, registers.confirmedAt, registers.nonce]
    const claim = [...(claims.get(SESSION)?.places ?? [])].map(([key, { state, rev }]) => [
      key,
      state,
      rev,
    ])
    const open = Object.entries(sent).map(([key, { change, answer: said }]) => [
      key,
      change.rev,
      said,
    ])
    const unsure = Object.entries(looks).map(([key, { rev }]) => [key, rev])
    const waits = waiting.get(KEY)?.map(({ message }) => message.kind)
    const more = [elsewhere.get(KEY)?.tender, claim, open, unsure, waits]
    return [boot, known, beats, writing, times, owed, loads, more]
  })
  const has = Object.entries(records).map(([key, { value, rev }]) => {
    const place = readPlace(value)
    return [key, rev, place && [place.boot, place.session.entry.register.primary]]
  })
  return [now, each, has, lease, isAwake, isOpen, isAttached, left]
}

/** Scopes that hold, and how many states they have. */
export const SCOPES: Rows<TenderScope> = {
  tender: {
    says: 'a hub that stands still or is cut off, and one that claims its room',
    scope: { ticks: 6, losses: 0 },
    states: 24_000,
  },
  'tender-slow': {
    says: 'the same with a claim that takes its time',
    scope: { ticks: 5, losses: 0, slow: true },
    states: 33_000,
  },
  'tender-lost': {
    says: 'the same with a lost answer',
    scope: { ticks: 5, losses: 1 },
    states: 22_000,
  },
}

export const MUTANTS: Rows<TenderScope> = {
  'tender-early': planted(
    'a primary hears that it was heard before the heartbeat is acknowledged',
    'lease.safe',
    8,
  ),
  'tender-undead': planted('a hub that was fenced goes on under its name', 'tender.one', 11),
  'tender-follower': planted('a follower of the store says which hubs there are', 'lease.safe', 5),
  'tender-rash': planted('a hub claims a room whose tender lives', 'lease.safe', 5),
  'tender-old': planted('a claim counts the lease from before it', 'lease.safe', 6),
}

function planted(bug: TenderBug, claim: string, steps: number): Rows<TenderScope>[string] {
  return { scope: { ticks: 6, losses: 0, bug }, violates: [[claim, steps]] }
}
