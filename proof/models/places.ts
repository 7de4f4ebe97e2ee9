/**
 * The record of one place, changed by two hubs on a store that loses answers: the shipped machine
 * of the hub, twice, in every order of requests, writes and answers.
 *
 * A change comes to the store now, later or never; its answer arrives or is lost. Then the hub
 * reads the record and decides what became of its change. The primary has a stream to each hub, so
 * both believe that they speak for it: nobody but the store decides between them.
 */

import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { KEY_BYTES, SIGNATURE_BYTES, type StoreChange } from '../../packages/holdfast/src/ports.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import * as machine from '../../packages/hub/src/machine/hub.ts'
import type { Hub, Turn } from '../../packages/hub/src/machine/hub.ts'
import { encodePlace, readPlace } from '../../packages/hub/src/machine/places.ts'
import { placeOf, rowAt } from '../../packages/hub/src/machine/register.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { copyOf, unspent } from './kept-hub.ts'
import type { Rows } from './rows.ts'

type PlacesBug =
  | 'a hub takes its own write for one that won against it'
  | 'a hub takes unknown for a failure'
  | 'an old record decides'
  | 'the store compares no revision'
  | 'a hub answers before the store has the change'

interface PlacesScope {
  /** Whether the session exists; else the hubs are asked to found it. */
  founded: boolean
  /** Requests to each hub. */
  asks: number
  /** Lost answers, to changes that are made, may still be, or never are. */
  losses: number
  /** Starts of a hub, from what the store has. */
  starts: number
  bug?: PlacesBug
}

/** What the store answers to a change; null while that has not come there. */
type Answer = { rev: number } | 'conflict' | null

interface OneHub {
  hub: Hub
  /** Whether the record must be written. */
  owed: boolean
  sent: { change: StoreChange; answer: Answer } | null
  /** The change whose end it does not know: it reads the record next. */
  looks: StoreChange | null
  /** Requests that are left, and those that are open, by number. */
  left: number
  asked: Record<number, string>
}

interface PlacesScene {
  hubs: OneHub[]
  /** All that the store had, newest last. */
  history: { rev: number; value: Uint8Array | null }[]
  /** Changes that may still come to the store, and whose answers nobody awaits. */
  late: StoreChange[]
  /** The roles that were told, by session and epoch. */
  told: Record<string, string>
  /** Requests that were refused, and how many records the store had had by then. */
  refused: { what: string; at: number }[]
  wrong: string
  requests: number
  starts: number
  notes: { lost: boolean; late: boolean; own: boolean }
  left: { losses: number; starts: number }
}

const PLACE = { game: 'g', room: 'r' }
const KEY: string = placeOf(PLACE)
const MEMBERS = 5
const STREAM = 1
const SEED = new Uint8Array(KEY_BYTES)
const SIGNATURE = new Uint8Array(SIGNATURE_BYTES)

const proof = (inc: number): Uint8Array => proofOf(new Uint8Array(16).fill(inc), 'register')
const PROOFS = Array.from({ length: MEMBERS + 1 }, (_none, inc) => proof(inc))
const LISTED = Array.from({ length: MEMBERS }, (_none, at) => {
  const key = new Uint8Array(KEY_BYTES).fill(at + 1)
  return { inc: at + 1, player: at + 1, hash: digest(PROOFS[at + 1]!), link: key, key }
})

/** The model of that scope. */
export function placesModel(name: string, scope: PlacesScope): Model<PlacesScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'place.one': ({ wrong }) => wrong === '' || wrong,
      'place.kept': kept,
      'place.refused': refused,
    },
    settled: { 'place.answered': answered },
    sometimes: {
      'a change loses': ({ notes }) => notes.lost,
      ...(scope.losses > 0 && {
        'a change comes late': ({ notes }) => notes.late,
        'a hub finds its own change': ({ notes }) => notes.own,
      }),
    },
    copy: (scene) => ({
      ...clone({ ...scene, hubs: [] }),
      hubs: scene.hubs.map(({ hub, ...rest }) => ({ ...clone(rest), hub: copyOf(hub) })),
    }),
    canonical: essence,
  }
}

