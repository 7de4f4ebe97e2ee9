/**
 * The key of a room, in every order of a small scope: two who have it, one who has none, and a hub
 * that says of the terms what it likes, hands out segments of its own, and lets anybody serve. What
 * members believe, read and write is the shipped code (member/room-key.ts, member/stored-room.ts).
 *
 * The state of a room is a list of operations. Those that a primary with the key recorded in a room
 * that is its own are small numbers; all others are large.
 */

import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as storedRoom from '../../packages/holdfast/src/member/stored-room.ts'
import { markOf } from '../../packages/holdfast/src/member/room-key.ts'
import * as believed from '../../packages/holdfast/src/member/room-key.ts'
import type { Runtime } from '../../packages/holdfast/src/member/state.ts'
import * as durable from '../../packages/holdfast/src/replication/durable.ts'
import { nameOf } from '../../packages/holdfast/src/seal/seal.ts'
import type { Settings, View } from '../../packages/holdfast/src/session/messages.ts'
import * as segments from '../../packages/holdfast/src/session/segments.ts'
import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import { toyCiphers } from '../../packages/sim/src/toy-ciphers.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import type { Rows } from './rows.ts'

const SESSION = 's'
const PART = 1
const KEY = new Uint8Array(32).fill(7)
/** Who has the key; the last has none. */
const KEYS = [KEY, KEY, null] as const
const PLAIN = 'keep=10'
const SEALED = `${PLAIN};sealed=${markOf(toyCiphers, KEY)}`
/** Operations from here on are not of a room with the key. */
const FOREIGN = 100
const HEAD = { topology: 'star', playersMax: 8 } as const

/** What a member believes. */
interface Belief {
  settings: Settings
  keeps: boolean
  proof: Uint8Array | null
}

/** Everything at one instant. */
export interface RoomKeyScene {
  /** The segments that the hub has. */
  disk: Uint8Array[]
  /** Who serves; -1 for nobody. */
  primary: number
  /** Of each who is a member. */
  members: (Belief | null)[]
  /** The room as all members have it. */
  ops: number[]
  last: number
  left: { comes: number; ops: number; goes: number }
  notes: { leaked: string; forged: string; refused: boolean; opened: boolean; stranger: boolean }
}

/** The model of that scope. */
export function roomKeyModel(name: string, scope: RoomKeyScope): Model<RoomKeyScene> {
  const { bug: _, ...left } = scope
  return {
    name,
    init: () => ({
      ...{ disk: [], primary: -1, members: KEYS.map(() => null), ops: [], last: 0 },
      left: { ...left },
      notes: { leaked: '', forged: '', refused: false, opened: false, stranger: false },
    }),
    actions: (scene) => actions(scope, scene),
    always: {
      'key.sealed': ({ notes }) => notes.leaked === '' || notes.leaked,
      'key.true': ({ notes }) => notes.forged === '' || notes.forged,
    },
    sometimes: {
      'what is sealed is opened': ({ notes }) => notes.opened,
      'what is not is refused': ({ notes }) => notes.refused,
      'somebody with the key follows somebody without': ({ notes }) => notes.stranger,
    },
  }
}

function* actions(scope: RoomKeyScope, scene: RoomKeyScene): Iterable<Action<RoomKeyScene>> {
  const { left, members, primary, disk } = scene
  for (const who of KEYS.keys()) {
    if (left.comes === 0 || members[who]) continue
    for (const terms of [SEALED, PLAIN]) {
      const told = terms === SEALED ? 'sealed' : 'not sealed'
      if (primary >= 0) {
        const label = `${who} joins, and is told that it is ${told}`
        yield { label, next: (copy) => come(scope, copy, who, terms) }
        continue
      }
      const label = `${who} founds it, and is told that it is ${told}`
      yield { label, next: (copy) => found(scope, copy, who, terms) }
      for (const [what, all] of [
        ['kept', disk],
        ['made up', forged()],
      ] as const) {
        if (all.length === 0) continue
        const label = `${who} opens what is ${what}, and is told that it is ${told}`
        yield { label, next: (copy) => open(scope, copy, who, { terms, all: [...all] }) }
      }
    }
  }
  if (primary < 0) return
  if (left.ops > 0) yield { label: `${primary} records`, next: record }
  if (members[primary]!.keeps)
    yield { label: `${primary} writes`, next: (copy) => write(scope, copy) }
  if (left.goes > 0) yield { label: `${primary} goes`, next: (copy) => go(scope, copy) }
}

