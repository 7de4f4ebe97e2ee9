// Goal: who is refused for its types reads which of them to change.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { calmly } from '../../../../../test/calmly.ts'
import { differenceOf } from './difference.ts'

const RULES = 'take fixed, onOwnerLeave destroy'
const DOT = `dot { pos: vec2 0 100 0.1, hue: u8 } ${RULES}`
const POT = `pot { at: ranged 0 10 1, aim: angle 10 } follow { at: go } ${RULES}`
const DEAL = 'deal { count: u8, to: text 20 } -> bool'
const ROLL = 'roll() { sides: u8 }'
const GAME = [DOT, POT, 'bump', 'pour']
const CARDS = [DEAL, 'pass', ROLL, 'ask()']

const DIFFERENCES: readonly [there: string[], first: string][] = [
  [[DOT, 'bump', 'pour'], 'type "pot" is here and not there'],
  [[...GAME, `lid { on: bool } ${RULES}`], 'type "lid" is there and not here'],
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
    `type "pot", besides its fields: follow { at: go } ${RULES} here, ${RULES} there`,
  ],
  [
    [`dot { hue: u8, pos: vec2 0 100 0.1 } ${RULES}`, POT, 'bump', 'pour'],
    'type "dot": field "pos" stands in another place',
  ],
  [[DOT, POT, 'bump'], 'action "pour" is here and not there'],
  [[...GAME, 'brew'], 'action "brew" is there and not here'],
  [[POT, DOT, 'bump', 'pour'], 'the same types and actions stand in another order'],
  [[], 'type "dot" is here and not there'],
]

for (const [there, first] of DIFFERENCES) {
  test(`the first difference is told: ${first}`, () => {
    expect(calmly(() => differenceOf(GAME.join('\n'), there.join('\n')))).toBe(
      `this build and the session do not fit: ${first}`,
    )
  })
}

const OF_ARGUMENTS: readonly [there: string[], first: string][] = [
  [
    [DEAL.replace('u8', 'u16'), 'pass', ROLL, 'ask()'],
    'action "deal", field "count": u8 here, u16 there',
  ],
  [['deal', 'pass', ROLL, 'ask()'], 'action "deal", field "count": u8 here, none there'],
  [
    ['deal { to: text 20, count: u8 } -> bool', 'pass', ROLL, 'ask()'],
    'action "deal": field "count" stands in another place',
  ],
  [
    [DEAL.replace('bool', 'u8'), 'pass', ROLL, 'ask()'],
    'action "deal", its answer: bool here, u8 there',
  ],
  [
    [DEAL.replace(' -> bool', ''), 'pass', ROLL, 'ask()'],
    'action "deal", its answer: bool here, none there',
  ],
  [[DEAL, 'pass { on: bool }', ROLL, 'ask()'], 'action "pass", field "on": none here, bool there'],
  [['pass', ROLL, 'ask()'], 'action "deal" is here and not there'],
  [[DEAL, 'pass', 'roll()', 'ask()'], 'procedure "roll", field "sides": u8 here, none there'],
  [[DEAL, 'pass', `${ROLL} -> u8`, 'ask()'], 'procedure "roll", its answer: none here, u8 there'],
  [[DEAL, 'pass', 'ask()'], 'procedure "roll" is here and not there'],
]

for (const [there, first] of OF_ARGUMENTS) {
  test(`the first difference of arguments is told: ${first} (AP-3)`, () => {
    expect(differenceOf(CARDS.join('\n'), there.join('\n'))).toBe(
      `this build and the session do not fit: ${first}`,
    )
  })
}

test.each([
  ['pour }', 'action "pour }" is here and not there'],
  ['pour { a: u8', 'action "pour { a: u8" is here and not there'],
  ['} pour { a', 'action "} pour { a" is here and not there'],
  [' { a: u8 } rest', 'type "" is here and not there'],
  ['roll() }', 'action "roll() }" is here and not there'],
])('a line of no known form is the name of an action: %s (PR-2)', (line, first) => {
  expect(differenceOf(line, '')).toBe(`this build and the session do not fit: ${first}`)
})

test('a field without a kind has its whole text for a name (PR-2)', () => {
  const of = (field: string): string => `dot { ${field} } rest`
  const sentence = 'this build and the session do not fit: type "dot", field'
  expect(differenceOf(of('hue'), of('hut'))).toBe(`${sentence} "hue": none here, none there`)
  expect(differenceOf(of(': u8'), of(': u16'))).toBe(`${sentence} "": u8 here, u16 there`)
})

test('wire.total: any two texts make a sentence that is not long', () => {
  const words = fc.constantFrom(
    'dot',
    ' { ',
    ' }',
    ': ',
    ', ',
    '\n',
    'u8',
    ' -> ',
    '()',
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
      expect(calmly(() => differenceOf(here, there))).toMatch(
        /^this build and the session do not fit: .{1,261}$/s,
      )
    }),
    { numRuns: 2_000 },
  )
})
