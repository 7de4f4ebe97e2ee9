// Goal: what members and hub say and keep of a room that outlives its members is as the document
// has it.
// Method: a reader of the document alone reads what the shipped members sent.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TYPES } from './capture.ts'
import { readStandard } from './document.ts'
import { captureKept } from './kept-capture.ts'
import { type Ledger, readCapture } from './ledger.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')

function values({ met }: Ledger, what: string): Record<string, unknown>[] {
  return (met.get(what) ?? []).map(({ value }) => value)
}

test('a room that is kept, and opened again, is read to the last byte', async () => {
  const ledger = readCapture(readStandard(text), await captureKept('30d'), TYPES)
  const kept = values(ledger, 'ToHub keep')
  expect(kept.map(({ acks }) => acks)).not.toContain('free')
  expect(kept.filter(({ from }) => from === null)).toHaveLength(2)
  const answers = values(ledger, 'FromHub kept')
  expect(answers.map(({ why }) => why)).toEqual(kept.map(() => ''))
  expect(answers.map(({ number }) => number)).toEqual(kept.map(({ number }) => number))
  const opened = values(ledger, 'FromHub added').map((one) => one['opened'])
  expect(opened).toMatchObject([null, { inc: 2, segments: 5 }])
  const segments = values(ledger, 'FromHub segment')
  expect(segments.map(({ piece, of }) => `${String(piece)} of ${String(of)}`)).toEqual(
    Array.from({ length: 5 }, () => '0 of 1'),
  )
  const [first, ...rest] = values(ledger, 'record Whole')
  expect(first).toMatchObject({ index: 1 })
  expect(rest).toHaveLength(1)
  expect(values(ledger, 'record Entries').length).toBeGreaterThanOrEqual(2)
  // Objects that are kept go in as they change: entries of kind 9, none of the log's.
  const entries = values(ledger, 'record Entries').flatMap(
    ({ entries: all }) => all as Uint8Array[],
  )
  const changes = entries.filter(([kind]) => kind === 9)
  expect(changes.map(([, count, part]) => [count, part])).toEqual([
    [1, 4],
    [1, 4],
  ])
  const rooms = values(ledger, 'record Stored').map(({ stored }) => stored as { until: number })
  expect(rooms.map((room) => room && room.until === 0)).toContain(false)
})

test('of a room with a key the hub has segments that say their place alone', async () => {
  const sent = await captureKept({ key: '5a'.repeat(32) })
  const plain = sent.filter(({ way }) => way === 'disk')
  expect(plain.some(({ bytes }) => Buffer.from(bytes).includes('bump {'))).toBe(false)
  const ledger = readCapture(readStandard(text), sent, TYPES)
  expect(values(ledger, 'record Sealed').map(({ index }) => index)).toEqual([1, 2, 3, 3, 3, 5])
  const terms = values(ledger, 'ToHub add').map((one) => one['terms'])
  expect(terms[0]).toMatch(/;sealed=[0-9a-f]{12}$/)
})
