/** A hub, one good session on it, and streams that send whatever they like. */

import {
  fork,
  type Prng,
  create as chaosOf,
  below,
  chance,
  pick,
} from '../../packages/holdfast/src/faults/prng.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { HubOut } from '../../packages/hub/src/machine/hub.ts'
import { writeRecord } from '../../packages/hub/src/machine/records.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { create, type Registers, restore, rowAt } from '../../packages/hub/src/machine/register.ts'
import { PlainDisk } from '../hub/plain-disk.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import {
  frameKnock,
  frameMessage,
  frameRelay,
  readFrame,
} from '../../packages/holdfast/src/wire/relay.ts'
import { hubBytes, type Knowledge, remember } from './hostile.ts'

/** The good session's members by number are the streams of the same numbers. */
export const GOOD = [1, 2]
const SECRETS = GOOD.map((inc) => new Uint8Array(16).fill(inc))
const BAD_MAX = 16
const LINK = new Uint8Array(32).fill(9)

/** Where the good ones are, and one in eight of the others. */
const HOME = '192.0.2.1'
/** Whence strangers come. */
const ADDRESSES = Array.from({ length: 7 }, (_none, at) => {
  return at < 4 ? `198.51.100.${at}` : `2001:db8:0:${at}::${at}`
})

/** A hub with its streams. */
export interface Desk {
  hub: hub.Hub
  out: HubOut
  now: number
  chaos: Prng
  known: Knowledge
  /** What each good stream was told. */
  told: Map<number, FromHub[]>
  relayed: { to: number; from: number }[]
  knocked: { to: number; caller: number; first: number }[]
  /** Streams of strangers that are open. */
  bad: Set<number>
  nextStream: number
  /** What is on disk. */
  disk: PlainDisk
  /** Places whose records the disk has not taken yet. */
  owed: Set<string>
  /** Segments that the hub waits for. */
  reads: [read: number, names: readonly string[]][]
  /** Places whose records the hub waits for. */
  loads: string[]
  /** The disk takes nothing. */
  isFull: boolean
}

const ROOM = { game: 'fuzz', room: 'main', playersMax: 8 }
const WISH = {
  ...({ ...ROOM, recovers: true, topology: 'star', terms: '' } as const),
  ...{ hosts: false, ticket: '', fresh: false },
}

/** A hub with the session of two members, both attached. */
export function desk(seed: number): Desk {
  const made: Desk = {
    hub: hub.create(0, 7, toyCurves.signer(LINK)),
    out: null as unknown as HubOut,
    now: 0,
    chaos: fork(chaosOf(seed), 'hub'),
    known: { numbers: [0, 1, 2, 3], session: '', samples: [] },
    told: new Map(GOOD.map((stream) => [stream, []])),
    relayed: [],
    knocked: [],
    bad: new Set(),
    nextStream: 100,
    disk: new PlainDisk(),
    owed: new Set(),
    reads: [],
    loads: [],
    isFull: false,
  }
  made.out = outOf(made)
  for (const stream of GOOD) {
    hub.addStream(made, stream, HOME)
    say(made, stream, { kind: 'hello', version: HUB_VERSION })
  }
  const [one, two] = SECRETS.map((secret) => digest(proofOf(secret, 'register')))
  const wish = { ...WISH, hash: one!, link: LINK, key: LINK }
  say(made, 1, { kind: 'add', request: 1, ...wish })
  const added = last(made, 1, 'added')
  const { session } = added!.entry
  made.known.session = session
  attach(made, 1)
  say(made, 1, {
    kind: 'members',
    session,
    members: [
      { inc: 1, player: 1, hash: one!, link: LINK, key: LINK },
      { inc: 2, player: 2, hash: two!, link: LINK, key: LINK },
    ],
    players: 2,
  })
  attach(made, 2)
  return made
}

function attach(made: Desk, inc: number): void {
  const proof = proofOf(SECRETS[inc - 1]!, 'register')
  say(made, inc, { kind: 'attach', request: 2, session: made.known.session, inc, proof })
}

function outOf(made: Desk): HubOut {
  return {
    send: (stream, bytes) => {
      const frame = readFrame(bytes)
      const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
      if (!message) throw new Error('the hub says what nobody can read')
      made.told.get(stream)?.push(message)
    },
    relay: (to, from) => void made.relayed.push({ to, from }),
    knock: (to, caller, [first]) => void made.knocked.push({ to, caller, first: first! }),
    sign: (message) => toyCurves.sign(LINK, message),
    roomChanged: () => {},
    consult: () => {},
    check: (connection, ticket) => {
      hub.receiveTicket(made, { connection, ticket }, 'it is none')
    },
    record: (place) => void made.owed.add(place),
    load: (place) => void made.loads.push(place),
    read: (read, _place, names) => void made.reads.push([read, names]),
    pass: () => {},
    unpass: () => {},
    close: (stream) => {
      made.bad.delete(stream)
      hub.removeStream(made, stream)
    },
  }
}

