// Goal: the transitions of the server object, one by one, as the source and our rules have them.
// Method: the shipped session machine, its messages handed over by hand; time stands still.
import { expect, test } from 'vitest'
import type { Register } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as client from '../../packages/holdfast/src/session/client.ts'
import { nextCandidate } from '../../packages/holdfast/src/session/server.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { leadOf, type Session, NO_VIEW } from '../../packages/holdfast/src/session/state.ts'
import * as watch from '../../packages/holdfast/src/session/failure-detector.ts'
import {
  type Effects,
  founder,
  fresh,
  type Input,
  type Process,
  step,
} from '../../proof/models/processes.ts'
import { listening } from './scene.ts'

/** Processes by number; messages between them wait until they are handed over. */
class Cluster {
  readonly processes = new Map<number, Process>()
  readonly waiting: { from: number; to: number; message: Effects['sent'][number]['message'] }[] = []
  readonly asked: Effects['hub'] = []
  readonly told: Effects['told'] = []

  constructor(count: number) {
    const { process, effects } = founder(null)
    this.processes.set(1, process)
    this.#note(1, effects)
    for (let inc = 2; inc <= count; inc++) {
      const member = fresh(inc - 1, null)
      member.session.me = inc
      this.processes.set(inc, member)
      this.give(1, { kind: 'join', asker: inc - 1 })
    }
  }

  session(inc: number): Session {
    return this.processes.get(inc)!.session
  }

  role(inc: number): string {
    return this.session(inc).server.role
  }

  give(inc: number, input: Input): void {
    const { process, effects } = step(this.processes.get(inc)!, input)
    this.processes.set(inc, process)
    this.#note(inc, effects)
  }

  /** Hands over everything, and what that leads to. */
  deliver(): void {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      const { from, to, message } = next
      this.give(to, { kind: 'receive', from, message })
    }
  }

  register(register: Register, ...incs: number[]): void {
    for (const inc of incs) this.give(inc, { kind: 'register', register })
  }

  /** Brings 2 to be the registered backup of 1. */
  backUp(): void {
    this.give(1, { kind: 'offer', peer: 2 })
    this.deliver()
    this.register({ epoch: 2, primary: 1, backup: 2 }, 1)
    this.deliver()
    this.told.length = 0
  }

  #note(from: number, effects: Effects): void {
    for (const { to, message } of effects.sent) this.waiting.push({ from, to, message })
    this.asked.push(...effects.hub)
    this.told.push(...effects.told)
  }
}

const operation: Input = { kind: 'operation', from: 3, seq: 1, id: 7 }
const outcomes = (cluster: Cluster): number =>
  cluster.told.filter((told) => told.kind === 'done').length

test('T11, T13, T15: the founder is active alone, and who joins is on its list, idle', () => {
  const cluster = new Cluster(3)
  expect([1, 2, 3].map((inc) => cluster.role(inc))).toEqual(['alone', 'idle', 'idle'])
  expect([...cluster.session(1).server.published.keys()]).toEqual([1, 2, 3])
})

test('T16, T17, T38: one that is asked takes the state and acks; the register makes it backup', () => {
  const cluster = new Cluster(3)
  cluster.give(1, { kind: 'offer', peer: 2 })
  expect(cluster.waiting.map(({ to, message }) => [to, message.kind])).toEqual([[2, 'snapshot']])
  cluster.deliver()
  expect([cluster.role(1), cluster.role(2)]).toEqual(['adding', 'sync'])
  expect(cluster.asked.at(-1)).toMatchObject({ kind: 'change', why: 'add', expect: 1, backup: 2 })
  cluster.register({ epoch: 2, primary: 1, backup: 2 }, 1)
  cluster.deliver()
  expect([cluster.role(1), cluster.role(2), cluster.role(3)]).toEqual([
    'backedup',
    'backup',
    'idle',
  ])
})

test('T35, T78: every change is acked by the backup, and told to nobody before', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, operation)
  expect(cluster.waiting.map(({ to, message }) => [to, message.kind])).toEqual([[2, 'replicate']])
  expect(outcomes(cluster)).toBe(0)
  cluster.deliver()
  expect(outcomes(cluster)).toBe(1)
  expect(cluster.processes.get(2)!.done).toEqual([7])
})

