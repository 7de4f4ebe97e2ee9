/**
 * Who comes in, and who serves, in every order of a small scope: the shipped rules of admission and
 * the shipped register, with two hosts, a player with an invitation for one, and a liar that has
 * several keys, knows the invitation, and names any key that it has seen.
 *
 * Handshakes, links and views are not in it: a process joins if whoever leads finds its admission
 * signed and its key proved, and is listed then. Judged is the truth about tickets, which the
 * scope knows and the hub reads.
 */

import { type Millis, type PeerId, RIGHTS } from '../../packages/holdfast/src/machine.ts'
import * as admission from '../../packages/hub/src/machine/admission.ts'
import type { ToHub, ChangeReason } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { readRecord, writeRecord } from '../../packages/hub/src/machine/records.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import type { Registers, Row } from '../../packages/hub/src/machine/register.ts'
import type { Claims } from '../../packages/holdfast/src/hub-protocol/tickets.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import type { Action, Model } from '../../packages/sim/src/checker/checker.ts'
import type { Rows } from './rows.ts'

const ID = 's'
const [FIRST, SECOND, PLAYER, LIAR, OTHER] = [1, 2, 3, 4, 5] as const
/** The processes, and whose keys each has. A process has links of its own. */
const KEYS: Readonly<Record<number, readonly number[]>> = {
  [FIRST]: [FIRST],
  [SECOND]: [SECOND],
  [PLAYER]: [PLAYER],
  [LIAR]: [LIAR, OTHER],
}
/** Who the application made a host, by key. */
const HOSTS: readonly number[] = [FIRST, SECOND]
type Ticket = 'first' | 'second' | 'invitation' | ''

/** A process that the hub let in, not necessarily as whom it is. */
interface Admitted {
  process: number
  key: number
  rights: number
}

/** Everything at one instant. */
export interface RightsScene {
  now: Millis
  directory: Registers
  /** What the hub signed, and what it will once the disk has it. */
  admitted: Admitted[]
  waits: Admitted[]
  /** Members by number: which process, as which player. */
  members: { process: number; key: number }[]
  /** The record on disk; null for none. */
  disk: Uint8Array | null
  left: { admissions: number; changes: number; restarts: number; silences: number }
  notes: { founded: boolean; recovered: boolean; heir: boolean; refused: boolean; back: boolean }
}

/** The model of that scope. */
export function rightsModel(name: string, scope: RightsScope): Model<RightsScene> {
  return {
    name,
    init: () => begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'rights.serves': serves,
      'rights.once': once,
      'rights.member': members,
    },
    sometimes: {
      founded: ({ notes }) => notes.founded,
      'a host is heir': ({ notes }) => notes.heir,
      'a host recovers': ({ notes }) => notes.recovered,
      'the liar is refused': ({ notes }) => notes.refused,
      'a player comes back without its ticket': ({ notes }) => notes.back,
    },
  }
}

// Primary and backup are hosts, by what the application signed.
function serves({ directory, members: all }: RightsScene): true | string {
  const row = register.find(directory, ID)
  if (!row) return true
  for (const inc of [row.entry.register.primary, row.entry.register.backup]) {
    const key = all[inc - 1]?.key
    if (inc !== 0 && !HOSTS.includes(key!)) return `rights.serves: member ${inc}, of key ${key}`
  }
  return true
}

// The invitation is for one player.
function once({ members: all }: RightsScene): true | string {
  const invited = new Set(all.map(({ key }) => key).filter((key) => !HOSTS.includes(key)))
  return invited.size <= 1 || `rights.once: ${[...invited].join(' and ')} came by one invitation`
}

// Whoever is in has the key as which it is in, and the hub let that key in.
function members({ members: all, admitted }: RightsScene): true | string {
  for (const { process, key } of all) {
    const has = admitted.some((one) => one.process === process && one.key === key)
    if (!has || !KEYS[process]!.includes(key)) return `rights.member: ${process} is in as ${key}`
  }
  return true
}

function begin({ admissions, changes, restarts, silences }: RightsScope): RightsScene {
  return {
    now: 0,
    directory: register.create(0),
    ...{ admitted: [], waits: [], members: [], disk: null },
    left: { admissions, changes, restarts, silences },
    notes: { founded: false, recovered: false, heir: false, refused: false, back: false },
  }
}

