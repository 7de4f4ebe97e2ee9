// Goal: our headers and fragments are those of the reliable 1.0 standard, byte for byte.
// Method: the vectors of its reference implementation, both ways, and random bytes.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fragment } from '../../../../../test/link/lone.ts'
import { clear, createArrivals, note } from '../arrivals.ts'
import { addFragment, createAssemblies } from './assembly.ts'
import { createHeader, isFragment, readHeader, writeHeader } from './packet.ts'

const HEADER_MAX = 9

const lines = readFileSync(
  new URL('../../../../../test/data/reliable_vectors.txt', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => line.split(' '))
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const fragments = lines.filter(([kind]) => kind === 'FRAG').map((line) => bytesOf(line[2]!))
const [total, size] = lines
  .find(([kind]) => kind === 'FRAGINFO')!
  .slice(1)
  .map(Number)

describe('header', () => {
  const vectors = lines.filter(([kind]) => kind === 'HDR')

  test('B24: each of the 512 vectors is written byte for byte', () => {
    expect(vectors.length).toBe(512)
    for (const [, sequence, ack, bits, expected] of vectors) {
      const bytes = new Uint8Array(HEADER_MAX)
      const end = writeHeader(bytes, 0, Number(sequence), Number(ack), Number(bits))
      expect(hex(bytes.subarray(0, end))).toBe(expected)
    }
  })

  test('B24: each of the 512 vectors is read', () => {
    for (const [, sequence, ack, bits, bytes] of vectors) {
      const header = createHeader()
      expect(readHeader(bytesOf(bytes!), 0, header)).toBe(bytes!.length / 2)
      expect(header).toEqual({
        sequence: Number(sequence),
        ack: Number(ack),
        ackBits: Number(bits),
      })
      const cut = bytesOf(bytes!.slice(0, -2))
      expect(readHeader(cut, 0, createHeader())).toBe(-1)
    }
  })

  test('a header that can be read has no other form: write(read(bytes)) = bytes', () => {
    const prefix = fc.integer({ min: 0, max: 255 })
    const rest = fc.uint8Array({ minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(prefix, rest, (first, others) => {
        const bytes = new Uint8Array([first, ...others])
        const header = createHeader()
        const end = readHeader(bytes, 0, header)
        if (end < 0) return
        const again = new Uint8Array(HEADER_MAX)
        const length = writeHeader(again, 0, header.sequence, header.ack, header.ackBits)
        expect(hex(again.subarray(0, length))).toBe(hex(bytes.subarray(0, end)))
      }),
      { seed: 7, numRuns: 3000 },
    )
  })

  test('an ack byte of 0xff, a long ack that fits one byte and reserved bits are malformed', () => {
    for (const text of ['22000000ff', '0000000000', '60000000', 'a0000000', '21000000']) {
      expect(readHeader(bytesOf(text), 0, createHeader())).toBe(-1)
    }
  })
})

describe('fragments', () => {
  test('an ack so near that one byte tells it has one, at 255 behind too (PR-2)', () => {
    const into = createHeader()
    const long = (behind: number): number[] => [0, behind & 0xff, behind >> 8, 0, 0]
    for (const [behind, end] of [
      [254, -1],
      [255, -1],
      [256, 5],
    ] as const) {
      expect(readHeader(Uint8Array.from(long(behind)), 0, into)).toBe(end)
    }
    const bytes = new Uint8Array(HEADER_MAX)
    expect([writeHeader(bytes, 0, 255, 0, 0xffffffff), bytes[3]]).toEqual([4, 255])
  })

  test('what was read is released when the next is read (PR-2)', () => {
    const arrivals = createArrivals()
    note(arrivals, 'message', 0, new Uint8Array(5))
    note(arrivals, 'frame', 4, new Uint8Array(6))
    clear(arrivals)
    expect([arrivals.count, arrivals.list.map(({ bytes }) => bytes.length)]).toEqual([0, [0, 0]])
  })

  test('the five fragment vectors are put together in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(fragments, { minLength: 5 }), (order) => {
        const assemblies = createAssemblies()
        const results = order.map((bytes) => addFragment(assemblies, bytes))
        const whole = results.pop() as Uint8Array
        expect(results.every((result) => result === null)).toBe(true)
        const start = readHeader(whole, 0, createHeader())
        expect(whole.length - start).toBe(total)
        const payload = Uint8Array.from({ length: total! }, (_, place) => place * 7)
        expect(hex(whole.subarray(start))).toBe(hex(payload))
        expect(assemblies.list).toEqual([])
      }),
      { seed: 7, numRuns: 50 },
    )
  })

  test('a packet is split into the five fragment vectors', () => {
    const assemblies = createAssemblies()
    const whole = fragments.map((bytes) => addFragment(assemblies, bytes)).at(-1) as Uint8Array
    expect(fragment(whole, size!).map(hex)).toEqual(fragments.map(hex))
    expect(fragments.every(isFragment)).toBe(true)
  })

  test('a fragment out of its range, of another count or of another length is malformed', () => {
    const assemblies = createAssemblies()
    expect(addFragment(assemblies, bytesOf('0100000505aa'))).toBe(null)
    expect(addFragment(assemblies, bytesOf('0100000605aa'))).toBe('malformed')
    expect(addFragment(assemblies, bytesOf('0100000104aa'))).toBe('malformed')
    expect(addFragment(assemblies, bytesOf('01000001ffaa'))).toBe('malformed')
    expect(addFragment(assemblies, bytesOf('0100000001'))).toBe('malformed')
    const uneven = fragments.map((bytes, index) => (index === 1 ? bytes.slice(0, -1) : bytes))
    expect(uneven.map((bytes) => addFragment(createAssemblies(), bytes)).at(-1)).toBe(null)
    const fresh = createAssemblies()
    expect(uneven.map((bytes) => addFragment(fresh, bytes)).at(-1)).toBe('malformed')
  })

  test('a fragment that comes again is passed over, and the packet is whole once (PR-2)', () => {
    const assemblies = createAssemblies()
    const again = fragments.slice(0, -1)
    const results: unknown[] = []
    const take = (bytes: Uint8Array): unknown => results.push(addFragment(assemblies, bytes))
    expect(() => [...again, ...again, fragments.at(-1)!].forEach(take)).not.toThrow()
    const whole = results.pop() as Uint8Array
    expect(results).toEqual(results.map(() => null))
    expect(fragment(whole, size!).map(hex)).toEqual(fragments.map(hex))
  })

  test('a fragment has at most 1,024 bytes of payload, the first a header besides (PR-2)', () => {
    const header = bytesOf('20050000')
    const share = (index: number, length: number): Uint8Array =>
      new Uint8Array([1, 5, 0, index, 1, ...(index === 0 ? header : []), ...new Uint8Array(length)])
    const assemblies = createAssemblies()
    expect(addFragment(assemblies, share(1, 1025))).toBe('malformed')
    expect(addFragment(assemblies, share(0, 1024 + HEADER_MAX))).toBe('malformed')
    expect(addFragment(assemblies, share(0, 1024))).toBe(null)
    const whole = addFragment(assemblies, share(1, 1024)) as Uint8Array
    expect(whole.length).toBe(header.length + 2048)
  })

  test('a fifth packet under way pushes out the first', () => {
    const assemblies = createAssemblies()
    for (let sequence = 0; sequence < 9; sequence++) {
      addFragment(assemblies, new Uint8Array([1, sequence, 0, 1, 2, 9]))
    }
    expect(assemblies.list.map((one) => one.sequence)).toEqual([5, 6, 7, 8])
  })
})
