// Slow: each carrier is flooded with 20,000 datagrams.
import dgram from 'node:dgram'
import { afterEach, describe, expect, test } from 'vitest'
import { openCarriers } from '../../packages/holdfast/src/drivers/net/carriers.ts'
import { openDoor } from '../../packages/holdfast/src/drivers/net/server/stream-door.ts'
import { openStreams } from '../../packages/holdfast/src/drivers/net/streams.ts'
import { connectWebSocketNode } from '../../packages/holdfast/src/drivers/net/websocket-node.ts'
import { RELAY_BACKLOG_MAX, Relay } from '../../packages/holdfast/src/drivers/net/relay.ts'
import {
  openUdp,
  parseUdpAddress,
  type UdpDatagrams,
} from '../../packages/holdfast/src/drivers/net/udp.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import {
  DATAGRAM_MAX,
  type DatagramEvents,
  type Datagrams,
} from '../../packages/holdfast/src/ports.ts'
import { readFrame, relayed } from '../../packages/holdfast/src/wire/relay.ts'
import { datagramsConformance, type OpenParty, socketsConformance } from './datagrams.ts'
import { dice, turn, until } from './until.ts'

const NOTHING: DatagramEvents = { datagram: () => {}, refused: () => {} }

/** A member that listens, and dials those that do. */
function openParty(events: DatagramEvents): Promise<Datagrams> {
  const door = { port: 0, host: '127.0.0.1', tls: null, path: '/host', origins: [] }
  const doors = [openDoor({ door, url: null, trust: 0 }), openStreams(connectWebSocketNode)]
  return openCarriers(doors, events)
}

/** Members on one hub: what one puts on its stream the hub hands on in a later turn. */
function hub(): OpenParty {
  const members = new Map<number, Relay>()
  let lastMember = 0
  return (events) => {
    const me = ++lastMember
    const handOn = (frame: Uint8Array): void => {
      const read = readFrame(frame)
      if (read?.kind !== 'relay') return
      const target = members.get(read.peer)
      if (target === undefined) events.refused(relayed(read.peer))
      else target.deliver(relayed(me), read.bytes)
    }
    const relay = new Relay(
      (frame) => {
        setImmediate(() => handOn(frame))
        return true
      },
      () => 0,
      events,
    )
    relay.addresses = [relayed(me)]
    members.set(me, relay)
    const close = relay.close.bind(relay)
    relay.close = () => {
      members.delete(me)
      close()
    }
    return Promise.resolve(relay)
  }
}

const SOCKETS = {
  'UDP over IPv4': () => openUdp(),
  'UDP over IPv6': () => openUdp({ host: '::1' }),
  relay: hub,
}
for (const [name, network] of Object.entries(SOCKETS)) {
  datagramsConformance(name, network)
  socketsConformance(name, network)
}
datagramsConformance('streams', () => openParty)