function* actions(scope: RightsScope, scene: RightsScene): Iterable<Action<RightsScene>> {
  const { left, directory } = scene
  const row = register.find(directory, ID)
  if (left.admissions > 0 && !row?.pending) {
    for (const [process, key, ticket] of asks()) {
      const label = `${process} asks as ${key}${ticket && `, with the ticket ${ticket}`}`
      yield { label, next: (copy) => ask(scope, copy, { process, key, ticket }) }
    }
  }
  for (const one of scene.admitted) {
    if (isIn(scene, one) || !row || row.pending) continue
    yield { label: `${one.process} joins as ${one.key}`, next: (copy) => join(scope, copy, one) }
  }
  if (row?.pending || scene.waits.length > 0) yield { label: 'the disk has it', next: keep }
  if (left.restarts > 0 && !row?.pending)
    yield { label: 'the hub starts anew', environment: true, next: restart }
  if (left.silences > 0 && row)
    yield { label: 'the primary is silent', environment: true, next: pass }
  if (left.changes > 0 && row && !row.pending) yield* changes(scope, scene, row)
}

// Hosts and the player as themselves; the liar as anybody. All show what they have.
function* asks(): Iterable<[process: number, key: number, ticket: Ticket]> {
  yield [FIRST, FIRST, 'first']
  yield [SECOND, SECOND, 'second']
  for (const ticket of ['invitation', ''] as const) {
    yield [PLAYER, PLAYER, ticket]
    for (const key of [LIAR, OTHER, FIRST, PLAYER]) yield [LIAR, key, ticket]
  }
}

function claimsOf(scope: RightsScope, ticket: Ticket): Claims | null {
  if (ticket === '') return null
  const rights = ticket === 'invitation' ? RIGHTS.play : RIGHTS.play | RIGHTS.host
  const uses = scope.bug === 'used-twice' ? Infinity : 1
  return { game: 'g', room: 'r', key: null, rights, id: ticket, uses }
}

function ask(
  scope: RightsScope,
  scene: RightsScene,
  { process, key, ticket }: { process: number; key: number; ticket: Ticket },
): void {
  const { directory, now, notes, admitted } = scene
  scene.left.admissions--
  const wish = wishOf(process, key)
  const row = register.find(directory, ID)
  const hub = { tickets: { closed: null } } as Parameters<typeof admission.decide>[0]
  const entrance = admission.decide(hub, row, wish, claimsOf(scope, ticket))
  if ('refused' in entrance) return void (notes.refused ||= process === LIAR)
  notes.back ||= ticket === '' && process === PLAYER
  if (row) {
    admission.enroll(row, wish.key, entrance)
    const waits = scope.bug !== 'told-before-the-disk' && admission.mustWait(row, wish.key)
    ;(waits ? scene.waits : admitted).push({ process, key, rights: entrance.rights })
  } else if ((entrance.rights & RIGHTS.host) !== 0) {
    const made = register.add(directory, now, { ...wish, hosts: true }, ID, QUIET)
    admission.enroll(made, wish.key, entrance)
    Object.assign(scene, { admitted: [{ process, key, rights: entrance.rights }] })
    scene.members = [{ process, key }]
  }
}

const QUIET = { send: () => {}, record: () => {} }

function wishOf(process: number, key: number): ToHub & { kind: 'add' } {
  return {
    ...({ kind: 'add', request: 1, game: 'g', room: 'r', playersMax: 8, recovers: true } as const),
    ...({ topology: 'star', terms: '', hosts: true, ticket: '', fresh: false } as const),
    ...{ hash: HASHES[process]!, link: bytesOf(process), key: bytesOf(0x80 + key) },
  }
}

// By process; a digest costs more than a step.
const PROOFS = [0, 1, 2, 3, 4].map((process) =>
  proofOf(new Uint8Array(16).fill(process), 'register'),
)
const HASHES = PROOFS.map((proof) => digest(proof))
const bytesOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

function isIn({ members: all }: RightsScene, { process, key }: Admitted): boolean {
  return all.some((one) => one.process === process && one.key === key)
}

// Whoever leads checks what the hub signed, and that the key is its own.
function join({ bug }: RightsScope, scene: RightsScene, { process, key }: Admitted): void {
  if (bug !== 'unproved' && !KEYS[process]!.includes(key)) return
  scene.members.push({ process, key })
  list(scene)
}

function list({ directory, members: all }: RightsScene): void {
  const { primary } = register.find(directory, ID)!.entry.register
  const listed = all.map(({ process, key }, at) => {
    const { hash, link, key: player } = wishOf(process, key)
    return { inc: at + 1, player: at + 1, hash, link, key: player }
  })
  const list = { members: listed, players: listed.length }
  register.setMembers(directory, ID, primary, list, QUIET)
  for (const { inc } of listed) register.setPresent(directory, 0, ID, inc, true)
}

