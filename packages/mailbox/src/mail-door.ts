/** The door of a mailbox: where it listens. */

import { badValue } from '../../holdfast/src/machine.ts'
import type { Certificate, Door, HttpServer } from '../../holdfast/src/ports.ts'
import { checkOptions, checkPath, checkServer, checkTexts } from '../../holdfast/src/api/options.ts'
import { shown } from '../../holdfast/src/wire/fields/fields.ts'

/** Where the door of a mailbox stands: a port of its own, or a server that is there. */
export interface DoorOptions {
  /** 0 for any that is free. This or `server` is needed. */
  port?: number
  /** Default 127.0.0.1. Elsewhere give `tls`, or what letters say can be read and changed. */
  host?: string
  /** Makes it `wss`, on a port of its own: the certificate and its key, as PEM. Default: `ws`. */
  tls?: Certificate
  /**
   * A server, of Node's `http` or `https`, that others use too: its requests, and upgrades at other
   * paths, stay what they are, and it is not closed with the mailbox.
   */
  server?: HttpServer
  /** Default `/mail`. */
  path?: string
  /**
   * Pages of which origins may connect, such as `https://play.example.com`. Default: none but those
   * of the server itself. Programs say no origin, and may. Where the door stands on a loopback
   * address the names of these are also the only ones, beside those of loopback, under which it
   * answers.
   */
  origins?: readonly string[]
}

const OPTIONS = ['port', 'host', 'tls', 'server', 'path', 'origins']

/** What was given, with what was left out. @throws HoldfastError `bad-value` */
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
