// Goal: the rules of membership (S-1 to S-5) and of the log (C-1 to C-5), one by one.
// Method: the shipped verbs, with messages handed over by hand; time is an argument.
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { describe, expect, test } from 'vitest'
import { join, remove } from '../../packages/holdfast/src/session/membership.ts'
import {
  type Join,
  type Joined,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import type { Member } from '../../packages/holdfast/src/replication/layouts.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import { BACKLOG_MAX } from '../../packages/holdfast/src/session/operations.ts'
import * as server from '../../packages/holdfast/src/session/server.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import type { SessionEvent, SessionOut } from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../../packages/holdfast/src/ports.ts'
import {
  digest,
  fingerprint,
  proofOf,
  type Purpose,
} from '../../packages/holdfast/src/wire/digest.ts'
import { TYPES_MAX } from '../../packages/holdfast/src/wire/fields/difference.ts'
import { founder, fresh, type Input, type Process, step } from '../../proof/models/processes.ts'
import { NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import { ackOf, operation, registerOf, silent } from './scene.ts'

/** A primary with three members, and a log. */
class Primary {
  process: Process = founder(null).process
  told: string[] = []
  sent: PeerMessage[] = []

  constructor(backedUp: boolean) {
    for (const asker of [1, 2]) this.give({ kind: 'join', asker })
    if (!backedUp) return
    this.give({ kind: 'offer', peer: 2 })
    this.give(ackOf(1, this.length))
    this.give(registerOf(2, 1, 2))
    this.told.length = 0
    this.sent.length = 0
  }

  get length(): number {
    const { log } = this.process.session.server
    return log.base + log.entries.length
  }

  give(input: Input): void {
    const { process, effects } = step(this.process, input)
    this.process = process
    this.told.push(...effects.told.map((told) => told.kind))
    this.sent.push(...effects.sent.map(({ message }) => message))
  }
}

/** The backup of such a primary. */
class Backup {
  process: Process

  constructor(primary: Primary) {
    const again = new Primary(false)
    again.give({ kind: 'offer', peer: 2 })
    this.process = fresh(1, null)
    this.process.session.me = 2
    this.follow(again)
    this.give(registerOf(2, 1, 2))
    primary.sent.length = 0
  }

  give(input: Input): void {
    this.process = step(this.process, input).process
  }

  follow(primary: Primary): void {
    for (const message of primary.sent) this.give({ kind: 'receive', from: 1, message })
  }
}

const sent: { to: number; message: PeerMessage }[] = []
const events: SessionEvent[] = []
const replies: Joined[] = []
const out: SessionOut = {
  ...silent,
  send: (to, message) => void sent.push({ to, message }),
  emit: (event) => void events.push(event),
  time: () => 0,
  seal: (segment) => segment,
  answer: (_asker, joined) => void replies.push(joined),
}

function viewOf(primary: Primary): { members: Member[] } {
  return { members: [...primary.process.session.server.published.values()] }
}

function secretProof(byte: number, purpose: Purpose): Uint8Array {
  return proofOf(new Uint8Array(16).fill(byte), purpose)
}

/** The wish of a process with a secret of such bytes. */
function wishOf(byte: number, resume: Join['resume'] = null, key: number = byte): Join {
  return {
    version: SESSION_VERSION,
    schema: fingerprint(''),
    name: 'p',
    kind: 'node',
    watches: false,
    addresses: [],
    link: new Uint8Array(KEY_BYTES).fill(byte),
    registerHash: digest(secretProof(byte, 'register')),
    key: new Uint8Array(KEY_BYTES).fill(key),
    ...{ rights: RIGHTS.play, admission: new Uint8Array(SIGNATURE_BYTES) },
    resume,
    signature: new Uint8Array(SIGNATURE_BYTES),
  }
}

describe('membership', () => {
  test('S-1: nobody hears of a change of members before the backup has it', () => {
    const primary = new Primary(true)
    primary.give({ kind: 'remove', peer: 3 })
    expect(primary.told).toEqual([])
    primary.give(ackOf(2, primary.length))
    expect(primary.told).toEqual(['view'])
  })

  test('S-2: a change that does not follow on what is known asks for the full view', () => {
    const { session } = fresh(1, null)
    session.me = 2
    const { members } = viewOf(new Primary(false))
    client.follow(
      { session, now: 0, out },
      { ...NO_VIEW, epoch: 1, mv: 3, primary: 1, backup: 0, members },
      null,
    )
    sent.length = 0
    const change = { kind: 'change', epoch: 1, add: null, remove: 3, why: 'left' } as const
    client.takeChange({ session, now: 0, out }, 1, { ...change, mv: 5 })
    expect(sent).toEqual([{ to: 1, message: { kind: 'resync' } }])
    client.takeChange({ session, now: 0, out }, 1, { ...change, mv: 4 })
    expect(session.client.view.members.map(({ inc }) => inc)).toEqual([1, 2])
  })

  test('S-4: a member without its primary says so after three seconds, and takes it back', () => {
    const { session } = fresh(1, null)
    session.me = 2
    const { members } = viewOf(new Primary(false))
    client.follow(
      { session, now: 0, out },
      { ...NO_VIEW, epoch: 1, mv: 3, primary: 1, backup: 0, members },
      null,
    )
    session.detectors.set(1, watch.create(0, 'udp'))
    const lost = (now: number): boolean => {
      client.wake({ session, now, out })
      return session.client.lost
    }
    expect([lost(2_999), lost(3_000)]).toEqual([false, true])
    machine.markAlive({ session, now: 3_100, out }, 1)
    expect(lost(3_101)).toBe(false)
  })

  test('who has other types is told ours, and if they are too long only that they differ', () => {
    const { session } = new Primary(false).process
    const answer = (types: string): Joined => {
      session.types = types
      replies.length = 0
      join({ session, now: 0, out }, 9, { ...wishOf(70), schema: 1 })
      return replies[0]!
    }
    expect(answer('dot { hue: u8 }')).toEqual({ kind: 'unfit', types: 'dot { hue: u8 }' })
    expect(answer('é'.repeat(TYPES_MAX / 2)).kind).toBe('unfit')
    expect(answer('é'.repeat(TYPES_MAX / 2 + 1))).toMatchObject({ kind: 'denied', code: 'schema' })
  })

  test('S-4: who comes back and lost our answer asks again, and is still the same player', () => {
    const { session } = new Primary(false).process
    join({ session, now: 0, out }, 9, wishOf(70))
    const player = session.server.durable.nextInc - 1
    const resume = { player, inc: player, settled: 0 }
    for (let times = 0; times < 3; times++)
      join({ session, now: 0, out }, 9, wishOf(71, resume, 70))
    const { members } = session.server.durable
    expect([...members.values()].at(-1)).toMatchObject({ inc: player + 1, player })
    expect(members.size).toBe(4)
    remove({ session, now: 0, out }, player + 1, 'timeout')
    join({ session, now: 0, out }, 9, wishOf(71, resume, 70))
    expect([...members.values()].at(-1)).toMatchObject({ inc: player + 2, player })
  })

  test('S-5: of two that are one player the newest wins, and the older is told', () => {
    const { session } = new Primary(false).process
    join({ session, now: 0, out }, 9, wishOf(70))
    const player = session.server.durable.nextInc - 1
    join({ session, now: 0, out }, 10, wishOf(71, { player, inc: 0, settled: 0 }, 70))
    const incs = (): number[] => [...session.server.durable.members.keys()]
    expect(incs()).toEqual([1, 2, 3, player + 1])
    replies.length = 0
    join({ session, now: 0, out }, 9, wishOf(72, { player, inc: player, settled: 0 }, 70))
    expect(replies.map((reply) => reply.kind === 'denied' && reply.code)).toEqual(['elsewhere'])
    expect(incs()).toEqual([1, 2, 3, player + 1])
    remove({ session, now: 0, out }, player + 1, 'left')
    join({ session, now: 0, out }, 9, wishOf(72, { player, inc: player, settled: 0 }, 70))
    expect([...session.server.durable.members.values()].at(-1)).toMatchObject({ player })
  })

  test('S-5: with another key one is somebody new', () => {
    const { session } = new Primary(false).process
    join({ session, now: 0, out }, 9, wishOf(70, { player: 2, inc: 0, settled: 0 }))
    const { members } = session.server.durable
    expect([...members.values()].map(({ player }) => player)).toEqual([1, 2, 3, 4])
  })

  test('S-5: what was done for a player who went is kept for a minute, then forgotten', () => {
    const primary = new Primary(false)
    primary.give({ kind: 'remove', peer: 3 })
    const { session } = primary.process
    const keeps = (now: number): boolean => {
      for (const inc of [2, 3]) session.detectors.set(inc, watch.create(now, 'udp'))
      server.wake({ session, now, out })
      return session.server.durable.players.has(3)
    }
    expect([keeps(1_000), keeps(60_999), keeps(61_500)]).toEqual([true, true, false])
  })
})

describe('the log', () => {
  test('C-1: an ack of another epoch says nothing of this one', () => {
    const primary = new Primary(true)
    primary.give(operation(1))
    primary.give(ackOf(1, primary.length))
    primary.give(ackOf(3, primary.length))
    expect(primary.told).toEqual([])
    primary.give(ackOf(2, primary.length))
    expect(primary.told).toEqual(['done'])
  })

  test('C-2: alone it is told at once; from the change that adds a backup on it waits', () => {
    const primary = new Primary(false)
    primary.give(operation(1))
    expect(primary.told.at(-1)).toBe('done')
    primary.give({ kind: 'offer', peer: 2 })
    primary.give(ackOf(1, primary.length))
    primary.told.length = 0
    primary.give(operation(2))
    expect([primary.process.session.server.role, primary.told]).toEqual(['adding', []])
  })

  test('C-3: a snapshot holds what was done and its numbers', () => {
    const primary = new Primary(false)
    primary.give(operation(1))
    primary.give({ kind: 'offer', peer: 2 })
    const backup = fresh(1, null)
    backup.session.me = 2
    const snapshot = primary.sent.find((message) => message.kind === 'snapshot')!
    const { process } = step(backup, { kind: 'receive', from: 1, message: snapshot })
    expect(process.done).toEqual([1])
    expect(process.session.server.durable).toEqual(primary.process.session.server.durable)
  })

  test('C-2: while a backup is being dropped nothing more is told; then all of it at once', () => {
    const primary = new Primary(true)
    primary.give(operation(1))
    primary.give({ kind: 'suspect', peer: 2 })
    expect(primary.told).toEqual([])
    primary.give(registerOf(3, 1, 0))
    expect(primary.told).toContain('done')
  })

  test('C-4: who takes over counts all that is in its log as told, removals too', () => {
    const primary = new Primary(true)
    const backup = new Backup(primary)
    primary.give({ kind: 'remove', peer: 3 })
    primary.give(operation(1))
    backup.follow(primary)
    backup.give({ kind: 'suspect', peer: 1 })
    backup.give(registerOf(3, 2, 0))
    const { server: own } = backup.process.session
    expect([...own.published.keys()]).toEqual([2])
    expect([own.publishedMv, backup.process.done]).toEqual([own.durable.mv, [1]])
    expect([own.log.held.length, own.role]).toEqual([0, 'alone'])
  })

  test('C-5: with four megabytes that the backup lacks, operations stay with their clients', () => {
    const primary = new Primary(true)
    primary.process.session.server.log.bytes = BACKLOG_MAX + 1
    const before = primary.length
    primary.give(operation(1))
    expect(primary.length).toBe(before)
  })
})

describe('deadlines', () => {
  test('a clock that has expired by any rounding is seen to have', () => {
    const hub = { up: true, since: 0 }
    for (let i = 0; i < 10_000; i++) {
      const seen = watch.create(i / 7 + 0.1, 'udp')
      watch.suspects(seen, hub, watch.deadline(seen, hub))
      expect(watch.suspects(seen, hub, watch.deadline(seen, hub))).toBe(true)
    }
  })

  test('a second look is off while the hub is out of reach', () => {
    const seen = watch.create(0, 'relay')
    expect(watch.suspects(seen, { up: true, since: 0 }, 5_000)).toBe(false)
    const away = { up: false, since: 0 }
    expect(watch.suspects(seen, away, 5_002)).toBe(false)
    expect(watch.deadline(seen, away)).toBe(Infinity)
  })

  test('a candidate asks a hub that is down for nothing', () => {
    const { session } = fresh(1, null)
    session.me = 2
    session.server.role = 'sync'
    session.hub.up = false
    expect(server.deadline(session)).toBe(Infinity)
  })

  test('T42: whom the register names is asked for a link, also if our view is older', () => {
    const { session } = fresh(1, null)
    session.me = 2
    const { members } = viewOf(new Primary(false))
    client.follow(
      { session, now: 0, out },
      { ...NO_VIEW, epoch: 1, mv: 3, primary: 1, backup: 0, members },
      null,
    )
    machine.receiveFromHub({ session, now: 0, out }, register(2, 7))
    expect(machine.wanted(session)).toEqual([1, 7])
  })
})

function register(epoch: number, primary: number) {
  return {
    kind: 'register',
    request: 0,
    session: 's',
    ok: true,
    register: { epoch, primary, backup: 0 },
    leader: null,
  } as const
}
