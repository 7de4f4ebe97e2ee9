/** The objects of one primary, a good member and a liar, who speak in bytes. */

import { calmPart } from '../calmly.ts'
import type { Charge } from '../../packages/holdfast/src/kind/protocol/part.ts'
import { begin, KIND, plain } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import {
  type ByteWriter,
  createWriter,
  finish,
  writeU16,
  writeU8,
  writeVarint,
} from '../../packages/holdfast/src/wire/bytes.ts'
import {
  type Fields,
  type Quantised,
  schema,
  type Schema,
  text,
  u8,
  vec2,
  writeFields,
} from '../../packages/holdfast/src/wire/fields/schema.ts'

const PLAIN = {
  timed: false,
  take: 'free',
  unanswered: 'refuse',
  onOwnerLeave: 'keep',
  balance: false,
  weight: 1,
  visibility: null,
  eyes: -1,
} as const

function fields(named: object): Schema<Fields> {
  return schema(named as Fields)
}

/** Places of the types. */
export const TYPE = { plain: 0, word: 1, near: 2, eyes: 3, timed: 4 } as const
/** The types of its objects. */
export const TYPES: objects.Types = [
  { ...PLAIN, schema: fields({ n: u8 }) },
  { ...PLAIN, schema: fields({ word: text(8) }), take: 'ask' },
  {
    ...PLAIN,
    schema: fields({ pos: vec2(0, 100, 1) }),
    visibility: { kind: 'near', column: 0, radius: 10 },
  },
  { ...PLAIN, schema: fields({ pos: vec2(0, 100, 1) }), eyes: 0 },
  { ...PLAIN, schema: fields({ n: u8 }), timed: true },
]
const STATES: Quantised[] = [[7], ['hi'], [5, 5], [5, 5], [7]]

export const ME = 1
export const GOOD = 2
export const LIAR = 3

/** How an object stands, as somebody says; what is not given is as of a new one. */
export interface Said {
  creator: number
  count: number
  owner: number
  version?: readonly [epoch: number, grants: number]
  type?: number
  dead?: boolean
  oseq?: number
  state?: readonly (number | string)[]
  /** In eighths of a millisecond. */
  madeAt?: number
}

function write(writer: ByteWriter, said: Said): void {
  const { creator, count, owner, version = [0, 0], type = 0, dead = false, oseq = 1 } = said
  for (const number of [creator, count, ...version, owner]) writeVarint(writer, number)
  writeU8(writer, type | (dead ? 0x80 : 0))
  writeVarint(writer, oseq)
  if (dead) return
  writeVarint(writer, 0)
  const { schema: of, timed } = TYPES[type]!
  writeFields(writer, of, [...(said.state ?? STATES[type]!)], of.all)
  if (timed) writeVarint(writer, said.madeAt ?? 0)
}

/** TELL or UNOWNED. */
export function told(kind: 'tell' | 'unowned', ...all: Said[]): Uint8Array {
  const writer = begin(KIND[kind])
  for (const said of all) write(writer, said)
  return finish(writer)
}

/** REQUEST. */
export function wish(
  creator: number,
  count: number,
  to: number,
  given?: Said,
  version: readonly [number, number] = [0, 0],
  request = 1,
): Uint8Array {
  const writer = begin(KIND.request)
  for (const number of [request, creator, count, ...version]) writeVarint(writer, number)
  writeU8(writer, given ? 1 : 0)
  writeVarint(writer, to)
  writeVarint(writer, 0)
  if (given) write(writer, given)
  return finish(writer)
}

/** A frame with one update, of an object that never changed hands. */
export function update(creator: number, count: number, low: number, n: number): Uint8Array {
  const writer = createWriter()
  for (const number of [count * 8 + 3, TYPE.plain * 2 + 1, creator, 0, 0])
    writeVarint(writer, number)
  writeU16(writer, low)
  writeFields(writer, TYPES[0]!.schema, [n], 1)
  return finish(writer)
}

/** One primary with its objects. */
export class Desk {
  readonly state = objects.create()
  readonly sent: { to: number; bytes: Uint8Array }[] = []
  readonly events: objects.ObjectEvent[] = []
  #now = 1_000
  readonly #part = calmPart(objects.objectsPart(TYPES))
  /** What is charged, and to whom; nobody counts unless a test does. */
  charge: (from: number, what: Charge) => boolean = () => true
  readonly #out = {
    charge: (from: number, what: Charge) => this.charge(from, what),
    send: (to: number, bytes: Uint8Array) => this.sent.push({ to, bytes: bytes.slice() }),
    emit: (event: unknown) => void this.events.push(event as objects.ObjectEvent),
  }

  constructor() {
    this.#part.clock!(this.state, 0)
    this.view(ME, GOOD, LIAR)
    for (const inc of [GOOD, LIAR]) {
      this.#part.linked!(this.state, this.#now, inc)
      this.hear(inc, plain(KIND.follow, 1))
    }
  }

  /** Who is here. */
  view(...incs: number[]): void {
    const members = incs.map((inc) => ({ inc, player: inc }))
    const roles = { session: 'a', me: ME, primary: ME, epoch: 1, mesh: false, left: false }
    this.#part.view!(this.state, this.#now, { ...roles, members }, this.#out)
    this.#flush()
  }

  /** A reliable message comes. */
  hear(from: number, bytes: Uint8Array): void {
    this.#part.receive!(this.state, this.#now, from, bytes, this.#out)
    this.#flush()
  }

  /** A frame comes. */
  read(from: number, bytes: Uint8Array): void {
    this.#part.read!(this.state, this.#now, from, bytes, this.#out)
  }

  /** All that was sent came, and packets leave. */
  exchange(): void {
    for (const peer of [GOOD, LIAR]) {
      this.#part.delivered!(this.state, peer, this.sent.length)
      this.#part.write!(this.state, this.#now, peer, this.#now, createWriter(), 1_200)
    }
  }

  /** Time passes. */
  pass(ms: number): void {
    this.#now += ms
    this.#part.wake!(this.state, this.#now, this.#out)
    this.#flush()
  }

  /** A new object of the primary's own. */
  spawn(type: number): objects.Replica {
    const turn = { objects: this.state, types: TYPES, now: this.#now, out: this.#out }
    const replica = objects.spawn(turn, type, [...STATES[type]!])
    this.#flush()
    return replica
  }

  /** How an object stands here. */
  find(creator: number, count: number): objects.Replica | undefined {
    return this.state.replicas.get(objects.keyOf(creator, count))
  }

  #flush(): void {
    this.#part.flush!(this.state, this.#now, this.#out)
  }
}
