/** The listening options of a mailbox. */

import { badValue } from '../../holdfast/src/machine.ts'
import type { Certificate, Door, HttpServer } from '../../holdfast/src/ports.ts'
import { checkOptions, checkPath, checkServer, checkTexts } from '../../holdfast/src/api/options.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'

/** Where a mailbox listens: on a port of its own, or on an existing server. */
export interface DoorOptions {
  /** 0 takes any free port. Either this or `server` is required. */
  port?: number
  /** Default 127.0.0.1. For any other give `tls`, or letters can be read and changed. */
  host?: string
  /** Serves `wss` on the port above: the certificate and its key, as PEM. Default: `ws`. */
  tls?: Certificate
  /**
   * A shared server of Node's `http` or `https`. The mailbox leaves its requests and its upgrades
   * at other paths alone, and never closes it.
   */
  server?: HttpServer
  /** Default `/mail`. */
  path?: string
  /**
   * Origins whose pages may connect, such as `https://play.example.com`. Default: only the server's
   * own. Programs send no origin and are always admitted. On a loopback address the server answers
   * only under the host names of these origins and of loopback.
   */
  origins?: readonly string[]
}

const OPTIONS = ['port', 'host', 'tls', 'server', 'path', 'origins']

/** Checks the options and fills in the defaults. @throws HoldfastError `bad-value` */
export function doorOf(given: DoorOptions): Door {
  checkOptions('listen', given, OPTIONS)
  const { port, host, tls, server, path = '/mail', origins = [] } = given
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
