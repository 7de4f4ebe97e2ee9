/** Connects to NATS JetStream, and creates what is missing there. */

import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { NatsConnection, TlsOptions } from '@nats-io/transport-node'
import { HoldfastError, type Millis } from '../../../../holdfast/src/machine.ts'
import type { HubLinks, Loop, Pem, Store } from '../../../../holdfast/src/ports.ts'
import { createReader, readU32 } from '../../../../holdfast/src/wire/bytes.ts'
import { codeOf, storeError } from './answers.ts'
import { type Names, namesOf } from './layout.ts'
import { NatsLinks } from './nats-links.ts'
import { NatsStore } from './nats-store.ts'
import { ANSWER_MS, type Jet, later } from './record-stream.ts'

/** The packages, in the form that `npm install` takes. */
const PACKAGES = '@nats-io/transport-node@^3.4.0 @nats-io/jetstream@^3.4.0'
/** A cluster that starts at the same time as the hub has this long. */
const OPEN_MS: Millis = 30_000
const RETRY_MS: Millis = 250
/** The largest record, with what it names. */
const MESSAGE_MAX: number = 1024 * 1024
/** A server that hangs does not keep a hub from closing. */
const FLUSH_MS: Millis = 1_000
/** A connection over which nothing comes is given up after two of these. */
const PING_MS: Millis = 1_000

/** The servers, what the hubs call their streams there, and how to log in. */
export interface Cluster {
  readonly servers: readonly URL[]
  readonly bucket: string
  /** How many servers have each record, if nothing is there yet. */
  readonly replicas: number
  readonly credentials?: string
  readonly tls?: { readonly ca?: Pem; readonly cert?: Pem; readonly key?: Pem }
}

/** Opens the store, and the links between its hubs. Rejects with HoldfastError `store` */
export async function openNats(
  loop: Loop,
  given: Cluster,
): Promise<{ store: Store; links: HubLinks }> {
  const names = namesOf(given.bucket)
  const modules = await load()
  const until = performance.now() + OPEN_MS
  const connection = await retrying(until, given, () => dial(modules, given))
  try {
    const { max_payload: max = 0 } = connection.info ?? {}
    if (max < MESSAGE_MAX) {
      const why = `takes messages of ${max} bytes, and records need ${MESSAGE_MAX}`
      throw new HoldfastError('store', `NATS ${why}: raise max_payload`)
    }
    const jet = await retrying(until, given, () => jetOf(modules, connection, names, given))
    const writer = readU32(createReader(loop.random(4)))
    const links = new NatsLinks(connection, loop, names.links)
    const end = (): void => {
      links.close()
      const flushed = connection.flush().catch(() => {})
      void Promise.race([flushed, later(FLUSH_MS)]).then(() => connection.close())
    }
    const store = await retrying(until, given, () => NatsStore.open(jet, names, writer, end))
    return { store, links }
  } catch (error) {
    await connection.close()
    throw error
  }
}

type Modules = Awaited<ReturnType<typeof load>>

async function load() {
  try {
    const core = await import('@nats-io/transport-node')
    const jetstream = await import('@nats-io/jetstream')
    return { core, jetstream }
  } catch (error) {
    const [, name = ''] = /package '([^']+)'/.exec(String((error as Error).message)) ?? []
    const why = name === '' ? String(error) : `the package ${name}`
    const what = `a store in NATS needs ${why}, which is not installed with Holdfast`
    throw new HoldfastError('store', `${what}: npm install ${PACKAGES}`)
  }
}

// Tries again until then: a cluster that has just started has no leader yet.
async function retrying<Value>(
  until: Millis,
  { servers }: Cluster,
  act: () => Promise<Value>,
): Promise<Value> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      const cure = cureOf(error)
      if (cure !== null || performance.now() > until) {
        const at = servers.map(({ host }) => host).join(', ')
        const why = storeError(error).message.replace(/^NATS: /, '')
        throw new HoldfastError('store', `NATS at ${at}: ${why}; ${cure ?? START}`)
      }
      await later(RETRY_MS)
    }
  }
}

