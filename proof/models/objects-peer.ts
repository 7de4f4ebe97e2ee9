/**
 * One member of the objects' model: the shipped part, and what it sends in answer to one input.
 * A function of state and input, so that each pair is computed once (cells.ts).
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import type { PartOut, PartView } from '../../packages/holdfast/src/kind/protocol/part.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type {
  Objects,
  ObjectsRules,
  TakePolicy,
  TypeRules,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { clone } from '../../packages/sim/src/checker/clone.ts'
import { createWriter, finish } from '../../packages/holdfast/src/wire/bytes.ts'
import { quantise, schema, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'

const fields = schema({ one: u8, other: u8 })

/** The only type: two numbers. Whoever `hides` says may not see it while `one` is odd. */
export function typesOf(hides: PeerId, take: TakePolicy = 'free'): readonly TypeRules[] {
  return [
    {
      schema: fields,
      timed: false,
      take,
      unanswered: 'refuse',
      onOwnerLeave: 'keep',
      balance: false,
      weight: 1,
      visibility:
        hides === 0
          ? null
          : {
              kind: 'rule',
              sees:
                ([one]) =>
                (viewer) =>
                  viewer !== hides || Number(one) % 2 === 0,
            },
      eyes: -1,
    },
  ]
}

/** What a member may be told or do. */
export type Input =
  | { kind: 'view'; view: PartView }
  | { kind: 'linked'; peer: PeerId }
  | { kind: 'message'; from: PeerId; bytes: Uint8Array }
  | { kind: 'frame'; from: PeerId; bytes: Uint8Array }
  /** The oldest message that told that peer something has come. */
  | { kind: 'delivered'; peer: PeerId }
  | { kind: 'acked' | 'lost'; peer: PeerId; seq: number }
  | { kind: 'create' }
  | { kind: 'write'; field: number }
  | { kind: 'destroy' }
  /** As primary: grants it to that member. */
  | { kind: 'grant'; to: PeerId }
  /** Asks for it; gives it away; answers who asked for it. */
  | { kind: 'take' }
  | { kind: 'give'; to: PeerId }
  | { kind: 'reply'; yes: boolean }

/** What an input led to. */
export interface Effects {
  messages: { to: PeerId; bytes: Uint8Array }[]
  frames: { to: PeerId; seq: number; bytes: Uint8Array }[]
  /** Versions about which it had asked, and was told that it is granted. */
  granted: string[]
}

/** A member that is nowhere yet. */
export function fresh(rules: ObjectsRules): Objects {
  return objects.create(undefined, rules)
}

/** The only object, as that member knows it. */
export function thing(state: Objects): objects.Replica | null {
  return [...state.replicas.values()][0] ?? null
}

/**
 * Takes an input.
 *
 * @param nextSeq  number of the next packet; 0 for the first that is free
 * @returns the state after it, and what leaves
 */
export function step(
  before: Objects,
  input: Input,
  types: readonly TypeRules[],
  nextSeq: number,
): { state: Objects; effects: Effects } {
  const state = clone(before)
  const part = objects.objectsPart(types)
  const effects: Effects = { messages: [], frames: [], granted: [] }
  const out = outOf(before, state, effects)
  const turn = { objects: state, types, now: 0, out }
  take(part, turn, input)
  part.flush!(state, 0, out)
  for (const [to, subscriber] of state.subscribers) {
    const writer = createWriter()
    const seq = nextSeq || freeSeq(subscriber.carried)
    if (!part.write!(state, 0, to, seq, writer, 1_000)) continue
    effects.frames.push({ to, seq, bytes: finish(writer) })
  }
  normalise(state)
  return { state, effects }
}

