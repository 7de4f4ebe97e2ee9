/**
 * Persists objects of types with `kept`, which outlive the members of a room. They are in no log:
 * the primary has the newest state of each, and writes those that changed since the last write.
 *
 *     whole    an entry for each object, as in TELL, with types numbered among the kept
 *     changes  the same for each changed object; a tombstone for each destroyed one
 *
 * The member that opens the room owns all; players who return in time get theirs back (unowned.ts).
 */

import { createReader, createWriter, finish, isDone, reset } from '../../wire/bytes.ts'
import { converted, placeOf, typesOf } from '../../wire/fields/converting.ts'
import { install } from './accept.ts'
import { giveBack } from './unowned.ts'
import { readEntry, writeEntry } from './messages.ts'
import {
  leads,
  type Objects,
  place,
  type Replica,
  type ObjectEntry,
  type SharedState,
  type Context,
  type TypeRules,
  type Types,
  after,
  FIRST,
} from './state.ts'

/** A run of changes ends beyond this size; one more entry fits the body of a change. */
const RUN_BYTES: number = 8 * 1024

type KeptType = TypeRules & { readonly kept: NonNullable<TypeRules['kept']> }

/** The types that are kept; their order numbers them on disk. */
function keptTypes(types: Types): readonly KeptType[] {
  return types.filter((type): type is KeptType => (type.kept ?? null) !== null)
}

/** Encodes all objects to store. Changes no state. */
function wholeOf(objects: Objects, types: Types): Uint8Array {
  const writer = createWriter(1_024)
  const kept = keptTypes(types)
  for (const replica of living(objects, types)) {
    writeEntry(writer, kept, entryOf(objects, types, kept, replica))
  }
  return finish(writer)
}

/** Encodes the objects that changed or were destroyed since the last call. */
function changesOf(objects: Objects, types: Types): Uint8Array[] {
  const { kept: state } = objects
  const runs: Uint8Array[] = []
  const writer = createWriter(256)
  const cut = (least: number): void => {
    if (writer.length <= least) return
    runs.push(finish(writer))
    reset(writer)
  }
  const kept = keptTypes(types)
  const gone = new Map(state.written)
  for (const replica of living(objects, types)) {
    gone.delete(replica.key)
    const { version, oseq } = replica
    const now = [version.epoch, version.count, oseq, playerOf(objects, replica)].join()
    if (state.written.get(replica.key) === now) continue
    state.written.set(replica.key, now)
    writeEntry(writer, kept, entryOf(objects, types, kept, replica))
    cut(RUN_BYTES)
  }
  for (const key of gone.keys()) {
    state.written.delete(key)
    writeEntry(writer, kept, tombstone(key))
    cut(RUN_BYTES)
  }
  state.hasChanges = false
  cut(0)
  return runs
}

function* living({ replicas }: Objects, types: Types): Iterable<Replica> {
  for (const replica of replicas.values()) {
    // We do not have the state of hidden objects.
    if (!replica.dead && !replica.hidden && types[replica.type]!.kept) yield replica
  }
}

function entryOf(
  objects: Objects,
  types: Types,
  kept: readonly KeptType[],
  replica: Replica,
): SharedState {
  const type = kept.indexOf(types[replica.type] as KeptType)
  return { ...replica, type, former: playerOf(objects, replica) }
}

// The player who owns the object, in any incarnation.
function playerOf({ here }: Objects, { owner, former }: Replica): number {
  return former || (here.get(owner) ?? 0)
}

function tombstone(key: number): SharedState {
  const [creator, count] = [Math.floor(key / 2 ** 32), key % 2 ** 32]
  const none = { version: FIRST, owner: 0, type: 0, oseq: 0, former: 0, fields: [], madeAt: NaN }
  return { creator, count, dead: true, ...none }
}

/** Reads stored objects: the whole, then the changes; null if they are malformed. */
function read(kept: Types, all: readonly Uint8Array[]): Map<number, ObjectEntry> | null {
  const found = new Map<number, ObjectEntry>()
  for (const bytes of all) {
    const reader = createReader(bytes)
    while (!reader.failed && reader.at < reader.end) {
      const entry = readEntry(reader, kept)
      if (entry.dead) found.delete(entry.key)
      else found.set(entry.key, entry)
    }
    if (!isDone(reader)) return null
  }
  return found
}

/** The room is opened: reads its objects, which are created once we lead. */
function find(objects: Objects, types: Types, all: readonly Uint8Array[]): void {
  const kept = keptTypes(types)
  const entries = read(kept, all) ?? new Map<number, ObjectEntry>()
  objects.kept.found = Array.from(entries.values(), (one) => {
    return { ...one, type: types.indexOf(kept[one.type]!) }
  })
}

/** We lead the room that we opened: we own its objects, and give present players theirs. */
function restore(ctx: Context): void {
  const { objects } = ctx
  const { found } = objects.kept
  if (found.length === 0 || !leads(objects)) return
  objects.kept.found = []
  for (const entry of found) {
    const { key, creator, count, type } = entry
    if (objects.replicas.has(key)) continue
    const version = after(entry.version, objects.epoch)
    const replica = place(objects, creator, count, type)
    install(ctx, replica, { ...entry, version, owner: objects.me })
    // A member with our number may have made objects of the saved room, in another session.
    if (creator === objects.me) objects.nextCount = Math.max(objects.nextCount, count + 1)
  }
  giveBack(ctx)
}

/** Converts objects stored by another build. @returns the new bytes, or why it cannot */
function reread(
  types: Types,
  lines: string,
  bytes: Uint8Array,
  behind: readonly Uint8Array[],
): Uint8Array | string {
  const theirs = typesOf(lines)
  if (!theirs) return 'its types of objects are in no form that this build reads'
  const rules = theirs.map((one) => ({
    ...PLAIN,
    schema: one.schema,
    timed: one.rest.startsWith('timed '),
  }))
  const entries = read(rules, [bytes, ...behind])
  if (!entries) return 'its objects cannot be read by its types'
  const kept = keptTypes(types)
  const ours = kept.map(({ kept: { name, migration }, schema }) => {
    return { name, schema, secret: 0, kept: migration }
  })
  const writer = createWriter(1_024)
  try {
    for (const one of entries.values()) {
      const from = theirs[one.type]!
      const type = placeOf(ours, from)
      const { fields } = converted(ours[type]!, from, { fields: one.fields, hidden: 0 })
      writeEntry(writer, kept, { ...one, type, fields })
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return finish(writer)
}

const PLAIN = {
  take: 'fixed',
  unanswered: 'refuse',
  onOwnerLeave: 'keep',
  balance: false,
  weight: 1,
  visibility: null,
  eyes: -1,
} as const

/** Persists objects; games without kept types do not load it. */
export const keeper = { wholeOf, changesOf, find, bringBack: restore, reread }

export type Keeper = typeof keeper
