// Goal: section 13 of docs/STANDARD.md states every byte of pieces, neither more nor less, and
// what it promises of them holds over all that was sent at a table.
// Method: as standard.test.ts; a table is captured, and what was sent there is spoilt.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { apply, restored } from '../../packages/holdfast/src/pieces/protocol/changes.ts'
import {
  decodeOutcome,
  readBody,
  readNews,
  readOp,
} from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import { create, type PieceTypes } from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { piece, secret } from '../../packages/holdfast/src/pieces/pieces.ts'
import { vec2, u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { readStandard } from './document.ts'
import { spoil } from './draw.ts'
import { has } from './bits.ts'
import { hearers, type Ledger, type Met, readCapture } from './ledger.ts'
import {
  captureTable,
  Card,
  Chip,
  FACES,
  PIECE_TYPES,
  type TableCapture,
} from './pieces-capture.ts'
import { generation, newestIn } from './pieces.ts'
import { inWords } from './reader.ts'
import { type Read, tell, type Value } from './values.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const standard = readStandard(text)
const game = { ...standard, pieceTypes: PIECE_TYPES }
const RULES: PieceTypes = [Card.rules, Chip.rules]
const fields = { at: vec2(0, 100, 0.5), face: secret(u8, () => false) }
const EXAMPLES: PieceTypes = [piece('card', fields).rules]

const PLAYERS: Record<string, number> = { ada: 1, bea: 2, cy: 3, dee: 4 }

/** Whether the code takes those bytes. */
function byCode(types: PieceTypes, what: string, bytes: Uint8Array): boolean {
  const [kind, type] = what.split(' ')
  if (kind === 'PieceOutcome') return decodeOutcome(bytes) !== null
  if (kind === 'Pieces') return readNews(bytes, types) !== null
  if (kind === 'PieceChange') return isTaken(types, bytes)
  const said = readBody(bytes)
  return said !== null && ('free' in said || readOp(types, Number(type), said) !== null)
}

function isTaken(types: PieceTypes, bytes: Uint8Array): boolean {
  const pieces = create()
  if (bytes[0] === 4 || bytes[0] === 5) {
    return restored(types, bytes, pieces.committed.seed) !== null
  }
  Object.assign(pieces.committed, { gen: -1, draws: -1 })
  apply(pieces.committed, types, bytes)
  return pieces.committed.gen !== -1 || pieces.committed.draws !== -1
}

describe('examples', () => {
  const ofPieces = standard.examples.filter(({ what, bytes }) => {
    return what.toLowerCase().startsWith('piece') || (what === 'message' && bytes[0] === 7)
  })
  test.each(ofPieces)('$line is taken by the code as by the document', ({ what, bytes, reads }) => {
    const inner = what === 'message' ? bytes.slice(1) : bytes
    const code = byCode(EXAMPLES, what === 'message' ? 'Pieces' : what, inner)
    expect(code).toBe(reads !== null)
  })
})

describe('a captured table', () => {
  let capture: TableCapture
  let ledger: Ledger
  const met = (what: string): Met[] => ledger.met.get(what) ?? []
  const rowsOf = ({ value }: Met): Read[] => {
    const told = (value['entries'] ?? value['rows']) as Read[]
    return told.flatMap((one) => (one['why'] === 'gone' ? [] : [(one['row'] ?? one) as Read]))
  }

  beforeAll(async () => {
    capture = await captureTable()
    ledger = readCapture(standard, capture.sent, [], PIECE_TYPES)
  }, 60_000)

  test('is read to the last byte, and all that happens to pieces was in it', () => {
    const kinds = ['Pieces', 'PieceOutcome', 'PieceChange'].flatMap((set) =>
      [...standard.sets.get(set)!.values()].map(({ kind }) => `${set} ${kind}`),
    )
    const holds = ['keep', 'grab', 'release', 'wrest', 'loose', 'raised'].map(
      (how) => `update: ${how}`,
    )
    const missing = [...kinds, ...holds].filter((one) => !ledger.counts.has(one))
    // No member of ours asks for nonsense, and nobody's copy was asked for.
    expect(missing).toEqual(['PieceOutcome bogus', 'PieceChange told'])
    const whys = met('Pieces news').flatMap(({ value }) =>
      (value['entries'] as Read[]).map(({ why }) => why),
    )
    const all = ['recorded', 'clamped', 'inapplicable', 'loose', 'table', 'gone']
    expect(new Set(whys)).toEqual(new Set(all))
  })
  test('O11, O15: generations rise, over all pieces, from one entry of the log to the next', () => {
    const all = [...met('PieceChange row'), ...met('PieceChange gone')].sort((a, b) => a.at - b.at)
    const news = all.map(({ value }) => newestIn((value['row'] ?? value) as Read))
    // An entry goes again when nobody knows whether it came.
    const first = [...new Set(news)]
    expect(first.length).toBeGreaterThan(80)
    expect(first).toEqual(first.toSorted((a, b) => a - b))
  })
  test('O22, O30: what was recorded answers an update whose sender had processed all that others did', () => {
    const bodies = met('body update')
    expect(bodies.length).toBeGreaterThan(20)
    for (const { value, node } of met('Pieces news')) {
      for (const { why, seq, row } of value['entries'] as Read[]) {
        // What ada does, who leads, is asked on no wire.
        if (why !== 'recorded' || (row as Read)['by'] === 1) continue
        const { gen, back, id, by } = row as Read & { back: number }
        const asked = bodies.filter(
          (one) =>
            PLAYERS[one.node] === by && one.value['tagged'] === seq && one.value['id'] === id,
        )
        expect([node, asked.length > 0]).toEqual([node, true])
        const newest = Math.max(...asked.map((one) => generation(one.value['tag']!)))
        expect(generation(gen!) - back).toBeLessThanOrEqual(newest)
      }
    }
  })
  test('each update has one outcome, however often it is asked for and answered', () => {
    const asked = new Set(
      met('body update').map(({ node, value }) => `${node} ${tell(value['seq']!)}`),
    )
    const answers = new Map<string, Set<string>>()
    for (const { to, value } of met('outcome that was told')) {
      const key = `${to} ${tell(value['seq']!)}`
      answers.set(key, (answers.get(key) ?? new Set()).add(tell(value)))
    }
    expect([...answers].filter(([, all]) => all.size !== 1)).toEqual([])
    expect([...asked].filter((key) => !answers.has(key))).toEqual([])
    expect(asked.size).toBeGreaterThan(20)
    // In the log it stands once, whatever goes again.
    const logged = new Map<string, Set<string>>()
    for (const { value } of met('Delta operation')) {
      const key = tell([value['player']!, value['seq']!])
      logged.set(key, (logged.get(key) ?? new Set()).add(tell(value)))
    }
    expect([...logged].filter(([, all]) => all.size !== 1)).toEqual([])
  })
  test('O53: a secret is in no row that is told to somebody who may not see it', () => {
    let [shown, hidden] = [0, 0]
    for (const told of [...met('Pieces news'), ...met('Pieces table')]) {
      for (const row of rowsOf(told)) {
        if (row['type'] !== 0) continue
        const { up, hand, face } = row['fields'] as Read
        const may = up === true || hand === PLAYERS[told.to]
        if (may) shown++
        else hidden++
        expect([told.to, face !== undefined]).toEqual([told.to, may])
      }
    }
    expect(shown).toBeGreaterThan(2)
    expect(hidden).toBeGreaterThan(50)
  })
  test('O53: nor are its bits in any datagram to them', () => {
    const to = hearers(standard, capture.sent)
    const holds = (at: number, face: string): boolean => has(capture.sent[at]!.bytes, face)
    const count = (who: string, faces: readonly string[], upTo: number): number =>
      to.filter((one, at) => one === who && at < upTo && faces.some((face) => holds(at, face)))
        .length
    // Cy never holds one, and stands by only after ada died; dee holds the third.
    expect(count('cy', FACES, capture.quiet)).toBe(0)
    expect(to.filter((one) => one === 'cy').length).toBeGreaterThan(100)
    expect(count('dee', [FACES[2]!], capture.quiet)).toBeGreaterThan(0)
    // Bea stands by, and is sent the log.
    for (const face of FACES) expect(count('bea', [face], capture.quiet)).toBeGreaterThan(0)
  })
  test('O26: the row that was told last is the row that is kept, but for what is hidden', () => {
    // As the log has it, and what a new backup is sent of it.
    const kept = new Map<Value, Read>()
    const changes = ['row', 'gone', 'snapshot'].flatMap((kind) => met(`PieceChange ${kind}`))
    for (const { value } of changes.sort((a, b) => a.at - b.at)) {
      if (value['kind'] === 'gone') kept.delete(value['id']!)
      else for (const row of (value['rows'] ?? [value['row']!]) as Read[]) kept.set(row['id']!, row)
    }
    for (const name of capture.left) {
      const told = new Map<Value, Read>()
      for (const one of [...met('Pieces news'), ...met('Pieces table')].sort(
        (a, b) => a.at - b.at,
      )) {
        if (one.to !== name) continue
        for (const row of rowsOf(one)) told.set(row['id']!, row)
        const entries = (one.value['entries'] ?? []) as Read[]
        for (const { why, id } of entries) if (why === 'gone') told.delete(id!)
      }
      // Who leads from then on tells itself on no wire.
      const mine = name === 'bea' ? [] : [...kept.keys()]
      for (const id of mine)
        expect([name, seen(told.get(id)!)]).toEqual([name, seen(kept.get(id)!)])
      if (mine.length > 0) expect(told.size).toBe(14)
    }
  })
  test('bodies, news, outcomes and changes, spoilt, are taken by the code as by the document', () => {
    const random = prng.create('standard pieces')
    const chance = (most: number): number => prng.below(random, most)
    const of = (what: string, type: string): { what: string; bytes: Uint8Array }[] =>
      met(`bytes of ${what}`).map(({ value }) => {
        const kind = type === 'piece' ? `piece ${tell(value['type']!)}` : type
        return { what: kind, bytes: value['bytes'] as Uint8Array }
      })
    const all = [of('body', 'piece'), of('Pieces', 'Pieces'), of('PieceOutcome', 'PieceOutcome')]
    all.push(of('PieceChange', 'PieceChange'))
    let malformed = 0
    for (let round = 0; round < 6_000; round++) {
      const { what, bytes } = prng.pick(random, all[round % all.length]!)
      const spoilt = spoil(bytes, chance)
      const taken = inWords(game, what, spoilt) !== null
      if (!taken) malformed++
      const code = byCode(RULES, what, spoilt)
      if (code !== taken) expect([what, spoilt, code]).toEqual([what, spoilt, taken])
    }
    expect(malformed).toBeGreaterThan(1_000)
    expect(malformed).toBeLessThan(5_500)
  })
})

// Without what a player may not see.
function seen(row: Read): string {
  const { flags: _flags, hidden: _hidden, fields: all, ...rest } = row
  const { face: _face, ...open } = all as Read
  return tell({ ...rest, fields: open })
}
