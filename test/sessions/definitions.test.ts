// Goal: what cannot be is refused by a sentence, where it is defined or given.
// Method: definitions as a game makes them, and `join` in virtual time.
import { describe, expect, test } from 'vitest'
import * as browser from '../../packages/holdfast/src/browser.ts'
import {
  action,
  angle,
  bool,
  bytes,
  type Fields,
  HoldfastError,
  type JoinOptions,
  list,
  object,
  piece,
  procedure,
  quaternion,
  ranged,
  secret,
  type Session,
  text,
  u8,
  vec2,
} from '../../packages/holdfast/src/index.ts'
import * as node from '../../packages/holdfast/src/node.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { cluster, refusal, Rock } from './cluster.ts'

describe('a definition that cannot be', () => {
  const field = 7 as unknown as Fields[string]
  test.each<[string, () => unknown, RegExp]>([
    [
      'a field that is a word',
      () => object('x', { a: 'number' as never }),
      /^bad-value: x: field a is no field, such as u8 or text\(20\): "number"/,
    ],
    [
      'a list of fields',
      () => object('z', { list: [u8] as never }),
      /^bad-value: z: field list is no field/,
    ],
    [
      'a field that is a number',
      () => piece('z', { at: field }),
      /^bad-value: z: field at is no field/,
    ],
    ['no fields', () => object('x', {}), /^bad-value: x: a type has 1 to 32 fields: 0/],
    [
      'too many fields',
      () => object('x', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, u8]))),
      /1 to 32 fields: 33/,
    ],
    [
      'fields that are none',
      () => object('x', null as never),
      /^bad-value: x: its fields are an object/,
    ],
    [
      'a field by the name of the prototype',
      () => object('t', { ['__proto__']: u8 }),
      /"__proto__" is no name of a field/,
    ],
    [
      'options of a piece that are none',
      () => piece('x', { a: u8 }, null as never),
      /^bad-value: x/,
    ],
    ['a name that is none', () => object(7 as never, { a: u8 }), /the name of a type is text: 7/],
    [
      'an option that there is not',
      () => object('x', { a: u8 }, { onOwnerleave: 'keep' } as never),
      /^bad-value: x takes no option "onOwnerleave": did you mean "onOwnerLeave"\?/,
    ],
    [
      'a word that there is not',
      () => object('x', { a: u8 }, { onOwnerLeave: 'nonsense' as never }),
      /onOwnerLeave is one of destroy, keep: "nonsense"/,
    ],
    [
      'who may take it',
      () => object('x', { a: u8 }, { take: 'all' as never }),
      /take is one of free, ask, fixed: "all"/,
    ],
    [
      'an option of a piece',
      () => piece('x', { a: u8 }, { rule: 1 } as never),
      /did you mean "rules"/,
    ],
    [
      'a rule of a piece',
      () => piece('x', { a: u8 }, { rules: { update: 7 } as never }),
      /the update rule of "x" is a function: 7/,
    ],
    [
      'a secret without a rule',
      () => secret(u8, undefined as never),
      /who sees a secret field is a function: undefined/,
    ],
    [
      'an async rule of subscriber',
      () => object('x', { a: u8 }, { visibleTo: (async () => true) as never }),
      /visibleTo of "x" answers at once/,
    ],
    [
      'an action without a function',
      () => action('x', undefined as never),
      /the action "x" is a function: undefined/,
    ],
    [
      'a procedure that is none',
      () => procedure('x', 7 as never),
      /the procedure "x" is a function: 7/,
    ],
    ['a range', () => vec2(1, 0, 0.1), /^bad-value: a range needs min < max/],
    ['no range', () => (vec2 as () => unknown)(), /^bad-value: a range needs min < max/],
    ['a range of steps', () => ranged(0, 1, 0), /^bad-value: a range needs/],
    ['a text', () => text(1_001), /^bad-value: a text takes 1 to 1000 characters: 1001/],
    ['bytes', () => bytes(0), /^bad-value: a field of bytes takes 1 to 1000: 0/],
    ['an angle', () => angle(25), /^bad-value: an angle takes 1 to 24 bits: 25/],
    ['a quaternion', () => quaternion(1), /^bad-value: a quaternion takes 2 to 16 bits/],
    [
      'a state that fits no datagram',
      () => object('book', { page: text(1_000, 1_000), open: bool, marks: list(u8, 30) }),
      /book: its .* 1024 .*: mask 0\.375 \+ page 1001\.25 \+ open 0\.125 \+ marks 30\.625 = 1033$/,
    ],
    [
      'a piece that is too large',
      () => piece('book', { page: text(1_000, 1_000), back: text(40, 40) }),
      /a piece has at most 1024 bytes, .*: mask 0\.25 \+ page 1001\.25 \+ back 41 = 1043$/,
    ],
  ])('is refused by name: %s (AP-6) (AP-7) (OB-10)', (_what, define, sentence) => {
    expect(refusal(define)).toMatch(sentence)
  })
  test('names that objects have anyway are fields like others, and none where they are not (OB-10)', async () => {
    const Odd = object('odd', { constructor: u8, valueOf: u8 })
    const { all } = await cluster({ types: [Odd, Rock] }, 1)
    const [ada] = all as [Session]
    const odd = ada.create(Odd, { constructor: 3 } as never)
    odd.set({ valueOf: 4 } as never)
    expect({ ...odd.state }).toEqual({ constructor: 3, valueOf: 4 })
    expect(refusal(() => ada.create(Rock, { toString: 1 } as never))).toBe(
      'bad-value: rock has no field called "toString"',
    )
    const rock = ada.create(Rock)
    for (const name of ['constructor', 'valueOf', 'hasOwnProperty']) {
      expect(refusal(() => rock.set({ [name]: 1 } as never))).toContain(`"${name}"`)
    }
    expect(refusal(() => rock.set(null as never))).toMatch(/a change is an object of fields: null/)
    expect(refusal(() => ada.create('rock' as never))).toMatch(/made by object\(\): "rock"/)
  })
})

