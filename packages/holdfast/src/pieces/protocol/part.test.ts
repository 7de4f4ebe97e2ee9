// Goal: what another build kept is read by its types or refused by a sentence; nothing throws.
// Method: a state by hand, its bytes and its types changed one by one.
import { expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { schema, text, u16, u8 } from '../../wire/fields/schema.ts'
import * as changes from './changes.ts'
import { piecesPart } from './part.ts'
import { create } from './pieces.ts'
import { NOBODY, type PieceRules, type Row } from './state.ts'

const rules = (fields: Parameters<typeof schema>[0]): PieceRules => ({
  ...{ name: 'card', schema: schema(fields), secret: 0, hides: () => 0, decide: null },
  ...{ mustHold: false, kept: null },
})
const OLD = rules({ rank: u8, name: text(8) })
const NEW = rules({ name: text(8), rank: u16 })
const PART = piecesPart([NEW])
const reread = (said: string, bytes: Uint8Array, behind: Uint8Array[]): Uint8Array | string =>
  PART.reread!(said, bytes, behind)
const SAID = 'card { rank: u8, name: text 8 } piece'

const row = (id: number, rank: number): Row => ({
  ...{ id, type: 0, fields: [rank, `card ${id}`], hidden: 0, gen: 7, by: 1, lastClient: 1 },
  ...{ genBefore: 3, byBefore: 2, refused: NOBODY, z: 'a0', zg: 1, heldBy: 2, lastReleased: 1 },
})

function kept(): { bytes: Uint8Array; behind: Uint8Array[] } {
  const pieces = create(Uint8Array.of(1, 2, 3))
  Object.assign(pieces.committed, { rows: new Map([[1, row(1, 5)]]), nextId: 2, gen: 7, draws: 4 })
  const bytes = changes.snapshot(pieces.committed, [OLD])
  const { changes: behind } = changes.encodeEffects(
    [OLD],
    [{ id: 2, row: row(2, 9), why: 'table', seq: 0, reason: '' }],
  )
  return { bytes, behind }
}

test('all of a piece but its fields is as it was, and so is the rest of the state', () => {
  const { bytes, behind } = kept()
  const made = reread(SAID, bytes, behind)
  const committed = changes.restored([NEW], made as Uint8Array, new Uint8Array(0))
  const { rows, nextId, gen, draws, seed } = committed!
  expect([...rows.values()]).toEqual([
    { ...row(1, 0), fields: ['card 1', 5] },
    { ...row(2, 0), fields: ['card 2', 9] },
  ])
  expect([nextId, gen, draws, [...seed]]).toEqual([3, 7, 4, [1, 2, 3]])
})

test('bytes and types of anybody are refused by a sentence', () => {
  const { bytes, behind } = kept()
  const refused = (said: string, from: Uint8Array): void => {
    const made = calmly(() => reread(said, from, behind))
    if (typeof made !== 'string') {
      expect(changes.restored([NEW], made, new Uint8Array(0))).not.toBeNull()
    }
  }
  for (let at = 0; at < bytes.length; at++) {
    for (const other of [0, 1, 127, 255]) {
      const changed = bytes.slice()
      changed[at] = other
      refused(SAID, changed)
    }
    refused(SAID, bytes.slice(0, at))
  }
  for (let at = 0; at < SAID.length; at++) refused(SAID.slice(0, at), bytes)
  expect(reread('card', bytes, [])).toBe('its types of pieces are in no form that this build reads')
  expect(reread(SAID, bytes.slice(1), [])).toBe('its pieces cannot be read by its types')
})
