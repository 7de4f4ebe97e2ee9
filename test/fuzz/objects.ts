/**
 * What a liar says of objects: updates and messages that can be read, of objects that there are and
 * that there are not, with numbers at the edges of what they may be; half of them spoilt.
 */

import {
  below,
  chance,
  fill,
  pick,
  type Prng,
  word,
} from '../../packages/holdfast/src/faults/prng.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  COUNT_MAX,
  type Replica,
  type Types,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import {
  type ByteWriter,
  createWriter,
  finish,
  writeU16,
  writeU8,
  writeVarint,
} from '../../packages/holdfast/src/wire/bytes.ts'
import { type Quantised, writeFields } from '../../packages/holdfast/src/wire/fields/schema.ts'

/** What a liar knows of the objects of its victims. */
export interface KnownObjects {
  types: Types
  /** Those that it was told of. */
  replicas: readonly Replica[]
  me: number
  /** Members, and numbers that nobody has. */
  members: readonly number[]
  epoch: number
}

/** The highest in four bytes. */
const OSEQ_MAX = 2 ** 32 - 1
const OSEQS = [0, 1, 65_535, 65_536, 2 ** 31, OSEQ_MAX - 1, OSEQ_MAX]
const INSTANTS = [0, 1, 2 ** 31, 2 ** 50 - 1, 2 ** 53 - 1]
const COUNTS = [0, 1, 2, 1_000, COUNT_MAX, 2 ** 53 - 2, 2 ** 53 - 1]

interface Named {
  creator: number
  count: number
  version: { epoch: number; count: number }
  type: number
  oseq: number
}

// One that stands, mostly as it stands; one of the liar's own making; or nobody's.
function named(chaos: Prng, known: KnownObjects): Named {
  const { replicas, me, members, types } = known
  const type = below(chaos, types.length)
  const way = below(chaos, 4)
  if (way === 0 || replicas.length === 0) {
    const version = chance(chaos, 0.7) ? { epoch: 0, count: 0 } : anyVersion(chaos, known)
    return { creator: me, count: 1 + below(chaos, 40), version, type, oseq: anyOseq(chaos, 1) }
  }
  if (way === 1) {
    const count = pick(chaos, [1, 2, 77, COUNT_MAX])
    return {
      creator: pick(chaos, members),
      count,
      version: anyVersion(chaos, known),
      type,
      oseq: 1,
    }
  }
  const { creator, count, version, oseq, type: its } = pick(chaos, replicas)
  return {
    creator,
    count,
    version: chance(chaos, 0.5) ? version : anyVersion(chaos, known),
    type: chance(chaos, 0.8) ? its : type,
    oseq: anyOseq(chaos, oseq),
  }
}

function anyOseq(chaos: Prng, near: number): number {
  const oseq = chance(chaos, 0.6) ? near + below(chaos, 4) : pick(chaos, OSEQS)
  return Math.min(oseq, OSEQ_MAX)
}

function anyVersion(chaos: Prng, { epoch }: KnownObjects): Named['version'] {
  const epochs = [0, epoch - 1, epoch, epoch + 1, 2 ** 21 - 1, 2 ** 53 - 1]
  return { epoch: Math.max(0, pick(chaos, epochs)), count: pick(chaos, COUNTS) }
}

// As somebody's of that type are, with other numbers where that is easy.
function anyFields(chaos: Prng, { types, replicas }: KnownObjects, type: number): Quantised {
  const alike = replicas.filter((replica) => replica.type === type && !replica.dead)
  if (alike.length > 0 && chance(chaos, 0.3)) return pick(chaos, alike).fields
  return types[type]!.schema.columns.flatMap(({ field }): Quantised => {
    if (field.kind === 'text' || field.kind === 'bytes') return [pick(chaos, ['', 'x', 'lie'])]
    return Array.from({ length: field.size }, () => below(chaos, 2))
  })
}

function writeName(writer: ByteWriter, { creator, count, version }: Named): void {
  for (const part of [creator, count, version.epoch, version.count]) writeVarint(writer, part)
}

function writeEntry(chaos: Prng, writer: ByteWriter, known: KnownObjects, name: Named): void {
  const { types, members, me } = known
  const dead = chance(chaos, 0.2)
  writeName(writer, name)
  writeVarint(writer, chance(chaos, 0.6) ? me : pick(chaos, members))
  writeU8(writer, chance(chaos, 0.97) ? name.type | (dead ? 0x80 : 0) : word(chaos) & 0xff)
  writeVarint(writer, name.oseq)
  if (dead) return
  writeVarint(writer, chance(chaos, 0.7) ? 0 : pick(chaos, members))
  const { schema, timed } = types[name.type]!
  writeFields(writer, schema, anyFields(chaos, known, name.type), schema.all)
  if (timed) writeVarint(writer, pick(chaos, INSTANTS))
}