function begin({ founded, asks, losses, starts }: PlacesScope): PlacesScene {
  const scene: PlacesScene = {
    ...{ hubs: [], late: [], told: {}, refused: [], wrong: '', requests: 0, starts: 0 },
    history: [founded ? { rev: 1, value: foundedRecord() } : { rev: 0, value: null }],
    notes: { lost: false, late: false, own: false },
    left: { losses, starts },
  }
  for (const at of [0, 1]) start(scene, at, asks)
  return scene
}

function foundedRecord(): Uint8Array {
  const register = { epoch: 1, primary: 1, backup: 0 }
  const entry = {
    ...({ ...PLACE, session: 's', playersMax: 8, topology: 'star', terms: '' } as const),
    ...({ register, players: MEMBERS, standing: 'open' } as const),
  }
  const none = { entrants: [], invitations: [] }
  const session = { entry, members: LISTED, recovers: false, hosts: false, ...none }
  return encodePlace({ boot: 0, write: 0, lasts: true, session, stored: null })
}

// A hub reads the store; the primary, if there is one, has a stream to it.
function start(scene: PlacesScene, at: number, left: number): void {
  const hub = machine.create(0, 100 * (at + 1) + scene.starts++, SEED, null, unspent())
  const { rev, value } = scene.history.at(-1)!
  if (value) machine.restore(hub, 0, KEY, { rev, value })
  scene.hubs[at] = { hub, owed: false, sent: null, looks: null, left, asked: {} }
  machine.addStream(turnOf(scene, at), STREAM, '10.0.0.1')
  say(scene, at, { kind: 'hello', version: HUB_VERSION })
  const session = rowAt(hub.registers, KEY)?.entry.session
  if (session) say(scene, at, { kind: 'attach', request: 0, session, inc: 1, proof: PROOFS[1]! })
}

function turnOf(scene: PlacesScene, at: number): Turn {
  const one = scene.hubs[at]!
  const nothing = (): void => {}
  const out = {
    send: (_stream: number, bytes: Uint8Array) => hear(scene, one, bytes),
    record: () => void (one.owed = true),
    sign: () => SIGNATURE,
    ...{
      pass: nothing,
      unpass: nothing,
      load: nothing,
      read: nothing,
      relay: nothing,
      knock: nothing,
      consult: nothing,
      check: nothing,
    },
    ...{ close: nothing, roomChanged: nothing },
  }
  return { hub: one.hub, now: 0, out }
}

function say(scene: PlacesScene, at: number, message: ToHub): void {
  machine.receive(turnOf(scene, at), STREAM, frameMessage(encode(toHub, message)))
}

function hear(scene: PlacesScene, one: OneHub, bytes: Uint8Array): void {
  const frame = readFrame(bytes)
  const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
  if (message?.kind === 'added') tell(scene, message.entry)
  if (message?.kind === 'register' || message?.kind === 'attached') tell(scene, message)
  if (!message || !('request' in message)) return
  const asked = one.asked[message.request]
  if (asked === undefined) return
  delete one.asked[message.request]
  if (isRefusal(message)) scene.refused.push({ what: asked, at: scene.history.length - 1 })
}

function isRefusal(message: FromHub): boolean {
  return message.kind === 'refused' || (message.kind === 'register' && !message.ok)
}

type Told = Extract<FromHub, { kind: 'register' }>
function tell(scene: PlacesScene, { session, register }: Pick<Told, 'session' | 'register'>): void {
  const { epoch, primary, backup } = register
  const roles = `${primary} ${backup}`
  const known = (scene.told[`${session} ${epoch}`] ??= roles)
  if (known !== roles) scene.wrong = `epoch ${epoch} of ${session} is (${known}) and (${roles})`
}

// Once told it is in the record, or something newer of that session.
function kept({ told, history }: PlacesScene): true | string {
  const { session, epoch } = registerIn(history.at(-1)!.value)
  for (const one of Object.keys(told)) {
    const [id, at] = one.split(' ')
    if (id !== session || Number(at) > epoch) return `${one} was told, the store has ${epoch}`
  }
  return true
}

// What was refused is not in force, and never will be.
function refused({ refused: all, history }: PlacesScene): true | string {
  const made = history.map(({ value }) => `backup ${registerIn(value).backup}`)
  const both = all.find(({ what, at }) => made.includes(what, at))
  return both === undefined || `${both.what} was refused, and the store has it`
}

function answered({ hubs }: PlacesScene): true | string {
  const open = hubs.flatMap(({ asked }) => Object.values(asked))
  return open.length === 0 || `nobody answers: ${open.join(', ')}`
}

