// Goal: a store in NATS is opened by TLS, by a password and by a file of credentials, and what is
// wrong with them is said at once, with a cure.
// Method: a server with a certificate for its IP address, one with a user, and one that trusts an
// operator, whose tokens are made here as NATS's `nsc` makes them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { nats, type NatsOptions } from '../../packages/hub/src/index.ts'
import { takeStore } from '../../packages/hub/src/nats.ts'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import { makeCertificate } from './certificate.ts'
import { NatsCluster, noNats } from './nats.ts'
import { got, put } from './store.ts'

const LACKS = noNats()
const folder = mkdtempSync(join(tmpdir(), 'holdfast-nats-login-'))
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
const TLS = `tls { cert_file: "${cert}", key_file: "${key}" }`
let cluster: NatsCluster | null = null

beforeAll(() => {
  if (LACKS === null) makeCertificate(folder, 'IP:127.0.0.1')
})
beforeEach((context) => {
  if (LACKS !== null) context.skip(LACKS)
})
afterEach(async () => {
  await cluster?.end()
  cluster = null
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** @returns the message of the error; '' if it was opened */
async function opening(
  more: string,
  login: string,
  options: Partial<NatsOptions>,
): Promise<string> {
  cluster = await NatsCluster.start(1, more)
  const servers = cluster.servers.map((url) => url.replace('//', `//${login}`))
  try {
    const store = await nats({ servers, ...options })
    store.close()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const tls = (): NatsOptions['tls'] => ({ ca: readFileSync(cert, 'utf8') })

type Pair = ReturnType<typeof nkeys.createUser>

/** A token of NATS: the issuer signs what the subject may do. */
function tokenOf(subject: Pair, issuer: Pair, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const body = { jti: '1', iat: 1, iss: issuer.getPublicKey(), sub: subject.getPublicKey() }
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ ...body, nats: claims })}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

test('TLS with a user and a password', async () => {
  const user = 'authorization { user: hub, password: "pa:ss" }'
  expect(await opening(`${TLS}\n${user}`, 'hub:pa%3Ass@', { tls: tls()! })).toBe('')
})

test('TLS with credentials', async () => {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()]
  const [system, user] = [nkeys.createAccount(), nkeys.createUser()]
  const all = { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1, leaf: -1 }
  const limits = { ...all, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const accounts = [account, system].map((one) => {
    const own = one === account ? limits : all
    const token = tokenOf(one, operator, { type: 'account', version: 2, limits: own })
    return `${one.getPublicKey()}: ${token}`
  })
  const lines = [
    `operator: ${tokenOf(operator, operator, { type: 'operator', version: 2 })}`,
    `system_account: ${system.getPublicKey()}`,
    `resolver: MEMORY\nresolver_preload: { ${accounts.join(', ')} }`,
  ]
  const claims = { type: 'user', version: 2, subs: -1, data: -1, payload: -1 }
  const credentials = [
    `-----BEGIN NATS USER JWT-----\n${tokenOf(user, account, claims)}`,
    '------END NATS USER JWT------',
    `-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed()).toString()}`,
    '------END USER NKEY SEED------\n',
  ].join('\n')
  const given = { tls: tls()!, credentials }
  expect(await opening([TLS, ...lines].join('\n'), '', given)).toBe('')
})

test('hubs that can have no consumer, as while NATS elects who places them, read each message', async () => {
  const allowed = 'permissions: { publish: { deny: "$JS.API.CONSUMER.>" } }'
  const user = `{ user: hub, password: pass, ${allowed} }`
  cluster = await NatsCluster.start(1, `authorization { users: [${user}] }`)
  const servers = cluster.servers.map((url) => url.replace('//', '//hub:pass@'))
  const stores: Store[] = []
  for (const bucket of ['same', 'same']) {
    const taken = takeStore(await nats({ servers, bucket }))
    if (taken && taken !== 'taken') stores.push(taken.store)
  }
  for (let n = 1; n <= 30; n++) await put(stores[n % 2]!, 'a', Uint8Array.of(n))
  expect(stores).toHaveLength(2)
  for (const store of stores) {
    expect(await got(store, 'a')).toMatchObject({ value: Uint8Array.of(30) })
    store.close()
  }
})

test('a wrong password, an unknown authority and a single server of three are said at once', async () => {
  const user = 'authorization { user: hub, password: right }'
  const refused = await opening(user, 'hub:wrong@', {})
  expect(refused).toMatch(/^NATS at 127\.0\.0\.1:\d+: .*Authorization.*; name a user as nats:/)
  await cluster!.end()
  const unknown = await opening(TLS, '', { tls: {} })
  expect(unknown).toMatch(/certificate; name the server as its certificate does/)
  await cluster!.end()
  const alone = await opening('', '', { replicas: 3 })
  expect(alone).toMatch(/name one server, or set replicas to 1$/)
})
