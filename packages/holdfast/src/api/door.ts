/** The options of what listens: a mailbox, a member, a hub. */

import { badValue } from '../machine.ts'
import type { Certificate, Door, HttpServer } from '../ports.ts'
import { shown } from '../wire/fields/fields.ts'
import { NOBODY, readRange, type Trust } from '../wire/text/ip.ts'
import { checkOptions, checkPath, checkServer, checkTexts } from './options.ts'

/** Where a mailbox or a member listens: on a port of its own, or on an existing server. */
export interface DoorOptions {
  /** 0 takes any free port. Either this or `server` is required. */
  port?: number
  /**
   * Default 127.0.0.1. A mailbox at any other needs `tls`, or letters can be read and changed; what
   * members of a session send each other is sealed anyway.
   */
  host?: string
  /** Serves `wss` on the port above: the certificate and its key, as PEM. Default: `ws`. */
  tls?: Certificate
  /**
   * A shared server of Node's `http` or `https`. Its requests, and its upgrades at other
   * paths, are left alone, and it is never closed.
   */
  server?: HttpServer
  /** Default: `/mail` for a mailbox, `/host` for a member. */
  path?: string
  /**
   * Origins whose pages may connect, such as `https://play.example.com`. Default: only the server's
   * own. Programs send no origin and are always admitted. On a loopback address the server answers
   * only under the host names of these origins and of loopback.
   */
  origins?: readonly string[]
}

const DOOR_OPTIONS = ['port', 'host', 'tls', 'server', 'path', 'origins']

/** Checks the options and fills in the defaults. @throws HoldfastError `bad-value` */
export function doorOf(given: DoorOptions, defaultPath: string): Door {
  checkOptions('listen', given, DOOR_OPTIONS)
  const { port, host, tls, server, path = defaultPath, origins = [] } = given
  const where = { path: checkPath(path), origins: checkTexts('origins', origins) }
  if (server !== undefined) {
    checkServer('listen.server', server)
    const other = Object.entries({ port, host, tls }).find(([, value]) => value !== undefined)
    if (other) throw badValue(`listen.${other[0]} is for a door of its own: the server has one`)
    return { ...where, server }
  }
  if (!Number.isSafeInteger(port) || port! < 0 || port! > 65_535) {
    throw badValue(`listen.port is a port, 0 for any, or listen.server a server: ${shown(port)}`)
  }
  return { ...where, port: port!, host: host ?? '127.0.0.1', tls: tls ? checkTls(tls) : null }
}

function checkTls(tls: { cert: unknown; key: unknown }): Certificate {
  const isPem = (value: unknown): boolean =>
    typeof value === 'string' || value instanceof Uint8Array
  if (isPem(tls.cert) && isPem(tls.key)) return tls as Certificate
  throw badValue('listen.tls has a certificate and its key, as PEM: { cert, key }')
}

/**
 * The trusted proxies: how many are in front, or their addresses and ranges. @throws HoldfastError
 * `bad-value` that names the value
 */
export function readTrust(what: string, given: unknown): Trust {
  if (given === undefined) return NOBODY
  if (typeof given === 'number') {
    if (Number.isSafeInteger(given) && given >= 0 && given <= HOPS_MAX) return given
    throw badValue(`${what} is the number of proxies in front, 0 to ${HOPS_MAX}: ${given}`)
  }
  if (!Array.isArray(given)) {
    throw badValue(`${what} is a number of proxies, or a list of their addresses: ${shown(given)}`)
  }
  return given.map((one: unknown) => {
    const range = typeof one === 'string' ? readRange(one) : null
    if (range) return range
    throw badValue(`${what} has addresses, such as 10.0.0.7, or 10.0.0.0/8: ${shown(one)}`)
  })
}

const HOPS_MAX = 16