// A member as far as the shipped code reads it.
function runOf(who: number, { settings, keeps, proof }: Belief): Runtime {
  const session = { id: SESSION, me: who + 1, keptTypes: '', keeps, proof, ...settings }
  const options = { roomKey: KEYS[who]!, keptTypes: '', identity: { key: linkOf(who) } }
  const own = { terms: KEYS[who] ? SEALED : PLAIN, ...HEAD }
  const member = {
    ...{ session, options: { ...options, ...own }, linkKey: { point: linkOf(who) }, mounts: [] },
    ...{ joinPeer: null, peers: new Map(KEYS.map((_key, one) => [one + 1, peerOf(one)])) },
    segmentBefore: new Uint8Array(16),
  }
  return { member, ports: { ciphers: toyCiphers } } as unknown as Runtime
}

const linkOf = (who: number): Uint8Array => new Uint8Array(32).fill(0x10 + who)
const peerOf = (who: number): { key: string } => ({ key: nameOf(linkOf(who)) })

function blank(terms: string): Belief {
  return { settings: { terms, ...HEAD }, keeps: true, proof: null }
}

function beliefIn({ member: { session } }: Runtime): Belief {
  const { terms, topology, playersMax, keeps, proof } = session
  return { settings: { terms, topology, playersMax }, keeps, proof }
}

type Added = FromHub & { kind: 'added' }

function addedOf(terms: string, how: 'found' | 'open' | 'join'): Added {
  const entry = { session: SESSION, terms, ...HEAD }
  const opened = how === 'open' ? { inc: 1, time: 0, segments: 1, imported: false } : null
  return { created: how !== 'join', opened, entry } as unknown as Added
}

// A bug: whoever has a key takes it for the key of the room only if the hub says so.
function believing({ bug }: RoomKeyScope, run: Runtime, terms: string): Runtime {
  if (bug === 'terms-believed' && terms === PLAIN)
    Object.assign(run.member.options, { roomKey: null })
  return run
}

function found(scope: RoomKeyScope, scene: RoomKeyScene, who: number, terms: string): void {
  const run = believing(scope, runOf(who, blank(terms)), terms)
  believed.adoptTerms(run, addedOf(terms, 'found'))
  lead(scene, who, run, [])
}

function lead(scene: RoomKeyScene, who: number, run: Runtime, ops: number[]): void {
  believed.foundRoom(run)
  scene.left.comes--
  scene.primary = who
  scene.members[who] = beliefIn(run)
  scene.ops = ops
}

function open(
  scope: RoomKeyScope,
  scene: RoomKeyScene,
  who: number,
  { terms, all }: { terms: string; all: Uint8Array[] },
): void {
  const { notes } = scene
  const run = believing(scope, runOf(who, blank(terms)), terms)
  const answer = addedOf(terms, 'open')
  believed.adoptTerms(run, answer)
  const { session } = answer.entry
  const room = { session, terms, count: all.length, segments: all, bytes: 0, incoming: null }
  const found = storedRoom.read(run, room)
  if ('code' in found) {
    notes.refused = true
    scene.left.comes--
    return
  }
  const ops = found.parts.flatMap(({ bytes }) => [...bytes])
  if (KEYS[who] && ops.some((op) => op >= FOREIGN)) {
    notes.forged = `key.true: ${who} has the key, and opens [${ops.join()}]`
  }
  notes.opened ||= KEYS[who] !== null && ops.length > 0
  lead(scene, who, run, ops)
}

