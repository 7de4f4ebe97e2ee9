/** Arguments of a command line. A word that looks like a number is parsed as one. */

import { readFileSync } from 'node:fs'
import { defaults, inWords, type Limits, rowsOf } from '../directory/limits.ts'
import { badValue, HoldfastError } from '../machine.ts'
import { readLimits, readTrust } from '../runtime/hub/given-limits.ts'
import type { Trust } from '../wire/ip.ts'

/** An option that was given once. */
export type Word = string | number

/** The help text of `--origin`, for all commands. */
export const ORIGIN_HELP = 'with commas or several times, * for all; behind a proxy: its own'

/** The words of an option that may be given several times, each with commas. */
export function listOf(given: Word | readonly Word[] | undefined): string[] {
  return [given ?? []]
    .flat()
    .flatMap((words) => String(words).split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** Where `/metrics` is: on the port of the hub, nowhere, or on a port of its own. */
export type MetricsPlace = 'here' | 'off' | { host: string; port: number }

/** Reads the value of `--metrics`. @throws HoldfastError `bad-value` */
export function metricsPlace(given: string): MetricsPlace {
  if (given === 'here' || given === 'off') return given
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d+)$/.exec(given) ?? []
  if (port !== undefined) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  throw new HoldfastError(
    'bad-value',
    `--metrics is here, off, a port or an address with a port: "${given}"`,
  )
}

/** The help text of `--trust-proxy`. */
export const TRUST_HELP = 'How many proxies are in front, or their addresses and ranges'

/** Reads the value of `--trust-proxy`. @throws HoldfastError `bad-value` */
export function trustOf(given: Word | readonly Word[] | undefined): Trust {
  const words = listOf(given)
  const [first = '0'] = words
  const isCount = words.length < 2 && /^\d+$/.test(first)
  return readTrust('--trust-proxy', isCount ? Number(first) : words)
}

/** Reads the file of `--limits`. @throws HoldfastError `bad-value` that names file and limit */
export function limitsOf(file: Word | undefined): Limits {
  if (file === undefined) return defaults()
  const what = `--limits ${file}`
  let text: string
  try {
    text = readFileSync(String(file), 'utf8')
  } catch (error) {
    throw badValue(`${what} cannot be read: ${(error as Error).message}`)
  }
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw badValue(`${what} is no JSON: ${(error as Error).message}`)
  }
  return readLimits(what, given)
}

/** All limits and their defaults, a line each. */
export function limitLines(): string {
  const rows = rowsOf(defaults()).map(({ who, what, limit, of }) => {
    return [`${who}.${what}`, inWords(limit), of] as const
  })
  const [first, second] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map(([code, most, of]) => `  ${code.padEnd(first!)}  ${most.padEnd(second!)}  ${of}`)
    .join('\n')
}