function* changes(
  scope: RightsScope,
  { members: all }: RightsScene,
  row: Row,
): Iterable<Action<RightsScene>> {
  const { primary, backup } = row.entry.register
  for (const [at] of all.entries()) {
    const inc = at + 1
    for (const other of all.keys()) {
      if (inc === primary) yield changed(scope, 'add', inc, [inc, other + 1])
    }
    yield changed(scope, 'takeover', inc, [inc, 0])
    yield changed(scope, 'recover', inc, [inc, 0])
    if (inc === primary && backup !== 0) yield changed(scope, 'handover', inc, [backup, 0])
  }
}

function changed(
  scope: RightsScope,
  why: ChangeReason,
  inc: PeerId,
  [primary, backup]: readonly [PeerId, PeerId],
): Action<RightsScene> {
  return {
    label: `${inc} asks for ${why} of ${primary} and ${backup}`,
    next: (scene) => {
      const { directory, now, notes } = scene
      scene.left.changes--
      const row = register.find(directory, ID)!
      const expect = row.entry.register.epoch
      const { process } = scene.members[inc - 1]!
      const demand = { session: ID, inc, proof: PROOFS[process]!, expect, primary, backup, why }
      // A right that counts as one comes in, and not where roles change.
      if (scope.bug === 'join-alone') row.hosts = false
      const isDone = register.change(directory, now, demand, QUIET)
      if (scope.bug === 'join-alone') row.hosts = true
      if (!isDone) return
      notes.heir ||= why === 'handover'
      notes.recovered ||= why === 'recover'
    },
  }
}

function keep(scene: RightsScene): void {
  const isPending = register.find(scene.directory, ID)!.pending !== null
  scene.disk = writeRecord(register.recordOf(scene.directory, ID)!)
  register.confirmWrite(scene.directory, scene.now, ID)
  scene.admitted.push(...scene.waits.splice(0))
  scene.notes.founded = true
  if (isPending) list(scene)
}

// What is not on disk is lost; the list of members comes anew from whoever leads.
function restart(scene: RightsScene): void {
  scene.left.restarts--
  scene.waits = []
  scene.directory = register.create(scene.now)
  if (scene.disk) register.restore(scene.directory, scene.now, readRecord(scene.disk)!)
  else Object.assign(scene, { members: [], admitted: [] })
  if (scene.disk) list(scene)
}

function pass(scene: RightsScene): void {
  scene.left.silences--
  scene.now += register.RECOVER_MS + 1
}

/** How much may happen. */
export interface RightsScope {
  /** Requests to come in. */
  admissions: number
  /** Requests for a change of roles. */
  changes: number
  /** Starts of the hub, and times in which no primary says yes to it. */
  restarts: number
  silences: number
  /** A bug around the rules. */
  bug?: 'join-alone' | 'used-twice' | 'unproved' | 'told-before-the-disk'
}

/** Scopes that hold, and how many states they have. */
export const SCOPES = {
  rights: {
    says: 'two hosts, one who is invited, and a liar with many keys, who all ask for everything',
    scope: { admissions: 3, changes: 3, restarts: 0, silences: 1 },
    states: 90_000,
  },
  'rights-restart': {
    says: 'the same, and a hub that starts anew',
    scope: { admissions: 3, changes: 2, restarts: 1, silences: 1 },
    states: 82_000,
  },
} satisfies Rows<RightsScope>

/** Mutants, and after how many steps which claim breaks. */
export const MUTANTS = {
  'rights-at-join-alone': {
    says: 'rights count as one comes in, and not where roles change',
    scope: { ...SCOPES['rights'].scope, bug: 'join-alone' },
    violates: [['rights.serves', 7]],
  },
  'invitation-used-twice': {
    says: 'an invitation lets in whoever has it',
    scope: { ...SCOPES['rights'].scope, bug: 'used-twice' },
    violates: [['rights.once', 7]],
  },
  'key-unproved': {
    says: 'whoever leads takes the hub’s word for whose key it is',
    scope: { ...SCOPES['rights'].scope, bug: 'unproved' },
    violates: [['rights.member', 4]],
  },
  'told-before-the-disk': {
    says: 'who comes in by an invitation is told so before the disk has it',
    scope: { ...SCOPES['rights-restart'].scope, bug: 'told-before-the-disk' },
    violates: [['rights.once', 7]],
  },
} satisfies Rows<RightsScope>
