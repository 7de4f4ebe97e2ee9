// Goal: an error that nobody expected, in the hub's own code, costs the stream that met it.
// Method: the loop around the hub with streams by hand, and a register that throws for one name.
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { expect, test, vi } from 'vitest'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { createMemoryStore } from '../../packages/holdfast/src/drivers/store/memory.ts'
import * as budgets from '../../packages/hub/src/machine/budgets.ts'
import { defaults } from '../../packages/hub/src/machine/limits.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Loop, Store } from '../../packages/holdfast/src/ports.ts'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Caller } from './caller.ts'

/** A loop that stands still. */
const still: Loop = {
  now: () => 0,
  random: (count) => new Uint8Array(count).fill(7),
  soon: (run) => queueMicrotask(run),
  alarm: () => ({ set: () => {}, cancel: () => {} }),
}

function addOf(request: number): ToHub {
  const key = new Uint8Array(32)
  return {
    ...({ kind: 'add', request, game: 'g', room: `room ${request}`, playersMax: 8 } as const),
    ...({
      recovers: false,
      topology: 'star',
      terms: '',
      hosts: false,
      ticket: '',
      fresh: false,
    } as const),
    ...{ hash: new Uint8Array(16), link: key, key },
  }
}

test('a bug of the hub costs the stream that met it, is counted and reported (SE-1)', () => {
  const reports: string[] = []
  const server = new HubServer(still, createMemoryStore(), {
    wall: () => 0,
    curves: toyCurves,
    report: (error, where) => reports.push(`${where}: ${String(error)}`),
  })
  const { rows } = server.hub.registers
  const get = rows.get.bind(rows)
  rows.get = (session) => {
    if (session === 'cursed') throw new Error('a bug')
    return get(session)
  }
  const [one, two] = [new Caller(server), new Caller(server)]
  one.say({ kind: 'get', request: 1, session: 'cursed' })
  expect(one.isClosed).toBe(true)
  expect(reports).toEqual(['stream 1: Error: a bug'])
  expect(server.hub.counters.thrown).toBe(1)
  two.say({ kind: 'get', request: 2, session: 'none' })
  expect(two.isClosed).toBe(false)
  expect(two.heard.at(-1)).toMatchObject({ kind: 'refused', request: 2, why: 'no session none' })
})

test('the key by which a hub signs is made once, however much it signs (SE-10)', async () => {
  // What is due at once is done soon.
  const alarm: Loop['alarm'] = (run) => ({
    set: (at) => void (at <= 0 && queueMicrotask(run)),
    cancel: () => {},
  })
  const loop = { ...still, alarm }
  let made = 0
  const signing = (seed: Uint8Array): ((message: Uint8Array) => Uint8Array) => {
    made++
    return toyCurves.signing(seed)
  }
  const server = new HubServer(loop, createMemoryStore(), {
    wall: () => 0,
    curves: { ...toyCurves, signing },
  })
  const founder = new Caller(server)
  for (let request = 1; request <= 3; request++) {
    founder.say(addOf(request))
  }
  const added = (): FromHub[] => founder.heard.filter(({ kind }) => kind === 'added')
  await vi.waitUntil(() => added().length === 3)
  expect(added().map((answer) => 'leader' in answer && answer.leader !== null)).toEqual([
    ...[true, true, true],
  ])
  expect(made).toBe(1)
})

/** A loop whose alarms go off when a test says so. */
function byHand(): { loop: Loop; turn: () => Promise<void> } {
  const alarms: { at: number; run: () => void }[] = []
  const alarm: Loop['alarm'] = (run) => {
    const own = { at: Infinity, run }
    alarms.push(own)
    return { set: (at) => void (own.at = at), cancel: () => void (own.at = Infinity) }
  }
  const turn = async (): Promise<void> => {
    for (const own of alarms.filter(({ at }) => at <= 0)) {
      own.at = Infinity
      own.run()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { loop: { ...still, alarm }, turn }
}

/** A hub whose store says how much it is given, and takes it or not; one address founds there. */
function founding(answer: HoldfastError | null): {
  founder: Caller
  writes: string[]
  turn: () => Promise<void>
} {
  const { loop, turn } = byHand()
  const writes: string[] = []
  const store: Store = {
    ...{ entries: () => [], blobs: () => {}, close: () => {} },
    get: (_key, done) => queueMicrotask(() => done(null)),
    check: (done) => queueMicrotask(() => done(answer)),
    cas: ({ key }, done) => {
      writes.push(key)
      queueMicrotask(() => done(answer ?? { rev: writes.length }))
    },
  }
  const limits = defaults()
  Object.assign(limits.address, { registrations: { max: 1_000, perSecond: 1 }, rooms: 1_000 })
  Object.assign(limits.stream, { registrations: 1_000 })
  const own = budgets.create(limits)
  const founder = new Caller(
    new HubServer(loop, store, { wall: () => 0, curves: toyCurves, budgets: own }),
  )
  // The seed of the hub's key was written.
  writes.length = 0
  return { founder, writes, turn }
}

test('of 250 rooms that one write made durable a hundred are answered in a turn, and then comes the next write (SE-10)', async () => {
  const { founder, writes, turn } = founding(null)
  const found = async (): Promise<unknown[]> => {
    await turn()
    return [founder.heard.filter(({ kind }) => kind === 'added').length, writes.length]
  }
  for (let request = 1; request <= 250; request++) founder.say(addOf(request))
  expect(await found()).toEqual([100, 250])
  // One more asks between two parts.
  founder.say(addOf(251))
  expect(await found()).toEqual([200, 250])
  expect(await found()).toEqual([251, 251])
})

test('where the disk takes nothing a hundred hear so in a turn, each once (SE-5, SE-10)', async () => {
  const { founder, writes, turn } = founding(new HoldfastError('store', 'the disk is full'))
  for (let request = 1; request <= 150; request++) founder.say(addOf(request))
  const refused = (): number[] => {
    return founder.heard.flatMap((one) => (one.kind === 'refused' ? [one.request] : []))
  }
  await turn()
  expect(refused()).toHaveLength(100)
  await turn()
  expect(refused().toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 150 }, (_none, at) => at + 1),
  )
  expect(writes.length).toBe(150)
  const told = founder.heard.filter(({ kind }) => kind === 'store')
  expect(told).toEqual([{ kind: 'store', answers: false }])
})
