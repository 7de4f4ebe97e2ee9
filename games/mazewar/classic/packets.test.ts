// Goal: the classic packets are what the document says, bit for bit, and nothing else is taken.
// Method: a packet by hand, drawn packets there and back, and hostile bytes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Absolute, type Action, decode, encode, type Missile, type Packet } from './packets.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const number = fc.integer({ min: 0, max: 2 ** 28 - 1 })
const cell = fc.integer({ min: 0, max: 511 })
const heading = fc.constantFrom<0 | 1 | 2 | 3>(0, 1, 2, 3)
const missile: fc.Arbitrary<Missile> = fc.record({
  id: fc.integer({ min: 0, max: 3 }),
  cell,
  heading,
})
const absolute: fc.Arbitrary<Absolute> = fc.record({
  score: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  cell,
  facing: heading,
  cloaked: fc.boolean(),
  missiles: fc.array(missile, { maxLength: 3 }),
})
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('born' as const), cell, facing: heading }),
  fc.record({
    kind: fc.constant('movement' as const),
    facing: heading,
    step: fc.constantFrom('none' as const, 'forward' as const, 'backward' as const),
  }),
  fc.record({ kind: fc.constant('cloak' as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant('projection' as const), missile }),
  fc.record({ kind: fc.constant('hit' as const), owner: word, missile }),
)
const ends = { source: word, destination: word }
const packet: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({ kind: fc.constant('heartbeat' as const), heartbeat: word, source: word }),
  fc.record({ kind: fc.constant('heartbeat-ack' as const), heartbeat: word, ...ends }),
  fc
    .record({ kind: fc.constant('event' as const), event: number, source: word, absolute, action })
    .map((event) => {
      const { action: done } = event
      if (done.kind === 'movement' && done.step !== 'none') done.facing = event.absolute.facing
      return event
    }),
  fc.record({ kind: fc.constant('event-ack' as const), event: number, ...ends }),
  fc.record({ kind: fc.constant('inquiry' as const), source: word }),
  fc.record({
    kind: fc.constant('response' as const),
    heartbeat: word,
    ...ends,
    absolute,
    uncommitted: fc.array(fc.record({ event: number, action }), { maxLength: 12 }),
  }),
  fc.record({ kind: fc.constant('response-ack' as const), ...ends }),
)

describe('the layouts', () => {
  test('M8, M11, M12, M14, M39, M41: a step forward with a missile in flight', () => {
    const moved: Packet = {
      kind: 'event',
      event: 5,
      source: 0x0a000001,
      absolute: {
        score: 100,
        cell: 2 * 32 + 3,
        facing: 0,
        cloaked: false,
        missiles: [{ id: 2, cell: 3 * 32 + 3, heading: 3 }],
      },
      action: { kind: 'movement', facing: 0, step: 'forward' },
    }
    const bytes = '20111000000' + '50a000001' + '0000006421848c7810'
    expect(hex(encode(moved))).toBe(bytes)
    expect(decode(Buffer.from(bytes, 'hex'))).toEqual(moved)
  })

  test('M9, M10, M15, M18-M21, M45, M46, M49, M51: packets written by hand (SL-6)', () => {
    const table: [Packet, string][] = [
      [{ kind: 'heartbeat', heartbeat: 7, source: 1 }, '0008' + '00000007' + '00000001'],
      [
        { kind: 'heartbeat-ack', heartbeat: 7, source: 2, destination: 1 },
        '100c' + '00000007' + '00000002' + '00000001',
      ],
      [
        { kind: 'event-ack', event: 0xfffffff, source: 1, destination: 2 },
        '300c' + 'fffffff0' + '00000001' + '00000002',
      ],
      [
        { kind: 'event-ack', event: 5, source: 1, destination: 2 },
        '300c' + '00000050' + '00000001' + '00000002',
      ],
      [{ kind: 'inquiry', source: 0xffffffff }, '4004ffffffff'],
      [
        {
          kind: 'response',
          heartbeat: 3,
          source: 1,
          destination: 2,
          absolute: { score: -1, cell: 511, facing: 3, cloaked: true, missiles: [] },
          uncommitted: [{ event: 1, action: { kind: 'born', cell: 1, facing: 1 } }],
        },
        '5018' + '000000030000000100000002' + 'ffffffff' + 'fff0' + '00000001' + '00a0',
      ],
      [{ kind: 'response-ack', source: 1, destination: 2 }, '60080000000100000002'],
    ]
    for (const [said, bytes] of table) {
      expect(hex(encode(said))).toBe(bytes)
      expect(decode(Buffer.from(bytes, 'hex'))).toEqual(said)
    }
  })

  test('M13, M40, M44: data of each type written by hand', () => {
    const shot: Missile = { id: 2, cell: 99, heading: 3 }
    const table: [Action, string][] = [
      [{ kind: 'born', cell: 511, facing: 2 }, '0' + 'ffc0'],
      [{ kind: 'movement', facing: 3, step: 'none' }, '1' + 'c0'],
      [{ kind: 'movement', facing: 0, step: 'backward' }, '1' + '20'],
      [{ kind: 'cloak', on: true }, '2' + '00'],
      [{ kind: 'cloak', on: false }, '2' + '80'],
      [{ kind: 'projection', missile: shot }, '3' + '8c78'],
      [{ kind: 'hit', owner: 0xfffffffe, missile: shot }, '4' + 'fffffffe8c78'],
    ]
    const absolute: Absolute = { score: 0, cell: 0, facing: 0, cloaked: false, missiles: [] }
    for (const [done, bytes] of table) {
      const said: Packet = { kind: 'event', event: 1, source: 2, absolute, action: done }
      const written = hex(encode(said))
      expect(written.slice(4, 5) + written.slice(32)).toBe(bytes)
      expect(decode(encode(said))).toEqual(said)
    }
  })

  test('M16, M17, M22: every packet comes back as it was', () => {
    fc.assert(
      fc.property(packet, (said) => {
        const bytes = encode(said)
        expect(decode(bytes)).toEqual(said)
        expect(bytes.length - 2).toBe((bytes[0]! & 15) * 256 + bytes[1]!)
      }),
      { numRuns: 500 },
    )
  })

  test('M43: more than three missiles, or more than a length can say, is not written', () => {
    const shot: Missile = { id: 0, cell: 1, heading: 0 }
    const many = { score: 0, cell: 0, facing: 0, cloaked: false, missiles: Array(4).fill(shot) }
    const born: Action = { kind: 'born', cell: 1, facing: 1 }
    const ends = { heartbeat: 1, source: 1, destination: 2 }
    const said = (absolute: Absolute, count: number): Packet => {
      const uncommitted = Array.from({ length: count }, (_, event) => ({ event, action: born }))
      return { kind: 'response', ...ends, absolute, uncommitted }
    }
    expect(() => encode(said(many as Absolute, 0))).toThrow('3 missiles fly at most: 4')
    const none = { ...many, missiles: [] } as Absolute
    expect(encode(said(none, 679)).length).toBe(2 + 18 + 679 * 6)
    expect(() => encode(said(none, 680))).toThrow('4095 bytes at most')
  })
})

