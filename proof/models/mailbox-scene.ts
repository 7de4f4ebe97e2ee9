/**
 * Two mailboxes over a bad network, as a row of numbers, each of something that is kept once; what
 * a side makes of an input is looked up. Without connections what is on its way may come any number
 * of times and in any order; with connections it comes in order, and is lost when they break.
 */

import type { MailMessage } from '../../packages/mailbox/src/machine/messages.ts'
import type { Action } from '../../packages/sim/src/checker/checker.ts'
import * as budgets from './budgets.ts'
import * as interned from './interned.ts'
import {
  batchOf,
  fresh,
  keyOf,
  type MailScope,
  type Side,
  type SideInput,
  step,
} from './mailbox-side.ts'
import * as memo from './memo.ts'
import { type Places, placesOf } from './places.ts'

/**
 * All of it, by the places of its tables:
 *
 *   essence    what tells the states of each side apart: what is only counted does not
 *   keys       what tells apart what is on its way
 *   connected  1 while a connection stands
 *   left       what may still happen
 *   idle       1 once a batch has brought nothing new
 *   side       each side, whole
 *   net        what is on its way, whole
 */
export type MailScene = Int32Array

/** One step in it. */
export type MailAction = Action<MailScene>

/** What is on its way to a side. */
export interface Mail {
  to: number
  message: MailMessage
  /** What tells it apart. */
  key: string
}

/** What came of an input, by number. */
interface Outcome {
  side: number
  sent: number[]
  idle: boolean
}

/** What may happen that need not. */
export type MailBudget = 'crashes' | 'losses' | 'breaks'

/** The tables of one model. */
export interface MailTables {
  scope: MailScope
  place: Places<'essence' | 'keys' | 'connected' | 'left' | 'idle' | 'side' | 'net'>
  sides: interned.Interned<Side>
  /** By side. */
  essences: number[]
  essence: interned.Interned<unknown>
  inputs: interned.Interned<SideInput>
  /** By side and input. */
  outcomes: memo.Memo<Outcome>
  /** By side: the batch that it would send, or -1. */
  batches: number[]
  mails: interned.Interned<Mail>
  /** By mail: that it is heard, as an input. */
  hears: number[]
  /** What is on its way at once; and by its number that of the keys. */
  nets: interned.Interned<readonly number[]>
  keysIn: number[]
  keys: interned.Interned<readonly string[]>
  /** By what is on its way, and what is put there, or the place of what goes. */
  more: memo.Memo<number>
  less: memo.Memo<number>
  budgets: budgets.Budgets<MailBudget>
}

/** The number of a network with nothing on it. */
const NOTHING = 0

/** Tables with nothing in them. */
export function createTables(scope: MailScope): MailTables {
  const { crashes, losses, connections } = scope
  const tables: MailTables = {
    scope,
    place: placesOf({ essence: 2, keys: 1, connected: 1, left: 1, idle: 1, side: 2, net: 1 }),
    sides: interned.create(),
    essences: [],
    essence: interned.create(),
    inputs: interned.create(),
    outcomes: memo.create(),
    batches: [],
    mails: interned.create(),
    hears: [],
    nets: interned.create(),
    keysIn: [],
    keys: interned.create(),
    more: memo.create(),
    less: memo.create(),
    budgets: budgets.create({ crashes, losses, breaks: connections?.breaks ?? 0 }),
  }
  keepNet(tables, [])
  return tables
}

/** The first state. */
export function begin(tables: MailTables): MailScene {
  const scene = new Int32Array(tables.place.size)
  set(tables, scene, 0, keep(tables, fresh(tables.scope, 'a', 'b')))
  set(tables, scene, 1, keep(tables, fresh(tables.scope, 'b', 'a')))
  scene[tables.place.left] = budgets.WHOLE
  return scene
}

function keep(tables: MailTables, side: Side): number {
  const number = interned.numberOf(tables.sides, side)
  tables.essences[number] ??= interned.numberOf(tables.essence, essenceOf(side))
  return number
}

function essenceOf({ box, disk, pending, life }: Side): unknown {
  return [
    [...box.peers.values()].map(({ link, posted, acked, heard }) => [posted, acked, heard, link]),
    [disk.effects, disk.posted, disk.letters.length, Object.values(disk.heads)],
    pending.map((change) => [change.kind, change.kind === 'posted' ? change.n : 0]),
    life,
  ]
}

function set(tables: MailTables, scene: MailScene, at: number, side: number): void {
  scene[tables.place.side + at] = side
  scene[tables.place.essence + at] = tables.essences[side]!
}

/** A side as it is; not to be changed. */
export function sideOf({ sides, place }: MailTables, scene: MailScene, at: number): Side {
  return sides.values[scene[place.side + at]!]!
}

