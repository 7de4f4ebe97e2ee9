/** What every carrier of datagrams keeps to. Each passes itself in, and what it cannot do. */

import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import {
  DATAGRAM_MAX,
  type DatagramEvents,
  type Datagrams,
} from '../../packages/holdfast/src/ports.ts'
import { dice, turn, until } from './until.ts'

/** Opens one more party in the same network; all of them reach one another. */
export type OpenParty = (events: DatagramEvents) => Promise<Datagrams>

interface Party {
  carrier: Datagrams
  got: { from: string; bytes: Uint8Array }[]
  refused: string[]
}

const standard = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')

const NOT_ADDRESSES = [
  '',
  ':',
  'udp',
  'udp:',
  'udp:localhost:4000',
  'udp:127.0.0.1',
  'udp:127.0.0.1:0',
  'udp:127.0.0.1:04000',
  'udp:127.0.0.1:65536',
  'udp:127.0.0.1:4000 ',
  'udp:127.0.0.256:4000',
  'udp:127.1:4000',
  'udp:0x7f.0.0.1:4000',
  'udp:::1:4000',
  'udp:[::1]:',
  'udp:[::1%lo]:4000',
  'udp:[127.0.0.1]:4000',
  'UDP:127.0.0.1:4000',
  'relay:',
  'relay:0',
  'relay:07',
  'relay:-1',
  'relay:1.5',
  'relay:9007199254740992',
  'memory:',
  'memory:x',
  'toString',
  '__proto__',
]

/** Opens pairs that close with the test. */
function parties(): { pairOf: (network: () => OpenParty) => Promise<Pair> } {
  const carriers: Datagrams[] = []
  afterEach(() => {
    for (const carrier of carriers.splice(0)) carrier.close()
  })
  const party = async (open: OpenParty): Promise<Party> => {
    const got: Party['got'] = []
    const refused: string[] = []
    const carrier = await open({
      datagram: (from, bytes) => got.push({ from, bytes: bytes.slice() }),
      refused: (address) => refused.push(address),
    })
    carriers.push(carrier)
    return { carrier, got, refused }
  }
  const pairOf = async (network: () => OpenParty): Promise<Pair> => {
    const open = network()
    return [await party(open), await party(open)]
  }
  return { pairOf }
}

type Pair = [Party, Party]
const addressOf = (of: Party): string => of.carrier.addresses[0]!