function take(
  part: ReturnType<typeof objects.objectsPart>,
  turn: objects.Context,
  input: Input,
): void {
  const { objects: state, out } = turn
  switch (input.kind) {
    case 'view':
      return part.view!(state, 0, input.view, out)
    case 'linked':
      return part.linked!(state, 0, input.peer)
    case 'message':
      return part.receive!(state, 0, input.from, input.bytes, out)
    case 'frame':
      return part.read!(state, 0, input.from, input.bytes, out)
    case 'delivered': {
      const first = state.subscribers.get(input.peer)?.awaited[0]
      return first && part.delivered!(state, input.peer, first.message)
    }
    case 'acked':
    case 'lost':
      return part[input.kind]!(state, input.peer, input.seq)
    default:
      return act(turn, input)
  }
}

type Act = Extract<
  Input,
  { kind: 'create' | 'write' | 'destroy' | 'grant' | 'take' | 'give' | 'reply' }
>

function act(turn: objects.Context, input: Act): void {
  const { objects: state } = turn
  const own = thing(state)
  switch (input.kind) {
    case 'create':
      return void objects.spawn(turn, 0, quantise(fields, { one: 0, other: 0 }))
    case 'write': {
      own!.fields[input.field] = Number(own!.fields[input.field]) + 1
      return void objects.set(state, turn.types, 0, own!, 1 << input.field)
    }
    case 'destroy':
      return objects.destroy(turn, own!)
    case 'grant':
      return objects.give(turn, own!, input.to)
    case 'take':
      return void objects.request(turn, own!, 'take', state.me)
    case 'give':
      return void objects.request(turn, own!, 'give', input.to)
    case 'reply': {
      const [[key, asking]] = [...state.incomingAsks] as [[number, objects.IncomingAsk]]
      return objects.reply(turn, key, asking, input.yes)
    }
  }
}

function outOf(before: Objects, state: Objects, effects: Effects): PartOut {
  return {
    send: (to, bytes) => {
      const subscriber = state.subscribers.get(to)
      if (!subscriber?.linked) return 0
      effects.messages.push({ to, bytes })
      return (subscriber.awaited.at(-1)?.message ?? 0) + 1
    },
    emit: (event) => {
      const told = event as objects.ObjectEvent
      if (told.kind !== 'object-answer' || told.answer !== 'granted') return
      const asked = before.requests.get(told.request)
      if (asked?.what === 'take')
        effects.granted.push(`${asked.version.epoch}.${asked.version.count}`)
    },
  }
}

const TELL = 1

/** Whether the sender of a message hears when it has come. */
export function isTold(input: Input): boolean {
  return input.kind === 'message' && input.bytes[0] === TELL
}

function freeSeq(carried: ReadonlyMap<number, unknown>): number {
  let seq = 1
  while (carried.has(seq)) seq++
  return seq
}

// What tells states apart that will do the same is taken out: there is only one object.
function normalise(state: Objects): void {
  const own = thing(state)
  const serial = own?.serial ?? 0
  const renew = (told: number[]): number[] =>
    told.map((n, i) => (i % 3 === 1 ? +(n === serial) : n))
  for (const subscriber of state.subscribers.values()) {
    subscriber.awaited = subscriber.awaited.map(({ entries }, at) => ({
      message: at + 1,
      entries: renew(entries),
    }))
    for (const [seq, runs] of subscriber.carried) {
      const said = renew(runs.flatMap((run) => run.said.slice(run.from, run.to)))
      subscriber.carried.set(seq, [{ said, from: 0, to: said.length }])
    }
    subscriber.since.fill(0)
    subscriber.todo = subscriber.todo.filter((slot) => subscriber.queued[slot] === 1)
    if (state.mesh && !objects.leads(state)) subscriber.follows = false
  }
  if (own) {
    own.serial = 1
    state.serials[own.index] = 1
    own.receivedUnder = own.receivedUnder === state.followCount ? 0 : -1
    own.written = null
  }
  state.nextSerial = 2
  state.followCount = 0
  state.dirty.clear()
  state.changesWaiting = false
  if (own?.dead) own.fields = own.changedAt = []
  state.counters = { malformed: 0, stale: 0, ignored: 0, ahead: 0, full: 0 }
}