describe('UDP', () => {
  const opened: { close(): void }[] = []
  afterEach(() => {
    for (const each of opened.splice(0)) each.close()
  })
  const open = async (events: DatagramEvents, port = 0): Promise<UdpDatagrams> => {
    const carrier = await openUdp({ port })(events)
    opened.push(carrier)
    return carrier
  }

  test('random bytes of any size from strangers are counted, never a crash', async () => {
    const got: number[] = []
    const carrier = await open({ ...NOTHING, datagram: (_from, bytes) => got.push(bytes.length) })
    const port = parseUdpAddress(carrier.addresses[0]!)!.port
    const stranger = dgram.createSocket('udp4')
    opened.push(stranger)
    const random = dice(2)
    let large = 0
    for (let i = 0; i < 2000; i++) {
      const size = random.below(10) === 0 ? random.below(9000) : random.below(DATAGRAM_MAX)
      if (size > DATAGRAM_MAX) large += 1
      const bytes = random.bytes(size)
      await new Promise((resolve) => stranger.send(bytes, port, '127.0.0.1', resolve))
    }
    await until(() => carrier.counters.received === 2000)
    expect(large).toBeGreaterThan(50)
    expect(carrier.counters.oversize).toBe(large)
    expect(got).toHaveLength(2000 - large - carrier.counters.probes)
    expect(Math.max(...got)).toBeLessThanOrEqual(DATAGRAM_MAX)
  })

  test('what cannot be sent is counted by its reason', async () => {
    const carrier = await open(NOTHING)
    carrier.send('udp:127.0.0.1:9', new Uint8Array(DATAGRAM_MAX + 1))
    carrier.send('nowhere', Uint8Array.of(1))
    carrier.send('udp:[::1]:9', Uint8Array.of(1))
    carrier.close()
    carrier.send('udp:127.0.0.1:9', Uint8Array.of(1))
    expect(carrier.counters).toMatchObject({ sent: 0, oversize: 1, unreachable: 3 })
  })

  test('strangers who get an answer or two are not watched', async () => {
    const refused: string[] = []
    const carrier = await open({ ...NOTHING, refused: (address) => refused.push(address) })
    const gone = await open(NOTHING)
    gone.close()
    for (let i = 0; i < 4; i++) carrier.send(gone.addresses[0]!, Uint8Array.of(1))
    for (let i = 0; i < 20; i++) await turn()
    expect(refused).toEqual([])
  })

  test('an empty datagram looks whether the port is open: counted, not told', async () => {
    let told = 0
    const target = await open({ ...NOTHING, datagram: () => (told += 1) })
    const carrier = await open(NOTHING)
    await until(() => {
      carrier.send(target.addresses[0]!, Uint8Array.of(1))
      return target.counters.probes > 0
    })
    expect(target.counters.received).toBe(target.counters.probes + told)
  })

  test('sending to a port where nobody listens is no error', async () => {
    const carrier = await open(NOTHING)
    const gone = await open(NOTHING)
    gone.close()
    for (let i = 0; i < 100; i++) carrier.send(gone.addresses[0]!, Uint8Array.of(1))
    carrier.send(carrier.addresses[0]!, Uint8Array.of(1))
    await until(() => carrier.counters.received === 1)
    expect(carrier.counters.errors).toBe(0)
  })

  test('a taken port is told with the port and what to do', async () => {
    const carrier = await open(NOTHING)
    const { port } = parseUdpAddress(carrier.addresses[0]!)!
    const error = await open(NOTHING, port).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error).toMatchObject({ code: 'port-taken' })
    expect(String(error)).toContain(`UDP port ${port} on 127.0.0.1 is taken`)
  })

  test('a host that is not ours, a name, and a bad port are told apart', async () => {
    await expect(openUdp({ host: '192.0.2.1' })(NOTHING)).rejects.toMatchObject({
      code: 'unreachable',
    })
    expect(() => openUdp({ host: 'localhost' })).toThrow(
      /IP address such as 127.0.0.1: 'localhost'/,
    )
    expect(() => openUdp({ port: 65_536 })).toThrow(/from 0 to 65535: 65536/)
    expect(() => openUdp({ port: 1.5 })).toThrow(/1.5/)
  })

  test('listening everywhere lists addresses of this machine, the loopback last', async () => {
    const carrier = await openUdp({ host: '0.0.0.0' })(NOTHING)
    opened.push(carrier)
    expect(carrier.addresses.at(-1)).toMatch(/^udp:127\.0\.0\.1:\d+$/)
    for (const address of carrier.addresses) expect(parseUdpAddress(address)?.family).toBe(4)
  })
})

describe('the relay', () => {
  const frames: Uint8Array[] = []
  let waiting = 0
  const relay = new Relay(
    (frame) => {
      frames.push(frame)
      return waiting < 2 * RELAY_BACKLOG_MAX
    },
    () => waiting,
    NOTHING,
  )

  test('drops and counts while the stream has a backlog, so that nothing old queues', () => {
    relay.send('relay:2', Uint8Array.of(1))
    waiting = RELAY_BACKLOG_MAX
    relay.send('relay:2', Uint8Array.of(2))
    waiting = RELAY_BACKLOG_MAX + 1
    for (let i = 0; i < 10; i++) relay.send('relay:2', Uint8Array.of(3))
    waiting = 0
    relay.send('relay:2', Uint8Array.of(4))
    expect(frames.map((frame) => frame.at(-1))).toEqual([1, 2, 4])
    expect(relay.counters).toMatchObject({ sent: 3, congested: 10 })
  })

  test('drops what is too large, and all once it is closed', () => {
    const told: string[] = []
    const other = new Relay(
      () => true,
      () => 0,
      { datagram: (from, bytes) => told.push(`${from} ${bytes.length}`) },
    )
    other.deliver('relay:3', new Uint8Array(DATAGRAM_MAX + 1))
    other.deliver('relay:3', new Uint8Array(DATAGRAM_MAX))
    other.close()
    other.deliver('relay:3', new Uint8Array(1))
    expect(told).toEqual([`relay:3 ${DATAGRAM_MAX}`])
    expect(other.counters).toMatchObject({ received: 2, oversize: 1 })
  })
})
