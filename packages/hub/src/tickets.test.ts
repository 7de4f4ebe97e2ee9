// Goal: a ticket says what its key signed, as long as it was to, for the games of that key; all
// else is no ticket, and the sentence says why.
// Method: real signatures; tickets that are altered, late, foreign, of other uses.
import { importJWK, type JWTPayload, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { RIGHTS } from '../../holdfast/src/machine.ts'
import { mintTicket, newTicketKey, type TicketKeys, type TicketOptions } from './tickets.ts'
import { ticketReader } from './tickets.ts'

let [own, other] = [] as unknown as [TicketKeys, TicketKeys]
beforeAll(async () => {
  ;[own, other] = [await newTicketKey(), await newTicketKey()]
})

const STRANGE = 'the ticket is malformed'
const FOREIGN = 'the ticket is not signed by a key that this hub accepts'

/** What a hub makes of a ticket: its claims, or the sentence. */
async function read(ticket: string, games?: readonly string[]): Promise<unknown> {
  const reader = ticketReader('tickets', [
    { key: other.key },
    { key: own.key, ...(games && { games }) },
  ])
  return reader!.read(ticket, 'duel').catch((error: Error) => error.message)
}

/** Signs whatever one likes. */
async function signed(
  claims: object,
  head: object = {},
  over: Partial<Record<'exp' | 'jti' | 'aud', unknown>> = {},
) {
  const [d, x] = [own.secret.slice(0, 64), own.secret.slice(64)].map((hex) =>
    Buffer.from(hex, 'hex').toString('base64url'),
  )
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', d: d!, x: x! }, 'EdDSA')
  const exp = Math.floor(Date.now() / 1_000) + 60
  const whole = { aud: 'holdfast', exp, jti: 'j', ...claims, ...over } as JWTPayload
  return new SignJWT(whole).setProtectedHeader({ alg: 'EdDSA', kid: x!, ...head }).sign(key)
}

describe('a ticket', () => {
  test.each<[TicketOptions, object]>([
    [{ game: 'duel' }, { game: 'duel', room: null, key: null, rights: RIGHTS.play, uses: 1 }],
    [
      { game: 'duel', room: 'Zoë’s / room', rights: ['host'], uses: 1_000, seconds: 5 },
      { room: 'Zoë’s / room', rights: RIGHTS.play | RIGHTS.host, uses: 1_000 },
    ],
    [{ game: 'duel', key: '0f'.repeat(32) }, { key: new Uint8Array(32).fill(15) }],
  ])('says what was signed: %j', async (options, claims) => {
    const [one, two] = [
      await mintTicket(own.secret, options),
      await mintTicket(own.secret, options),
    ]
    expect(await read(one)).toMatchObject(claims)
    const ids = await Promise.all(
      [one, two].map(async (each) => ((await read(each)) as { id: string }).id),
    )
    expect(ids[0]).not.toBe(ids[1])
  })

  test('carries the key of a room behind what the hub reads', async () => {
    const roomKey = 'A6'.repeat(32)
    const whole = await mintTicket(own.secret, { game: 'duel', rights: ['host'], roomKey })
    const [ticket, key, ...more] = whole.split('~')
    expect([key, more]).toEqual(['a6'.repeat(32), []])
    expect(await read(ticket!)).toMatchObject({ game: 'duel' })
    for (const wrong of [{ roomKey: 'a6' }, { roomKey, rights: ['watch'] as const }]) {
      await expect(mintTicket(own.secret, { game: 'duel', ...wrong })).rejects.toThrow(/roomKey/)
    }
  })

  test('that is altered anywhere, foreign, or for games of another key, is none', async () => {
    const ticket = await mintTicket(own.secret, { game: 'duel' })
    const parts = ticket.split('.')
    for (const at of [0, 1, 2]) {
      const part = parts[at]!
      const middle = Math.floor(part.length / 2)
      const sign = part[middle] === 'A' ? 'B' : 'A'
      const spoilt = `${part.slice(0, middle)}${sign}${part.slice(middle + 1)}`
      const whole = parts.with(at, spoilt).join('.')
      expect([STRANGE, FOREIGN]).toContain(await read(whole))
    }
    const third = await newTicketKey()
    expect(await read(await mintTicket(third.secret, { game: 'duel' }))).toBe(FOREIGN)
    expect(await read(ticket, ['chess'])).toBe(FOREIGN)
    expect(await read(ticket, ['chess', 'duel'])).toMatchObject({ game: 'duel' })
  })

  test('counts for the games of the key that its head names, or of the only one', async () => {
    const claims = { game: 'duel', rights: ['play'] }
    const nameless = await signed(claims, { kid: undefined })
    const alone = (games: readonly string[]): Promise<unknown> => {
      return ticketReader('tickets', [{ key: own.key, games }])!.read(nameless, 'duel')
    }
    expect(await read(nameless)).toBe(FOREIGN)
    expect(await alone(['duel'])).toMatchObject({ game: 'duel' })
    await expect(alone(['chess'])).rejects.toThrow(FOREIGN)
    const kid = Buffer.from(other.key, 'hex').toString('base64url')
    expect(await read(await signed(claims, { kid }))).toBe(FOREIGN)
  })

  test('of a key that took the place of another counts beside it, and alone once that is out (N-28)', async () => {
    const old = await mintTicket(own.secret, { game: 'duel' })
    const later = await newTicketKey()
    const fresh = await mintTicket(later.secret, { game: 'duel' })
    const keys = [own, later].map(({ key }) => ({ key, games: ['duel'] }))
    const both = ticketReader('tickets', keys)!
    const after = ticketReader('tickets', keys.slice(1))!
    expect(await both.read(old, 'duel')).toMatchObject({ game: 'duel' })
    for (const reader of [both, after]) {
      expect(await reader.read(fresh, 'duel')).toMatchObject({ game: 'duel' })
    }
    await expect(after.read(old, 'duel')).rejects.toThrow(FOREIGN)
  })

  test('whose time is over is told so', async () => {
    const late = await signed({ game: 'duel', rights: ['play'] }, {}, { exp: 1_000_000_000 })
    expect(await read(late)).toBe('the ticket has expired')
  })

  test.each<[string, object, object?]>([
    ['no game', { game: '' }],
    ['too long a room', { room: 'x'.repeat(65) }],
    ['rights that are no list', { rights: 'host' }],
    ['no rights', { rights: [] }],
    ['uses beyond all', { uses: 1_001 }],
    ['no use', { uses: 0 }],
    ['a right that nobody has', { rights: ['win'] }],
    ['a right to watch beside one to play', { rights: ['watch', 'play'] }],
    ['a right beside one that nobody has', { rights: ['play', 'win'] }],
    ['a room of too many bytes', { room: 'ä'.repeat(33) }],
    ['an id of too many bytes', {}, { jti: 'ä'.repeat(33) }],
    ['half a key', { key: 'ab' }],
    ['another audience', {}, { aud: 'shop' }],
    ['no end', {}, { exp: undefined }],
    ['no id', {}, { jti: undefined }],
    ['too long an id', {}, { jti: 'x'.repeat(65) }],
  ])('with %s is none', async (_, claims, over = {}) => {
    expect(await read(await signed({ game: 'duel', rights: ['play'], ...claims }, {}, over))).toBe(
      STRANGE,
    )
  })

  test('signed by nobody, or by a word that all may know, is none', async () => {
    const claims = Buffer.from(
      '{"aud":"holdfast","game":"duel","rights":["host"],"exp":9e9,"jti":"j"}',
    )
    const body = claims.toString('base64url')
    for (const alg of ['none', 'HS256']) {
      const head = Buffer.from(JSON.stringify({ alg })).toString('base64url')
      expect(await read(`${head}.${body}.`)).toBe(STRANGE)
    }
    for (const odd of ['', 'a', 'a.b.c', '....', '\0.\0.\0']) expect(await read(odd)).toBe(STRANGE)
  })
})

describe('what is given wrong', () => {
  const given = (options: object): Promise<string> =>
    mintTicket(own.secret, { game: 'duel', ...options }).catch(
      (error: Error) => error.message,
    ) as never

  test('to mintTicket is named', async () => {
    expect(await given({ game: '' })).toBe('game has 1 to 64 bytes: 0')
    expect(await given({ room: 'a\n' })).toMatch(/^room has no control characters/)
    expect(await given({ rights: ['win'] })).toBe(
      'rights are of play and host, or watch alone: ["win"]',
    )
    expect(await given({ uses: 0 })).toBe('uses is 1 to 1000: 0')
    expect(await given({ seconds: 1.5 })).toBe('seconds is 1 to 315360000: 1.5')
    expect(await given({ key: 'ab' })).toBe('key has 64 hexadecimal digits: 2')
    expect(await given({ until: 1 })).toMatch(/^mintTicket takes no option "until"/)
    const secret = mintTicket('ab', { game: 'duel' })
    await expect(secret).rejects.toThrow('secret has 128 hexadecimal digits: 2')
  })

  test('to a hub is named, and closed is what its keys are for', () => {
    const keys = (...rows: unknown[]): unknown => ticketReader('tickets', rows as never)?.closed
    expect(ticketReader('tickets', [])).toBe(null)
    expect(keys({ key: own.key })).toBe(null)
    expect(keys({ key: own.key, games: ['duel'] })).toEqual(new Set(['duel']))
    expect(keys({ key: own.key, games: ['duel'] }, { key: other.key, open: true })).toEqual(
      new Set(['duel']),
    )
    expect(keys({ key: own.key, open: true })).toEqual(new Set())
    expect(() => keys({ key: 'ab' })).toThrow('tickets[0].key has 64 hexadecimal digits: 2')
    expect(() => keys({ key: own.key, games: 'duel' })).toThrow(
      'tickets[0].games is a list: "duel"',
    )
    expect(() => keys({ key: own.key, open: 1 })).toThrow('tickets[0].open is true or false: 1')
    expect(() => keys({ key: own.key, game: 'duel' })).toThrow(
      /^tickets.0. takes no option "game": /,
    )
    expect(() => ticketReader('tickets', 7 as never)).toThrow('tickets is a list of keys: 7')
    const many = Array.from({ length: 65 }, () => ({ key: own.key }))
    expect(() => ticketReader('tickets', many)).toThrow('tickets: 64 keys at most: 65')
  })
})