/** Runs the suite against one carrier. @param network opens a fresh one, and gives what joins it */
export function datagramsConformance(name: string, network: () => OpenParty): void {
  describe(`${name} as Datagrams`, () => {
    const { pairOf } = parties()
    const pair = (): Promise<Pair> => pairOf(network)

    test('its addresses are in the table of carriers of docs/STANDARD.md', async () => {
      const [a] = await pair()
      const [scheme = ''] = addressOf(a).split(':')
      const [, section = ''] = /\n## 3\. Carriers\n(.*?)\n## /s.exec(standard) ?? []
      const cell = `| \`${scheme}:`
      expect(section.includes(cell), `no row of the table of carriers has ${cell}…`).toBe(true)
    })

    test('each party has an address that the other reaches', async () => {
      const [a, b] = await pair()
      expect(a.carrier.reaches(addressOf(b))).toBe(true)
      expect(b.carrier.reaches(addressOf(a))).toBe(true)
      expect(addressOf(a)).not.toBe(addressOf(b))
    })

    test('datagrams of every size up to the limit arrive whole', async () => {
      const [a, b] = await pair()
      const random = dice(1)
      const sent = [1, 2, 64, 576, 1200, DATAGRAM_MAX].map((size) => random.bytes(size))
      for (const bytes of sent) a.carrier.send(addressOf(b), bytes)
      await until(() => b.got.length === sent.length)
      expect(b.got.map((each) => each.bytes)).toEqual(sent)
    })

    test('`from` is an address to answer to', async () => {
      const [a, b] = await pair()
      a.carrier.send(addressOf(b), Uint8Array.of(1))
      await until(() => b.got.length === 1)
      b.carrier.send(b.got[0]!.from, Uint8Array.of(2))
      await until(() => a.got.length === 1)
      expect(a.got[0]!.bytes).toEqual(Uint8Array.of(2))
      expect(a.got[0]!.from).toBe(addressOf(b))
    })

    test('nothing arrives within the call that sends it', async () => {
      const [a, b] = await pair()
      a.carrier.send(addressOf(b), Uint8Array.of(1))
      expect(b.got).toHaveLength(0)
      await until(() => b.got.length === 1)
    })

    test('the bytes are not kept: the sender may use them again at once', async () => {
      const [a, b] = await pair()
      const buffer = new Uint8Array(100)
      // Carriers that open something first hold few datagrams meanwhile.
      a.carrier.send(addressOf(b), buffer)
      await until(() => b.got.length === 1)
      b.got.pop()
      for (let i = 0; i < 200; i++) a.carrier.send(addressOf(b), buffer.fill(i))
      await until(() => b.got.length === 200)
      b.got.forEach((each, i) => expect(each.bytes).toEqual(new Uint8Array(100).fill(i)))
    })

    test('a datagram above the limit is dropped without a throw', async () => {
      const [a, b] = await pair()
      a.carrier.send(addressOf(b), new Uint8Array(DATAGRAM_MAX + 1))
      a.carrier.send(addressOf(b), new Uint8Array(100_000))
      a.carrier.send(addressOf(b), Uint8Array.of(7))
      await until(() => b.got.length > 0)
      expect(b.got.map((each) => each.bytes)).toEqual([Uint8Array.of(7)])
    })

    test('what is no address is not reached, and sending there never throws', async () => {
      const [a, b] = await pair()
      expect(NOT_ADDRESSES.filter((address) => a.carrier.reaches(address))).toEqual([])
      for (const address of NOT_ADDRESSES) a.carrier.send(address, Uint8Array.of(1))
      a.carrier.send(addressOf(b), Uint8Array.of(2))
      await until(() => b.got.length === 1)
    })

    test('a closed carrier sends and tells nothing', async () => {
      const [a, b] = await pair()
      b.carrier.send(addressOf(a), Uint8Array.of(1))
      a.carrier.close()
      a.carrier.close()
      a.carrier.send(addressOf(b), Uint8Array.of(2))
      b.carrier.send(addressOf(b), Uint8Array.of(3))
      await until(() => b.got.length === 1)
      for (let i = 0; i < 5; i++) await turn()
      expect(a.got).toHaveLength(0)
      expect(b.got.map((each) => each.bytes)).toEqual([Uint8Array.of(3)])
    })

    test('a flood never throws, and what arrives after it is whole', async () => {
      const [a, b] = await pair()
      const bytes = new Uint8Array(1200).fill(5)
      for (let i = 0; i < 20_000; i++) a.carrier.send(addressOf(b), bytes)
      await until(() => {
        a.carrier.send(addressOf(b), Uint8Array.of(6))
        return b.got.some((each) => each.bytes[0] === 6)
      })
      for (const each of b.got) expect([1, 1200]).toContain(each.bytes.length)
    })
  })
}

/**
 * What carriers without connections can besides. Both ends of a stream have addresses of their own,
 * and one that ends may be a proxy that was restarted.
 */
export function socketsConformance(name: string, network: () => OpenParty): void {
  describe(`${name} as sockets`, () => {
    const { pairOf } = parties()
    const pair = (): Promise<Pair> => pairOf(network)

    test('a party may send to itself', async () => {
      const [a] = await pair()
      a.carrier.send(addressOf(a), Uint8Array.of(9))
      await until(() => a.got.length === 1)
      expect(a.got[0]!.from).toBe(addressOf(a))
    })

    test('who has gone is told as refused', async () => {
      const [a, b] = await pair()
      const address = addressOf(b)
      b.carrier.close()
      await until(() => {
        a.carrier.send(address, Uint8Array.of(1))
        return a.refused.length > 0
      })
      expect(a.refused[0]).toBe(address)
    })
  })
}