/** The disk takes what it is owed, or refuses all of it. */
export function write(made: Desk): void {
  for (;;) {
    for (const place of made.loads.splice(0)) {
      hub.receiveRecord(made, place, made.disk.records.get(place) ?? null)
    }
    if (made.owed.size === 0) return
    const places = [...made.owed]
    made.owed.clear()
    const { registers } = made.hub
    const changes = places.flatMap((one) => hub.beginWrite(made.hub, one) ?? [])
    if (made.isFull) {
      for (const { key } of changes) hub.failWrite(made, key, 'the disk is full')
      for (const one of places) if (rowAt(registers, one)) made.owed.add(one)
      return
    }
    for (const change of changes) {
      const outcome = made.disk.change(change)
      if (outcome === 'conflict') throw new Error('nobody else writes')
      hub.confirmWrite(made, change.key, outcome.rev)
    }
    for (const [read, names] of made.reads.splice(0)) {
      hub.receiveSegments(made, read, made.disk.read(names))
    }
  }
}

/** A stream says something, and the disk answers before the next word. */
export function say(made: Desk, stream: number, message: ToHub): void {
  const bytes = frameMessage(encode(toHub, message))
  // Nobody else sees a proof.
  const secret = message.kind === 'attach' || message.kind === 'change'
  if (GOOD.includes(stream) && !secret) remember(made.chaos, made.known, bytes)
  hub.receive(made, stream, bytes)
  write(made)
}

/** The last message of a kind that a good stream was told. */
export function last<Kind extends FromHub['kind']>(
  made: Desk,
  stream: number,
  kind: Kind,
): (FromHub & { kind: Kind }) | undefined {
  const fits = (message: FromHub): message is FromHub & { kind: Kind } => message.kind === kind
  return made.told.get(stream)!.filter(fits).at(-1)
}

/** Opens one more stream of a stranger. */
export function open(made: Desk): number {
  const stream = made.nextStream++
  made.bad.add(stream)
  const address = pick(made.chaos, [HOME, ...ADDRESSES])
  hub.addStream(made, stream, address)
  return stream
}

/** So many hostile messages on ever new streams, while the primary answers the hub's questions. */
export function storm(made: Desk, messages: number): void {
  const { chaos } = made
  for (let i = 0; i < messages; i++) {
    made.now += 1
    if (made.bad.size < BAD_MAX) greet(made, open(made))
    // An address may not open streams for ever.
    if (made.bad.size === 0) continue
    const stream = pick(chaos, [...made.bad])
    if (chance(chaos, 0.002)) made.out.close(stream, { kind: 'refused', why: 'gone' })
    else if (below(chaos, 20) === 0) greet(made, stream)
    else hub.receive(made, stream, hubBytes(chaos, made.known))
    if (hub.deadline(made.hub) <= made.now) hub.wake(made)
    // The disk takes its time, and is full now and then.
    if (chance(chaos, 0.2)) write(made)
    if (chance(chaos, 0.001)) made.isFull = !made.isFull
    answerQuestions(made)
    made.relayed = made.relayed.filter(({ to }) => GOOD.includes(to))
  }
}

function greet(made: Desk, stream: number): void {
  if (chance(made.chaos, 0.9)) say(made, stream, { kind: 'hello', version: HUB_VERSION })
}

function answerQuestions(made: Desk): void {
  const heard = made.told.get(1)!
  for (const message of heard.splice(0)) {
    if (message.kind !== 'areYouAlive') continue
    const { session, nonce } = message
    say(made, 1, { kind: 'yes', session, epoch: 1, nonce, players: 2 })
  }
  made.told.get(2)!.length = 0
}

