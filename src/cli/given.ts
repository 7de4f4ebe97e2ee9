/** Arguments of a command line. A word that looks like a number is parsed as one. */

import { HoldfastError } from '../machine.ts'

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
