// Goal: who is refused for its types reads which of them to change.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differenceOf } from './difference.ts'

const DOT = 'dot { pos: vec2 0 100 0.1, hue: u8 }'
const POT = 'pot { at: ranged 0 10 1, aim: angle 10 } follow { at: go }'
const GAME = [DOT, POT, 'bump', 'pour']

const DIFFERENCES: readonly [there: string[], first: string][] = [
  [[DOT, 'bump', 'pour'], 'type "pot" is here and not there'],
  [[...GAME, 'lid { on: bool }'], 'type "lid" is there and not here'],
  [
    [DOT, POT.replace('angle 10', 'angle 12'), 'bump', 'pour'],
    'type "pot", field "aim": angle 10 here, angle 12 there',
  ],
  [
    [DOT.replace(', hue: u8', ''), POT, 'bump', 'pour'],
    'type "dot", field "hue": u8 here, none there',
  ],
  [
    [DOT.replace('hue: u8', 'hue: u8, size: u16'), POT, 'bump', 'pour'],
    'type "dot", field "size": none here, u16 there',
  ],
  [
    [DOT, POT.replace(' follow { at: go }', ''), 'bump', 'pour'],
    'type "pot", besides its fields: follow { at: go } here, none there',
  ],
  [
    ['dot { hue: u8, pos: vec2 0 100 0.1 }', POT, 'bump', 'pour'],
    'type "dot": field "pos" stands in another place',
  ],
  [[DOT, POT, 'bump'], 'action "pour" is here and not there'],
  [[...GAME, 'brew'], 'action "brew" is there and not here'],
  [[POT, DOT, 'bump', 'pour'], 'the same types and actions stand in another order'],
  [[], 'type "dot" is here and not there'],
]

for (const [there, first] of DIFFERENCES) {
  test(`the first difference is told: ${first}`, () => {
    expect(differenceOf(GAME.join('\n'), there.join('\n'))).toBe(
      `this build and the session do not fit: ${first}`,
    )
  })
}

test('wire.total: any two texts make a sentence that is not long', () => {
  const words = fc.constantFrom(
    'dot',
    ' { ',
    ' }',
    ': ',
    ', ',
    '\n',
    'u8',
    ' ',
    '{',
    'x'.repeat(400),
  )
  const texts = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 20 }).map((made) => made.join('')),
  )
  fc.assert(
    fc.property(texts, texts, (here, there) => {
      expect(differenceOf(here, there)).toMatch(
        /^this build and the session do not fit: .{1,261}$/s,
      )
    }),
    { numRuns: 2_000 },
  )
})