describe('what is none', () => {
  test('M45: a response is understood with and without its heartbeat (SL-6)', () => {
    const absolute: Absolute = { score: 5, cell: 16, facing: 2, cloaked: false, missiles: [] }
    const ends = { kind: 'response', source: 1, destination: 2 } as const
    const bare: Packet = { ...ends, heartbeat: null, absolute, uncommitted: [] }
    expect(hex(encode(bare))).toBe('500e' + '00000001' + '00000002' + '00000005' + '0840')
    expect(decode(encode(bare))).toEqual(bare)
    expect(decode(encode(bare), 2)).toEqual(bare)
    // Readable both ways: whoever it is for knows which.
    const born = { event: 0x400, action: { kind: 'born', cell: 8, facing: 0 } } as const
    const both = encode({ ...bare, absolute: { ...absolute, score: 2 }, uncommitted: [born] })
    const [mine, theirs] = [2, 3].map((me) => decode(both, me)) as (Packet & typeof ends)[]
    expect(mine).toMatchObject({ source: 1, destination: 2 })
    expect(theirs!.kind).toBe('response')
  })

  test('M42: pads are ignored, and all else is looked at', () => {
    const bytes = encode({ kind: 'event-ack', event: 1, source: 1, destination: 2 })
    bytes[5]! |= 0x0f
    expect(decode(bytes)).toMatchObject({ event: 1 })
    expect(decode(Uint8Array.of(0x70, 0))).toBe(null)
    expect(decode(new Uint8Array(0))).toBe(null)
  })

  test('M8: a length that is not that of the rest', () => {
    fc.assert(
      fc.property(packet, fc.integer({ min: 1, max: 20 }), (said, more) => {
        const bytes = encode(said)
        expect(decode(Uint8Array.from([...bytes, ...new Uint8Array(more)]))).toBe(null)
        expect(decode(bytes.slice(0, -1))).toBe(null)
      }),
    )
  })

  test('M14, M22, M59: a step that there is not, a type that there is not, a turn that moves', () => {
    const moved = encode({
      kind: 'event',
      event: 5,
      source: 1,
      absolute: { score: 0, cell: 0, facing: 0, cloaked: false, missiles: [] },
      action: { kind: 'movement', facing: 0, step: 'forward' },
    })
    const changed = (at: number, value: number): Uint8Array => {
      const bytes = moved.slice()
      bytes[at] = value
      return bytes
    }
    expect(decode(moved)).not.toBe(null)
    expect(decode(changed(moved.length - 1, 0b0011_0000))).toBe(null)
    expect(decode(changed(moved.length - 1, 0b0101_0000))).toBe(null)
    expect(decode(changed(2, 0x50))).toBe(null)
    // One missile more than there are.
    expect(decode(changed(15, 0b0000_0100))).toBe(null)
  })

  test('hostile bytes never throw, and what is taken is canonical but for its pads', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc.tuple(packet, fc.nat(), fc.nat(255)).map(([said, at, value]) => {
            const bytes = encode(said)
            bytes[at % bytes.length] = value
            return bytes
          }),
        ),
        (bytes) => {
          const said = decode(bytes)
          // Whether a response has a heartbeat tells whoever it is for (M45).
          const me = said?.kind === 'response' ? said.destination : null
          if (said) expect(decode(encode(said), me)).toEqual(said)
        },
      ),
      { numRuns: 20_000 },
    )
  })
})