describe('join', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'an option that there is not',
      { game: 'g', sever: 'x' },
      /^join takes no option "sever": did you mean "server"\?/,
    ],
    ['an option of another library', { game: 'g', players: 4 }, /^join takes no option "players"/],
    ['no game', {}, /^join needs `game`, a text of 1 to 64 bytes: undefined/],
    ['types that are no list', { game: 'g', types: {} }, /^types is a list: \{\}/],
    [
      'a type that is none',
      { game: 'g', types: [{ pos: vec2(0, 1, 0.1) }] },
      /^types\[0\] is made by object\(\)/,
    ],
    ['players', { game: 'g', playersMax: '4' }, /^playersMax is 1 to 256: "4"/],
    ['recover', { game: 'g', recover: 'no' }, /^recover is true or false: "no"/],
    ['primaries', { game: 'g', primaries: 'some' }, /^primaries is one of all, hosts: "some"/],
  ])('refuses %s at once, by a sentence (AP-6)', async (_what, options, sentence) => {
    const w = world({ seed: 1 })
    const error = await w.join(options as JoinOptions).catch((why: unknown) => why)
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error).toMatchObject({ code: 'bad-value', message: expect.stringMatching(sentence) })
    expect(w.now()).toBe(0)
  })
  test('that is given up says why it was (AP-7)', async () => {
    const w = world({ seed: 1 })
    const why = new Error('the window closed')
    const error = await w
      .join({ game: 'g', signal: AbortSignal.abort(why) })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'left',
      message: 'joining was given up: the window closed',
      cause: why,
    })
  })
  test('refuses nothing at all by a sentence, and pages’ door does on Node (AP-6) (AP-14)', async () => {
    for (const call of [node.join, node.host]) {
      const error = await (call as () => Promise<unknown>)().catch((why: unknown) => why)
      expect(error).toBeInstanceOf(HoldfastError)
    }
    await expect((node.join as () => Promise<unknown>)()).rejects.toThrow(
      'join takes its options as an object: undefined',
    )
    await expect(browser.join({ game: 'g' })).rejects.toThrow(
      /this door is for pages: others import "holdfast\/node"/,
    )
  })
})
