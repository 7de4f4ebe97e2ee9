/** Command-line arguments. A word that looks like a number arrives as one. */

import { readFileSync } from 'node:fs'
import { defaults, inWords, type Limits, rowsOf } from '../../hub/src/machine/limits.ts'
import { badValue } from '../../holdfast/src/machine.ts'
import type { TurnOptions } from '../../hub/src/server/given-servers.ts'
import type { LoginProvider, TicketKey } from '../../hub/src/tickets.ts'
import { readTrust } from '../../holdfast/src/api/door.ts'
import { readLimits } from '../../hub/src/server/given-limits.ts'
import type { Certificate } from '../../holdfast/src/ports.ts'
import type { NatsOptions } from '../../hub/src/nats.ts'
import type { Trust } from '../../holdfast/src/wire/text/ip.ts'

/** The value of an option given once. */
export type Word = string | number

export const ORIGIN_HELP = 'comma-separated or repeated, * for all; list your proxy'

/** The values of a repeatable, comma-separated option. */
export function listOf(given: Word | readonly Word[] | undefined): string[] {
  return [given ?? []]
    .flat()
    .flatMap((words) => String(words).split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** Where `/metrics` is: on the hub's port, nowhere, or on a port of its own. */
export type MetricsPlace = 'here' | 'off' | { host: string; port: number }

/** Parses `--metrics`. @throws HoldfastError `bad-value` */
export function metricsPlace(given: string): MetricsPlace {
  if (given === 'here' || given === 'off') return given
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d+)$/.exec(given) ?? []
  if (port !== undefined) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  throw badValue(`--metrics is here, off, a port or an address with a port: "${given}"`)
}

/** Reads `--turn` and the file of `--turn-secret`. @throws HoldfastError `bad-value` */
export function turnOf(
  given: Word | readonly Word[] | undefined,
  file: Word | undefined,
): TurnOptions | undefined {
  const urls = listOf(given)
  if (urls.length === 0 && file === undefined) return undefined
  if (urls.length === 0) throw badValue(`--turn-secret ${file} needs --turn beside it`)
  if (file === undefined) throw badValue(`--turn ${urls.join()} needs --turn-secret beside it`)
  const secret = read(`--turn-secret ${file}`, String(file)).trim()
  return { urls, secret }
}

/** Fewest characters of a token: short ones are guessable. */
const TOKEN_MIN = 16

/** Reads the file of `--metrics-token`. @throws HoldfastError `bad-value` */
export function tokenIn(file: Word | undefined): string | null {
  if (file === undefined) return null
  const token = read(`--metrics-token ${file}`, String(file)).trim()
  if (token.length >= TOKEN_MIN && /^[!-~]+$/.test(token)) return token
  throw badValue(
    `--metrics-token ${file}: a token has at least ${TOKEN_MIN} characters of ASCII and no ` +
      `space: ${token.length}; openssl rand -hex 32 makes one`,
  )
}

/** Reads the file of `--tickets`: `{ "keys": [...] }`. @throws HoldfastError `bad-value` */
export function ticketKeysIn(file: Word | undefined): readonly (LoginProvider | TicketKey)[] {
  if (file === undefined) return []
  const what = `--tickets ${file}`
  const given = jsonOf(what, read(what, String(file))) as { keys?: unknown } | null
  const keys = given?.keys
  if (Array.isArray(keys) && keys.length > 0) return keys as readonly (LoginProvider | TicketKey)[]
  throw badValue(
    `${what} has a list of keys, {"keys": [{"key": "…"}]}: holdfast ticket key makes one`,
  )
}

/** The options of NATS: null for none. @throws HoldfastError `bad-value` */
export function natsOf(words: {
  store?: Word | Word[]
  natsCreds?: Word
  natsCa?: Word
}): NatsOptions | null {
  const { store, natsCreds: creds, natsCa: ca } = words
  if (store === undefined) {
    if (creds === undefined && ca === undefined) return null
    throw badValue('--nats-creds and --nats-ca need --store beside them')
  }
  return {
    servers: listOf(store),
    ...(creds !== undefined && { credentials: read('--nats-creds', String(creds)) }),
    ...(ca !== undefined && { tls: { ca: read('--nats-ca', String(ca)) } }),
  }
}

/** Reads the files of `--tls-cert` and `--tls-key`. @throws HoldfastError `bad-value` */
export function certificateIn(
  cert: Word | undefined,
  key: Word | undefined = cert,
): Certificate | null {
  if (key === undefined) return null
  if (cert === undefined) throw badValue(`--tls-key ${key} needs --tls-cert beside it`)
  const [shown, secret] = [read('--tls-cert', String(cert)), read('--tls-key', String(key))]
  return { cert: shown, key: secret }
}

function jsonOf(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw badValue(`${what} is no JSON: ${(error as Error).message}`)
  }
}

/** Reads the file of an option. @throws HoldfastError `bad-value` */
export function read(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw badValue(`${option} cannot be read: ${(error as Error).message}`)
  }
}

export const TRUST_HELP = 'Number of proxies in front, or their addresses and ranges'

/** Parses `--trust-proxy`. @throws HoldfastError `bad-value` */
export function trustOf(given: Word | readonly Word[] | undefined): Trust {
  const words = listOf(given)
  const [first = '0'] = words
  const isCount = words.length < 2 && /^\d+$/.test(first)
  return readTrust('--trust-proxy', isCount ? Number(first) : words)
}

/** Reads the file of `--limits`. @throws HoldfastError `bad-value` naming file and limit */
export function limitsOf(file: Word | undefined): Limits {
  if (file === undefined) return defaults()
  const what = `--limits ${file}`
  const text = read(what, String(file))
  return readLimits(what, jsonOf(what, text))
}

/** All limits and their defaults, one per line. */
export function limitLines(): string {
  const rows = rowsOf(defaults()).map(({ who, what, limit, of }) => {
    return [`${who}.${what}`, inWords(limit), of] as const
  })
  const [first, second] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map(([code, most, of]) => `  ${code.padEnd(first!)}  ${most.padEnd(second!)}  ${of}`)
    .join('\n')
}
