// Goal: section 14 of docs/STANDARD.md states every byte of slots, and what it says of marks and
// of what is malformed is what the code does.
// Method: as standard.test.ts; frames of a member of three, whole and spoilt.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import * as events from '../../packages/holdfast/src/slots/protocol/events.ts'
import { readFrame } from '../../packages/holdfast/src/slots/protocol/frames.ts'
import { createReader } from '../../packages/holdfast/src/wire/bytes.ts'
import { readStandard } from './document.ts'
import { spoil } from './draw.ts'
import { inWords } from './reader.ts'
import { markOf } from './slots.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const standard = readStandard(text)
const examples = standard.examples.filter(({ what }) => what === 'slots')

function byCode(bytes: Uint8Array): boolean {
  return readFrame(createReader(bytes), 200_400, { inc: 3, player: 3 }, 10) !== null
}

describe('frames of slots', () => {
  test('the examples are taken by the code as by the document', () => {
    expect(examples.length).toBeGreaterThan(6)
    for (const { bytes } of examples) {
      expect(byCode(bytes)).toBe(inWords(standard, 'slots', bytes) !== null)
    }
  })

  test('spoilt ones too', () => {
    const random = prng.create('standard slots')
    const chance = (most: number): number => prng.below(random, most)
    let malformed = 0
    for (let round = 0; round < 20_000; round++) {
      const bytes = spoil(prng.pick(random, examples).bytes, chance)
      const read = inWords(standard, 'slots', bytes)
      if (read === null) malformed++
      expect([bytes, byCode(bytes)]).toEqual([bytes, read !== null])
    }
    expect(malformed).toBeGreaterThan(1_000)
  })

  test('the mark of an event is as the document makes it', () => {
    const random = prng.create(4)
    for (let round = 0; round < 200; round++) {
      const [inc, id, slot, gone] = [24, 28, 31, 8].map((bits) => prng.below(random, 2 ** bits))
      const body = new Uint8Array(prng.below(random, 20))
      prng.fill(random, body)
      const event = { inc: inc!, id: id!, slot: slot!, gone: gone!, body }
      expect(events.markOf(event)).toBe(markOf([inc!, id!, slot!, gone!], body))
    }
  })
})