/** What is on its way, in order. */
export function netOf({ nets, place }: MailTables, scene: MailScene): readonly number[] {
  return nets.values[scene[place.net]!]!
}

/** What may still happen. */
export function leftOf(
  { budgets: all, place }: MailTables,
  scene: MailScene,
): budgets.Left<MailBudget> {
  return budgets.leftOf(all, scene[place.left]!)
}

/** Something happens that may not happen for ever. */
export function spend(
  { budgets: all, place }: MailTables,
  scene: MailScene,
  name: MailBudget,
): void {
  scene[place.left] = budgets.spend(all, scene[place.left]!, name)
}

/** The number of an input. */
export function inputOf(tables: MailTables, input: SideInput): number {
  return interned.numberOf(tables.inputs, input)
}

/** One side takes an input. */
export function act(tables: MailTables, scene: MailScene, at: number, input: number): void {
  const { place } = tables
  const before = scene[place.side + at]!
  const outcome = memo.find(tables.outcomes, before, input) ?? learn(tables, at, before, input)
  set(tables, scene, at, outcome.side)
  for (const mail of outcome.sent) put(tables, scene, mail)
  if (outcome.idle) scene[place.idle] = 1
}

function learn(tables: MailTables, at: number, before: number, input: number): Outcome {
  const was = interned.valueOf(tables.sides, before)
  const { side, sent, idle } = step(tables.scope, was, interned.valueOf(tables.inputs, input))
  return memo.keep(tables.outcomes, before, input, {
    side: keep(tables, side),
    sent: sent.map((message) => mailOf(tables, 1 - at, message)),
    idle,
  })
}

function mailOf(tables: MailTables, to: number, message: MailMessage): number {
  const { mails, hears } = tables
  const number = interned.numberOf(mails, { to, message, key: keyOf(to, message) })
  hears[number] ??= inputOf(tables, { kind: 'hear', message })
  return number
}

function keepNet(tables: MailTables, net: readonly number[]): number {
  const number = interned.numberOf(tables.nets, net)
  const keys = net.map((mail) => tables.mails.values[mail]!.key)
  tables.keysIn[number] ??= interned.numberOf(tables.keys, keys)
  return number
}

function setNet(tables: MailTables, scene: MailScene, net: number): void {
  scene[tables.place.net] = net
  scene[tables.place.keys] = tables.keysIn[net]!
}

// Without connections what is on its way may come any number of times, so once is enough.
function put(tables: MailTables, scene: MailScene, mail: number): void {
  const { more, nets, mails, place, scope } = tables
  const before = scene[place.net]!
  const known = memo.find(more, before, mail)
  if (known !== null) return setNet(tables, scene, known)
  const net = nets.values[before]!
  const keyed = (one: number): string => mails.values[one]!.key
  const isThere = !scope.connections && net.some((one) => keyed(one) === keyed(mail))
  const now = isThere ? net : [...net, mail]
  const inOrder = scope.connections ? now : now.toSorted((a, b) => (keyed(a) < keyed(b) ? -1 : 1))
  setNet(tables, scene, memo.keep(more, before, mail, keepNet(tables, inOrder)))
}

/** What is at that place of the network is there no more. */
export function take(tables: MailTables, scene: MailScene, index: number): void {
  const { less, nets, place } = tables
  const before = scene[place.net]!
  const known = memo.find(less, before, index)
  if (known !== null) return setNet(tables, scene, known)
  const now = interned.valueOf(nets, before).toSpliced(index, 1)
  setNet(tables, scene, memo.keep(less, before, index, keepNet(tables, now)))
}

/** Whether a side has a batch to send that is not on its way. */
export function hasBatch(tables: MailTables, scene: MailScene, at: number): boolean {
  const { batches, keys, mails, place, scope } = tables
  const side = scene[place.side + at]!
  let known = batches[side]
  if (known === undefined) {
    const message = batchOf(scope, sideOf(tables, scene, at))
    known = message ? mailOf(tables, 1 - at, message) : -1
    batches[side] = known
  }
  return known >= 0 && !keys.values[scene[place.keys]!]!.includes(mails.values[known]!.key)
}

/** A connection stands, or breaks, and what was on its way is gone. */
export function connect(tables: MailTables, scene: MailScene, stands: boolean): void {
  const { place } = tables
  scene[place.connected] = stands ? 1 : 0
  if (!stands) setNet(tables, scene, NOTHING)
  const input = inputOf(tables, { kind: stands ? 'connected' : 'disconnected' })
  act(tables, scene, 0, input)
  act(tables, scene, 1, input)
}

/** A process dies, and another begins with what the disk has. */
export function crash(tables: MailTables, scene: MailScene, at: number): void {
  spend(tables, scene, 'crashes')
  act(tables, scene, at, inputOf(tables, { kind: 'crash' }))
  if (scene[tables.place.connected] === 1) connect(tables, scene, false)
}
