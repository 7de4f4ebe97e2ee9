/** A store in NATS JetStream, which several hubs share. */

import * as options from '../../holdfast/src/api/options.ts'
import { createNodeLoop } from '../../holdfast/src/drivers/net/loop-node.ts'
import { badValue } from '../../holdfast/src/machine.ts'
import type { HubLinks, Pem, Store } from '../../holdfast/src/ports.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'
import { type Cluster, openNats } from './drivers/nats/open-nats.ts'

/** Options of `nats()`. */
export interface NatsOptions {
  /**
   * The servers of one cluster, such as `['nats://10.0.0.5:4222', 'nats://10.0.0.6:4222']`; a port
   * left out is 4222. `nats://user:password@host` logs in.
   */
  servers: string | readonly string[]
  /** What the hubs that share rooms call their streams in NATS. Default `holdfast`. */
  bucket?: string
  /**
   * How many servers have each record, if the bucket does not exist yet. Default: 3 if at least
   * three servers are named, else 1.
   */
  replicas?: number
  /** The content of a credentials file (`nsc generate creds`). */
  credentials?: string
  /** Connects by TLS: the authority that signed the servers' certificates, and our certificate. */
  tls?: { ca?: Pem; cert?: Pem; key?: Pem }
}

const REPLICAS_MAX = 5

/**
 * Opens a store in a cluster of NATS servers with JetStream, for `hub({ store })`. Hubs that open
 * the same bucket share all rooms: any of them may die. Creates the bucket if there is none.
 *
 * Rejects with a HoldfastError: `bad-value`, or `store` if a package is missing, or no server
 * answers within 30 s.
 */
export async function nats(given: NatsOptions): Promise<SharedStore> {
  const known = ['servers', 'bucket', 'replicas', 'credentials', 'tls']
  options.checkOptions('nats', given, known)
  const parts = await openNats(createNodeLoop(), check(given))
  const shared = { close: () => parts.store.close() }
  opened.set(shared, parts)
  return shared
}

/** A store that several hubs have. One hub takes it, and closes it with itself. */
export interface SharedStore {
  /** Closes it if no hub took it. */
  close(): void
}

interface Parts {
  readonly store: Store
  readonly links: HubLinks
}

/** The parts of each store, until a hub takes them. */
const opened = new WeakMap<SharedStore, Parts | 'taken'>()

/** The parts of a store, for one hub; null for anything else. */
export function takeStore(shared: SharedStore): Parts | 'taken' | null {
  const parts = opened.get(shared) ?? null
  if (parts) opened.set(shared, 'taken')
  return parts
}

function check({ servers: given, ...more }: NatsOptions): Cluster {
  const { bucket = 'holdfast', replicas, credentials, tls } = more
  const texts = options.checkTexts('servers', typeof given === 'string' ? [given] : given)
  if (texts.length === 0) throw badValue('servers is empty: name at least one of NATS')
  if (typeof bucket !== 'string' || !/^[\w-]{1,64}$/.test(bucket)) {
    throw badValue(`bucket has 1 to 64 letters, digits, - and _: ${shown(bucket)}`)
  }
  if (credentials !== undefined && !CREDENTIALS.test(String(credentials))) {
    throw badValue(
      'credentials is the text of a file of credentials, which has a user JWT and a seed',
    )
  }
  if (tls !== undefined) checkTls(tls)
  const servers = texts.map(urlOf)
  const most = servers.length >= 3 ? 3 : 1
  const wanted = options.checkCount('replicas', replicas ?? most, 1, REPLICAS_MAX)
  return {
    ...{ servers, bucket, replicas: wanted },
    ...(credentials !== undefined && { credentials }),
    ...(tls !== undefined && { tls }),
  }
}

const CREDENTIALS = /BEGIN NATS USER JWT[^]*BEGIN USER NKEY SEED/

function checkTls(tls: NonNullable<NatsOptions['tls']>): void {
  options.checkOptions('tls', tls, ['ca', 'cert', 'key'])
  for (const [name, pem] of Object.entries(tls)) {
    const isPem = typeof pem === 'string' || pem instanceof Uint8Array
    if (!isPem) throw badValue(`tls.${name} is a text or bytes in PEM: ${shown(pem)}`)
  }
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw badValue('tls takes cert and key together')
  }
}

function urlOf(server: string): URL {
  const text = /^\w+:\/\//.test(server) ? server : `nats://${server}`
  const url = URL.canParse(text) ? new URL(text) : null
  const isOne = url && ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== ''
  const rest = url && `${url.pathname}${url.search}${url.hash}`
  if (isOne && (rest === '' || rest === '/') && isText(url.username + url.password)) return url
  // A password is nobody's business.
  const shownUrl = shown(server.replace(/\/\/.*@/, '//…@'))
  throw badValue(`a server of NATS is a URL such as nats://10.0.0.5:4222: ${shownUrl}`)
}

function isText(encoded: string): boolean {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}