function registerIn(value: Uint8Array | null): { session: string; epoch: number; backup: number } {
  const entry = value && readPlace(value)!.session.entry
  return entry
    ? { session: entry.session, ...entry.register }
    : { session: '', epoch: 0, backup: 0 }
}

function* actions(scope: PlacesScope, scene: PlacesScene): Iterable<Action<PlacesScene>> {
  for (const [at, one] of scene.hubs.entries()) yield* steps(scope, scene, at, one)
  for (const nth of scene.late.keys()) {
    yield mishap('a late change comes to the store', (copy) => {
      const [change] = copy.late.splice(nth, 1)
      if (make(copy, change!, scope.bug) !== 'conflict') copy.notes.late = true
    })
  }
}

function* steps(
  { bug }: PlacesScope,
  { left }: PlacesScene,
  at: number,
  one: OneHub,
): Iterable<Action<PlacesScene>> {
  const of = (copy: PlacesScene): OneHub => copy.hubs[at]!
  const hub = `hub ${at}`
  if (one.left > 0) yield step(`${hub} is asked`, (copy) => ask(copy, at))
  if (one.owed && !one.sent && !one.looks) {
    yield step(`${hub} writes`, (copy) => write(copy, at, bug))
  }
  if (one.sent && !one.sent.answer) {
    yield step(`the store has the change of ${hub}`, (copy) => {
      const sent = of(copy).sent!
      sent.answer = make(copy, sent.change, bug)
    })
  }
  if (one.sent?.answer) yield step(`${hub} hears the store`, (copy) => answer(copy, at, bug))
  if (one.looks) yield step(`${hub} reads the record`, (copy) => look(copy, at, bug))
  if (one.sent && left.losses > 0) {
    yield mishap(`the answer to ${hub} is lost`, (copy) => lose(copy, at, bug))
    if (!one.sent.answer) {
      yield mishap(`the change of ${hub} is late, its answer is lost`, (copy) => {
        copy.late.push(of(copy).sent!.change)
        lose(copy, at, bug)
      })
    }
  }
  if (left.starts > 0) {
    yield mishap(`${hub} is killed, and starts`, (copy) => {
      copy.left.starts--
      const { sent, left: asks } = of(copy)
      if (sent && !sent.answer) copy.late.push(sent.change)
      start(copy, at, asks)
    })
  }
}

const step = (label: string, next: Action<PlacesScene>['next']) => ({ label, next })
const mishap = (label: string, next: Action<PlacesScene>['next']) => {
  return { label, environment: true, next }
}

// Each request asks for another backup, so that the record says whose change it has.
function ask(scene: PlacesScene, at: number): void {
  const one = scene.hubs[at]!
  one.left--
  const request = ++scene.requests
  const row = rowAt(one.hub.registers, KEY)
  const known = row && !row.pending?.isNew ? row.entry : null
  // Of a stream the newest request of a kind is answered.
  one.asked = { [request]: known ? `backup ${request + 1}` : 'founding' }
  if (!known) return say(scene, at, { request, ...FOUNDS })
  const { session, register } = known
  const own = { inc: 1, proof: PROOFS[1]!, expect: register.epoch, primary: 1 }
  const more = { backup: request + 1, why: 'add' } as const
  say(scene, at, { kind: 'change', request, session, ...own, ...more })
}

const { hash, link, key } = LISTED[0]!
const FOUNDS = {
  ...({ kind: 'add', ...PLACE, playersMax: 8, recovers: false, topology: 'star' } as const),
  ...{ terms: '', hosts: false, ticket: '', fresh: false, hash, link, key },
}

function write(scene: PlacesScene, at: number, bug: PlacesBug | undefined): void {
  const one = scene.hubs[at]!
  one.owed = false
  const change = machine.beginWrite(one.hub, KEY)
  if (!change) return
  one.sent = { change, answer: null }
  if (bug === 'a hub answers before the store has the change') {
    machine.confirmWrite(turnOf(scene, at), KEY, change.rev + 1)
  }
}

function make({ history }: PlacesScene, change: StoreChange, bug: PlacesBug | undefined): Answer {
  const { rev } = history.at(-1)!
  if (change.rev !== rev && bug !== 'the store compares no revision') return 'conflict'
  history.push({ rev: rev + 1, value: change.value })
  return { rev: rev + 1 }
}

