/** Signed claims by the library `jose`: JWTs in the compact form, by EdDSA (RFC 7519, RFC 8037). */

const ALGORITHM = 'EdDSA'
const CURVE = 'Ed25519'

// Only who has to do with tickets loads it.
const load = () => import('jose')

/** What somebody signed. */
export type Payload = Record<string, unknown>
/** What claims are, or why nobody may go by them. */
export type Verified = { payload: Payload } | { fault: 'foreign' | 'late' | 'strange' }

/** A new key, its secret half with the public one behind it. */
export async function generate(): Promise<{ secret: Uint8Array; key: Uint8Array }> {
  const { exportJWK, generateKeyPair } = await load()
  const made = await generateKeyPair(ALGORITHM, { crv: CURVE, extractable: true })
  const { d, x } = await exportJWK(made.privateKey)
  const [secret, key] = [Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')]
  return { secret: Uint8Array.of(...secret, ...key), key: Uint8Array.from(key) }
}

/** Signs claims, with an id of their own and the end of their time. */
export async function sign(
  secret: Uint8Array,
  { audience, seconds, claims }: { audience: string; seconds: number; claims: Payload },
): Promise<string> {
  const { importJWK, SignJWT } = await load()
  const half = secret.length / 2
  const [d, x] = [secret.subarray(0, half), secret.subarray(half)].map(text)
  const key = await importJWK({ kty: 'OKP', crv: CURVE, d: d!, x: x! }, ALGORITHM)
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setAudience(audience)
    .setJti(crypto.randomUUID())
    .setExpirationTime(new Date(Date.now() + seconds * 1_000))
    .sign(key)
}

/** Reads claims that have an id and an end, if that key signed them for that audience. */
export async function verify(key: Uint8Array, audience: string, ticket: string): Promise<Verified> {
  const { errors, importJWK, jwtVerify } = await load()
  const own = await importJWK({ kty: 'OKP', crv: CURVE, x: text(key) }, ALGORITHM)
  const options = { algorithms: [ALGORITHM], audience, requiredClaims: ['exp', 'jti'] }
  try {
    return { payload: (await jwtVerify(ticket, own, options)).payload }
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return { fault: 'foreign' }
    return { fault: error instanceof errors.JWTExpired ? 'late' : 'strange' }
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
