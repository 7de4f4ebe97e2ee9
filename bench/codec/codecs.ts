/** Each codec with the things of the bench, where they are encoded and where they are decoded. */

import * as wire from '../../packages/holdfast/src/wire/bytes.ts'
import * as schema from '../../packages/holdfast/src/wire/fields/schema.ts'
import { peer } from '../processes/peers.ts'

/** The numbers of all things at one tick. */
export interface Tick {
  x: number[]
  y: number[]
  turn: number[]
}

/** One codec. */
export interface Codec {
  readonly name: string
  /** Sets the application's own things, where they are no part of the codec. */
  prepare?(tick: Tick): void
  /** Encodes what is new. The bytes may be used until the next call. */
  encode(tick: Tick): Uint8Array
  /** Takes it into the other side. */
  decode(bytes: Uint8Array): void
  /** What the other side holds of a thing. */
  decoded(thing: number): readonly [x: number, y: number, turn: number]
}

/** As much of the peers as is called. */
interface Peers {
  Encoder: (new (state: ColyseusState) => {
    encodeAll(): Uint8Array
    encode(): Uint8Array
    discardChanges(): void
  }) & { BUFFER_SIZE: number }
  Decoder: new (state: ColyseusState) => { decode(bytes: Uint8Array): void }
  t: { float32(): object; map(of: object): object }
  schema<Made>(fields: object, name: string): new () => Made
  Packr: new (options: object) => {
    pack(value: unknown): Uint8Array
    unpack(bytes: Uint8Array): unknown
  }
}

interface Thing {
  x: number
  y: number
  turn: number
}

interface ColyseusState {
  things: Map<string, Thing>
}

function setAll(things: readonly Thing[], { x, y, turn }: Tick): void {
  for (let i = 0; i < things.length; i++) {
    const thing = things[i]!
    thing.x = x[i]!
    thing.y = y[i]!
    thing.turn = turn[i]!
  }
}

/** The peers of the bench, with so many things. */
export async function others(count: number): Promise<Codec[]> {
  const peers = await peer<Peers>('codec')
  return [colyseus(peers, count), msgpackr(peers, count)]
}

/** Ours: the numbers of objects and their changed fields, one after the other. */
export function holdfast(count: number): Codec {
  metAllKinds()
  const place = schema.ranged(-200, 2_000, 0.01)
  const type = schema.schema({ x: place, y: place, turn: schema.angle(12) })
  const start = (): schema.Quantised => schema.quantise(type, schema.initialState(type))
  const things = Array.from({ length: count }, (): Thing => ({ x: 0, y: 0, turn: 0 }))
  const here = things.map(start)
  const there = things.map(start)
  const writer = wire.createWriter(2 ** 16)
  return {
    name: 'holdfast',
    prepare: (tick) => setAll(things, tick),
    encode: () => {
      wire.reset(writer)
      for (let i = 0; i < count; i++) {
        const mask = schema.quantiseInto(type, things[i]!, here[i]!)
        if (mask === 0) continue
        wire.writeVarint(writer, i)
        schema.writeFields(writer, type, here[i]!, mask)
      }
      return writer.bytes.subarray(0, writer.length)
    },
    decode: (bytes) => {
      const reader = wire.createReader(bytes)
      while (reader.at < reader.end)
        schema.readFields(reader, type, there[wire.readVarint(reader)]!)
      if (reader.failed) throw new Error('holdfast: malformed')
    },
    decoded: (i) => {
      const { x, y, turn } = schema.valueOf(type, there[i]!)
      return [x, y, turn]
    },
  }
}

// A game has fields of many kinds, and code that has met but one runs faster than it would there.
function metAllKinds(): void {
  const { angle, bool, bytes, quaternion, ranged, text, u8, vec2, vec3 } = schema
  const solid = { a: vec2(0, 9, 0.1), b: vec3(0, 9, 0.1), c: angle(8), d: quaternion(9) }
  const type = schema.schema({
    ...solid,
    e: ranged(0, 1, 0.1),
    f: bool,
    g: u8,
    h: text(9),
    i: bytes(9),
  })
  const state = schema.initialState(type)
  const into = schema.quantise(type, state)
  for (let n = 0; n < 10_000; n++) {
    const mask = schema.quantiseInto(type, { ...state, c: n, h: String(n), g: n % 256 }, into)
    const writer = wire.createWriter()
    schema.writeFields(writer, type, into, mask | 1)
    schema.readFields(wire.createReader(wire.finish(writer)), type, into)
  }
}

function colyseus(peers: Peers, count: number): Codec {
  const { Encoder, Decoder, t } = peers
  Encoder.BUFFER_SIZE = 2 ** 20
  const fields = { x: t.float32(), y: t.float32(), turn: t.float32() }
  const Entity = peers.schema<Thing>(fields, 'Thing')
  const State = peers.schema<ColyseusState>({ things: t.map(Entity) }, 'State')
  const [here, there] = [new State(), new State()]
  for (let i = 0; i < count; i++) {
    here.things.set(String(i), Object.assign(new Entity(), { x: 0, y: 0, turn: 0 }))
  }
  const things = [...here.things.values()]
  const encoder = new Encoder(here)
  const decoder = new Decoder(there)
  decoder.decode(encoder.encodeAll().slice())
  encoder.discardChanges()
  return {
    name: '@colyseus/schema',
    encode: (tick) => {
      // Its things find out here what changed.
      setAll(things, tick)
      const bytes = encoder.encode()
      encoder.discardChanges()
      return bytes
    },
    decode: (bytes) => decoder.decode(bytes),
    decoded: (i) => {
      const { x, y, turn } = there.things.get(String(i))!
      return [x, y, turn]
    },
  }
}

function msgpackr({ Packr }: Peers, count: number): Codec {
  const packr = new Packr({ structures: [], useFloat32: 1 })
  const things = Array.from({ length: count }, (_, id) => ({ id, x: 0, y: 0, turn: 0 }))
  let there: Thing[] = []
  return {
    name: 'msgpackr, records',
    prepare: (tick) => setAll(things, tick),
    encode: () => packr.pack(things),
    decode: (bytes) => {
      there = packr.unpack(bytes) as Thing[]
    },
    decoded: (i) => {
      const { x, y, turn } = there[i]!
      return [x, y, turn]
    },
  }
}