test('T36: a silent backup is dropped through the register; until then nothing more is told', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, operation)
  cluster.waiting.length = 0
  cluster.give(1, { kind: 'suspect', peer: 2 })
  expect(cluster.role(1)).toBe('dropping')
  expect(outcomes(cluster)).toBe(0)
  cluster.register({ epoch: 3, primary: 1, backup: 0 }, 1)
  expect(cluster.role(1)).toBe('alone')
  expect(outcomes(cluster)).toBe(1)
})

test('T39, T41: a silent primary: its backup asks the register, then tells all that it serves', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(2, { kind: 'suspect', peer: 1 })
  expect(cluster.role(2)).toBe('taking')
  expect(cluster.told).toEqual([])
  cluster.register({ epoch: 3, primary: 2, backup: 0 }, 2)
  expect(cluster.role(2)).toBe('alone')
  expect(cluster.told.at(-1)).toMatchObject({ kind: 'view', members: [2, 3] })
})

test('T77: when both suspect each other the register decides, and the loser steps down', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, operation)
  cluster.waiting.length = 0
  cluster.give(1, { kind: 'suspect', peer: 2 })
  cluster.give(2, { kind: 'suspect', peer: 1 })
  expect([cluster.role(1), cluster.role(2)]).toEqual(['dropping', 'taking'])
  cluster.register({ epoch: 3, primary: 2, backup: 0 }, 1, 2)
  expect([cluster.role(1), cluster.role(2)]).toEqual(['idle', 'alone'])
  expect(outcomes(cluster)).toBe(0)
})

test('T79: a backup that comes back empty takes nothing up in the middle and acks nothing', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  const restarted = fresh(1, null)
  restarted.session.me = 2
  cluster.processes.set(2, restarted)
  cluster.give(1, operation)
  cluster.deliver()
  expect([cluster.role(2), outcomes(cluster)]).toEqual(['idle', 0])
})

test('T80: an operation that comes again after a takeover gets the first outcome, and no second effect', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, operation)
  cluster.deliver()
  cluster.give(2, { kind: 'suspect', peer: 1 })
  cluster.register({ epoch: 3, primary: 2, backup: 0 }, 2)
  cluster.give(2, operation)
  expect(cluster.processes.get(2)!.done).toEqual([7])
  const told = cluster.told.filter((each) => each.kind === 'done')
  expect(told).toHaveLength(2)
  expect(told[1]).toEqual(told[0])
})

test('S-3b: a removed member that is the backup is dropped first, and removed when it is', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, { kind: 'remove', peer: 2 })
  expect(cluster.role(1)).toBe('dropping')
  expect([...cluster.session(1).server.durable.members.keys()]).toEqual([1, 2, 3])
  cluster.register({ epoch: 3, primary: 1, backup: 0 }, 1)
  expect([...cluster.session(1).server.published.keys()]).toEqual([1, 3])
})

/** The hub answers the newest request of the primary: the register stays as it is in that epoch. */
function refuse(cluster: Cluster, epoch: number, age = 0): void {
  const { session } = cluster.processes.get(1)!
  const { server } = session
  const request = 'attempt' in server ? server.attempt.request - age : 0
  const register = { epoch, primary: 1, backup: epoch % 2 === 0 ? 2 : 0 }
  cluster.give(1, { kind: 'refused', request, register })
}

test('N-1: whom the register does not take as backup is removed, and what waited for it is told', () => {
  const cluster = new Cluster(3)
  cluster.give(1, { kind: 'offer', peer: 2 })
  cluster.deliver()
  cluster.give(1, operation)
  cluster.give(1, { kind: 'remove', peer: 2 })
  cluster.told.length = 0
  // An older request was refused: the newest may be under way. Nor is an older register an answer.
  refuse(cluster, 1, 1)
  refuse(cluster, 0)
  expect([cluster.role(1), outcomes(cluster)]).toEqual(['adding', 0])
  refuse(cluster, 1)
  expect([cluster.role(1), outcomes(cluster)]).toEqual(['alone', 1])
  expect([...cluster.session(1).server.published.keys()]).toEqual([1, 3])
  expect(nextCandidate(withWatches(cluster.session(1), []), 5_000)).toBe(3)
})

test('N-1: whom the register does not take as backup is not asked again for two seconds', () => {
  const cluster = new Cluster(2)
  cluster.give(1, { kind: 'offer', peer: 2 })
  cluster.deliver()
  refuse(cluster, 1)
  const session = withWatches(cluster.session(1), [])
  expect([1_999, 2_000].map((now) => nextCandidate(session, now))).toEqual([0, 2])
})