// Null if waiting may help.
function cureOf(error: unknown): string | null {
  const { name = '', message = '' } = (error ?? {}) as Partial<Error>
  if (name === 'AuthorizationError') return LOGIN
  if (/certificate/.test(message)) return CERTIFICATE
  return CURES.get(codeOf(error) ?? 0) ?? null
}

const START = 'start nats-server --jetstream there, or name the right addresses'
const LOGIN = 'name a user as nats://user:password@host, or pass credentials'
const CERTIFICATE =
  'name the server as its certificate does, and pass the authority that signed it (tls.ca, ' +
  '--nats-ca)'
/** Cures by JetStream's code, of errors that stay. */
const CURES: ReadonlyMap<number, string> = new Map([
  [
    10_074,
    'a single server keeps one replica of each record: name one server, or set replicas to 1',
  ],
  [10_039, 'enable JetStream for the account'],
])

function dial({ core }: Modules, { servers, credentials, tls }: Cluster): Promise<NatsConnection> {
  const { username, password } = servers.find((one) => one.username !== '') ?? servers[0]!
  const isTls = tls !== undefined || servers.some(({ protocol }) => protocol === 'tls:')
  return core.connect({
    servers: servers.map(({ host }) => host),
    name: 'holdfast hub',
    timeout: ANSWER_MS,
    // A hub goes on as soon as any server does.
    ...{ maxReconnectAttempts: -1, reconnectTimeWait: 100, reconnectJitter: 100 },
    ...{ pingInterval: PING_MS, maxPingOut: 2, ignoreAuthErrorAbort: true },
    ...(username !== '' && {
      user: decodeURIComponent(username),
      pass: decodeURIComponent(password),
    }),
    ...(credentials !== undefined && {
      authenticator: core.credsAuthenticator(new TextEncoder().encode(credentials)),
    }),
    ...(isTls && { tls: tlsOptions(servers, tls ?? {}) }),
  })
}

// NATS's client takes all options of Node's TLS, and knows no server by its IP address.
function tlsOptions(servers: readonly URL[], tls: NonNullable<Cluster['tls']>): TlsOptions {
  const names = servers.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''))
  const isOne = (certificate: PeerCertificate): Error | undefined => {
    const errors = names.map((name) => checkServerIdentity(name, certificate))
    return errors.includes(undefined) ? undefined : errors[0]
  }
  const pems = Object.entries(tls).flatMap(([name, pem]) => {
    return pem === undefined ? [] : [[name, Buffer.from(pem).toString()]]
  })
  const checked = { checkServerIdentity: (_host: string, one: PeerCertificate) => isOne(one) }
  return { ...(Object.fromEntries(pems) as TlsOptions), ...checked }
}

async function jetOf(
  { jetstream: js }: Modules,
  connection: NatsConnection,
  names: Names,
  { replicas }: Cluster,
): Promise<Jet> {
  const { streams } = await js.jetstreamManager(connection, { timeout: ANSWER_MS })
  const common = { storage: 'file', num_replicas: replicas, discard: 'new' } as const
  await ensure(names.records, () => {
    const { records: name, subjects } = names
    return streams.add({ name, subjects, ...common })
  })
  await ensure(names.blobs, () => {
    return streams.add({ name: names.blobs, subjects: [names.blob], ...common })
  })
  const client = js.jetstream(connection, { timeout: ANSWER_MS })
  const whileConnected = lossOf(connection)
  return { client, streams, publish: (...message) => whileConnected(client.publish(...message)) }

  async function ensure(name: string, create: () => Promise<unknown>): Promise<void> {
    try {
      await streams.info(name)
    } catch (error) {
      if (codeOf(error) !== NO_SUCH_STREAM) throw error
      await create()
    }
  }
}

// Rejects pending publishes when the connection is lost.
function lossOf(connection: NatsConnection): <Value>(asked: Promise<Value>) => Promise<Value> {
  const waiting = new Set<(error: Error) => void>()
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect') continue
      for (const fail of waiting) fail(new Error('the connection was lost'))
      waiting.clear()
    }
  }
  void watch()
  return (asked) => {
    return new Promise((resolve, reject) => {
      waiting.add(reject)
      const end = (): void => void waiting.delete(reject)
      asked.finally(end).then(resolve, reject)
    })
  }
}

/** JetStream's code for a stream that does not exist. */
const NO_SUCH_STREAM = 10_059
