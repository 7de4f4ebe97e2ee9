// Goal: a stream between hubs over NATS delivers all messages in order, each once, or ends; and
// what a hub does not read waits at its sender, up to a limit.
// Method: two hubs' links over one server of NATS, which is killed, stopped, and sent garbage.
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import {
  type HubLinks,
  type Stream,
  STREAM_BACKLOG_MAX,
} from '../../packages/holdfast/src/ports.ts'
import { openNats } from '../../packages/hub/src/drivers/nats/open-nats.ts'
import { NatsCluster, noNats } from './nats.ts'
import { until } from './until.ts'

const LACKS = noNats()
let cluster: NatsCluster
const ends: (() => void)[] = []

beforeAll(async () => {
  if (LACKS === null) cluster = await NatsCluster.start(1)
})
beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})
afterAll(async () => {
  for (const end of ends) end()
  await cluster?.end()
})

/** One end of a stream, and what it got. */
interface End {
  stream: Stream | null
  readonly got: number[]
  closed: string | null
}

function endOf(): End & { events: Parameters<HubLinks['open']>[1]; isOpen: boolean } {
  const end = {
    ...{ stream: null as Stream | null, got: [] as number[], closed: null as string | null },
    isOpen: false,
    events: {
      opened: () => void (end.isOpen = true),
      message: (bytes: Uint8Array) =>
        void end.got.push(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)),
      closed: (why: string) => void (end.closed = why),
    },
  }
  return end
}

async function linksOf(
  boot: number,
  accept: (stream: Stream) => Parameters<HubLinks['open']>[1],
): Promise<HubLinks> {
  const servers = cluster.servers.map((url) => new URL(url))
  const { store, links } = await openNats(createNodeLoop(), { servers, bucket: 'l', replicas: 1 })
  ends.push(() => store.close())
  links.listen(boot, accept)
  // The server knows of it before it answers this.
  await new Promise((resolve) => store.check(resolve))
  return links
}

const numbered = (number: number, size = 4): Uint8Array => {
  const bytes = new Uint8Array(size)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

let boots = 0

/** Two hubs, and a stream that the first has opened to the second. */
async function two(): Promise<{
  near: ReturnType<typeof endOf>
  far: ReturnType<typeof endOf>
  links: HubLinks[]
}> {
  const [near, far] = [endOf(), endOf()]
  const [a, b] = [++boots, ++boots]
  const first = await linksOf(a, () => expect.fail('nobody opens one to it'))
  const second = await linksOf(b, (stream) => {
    far.stream = stream
    return far.events
  })
  near.stream = first.open(b, near.events)
  await until(() => near.isOpen && far.isOpen)
  return { near, far, links: [first, second] }
}

const NUMBERS = Array.from({ length: 3_000 }, (_none, at) => at)

test('messages of all sizes come in order, both ways, and nothing waits in the end', async () => {
  const { near, far } = await two()
  for (const number of NUMBERS) {
    const size = number % 300 === 0 ? 200_000 : 4 + (number % 2_000)
    await until(() => near.stream!.send(numbered(number, size)))
    if (number % 2 === 0) far.stream!.send(numbered(number))
  }
  await until(() => far.got.length === NUMBERS.length)
  await until(() => near.got.length === NUMBERS.length / 2)
  expect(far.got).toEqual(NUMBERS)
  expect(near.got).toEqual(NUMBERS.filter((number) => number % 2 === 0))
  await until(() => near.stream!.backlog() === 0 && far.stream!.backlog() === 0)
  near.stream!.close()
  await until(() => far.closed !== null)
  expect([near.closed, far.stream!.send(numbered(1))]).toEqual([null, false])
})

test('what is not read waits, up to the limit of every stream', async () => {
  const { near } = await two()
  let sent = 0
  while (near.stream!.send(numbered(0, 100_000))) sent += 100_000
  expect(sent).toBeGreaterThan(STREAM_BACKLOG_MAX - 100_000)
  // A part is on its way.
  expect(near.stream!.backlog()).toBeGreaterThan(sent - 200_000)
  await until(() => near.stream!.backlog() === 0)
  expect(near.stream!.send(numbered(0))).toBe(true)
})

test('a hub that is not there, and one that takes another name, end it', async () => {
  const nobody = endOf()
  const { near, links } = await two()
  links[0]!.open(999_999, nobody.events)
  await until(() => nobody.closed !== null)
  expect(nobody).toMatchObject({ isOpen: false, closed: 'no hub of that name answers' })
  links[1]!.listen(++boots, () => expect.fail('nobody opens one to it'))
  await until(() => near.closed !== null)
  expect(near.closed).toBe('the other hub ended it')
})

test('frames that come twice, and garbage, change nothing', async () => {
  const { near, far } = await two()
  const connection = await connect({ servers: cluster.servers.map((url) => new URL(url).host) })
  const seen = new Set<string>()
  connection.subscribe('holdfast.l.hub.*', {
    callback: (_error, { subject, data }) => {
      const text = Buffer.from(data).toString('hex')
      if (seen.has(text)) return
      seen.add(text)
      for (const bytes of [data, data, Uint8Array.of(1, 2, 3)]) connection.publish(subject, bytes)
    },
  })
  await connection.flush()
  for (const number of NUMBERS.slice(0, 200)) near.stream!.send(numbered(number))
  await until(() => far.got.length >= 200)
  await connection.flush()
  far.stream!.send(numbered(7))
  await until(() => near.got.length > 0)
  await connection.close()
  expect([far.got, near.got]).toEqual([NUMBERS.slice(0, 200), [7]])
})

test('messages that are lost with a server are sent again, each once and in order', async () => {
  const { near, far } = await two()
  near.stream!.send(numbered(0))
  await until(() => far.got.length === 1)
  for (const number of NUMBERS.slice(1, 1_500)) near.stream!.send(numbered(number, 500))
  await cluster.kill(0)
  for (const number of NUMBERS.slice(1_500)) near.stream!.send(numbered(number))
  cluster.start(0)
  await until(() => far.got.length === NUMBERS.length)
  expect(far.got).toEqual(NUMBERS)
  await until(() => near.stream!.backlog() === 0)
  expect([near.closed, far.closed]).toEqual([null, null])
})

test('an end that hears nothing for long ends it', async () => {
  const { near, far, links } = await two()
  cluster.signal(0, 'SIGSTOP')
  await until(() => near.closed !== null && far.closed !== null)
  cluster.signal(0, 'SIGCONT')
  expect([near.closed, far.closed]).toEqual(Array(2).fill('the other hub was silent'))
  expect(links).toHaveLength(2)
})
