/**
 * Signed claims with the library `jose`: our tickets, compact JWTs signed with EdDSA (RFC 7519,
 * RFC 8037), and the ID tokens of identity providers (OpenID Connect Core 1.0, section 2).
 */

import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import type { Millis } from '../../../holdfast/src/machine.ts'
import * as refresh from './refresh.ts'

const ALGORITHM = 'EdDSA'
const CURVE = 'Ed25519'

// Loaded only if tickets are used.
const load = () => import('jose')

export type Payload = Record<string, unknown>
/** Why claims are invalid; `unreachable` if the keys of their provider could not be fetched. */
export type Fault = 'foreign' | 'late' | 'strange' | 'unreachable'
/** Verified claims and the index of the key that signed them; or why they are invalid. */
export type Verified = { payload: Payload; by: number } | { fault: Fault }

/** A new key pair: `secret` is the secret half followed by the public key. */
export async function generate(): Promise<{ secret: Uint8Array; key: Uint8Array }> {
  const { exportJWK, generateKeyPair } = await load()
  const made = await generateKeyPair(ALGORITHM, { crv: CURVE, extractable: true })
  const { d, x } = await exportJWK(made.privateKey)
  const [secret, key] = [Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')]
  return { secret: Uint8Array.of(...secret, ...key), key: Uint8Array.from(key) }
}

/** Signs claims, with an id and an expiry. */
export async function sign(
  secret: Uint8Array,
  { audience, seconds, claims }: { audience: string; seconds: number; claims: Payload },
): Promise<string> {
  const { importJWK, SignJWT } = await load()
  const half = secret.length / 2
  const [d, x] = [secret.subarray(0, half), secret.subarray(half)].map(text)
  const key = await importJWK({ kty: 'OKP', crv: CURVE, d: d!, x: x! }, ALGORITHM)
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: x! })
    .setAudience(audience)
    .setJti(crypto.randomUUID())
    .setExpirationTime(new Date(Date.now() + seconds * 1_000))
    .sign(key)
}

/**
 * Verifies claims that have an id and an expiry, and were signed for that audience by one of these
 * keys: the one that `kid` names (the public key in base64url), or the only one.
 */
export function verifier(
  keys: readonly Uint8Array[],
  audience: string,
): (ticket: string) => Promise<Verified> {
  const kids = keys.map(text)
  const set = load().then(({ createLocalJWKSet }) => {
    const jwks = kids.map((x) => ({ kty: 'OKP', crv: CURVE, alg: ALGORITHM, x, kid: x }))
    return createLocalJWKSet({ keys: jwks })
  })
  const options = { algorithms: [ALGORITHM], audience, requiredClaims: ['exp', 'jti'] }
  return async (ticket) => {
    const read = await verified(ticket, await set, options)
    if ('fault' in read) return read
    return { payload: read.payload, by: Math.max(0, kids.indexOf(read.kid)) }
  }
}

/** An identity provider, and the application that its tokens are for. */
export interface Issuer {
  issuer: string
  audience: string
  /** Where the provider publishes its keys. */
  jwks: URL
}

// A provider whose keys the hub fetches signs with a public-key algorithm.
const PUBLIC_KEY_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const FETCH_MS = 4_000
const CLOCK_TOLERANCE_S = 5

/**
 * Verifies ID tokens of one provider, whose keys are fetched when `refresh` says so.
 *
 * @param clock  milliseconds of any epoch
 */
export function tokenVerifier(
  { issuer, audience, jwks }: Issuer,
  clock: () => Millis = () => performance.now(),
): (token: string) => Promise<{ payload: Payload } | { fault: Fault }> {
  const keys = load().then((library) => fetchedKeys(library, jwks, clock))
  const options: JWTVerifyOptions = {
    ...{ issuer, audience, algorithms: PUBLIC_KEY_ALGORITHMS },
    ...{ clockTolerance: CLOCK_TOLERANCE_S, requiredClaims: ['exp', 'sub'] },
  }
  return async (token) => verified(token, await keys, options)
}

function fetchedKeys(
  { createRemoteJWKSet, errors }: Awaited<ReturnType<typeof load>>,
  jwks: URL,
  clock: () => Millis,
): JWTVerifyGetKey {
  // The library would fetch again by itself.
  const never = { cooldownDuration: Infinity, cacheMaxAge: Infinity }
  const remote = createRemoteJWKSet(jwks, { timeoutDuration: FETCH_MS, ...never })
  const state = refresh.create()
  let fetching: Promise<void> | null = null
  const fetchKeys = (): Promise<void> => {
    fetching ??= remote
      .reload()
      .then(
        () => refresh.succeeded(state, clock()),
        () => refresh.failed(state, clock()),
      )
      .finally(() => (fetching = null))
    return fetching
  }
  const required = (): void => {
    if (!refresh.isUsable(state, clock())) throw new Error(`no keys from ${jwks.href}`)
  }
  return async (head, token) => {
    if (fetching || refresh.isDue(state, clock(), 'age')) await fetchKeys()
    required()
    try {
      return await remote(head, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if (refresh.isDue(state, clock(), 'unknown')) await fetchKeys()
      // It may be a key of today, which we cannot know.
      if (state.failures > 0) throw new Error(`no new keys from ${jwks.href}`, { cause: error })
      return remote(head, token)
    }
  }
}

/** The issuer that a token names, which nobody has verified; null for none. */
export async function issuerOf(token: string): Promise<string | null> {
  const { decodeJwt } = await load()
  try {
    return decodeJwt(token).iss ?? null
  } catch {
    return null
  }
}

const FOREIGN = [
  'JWSSignatureVerificationFailed',
  'JWKSNoMatchingKey',
  'JWKSMultipleMatchingKeys',
] as const

async function verified(
  token: string,
  set: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload; kid: string } | { fault: Fault }> {
  const { errors, jwtVerify } = await load()
  try {
    const { payload, protectedHeader } = await jwtVerify(token, set, options)
    return { payload, kid: protectedHeader.kid ?? '' }
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { fault: 'late' }
    if (FOREIGN.some((name) => error instanceof errors[name])) return { fault: 'foreign' }
    // The other errors of `jose` are about the token; fetching keys fails with these.
    const isFetch = [errors.JWKSTimeout, errors.JWKSInvalid].some((one) => error instanceof one)
    const isOurs = error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC'
    return { fault: isFetch || !isOurs ? 'unreachable' : 'strange' }
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
