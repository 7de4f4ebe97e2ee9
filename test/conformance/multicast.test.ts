import { afterEach, describe, expect, test } from 'vitest'
import {
  DATAGRAM_MAX,
  type Multicast,
  openMulticast,
} from '../../games/mazewar/classic/multicast.ts'
import { turn, until } from './until.ts'

const PLACE = { group: '239.77.1.2', port: 47_702, via: '127.0.0.1' }

describe('multicast on loopback', () => {
  const opened: Multicast[] = []
  afterEach(() => {
    for (const each of opened.splice(0)) each.close()
  })

  type Party = { carrier: Multicast; got: { from: string; bytes: Uint8Array }[] }

  async function party(options = PLACE): Promise<Party> {
    const got: Party['got'] = []
    const carrier = await openMulticast(options)({
      datagram: (from, bytes) => got.push({ from, bytes: bytes.slice() }),
    })
    opened.push(carrier)
    return { carrier, got }
  }

  test('M1: what is sent to the group reaches all of it but who sent it', async () => {
    const [a, b, c] = [await party(), await party(), await party()]
    a.carrier.send(a.carrier.group, Uint8Array.of(1, 2, 3))
    await until(() => b.got.length + c.got.length === 2 && a.carrier.counters.echoes === 1)
    for (const { got } of [b, c]) {
      expect(got).toEqual([{ from: a.carrier.addresses[0], bytes: Uint8Array.of(1, 2, 3) }])
    }
    expect(a.got).toEqual([])
  })

  test('M2, M58: an answer goes to one process alone, though all share address and port', async () => {
    const [a, b, c] = [await party(), await party(), await party()]
    a.carrier.send(a.carrier.group, Uint8Array.of(1))
    await until(() => b.got.length === 1 && c.got.length === 1)
    b.carrier.send(b.got[0]!.from, Uint8Array.of(2))
    c.carrier.send(c.got[0]!.from, Uint8Array.of(3))
    await until(() => a.got.length === 2)
    expect(new Set(a.got.map(({ from }) => from))).toEqual(
      new Set([b.carrier.addresses[0], c.carrier.addresses[0]]),
    )
    expect(b.got.length + c.got.length).toBe(2)
    expect(new Set([a, b, c].map(({ carrier }) => carrier.addresses[0])).size).toBe(3)
  })

  test('another group, or another port, is not heard', async () => {
    const here = await party()
    const others = [
      await party({ ...PLACE, group: '239.77.1.3' }),
      await party({ ...PLACE, port: 47_703 }),
    ]
    for (const { carrier } of others) carrier.send(carrier.group, Uint8Array.of(9))
    await until(() => others.every(({ carrier }) => carrier.counters.echoes === 1))
    const last = await party()
    last.carrier.send(last.carrier.group, Uint8Array.of(1))
    await until(() => here.got.length > 0)
    expect(here.got.map(({ bytes }) => bytes[0])).toEqual([1])
  })

  test('every size up to the limit arrives whole, and the bytes are free at once', async () => {
    const [a, b] = [await party(), await party()]
    for (const size of [1, 64, DATAGRAM_MAX]) {
      const bytes = new Uint8Array(size).fill(7)
      a.carrier.send(a.carrier.group, bytes)
      bytes.fill(0)
    }
    a.carrier.send(a.carrier.group, new Uint8Array(DATAGRAM_MAX + 1))
    await until(() => b.got.length === 3)
    expect(b.got.map(({ bytes }) => [bytes.length, bytes[0], bytes.at(-1)])).toEqual(
      [1, 64, DATAGRAM_MAX].map((size) => [size, 7, 7]),
    )
    expect(a.carrier.counters.oversize).toBe(1)
  })

  test('what cannot be sent is counted, and a closed carrier does nothing', async () => {
    const [a, b] = [await party(), await party()]
    for (const nowhere of ['', 'udp:[::1]:9', 'relay:1']) {
      expect(a.carrier.reaches(nowhere)).toBe(false)
      a.carrier.send(nowhere, Uint8Array.of(1))
    }
    expect(a.carrier.counters).toMatchObject({ sent: 0, failed: 3 })
    a.carrier.close()
    a.carrier.close()
    a.carrier.send(a.carrier.group, Uint8Array.of(1))
    b.carrier.send(b.carrier.group, Uint8Array.of(1))
    await until(() => b.carrier.counters.echoes === 1)
    await turn()
    expect([a.got, b.got]).toEqual([[], []])
  })

  test('a place that is none is told in a sentence', async () => {
    const open = (options: Partial<typeof PLACE>) => party({ ...PLACE, ...options })
    await expect(open({ group: '10.0.0.1' })).rejects.toThrow(
      "a group is an IPv4 address from 224.0.0.0 to 239.255.255.255: '10.0.0.1'",
    )
    await expect(open({ port: 0 })).rejects.toThrow('a number from 1 to 65535: 0')
    await expect(open({ via: 'nowhere0' })).rejects.toThrow(
      /no interface 'nowhere0' with an IPv4 address; it has .*lo/,
    )
    await expect(open({ via: '192.0.2.1' })).rejects.toThrow('this machine has no such address')
  })
})
