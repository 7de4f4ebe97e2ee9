/** Web servers with TLS, for requests and streams. */

import type { RequestListener, ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import { Server as TlsServer } from 'node:tls'
import { badValue, type Millis } from '../../../machine.ts'
import type { Certificate, Pem } from '../../../ports.ts'
import { isLoopback } from './origins.ts'
import { addressOf, type WebServer } from './websocket-server.ts'

/** How long a client may take for the TLS handshake. */
const TLS_MS: Millis = 10_000

export function createSecureServer(
  certificate: Certificate,
  option: string,
  options: ServerOptions,
  answer: RequestListener,
): Server {
  return checked(option, () =>
    createServer({ ...options, ...textsOf(certificate), handshakeTimeout: TLS_MS }, answer),
  )
}

export function renew(server: Server, certificate: Certificate, option: string): void {
  checked(option, () => server.setSecureContext(textsOf(certificate)))
}

export function isSecure(server: object): server is Server {
  return server instanceof TlsServer
}

function checked<Result>(option: string, verb: () => Result): Result {
  try {
    return verb()
  } catch (error) {
    throw badValue(`${option} takes a certificate and its key, as PEM: ${String(error)}`)
  }
}

// Node's types want a buffer where bytes would do.
function textsOf({ cert, key }: Certificate): { cert: string; key: string } {
  return { cert: textOf(cert), key: textOf(key) }
}

function textOf(pem: Pem): string {
  return typeof pem === 'string' ? pem : new TextDecoder().decode(pem)
}

/** Warns once a server listens beyond this machine without TLS. @returns ends the watch */
export function whenBare(given: WebServer, sentence: (address: string) => void): () => void {
  const server = given as Server
  const look = (): void => {
    const address = addressOf(server)
    if (!isSecure(server) && address !== '' && !isLoopback(address)) sentence(address)
  }
  if (server.listening) look()
  else server.once('listening', look)
  return () => void server.off('listening', look)
}