function come(scope: RoomKeyScope, scene: RoomKeyScene, who: number, terms: string): void {
  const run = believing(scope, runOf(who, blank(terms)), terms)
  believed.adoptTerms(run, addedOf(terms, 'join'))
  follow(scope, scene, who, run, null)
  scene.left.comes--
}

// The view of who serves, as it comes to a member.
function follow(
  { bug }: RoomKeyScope,
  scene: RoomKeyScene,
  who: number,
  run: Runtime,
  before: View | null,
): void {
  const { primary, members, notes } = scene
  const { settings, keeps, proof } = members[primary]!
  const row = { inc: primary + 1, link: linkOf(primary) } as View['members'][number]
  const own = { primary: primary + 1, members: [row], settings, proof: keeps ? proof : null }
  believed.follow(run, { ...NO_VIEW, ...own }, before)
  // A bug: nobody asks who leads for the key.
  if (bug === 'any-primary' && KEYS[who])
    Object.assign(run.member.session, { terms: SEALED, keeps: true })
  members[who] = beliefIn(run)
  notes.stranger ||= KEYS[who] !== null && KEYS[primary] === null
}

function record(scene: RoomKeyScene): void {
  const { primary, members } = scene
  scene.left.ops--
  scene.last++
  const isOurs = KEYS[primary] !== null && members[primary]!.keeps
  scene.ops.push(isOurs ? scene.last : FOREIGN + scene.last)
}

function write(scope: RoomKeyScope, scene: RoomKeyScene): void {
  const { primary, members, ops, notes } = scene
  const belief = members[primary]!
  const run = believing(scope, runOf(primary, belief), belief.settings.terms)
  const bytes = storedRoom.seal(run, wholeOf(ops, belief.settings), ops.length, 'whole')
  scene.disk = [bytes]
  const isOpen = segments.read([{ bytes, index: null }]) !== null
  if (isOpen && ops.some((op) => op < FOREIGN)) {
    notes.leaked = `key.sealed: ${primary} writes [${ops.join()}] in the open`
  }
}

function wholeOf(ops: readonly number[], settings: Settings): Uint8Array {
  const parts = [{ part: PART, bytes: Uint8Array.from(ops) }]
  const snapshot = durable.snapshot(durable.create(), parts)
  const head = { settings, lineage: [], segments: 1, schema: fingerprint(''), types: '' }
  return segments.writeSnapshotSegment({ ...head, index: ops.length, snapshot })
}

// What a hub can make without the key.
function forged(): Uint8Array[] {
  return [wholeOf([FOREIGN], { terms: PLAIN, ...HEAD })]
}

// The next member takes over, whoever it is; or nobody is left.
function go(scope: RoomKeyScope, scene: RoomKeyScene): void {
  const { members, primary } = scene
  scene.left.goes--
  members[primary] = null
  const heir = members.findIndex((one) => one !== null)
  const before: View = { ...NO_VIEW, primary: primary + 1 }
  scene.primary = heir
  for (const [who, belief] of members.entries()) {
    if (belief && who !== heir) follow(scope, scene, who, runOf(who, belief), before)
  }
}

/** How much may happen. */
export interface RoomKeyScope {
  /** How often somebody founds, opens or joins the room. */
  comes: number
  /** Operations, and primaries that go. */
  ops: number
  goes: number
  /** A bug around the rules. */
  bug?: 'terms-believed' | 'any-primary'
}

const SCOPE = { comes: 5, ops: 2, goes: 3 }

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  'room-key': {
    says: 'two with the key, one without, and a hub that lies about terms, segments and who serves',
    scope: { ...SCOPE },
    states: 1_000,
  },
} satisfies Rows<RoomKeyScope>

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS = {
  'unsealed-terms': {
    says: 'who has the key takes the hub’s word that the room has none',
    scope: { ...SCOPE, bug: 'terms-believed' },
    violates: [['key.true', 1]],
  },
  'any-primary': {
    says: 'who has the key keeps what somebody without it made of the room',
    scope: { ...SCOPE, bug: 'any-primary' },
    violates: [['key.true', 6]],
  },
} satisfies Rows<RoomKeyScope>