function answer(scene: PlacesScene, at: number, bug: PlacesBug | undefined): void {
  const one = scene.hubs[at]!
  const { change, answer: said } = one.sent!
  one.sent = null
  if (bug === 'a hub answers before the store has the change') return
  if (said === 'conflict') one.looks = change
  else machine.confirmWrite(turnOf(scene, at), KEY, said!.rev)
}

function lose(scene: PlacesScene, at: number, bug: PlacesBug | undefined): void {
  const one = scene.hubs[at]!
  scene.left.losses--
  const { change } = one.sent!
  one.sent = null
  if (bug === 'a hub takes unknown for a failure')
    machine.failWrite(turnOf(scene, at), KEY, 'unknown')
  else one.looks = change
}

function look(scene: PlacesScene, at: number, bug: PlacesBug | undefined): void {
  const one = scene.hubs[at]!
  const change = one.looks!
  one.looks = null
  const { writing } = one.hub.places.get(KEY)!
  if (bug === 'a hub takes its own write for one that won against it') {
    const other = { ...writing!.change, value: new Uint8Array(1) }
    one.hub.places.get(KEY)!.writing = { ...writing!, change: other }
  }
  const { rev, value } = scene.history.at(bug === 'an old record decides' ? 0 : -1)!
  const { lost } = one.hub.counters
  const found = value && { rev, value }
  if (machine.settleWrite(turnOf(scene, at), KEY, found)) one.sent = { change, answer: null }
  else if (one.hub.counters.lost > lost) scene.notes.lost = true
  else scene.notes.own = true
}

function essence(scene: PlacesScene): unknown {
  const { hubs, history, late, told, notes, left, wrong, refused: all } = scene
  const ofChange = (change: StoreChange | null): unknown =>
    change && [change.rev, markOf(change.value)]
  const each = hubs.map(({ hub, owed, sent, looks, left: asks, asked }) => {
    const row = rowAt(hub.registers, KEY)
    const { rev = 0, writing = null } = hub.places.get(KEY) ?? {}
    const known = row && [row.entry.session, row.entry.register, row.pending]
    const waits = hub.waiting.get(KEY)?.map(({ message }) => message)
    const open = [...hub.pendingRequests.values()].map(({ message }) => message)
    const store = [owed, sent && [ofChange(sent.change), sent.answer], ofChange(looks), rev]
    return [known, waits, open, store, writing && ofChange(writing.change), asks, asked]
  })
  const has = history.map(({ rev, value }) => [rev, markOf(value)])
  return [each, has, late.map(ofChange), told, notes, left, wrong, all]
}

function markOf(value: Uint8Array | null): unknown {
  const known = value && readPlace(value)
  return known && [known.boot, known.write, registerIn(value)]
}

const TWO: PlacesScope = { founded: true, asks: 1, losses: 1, starts: 0 }

/** Scopes that hold, and how many states they have. */
export const SCOPES: Rows<PlacesScope> = {
  places: {
    says: 'two hubs, one change each, two lost answers',
    scope: { ...TWO, losses: 2 },
    states: 1_000,
  },
  'places-again': {
    says: 'two changes each, a lost answer',
    scope: { ...TWO, asks: 2 },
    states: 9_500,
  },
  'places-found': {
    says: 'two hubs that found one room, a lost answer, a change then',
    scope: { ...TWO, founded: false, asks: 2 },
    states: 2_700,
  },
  'places-start': {
    says: 'one change each, a lost answer, a hub that is killed',
    scope: { ...TWO, starts: 1 },
    states: 1_400,
  },
}

export const MUTANTS: Rows<PlacesScope> = {
  'places-defeat': planted(
    'a hub takes its own write for one that won against it',
    'place.refused',
    5,
  ),
  'places-unknown': planted('a hub takes unknown for a failure', 'place.refused', 4),
  'places-old': planted('an old record decides', 'place.refused', 9),
  'places-blind': planted('the store compares no revision', 'place.one', 8),
  'places-early': planted('a hub answers before the store has the change', 'place.kept', 2),
}

function planted(bug: PlacesBug, claim: string, steps: number): Rows<PlacesScope>[string] {
  return { scope: { ...TWO, asks: 2, bug }, violates: [[claim, steps]] }
}