/** A reliable message of objects, with its channel. */
export function objectMessage(chaos: Prng, known: KnownObjects): Uint8Array {
  const writer = createWriter()
  const kind = 1 + below(chaos, KIND.refuse)
  writeU8(writer, 4)
  writeU8(writer, kind)
  writeRest(chaos, writer, known, kind)
  return spoilt(chaos, finish(writer), 1)
}

function writeRest(chaos: Prng, writer: ByteWriter, known: KnownObjects, kind: number): void {
  const name = named(chaos, known)
  const someone = pick(chaos, known.members)
  switch (kind) {
    case KIND.tell:
    case KIND.unowned:
      for (let entries = below(chaos, 4); entries > 0; entries--) {
        writeEntry(chaos, writer, known, named(chaos, known))
      }
      return
    case KIND.hide:
      for (let names = below(chaos, 4); names > 0; names--) writeName(writer, named(chaos, known))
      return
    case KIND.follow:
      return writeVarint(writer, pick(chaos, [0, known.epoch, known.epoch + 1, 2 ** 53 - 1]))
    case KIND.resync:
      return writeVarint(writer, pick(chaos, [0, known.epoch, 2 ** 53 - 1]))
    case KIND.request: {
      const gives = chance(chaos, 0.5)
      writeVarint(writer, pick(chaos, [0, 1, 2 ** 53 - 1]))
      writeName(writer, name)
      writeU8(writer, gives ? 1 : 0)
      writeVarint(writer, chance(chaos, 0.6) ? known.me : someone)
      return gives ? writeEntry(chaos, writer, known, name) : undefined
    }
    case KIND.ask:
    case KIND.decline:
      writeName(writer, name)
      return writeVarint(writer, someone)
    case KIND.grant: {
      const { epoch, count } = anyVersion(chaos, known)
      writeVarint(writer, epoch)
      writeVarint(writer, count)
      return writeEntry(chaos, writer, known, name)
    }
    default:
      writeVarint(writer, pick(chaos, [0, 1, 2, 3]))
      writeVarint(writer, below(chaos, 2))
  }
}

/** A frame of updates. */
export function objectFrame(chaos: Prng, known: KnownObjects): Uint8Array {
  const writer = createWriter()
  let before = 0
  for (let updates = 1 + below(chaos, 3); updates > 0; updates--) {
    const name = named(chaos, known)
    const step = name.count - before
    before = name.count
    const { schema, timed } = known.types[name.type]!
    const hasMoment = chance(chaos, 0.75)
    writeVarint(writer, (step < 0 ? -step * 2 - 1 : step * 2) * 4 + 2 + (hasMoment ? 1 : 0))
    writeU8(writer, name.type * 2 + 1)
    writeVarint(writer, name.creator)
    writeVarint(writer, name.version.epoch)
    writeVarint(writer, name.version.count)
    if (hasMoment) writeU16(writer, name.oseq % 65_536)
    if (hasMoment && timed) writeInstant(chaos, writer)
    const mask = 1 + below(chaos, schema.all)
    writeFields(writer, schema, anyFields(chaos, known, name.type), mask)
  }
  return spoilt(chaos, finish(writer), 0)
}

function writeInstant(chaos: Prng, writer: ByteWriter): void {
  const ages = chance(chaos, 0.5) ? [] : Array.from({ length: below(chaos, 5) }, () => 80_000)
  const step = pick(chaos, [0, 2, 2_000_000, 2 ** 51, 2 ** 53 - 3])
  writeVarint(writer, step + (ages.length > 0 ? 1 : 0))
  if (ages.length > 0) for (const part of [ages.length, ...ages]) writeVarint(writer, part)
}

// Half of them go as they are; of the others all but the first bytes may be anything.
function spoilt(chaos: Prng, bytes: Uint8Array, from: number): Uint8Array {
  if (chance(chaos, 0.5) || bytes.length <= from) return bytes
  const tail = bytes.subarray(from)
  if (chance(chaos, 0.3)) return bytes.slice(0, from + below(chaos, tail.length))
  if (chance(chaos, 0.1)) fill(chaos, tail)
  else tail[below(chaos, tail.length)] = word(chaos) & 0xff
  return bytes
}
