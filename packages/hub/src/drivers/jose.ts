/** Signed claims with the library `jose`: compact JWTs signed with EdDSA (RFC 7519, RFC 8037). */

const ALGORITHM = 'EdDSA'
const CURVE = 'Ed25519'

// Loaded only if tickets are used.
const load = () => import('jose')

export type Payload = Record<string, unknown>
/** Verified claims and the index of the key that signed them; or why they are invalid. */
export type Verified = { payload: Payload; by: number } | { fault: 'foreign' | 'late' | 'strange' }

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
    const { errors, jwtVerify } = await load()
    try {
      const { payload, protectedHeader } = await jwtVerify(ticket, await set, options)
      return { payload, by: Math.max(0, kids.indexOf(protectedHeader.kid ?? '')) }
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { fault: 'late' }
      const foreign = [
        'JWSSignatureVerificationFailed',
        'JWKSNoMatchingKey',
        'JWKSMultipleMatchingKeys',
      ]
      const isForeign = foreign.some((name) => error instanceof errors[name as 'JOSEError'])
      return { fault: isForeign ? 'foreign' : 'strange' }
    }
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
