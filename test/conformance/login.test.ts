// Goal: an ID token of an identity provider admits one player, and nothing that only looks like one
// admits anybody; the application learns from `onJoin` what the provider says of the player.
// Method: a provider on loopback with real keys, a real hub, members that join with its tokens.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { tokenVerifier } from '../../packages/hub/src/drivers/jose.ts'
import {
  hub,
  type HubHandle,
  type JoinRequest,
  type LoginProvider,
} from '../../packages/hub/src/index.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'

const ISSUER = 'https://login.example/'
const AUDIENCE = 'my-game'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
let [own, other] = [] as unknown as [Keys, Keys]
/** What the provider answers; null: nothing that is a set of keys. */
let published: object | null
let [fetches, provider, jwks] = [0] as unknown as [number, Server, string]
beforeAll(async () => {
  ;[own, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')]
  provider = createServer((_request, response) => {
    fetches++
    response.writeHead(published ? 200 : 500).end(JSON.stringify(published ?? 'down'))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  jwks = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`
  published = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'a', alg: 'RS256' }] }
})
afterAll(() => void provider.close())

const NOW_S = Math.floor(Date.now() / 1_000)

/** An ID token, signed with the provider's key unless `by` has another. */
function token(
  over: JWTPayload = {},
  by: { key?: CryptoKey | Uint8Array; head?: object } = {},
): Promise<string> {
  const claims = { sub: 'ada-1', email: 'ada@example.eu', iss: ISSUER, aud: AUDIENCE }
  return new SignJWT({ ...claims, iat: NOW_S, exp: NOW_S + 600, ...over })
    .setProtectedHeader({ alg: 'RS256', kid: 'a', ...by.head })
    .sign(by.key ?? own.privateKey)
}

let open: HubHandle | null = null
const sessions: Session[] = []
const asked: JoinRequest[] = []
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.leave()))
  await open?.close()
  open = null
  asked.length = 0
})

async function serve(more: Partial<LoginProvider> = {}): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tickets = [{ issuer: ISSUER, audience: AUDIENCE, jwks, ...more }]
  const onJoin = (request: JoinRequest): string | undefined => {
    asked.push(request)
    return request.login?.['email'] === 'bob@example.eu' ? 'Bob has no seat here' : undefined
  }
  open = hub({ server, tickets, onJoin, store: null })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function enter(server: string, ticket?: string, game = 'duel', more: object = {}) {
  const own = { ...(ticket !== undefined && { ticket }), ...more }
  const session = await join({ game, types: [], server, udp: null, keepRoom: false, ...own })
  sessions.push(session)
  return session
}

describe('a player with an ID token', () => {
  test('joins, and the application learns who the provider says it is', async () => {
    const server = await serve()
    const ada = await enter(server, await token())
    expect(asked[0]).toMatchObject({ login: { sub: 'ada-1', email: 'ada@example.eu' } })
    expect(asked[0]!.ticket).toMatch(/^login\.[0-9a-f]{24}\.[0-9a-f]{24}$/)
    // The player comes back by its key when the token has expired.
    const late = await token({ exp: NOW_S - 60 })
    await enter(server, late, 'duel', { token: ada.token })
    expect(asked.at(-1)).toMatchObject({ key: asked[0]!.key, login: null })
    const bob = enter(server, await token({ sub: 'bob', email: 'bob@example.eu' }))
    await expect(bob).rejects.toMatchObject({ code: 'forbidden' })
    await expect(bob).rejects.toThrow('Bob has no seat here')
  })

  test('lends it to nobody: a token admits one player, however its signature is written', async () => {
    const server = await serve()
    const lent = await token()
    await enter(server, lent)
    await expect(enter(server, lent)).rejects.toThrow('the ticket was used')
    // The last digit of the signature has bits that no byte needs.
    const last = lent.at(-1)!
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = lent.slice(0, -1) + digits[digits.indexOf(last) ^ 1]!
    await expect(enter(server, twin)).rejects.toThrow('the ticket was used')
  })

  test('joins the games of its provider alone, where the others are closed', async () => {
    const server = await serve({ games: ['duel'] })
    await enter(server, await token())
    const chess = enter(server, await token({ sub: 'c' }), 'chess')
    await expect(chess).rejects.toThrow('not signed by a key that this hub accepts')
    await expect(enter(server)).rejects.toThrow('rooms of duel take a ticket')
    await enter(server, undefined, 'chess')
  })

  test('is not admitted while the keys cannot be fetched, and is later', async () => {
    const server = await serve()
    const [keys, one] = [published, await token()]
    published = null
    await expect(enter(server, one)).rejects.toThrow('cannot be fetched now: try again later')
    published = keys
    // After a pause it is asked again.
    const entered = (): Promise<unknown> => enter(server, one).catch(() => null)
    await expect.poll(entered, { interval: 20 }).not.toBe(null)
    // Forged ids of keys fetch nothing: the keys are younger than 30 s.
    const before = fetches
    for (const kid of ['b', 'c', 'd']) {
      const forged = await token({}, { key: other.privateKey, head: { kid } })
      await expect(enter(server, forged)).rejects.toThrow('not signed by a key')
    }
    expect(fetches).toBe(before)
  })
})

test('a provider that is down is asked ever more seldom, and its keys go on to count', async () => {
  let now = 0
  const read = tokenVerifier({ issuer: ISSUER, audience: AUDIENCE, jwks: new URL(jwks) }, () => now)
  const forged = await token({}, { key: other.privateKey, head: { kid: 'b' } })
  const own = await token()
  const [keys, begin] = [published, fetches]
  onTestFinished(() => void (published = keys))
  const askedBy = async (at: number): Promise<number> => {
    now = at
    for (let each = 0; each < 5; each++) {
      const both = await Promise.all([read(forged), read(forged)])
      expect(both).toEqual([{ fault: 'unreachable' }, { fault: 'unreachable' }])
    }
    return fetches - begin
  }
  published = null
  expect(await askedBy(0)).toBe(1)
  expect([await askedBy(999), await askedBy(1_000)]).toEqual([1, 2])
  expect([await askedBy(2_999), await askedBy(3_000)]).toEqual([2, 3])
  published = keys
  now = 10_000
  expect(await read(own)).toMatchObject({ payload: { sub: 'ada-1' } })
  expect(await read(forged)).toEqual({ fault: 'foreign' })
  expect(fetches - begin).toBe(4)

  published = null
  now += 10 * 60_000
  expect(await read(own)).toMatchObject({ payload: { sub: 'ada-1' } })
  expect(fetches - begin).toBe(5)
  expect(await askedBy(now)).toBe(5)
  now += 24 * 60 * 60_000
  expect(await read(own)).toEqual({ fault: 'unreachable' })
})

describe('nobody joins by a token', () => {
  const NOT_SIGNED = 'not signed by a key that this hub accepts'
  test.each<[string, () => Promise<string>, string]>([
    ['that has expired', () => token({ exp: NOW_S - 60 }), 'the ticket has expired'],
    ['for another application', () => token({ aud: 'other' }), 'the ticket is malformed'],
    ['without a subject', () => token({ sub: undefined as never }), 'the ticket is malformed'],
    ['of another issuer', () => token({ iss: 'https://evil.example/' }), 'the ticket is'],
    ['of no issuer', () => token({ iss: undefined as never }), 'the ticket is'],
    ['signed by another key', () => token({}, { key: other.privateKey }), NOT_SIGNED],
    ['not yet valid', () => token({ nbf: NOW_S + 600 }), 'the ticket is malformed'],
    [
      'that takes the public key for a shared secret',
      async () => {
        const secret = new TextEncoder().encode(await exportSPKI(own.publicKey))
        return token({}, { key: secret, head: { alg: 'HS256' } })
      },
      'the ticket is malformed',
    ],
    [
      'without a signature',
      async () => {
        const [, claims] = (await token()).split('.')
        const head = Buffer.from('{"alg":"none"}').toString('base64url')
        return `${head}.${claims}.AA`
      },
      'the ticket is malformed',
    ],
  ])('%s', async (_what, make, why) => {
    await expect(enter(await serve(), await make())).rejects.toThrow(why)
    expect(asked).toEqual([])
  })
})

test.each<[string, object, string]>([
  ['keys over http', { jwks: 'http://login.example/keys' }, 'begins with https'],
  ['no audience', { audience: '' }, 'tickets[0].audience is a text'],
  ['an unknown option', { audiences: [] }, 'audiences'],
])('a provider with %s is refused', async (_what, wrong, why) => {
  await expect(serve(wrong)).rejects.toThrow(why)
})