test('N-1: whom the register does not take as primary is dropped, and the primary serves on', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(1, { kind: 'hand-over' })
  cluster.deliver()
  expect(cluster.role(1)).toBe('handing')
  refuse(cluster, 2)
  expect(cluster.role(1)).toBe('dropping')
  expect(cluster.asked.at(-1)).toMatchObject({ kind: 'change', why: 'drop', expect: 2, backup: 0 })
  cluster.give(1, operation)
  cluster.register({ epoch: 3, primary: 1, backup: 0 }, 1)
  expect([cluster.role(1), outcomes(cluster)]).toEqual(['alone', 1])
})

test('the directory is down: nobody takes over, and a primary that is heard again stays', () => {
  const cluster = new Cluster(3)
  cluster.backUp()
  cluster.give(2, { kind: 'hub', up: false })
  cluster.asked.length = 0
  cluster.give(2, { kind: 'suspect', peer: 1 })
  expect([cluster.role(2), cluster.asked]).toEqual(['taking', []])
  cluster.give(2, { kind: 'heard' })
  expect(cluster.role(2)).toBe('backup')
})

function withWatches(session: Session, silent: number[]): Session {
  for (const inc of session.server.published.keys()) {
    if (inc === session.me) continue
    const seen = watch.create(0, 'relay')
    watch.markAlive(seen, silent.includes(inc) ? 0 : 5_000)
    session.detectors.set(inc, seen)
  }
  return session
}

test('T37: the next backup is the next on the list that goes round, not itself, not a silent one', () => {
  const primary = withWatches(new Cluster(5).session(1), [3])
  const chosen: number[] = []
  for (let i = 0; i < 6; i++) {
    chosen.push(nextCandidate(primary, 5_000))
    primary.server.durable.pointer = chosen.at(-1)!
  }
  expect(chosen).toEqual([2, 4, 5, 2, 4, 5])
  leadOf(primary).passedOver.set(4, 9_000)
  primary.server.durable.pointer = 2
  expect(nextCandidate(primary, 5_000)).toBe(5)
})

test('T42, T44: a client goes on asking, and asks the new primary for all that has no outcome', () => {
  const cluster = new Cluster(3)
  const own = cluster.session(3)
  const members = [...cluster.session(1).server.published.values()]
  const { out, sent } = listening()
  client.follow(
    { session: own, now: 0, out },
    { ...NO_VIEW, epoch: 2, mv: 3, primary: 1, backup: 2, members },
    null,
  )
  machine.onLinked({ session: own, now: 0, out }, 1, 'udp')
  own.client.pending.push({ seq: 1, part: 5, body: Uint8Array.of(7), since: 0 })
  const later = { epoch: 3, mv: 4, primary: 2, backup: 0 }
  const next = { ...NO_VIEW, ...later, members: members.slice(1) }
  // A backup is not believed that it leads, unless the hub says or signed so (SE-2).
  machine.receive({ session: own, now: 0, out }, 2, { kind: 'view', view: next })
  expect(own.client.view.primary).toBe(1)
  machine.takeView({ session: own, now: 0, out }, 2, next, true)
  expect(own.client.view.primary).toBe(2)
  expect(sent.at(-1)).toEqual([2, 'operation'])
  machine.receive({ session: own, now: 0, out }, 1, {
    kind: 'done',
    seq: 1,
    outcome: Uint8Array.of(1),
  })
  expect(own.client.pending).toHaveLength(1)
  machine.receive({ session: own, now: 0, out }, 2, { kind: 'standing', index: 0, seqs: [] })
  machine.receive({ session: own, now: 0, out }, 2, {
    kind: 'done',
    seq: 1,
    outcome: Uint8Array.of(1),
  })
  expect(own.client.pending).toHaveLength(0)
})

test('T31: who is silent for ten seconds is removed; what was done for it is kept a while', () => {
  const cluster = new Cluster(3)
  const primary = withWatches(cluster.session(1), [3])
  const { out } = listening()
  machine.wake({ session: primary, now: 10_100, out })
  expect([...primary.server.durable.members.keys()]).toEqual([1, 2])
  expect([...primary.server.durable.players.keys()]).toEqual([1, 2, 3])
})

test('a member whose path is closed is removed at once', () => {
  const primary = withWatches(new Cluster(3).session(1), [])
  machine.onClosed({ session: primary, now: 5_000, out: listening().out }, 3, 'failed')
  expect([...primary.server.published.keys()]).toEqual([1, 2])
})