/** What must hold of the good session and of the hub's size; says what does not. */
export function complaints(made: Desk): string[] {
  const found: string[] = []
  const claim = (holds: boolean, what: string): void => void (holds || found.push(what))
  const { session } = made.known
  const { registers } = made.hub
  const row = registers.rows.get(session)
  const register = row && JSON.stringify(row.entry.register)
  claim(register === '{"epoch":1,"primary":1,"backup":0}', `register ${register}`)
  claim(row?.entry.standing === 'open', `standing ${row?.entry.standing}`)
  claim(row?.members.length === 2, `members ${row?.members.length}`)
  claim([...(made.hub.attached.get(session) ?? [])].join() === '1,1,2,2', 'both are attached')
  made.isFull = false
  write(made)
  const again = create(made.now)
  for (const { value } of made.disk.records.values()) {
    restore(again, made.now, readPlace(value)!.session)
  }
  claim(durable(again) === durable(registers), 'memory and disk differ')
  claim(
    made.hub.waiting.size + made.hub.pendingRequests.size + made.hub.pendingReads.size === 0,
    'nobody waits for the disk',
  )
  claim(made.relayed.length === 0, `relayed to the good ones: ${made.relayed.length}`)
  const streams = made.bad.size + GOOD.length
  claim(made.hub.connections.size === streams, `streams ${made.hub.connections.size}`)
  claim(made.hub.mute.size <= made.bad.size, `mute ${made.hub.mute.size}`)
  claim(made.hub.registers.rows.size <= 10_000, `sessions ${made.hub.registers.rows.size}`)
  accounts(made, claim)
  knock(made, claim)
  return found
}

// What is known of addresses is what their streams and rooms come to.
function accounts({ hub: own }: Desk, claim: (holds: boolean, what: string) => void): void {
  const { connections, expiries, attached, registers, budgets } = own
  const streams = [...connections.values()]
  for (const account of budgets.accounts.values()) {
    const mine = streams.filter((stream) => stream.account === account)
    const { place } = account
    claim(account.streams.size === mine.length, `${place}: ${account.streams.size} streams`)
    const speaking = mine.filter(({ inc }) => inc !== 0).length
    claim(account.speaking === speaking, `${place}: ${account.speaking} of ${speaking} speak`)
    const seats = [...account.seats.values()].reduce((sum, count) => sum + count, 0)
    const taken = mine.filter(({ seat }) => seat !== '').length
    claim(seats === taken, `${place}: ${seats} of ${taken} seats`)
    const rooms = [...expiries.values()].filter(({ founder }) => founder === place).length
    claim(account.rooms === rooms, `${place}: ${account.rooms} of ${rooms} rooms`)
  }
  const known = [...expiries.keys()].filter((session) => !registers.rows.has(session))
  claim(known.length === 0, `${known.length} sessions are attended and not there`)
  const here = [...expiries].filter(([, { since }]) => since !== null).map(([session]) => session)
  claim(here.toSorted().join() === [...attached.keys()].toSorted().join(), 'who is attended')
}

// All that a restart must not change: how a session answers lately is learned anew.
function durable(registers: Registers): string {
  const rows = [...registers.rows.values()].map((row) => {
    const entry = { ...row.entry, standing: 'open' as const }
    return toHex(writeRecord({ ...row, entry }))
  })
  return rows.sort().join('\n')
}

// Somebody new asks the primary, who answers; nobody else may.
function knock(made: Desk, claim: (holds: boolean, what: string) => void): void {
  const { session } = made.known
  const stream = made.nextStream++
  const told: FromHub[] = []
  made.told.set(stream, told)
  hub.addStream(made, stream, '203.0.113.9')
  say(made, stream, { kind: 'hello', version: HUB_VERSION })
  say(made, stream, {
    kind: 'add',
    request: 1,
    ...WISH,
    hash: LINK.slice(16),
    link: LINK,
    key: LINK,
  })
  const found = last(made, stream, 'added')?.entry.session
  claim(found === session, `who looks for the session finds ${found}`)
  made.knocked.length = 0
  for (const [from, caller, first] of [
    [stream, 0, 1],
    [2, stream, 2],
    [1, stream, 3],
  ] as const) {
    hub.receive(made, from, frameKnock(caller, Uint8Array.of(first)))
  }
  const [asked, ...answers] = made.knocked
  claim(asked?.to === 1 && asked.caller === stream, 'the primary hears who asks')
  const firsts = answers.map(({ to, caller, first }) => `${to === stream} ${caller} ${first}`)
  claim(firsts.join() === 'true 0 3', `only the primary answers: ${firsts.join()}`)
  const { relayed } = made.hub.counters
  hub.receive(made, 2, frameRelay(1, new Uint8Array(9)))
  claim(made.hub.counters.relayed === relayed + 1, 'the members reach one another')
  made.relayed.length = 0
  made.told.delete(stream)
  hub.removeStream(made, stream)
}
