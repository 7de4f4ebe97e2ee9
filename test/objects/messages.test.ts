// Goal: an entry is never longer than what is reckoned with when a message is filled (B21).
// Method: one object whose every number is as long as a member may say it.
import { expect, test } from 'vitest'
import {
  BATCH_BYTES,
  ENTRY_OVERHEAD,
  readEntry,
  writeEntry,
} from '../../packages/holdfast/src/objects/protocol/messages.ts'
import { createReader, createWriter, finish } from '../../packages/holdfast/src/wire/bytes.ts'
import { rules } from './cluster.ts'

const MEMBER_MAX = 2 ** 20 - 1
const NUMBER_MAX = 2 ** 32 - 1

test('an entry is as long as its fields and the overhead at most, and is read again (PR-2)', () => {
  const types = [rules({ timed: true })]
  const longest = {
    creator: MEMBER_MAX,
    count: NUMBER_MAX,
    version: { epoch: NUMBER_MAX, count: NUMBER_MAX },
    owner: MEMBER_MAX,
    type: 0,
    dead: false,
    oseq: 2 ** 31,
    former: MEMBER_MAX,
    fields: [255, 255],
    madeAt: 2 ** 48 / 8,
  }
  const writer = createWriter()
  writeEntry(writer, types, longest)
  const bytes = finish(writer)
  const reader = createReader(bytes)
  expect(readEntry(reader, types)).toMatchObject(longest)
  expect(reader.failed).toBe(false)
  expect(bytes.length).toBeLessThanOrEqual(types[0]!.schema.bytesMax + ENTRY_OVERHEAD)
  // Of what is small many fit one message.
  expect(BATCH_BYTES / ENTRY_OVERHEAD).toBeGreaterThan(10)
})
