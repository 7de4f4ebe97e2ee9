/** Doors for streams: on a port of their own, with TLS or without, or on a server that is there. */

import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { badValue, HoldfastError, type Millis } from '../../machine.ts'
import type { Accept, Door, Listening, OwnDoor, SharedDoor } from '../../ports.ts'
import { warn } from '../report.ts'
import { isLoopback, isThisMachine } from './origins.ts'
import { acceptStreams, addressOf, type WebServer } from './websocket-server.ts'

/** How long a client may take for the handshake of TLS. */
const TLS_MS: Millis = 10_000

/** Listens. @throws HoldfastError `port-taken`, `unreachable` or `bad-value`, with the cure */
export async function listenStreams(door: Door, accept: Accept): Promise<Listening> {
  return 'server' in door ? share(door, accept) : own(door, accept)
}

async function own(door: OwnDoor, accept: Accept): Promise<Listening> {
  const { port, host, path, origins, tls } = door
  const server = tls ? secured(tls) : createServer(refuseRequest)
  const streams = acceptStreams(server, { path, origins, accept })
  try {
    await bound(server, port, host)
  } catch (error) {
    streams.close()
    throw error
  }
  if (!tls && !isThisMachine(host)) warnOf(host)
  const { port: got } = server.address() as AddressInfo
  return {
    url: urlOf(server, host, got, path),
    close: () => {
      streams.close()
      server.close()
      server.closeAllConnections()
    },
  }
}

function refuseRequest(
  _request: unknown,
  response: { writeHead(code: number): { end(): void } },
): void {
  response.writeHead(404).end()
}

function secured({ cert, key }: NonNullable<OwnDoor['tls']>): Server {
  try {
    // The types of Node want a buffer where bytes do.
    const options = { cert: textOf(cert), key: textOf(key), handshakeTimeout: TLS_MS }
    return createSecureServer(options, refuseRequest) as unknown as Server
  } catch (error) {
    throw badValue(`listen.tls takes a certificate and its key, as PEM: ${String(error)}`)
  }
}

function textOf(pem: string | Uint8Array): string {
  return typeof pem === 'string' ? pem : new TextDecoder().decode(pem)
}

/** Streams on a server of somebody else, whose requests and other paths stay what they are. */
function share({ server: given, path, origins }: SharedDoor, accept: Accept): Listening {
  const server = given as Server
  const isSecure = server instanceof TlsServer
  const streams = acceptStreams(server as WebServer, { path, origins, accept, waitingMax: 0 })
  const look = (): void => {
    const address = addressOf(server)
    if (!isSecure && address !== '' && !isLoopback(address)) warnOf(address)
  }
  if (server.listening) look()
  else server.once('listening', look)
  let isOpen = true
  return {
    get url() {
      const address = isOpen ? server.address() : null
      if (typeof address !== 'object' || address === null) return null
      return urlOf(server, address.address, address.port, path)
    },
    close: () => {
      isOpen = false
      server.off('listening', look)
      streams.close()
    },
  }
}

function urlOf(server: unknown, host: string, port: number, path: string): string {
  const scheme = server instanceof TlsServer ? 'wss' : 'ws'
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
}

function warnOf(host: string): void {
  warn(
    `a mailbox listens on ${host} without TLS, so who is on the way can read its letters and ` +
      'change them: give listen: { tls: { cert, key } }, or listen on 127.0.0.1 behind a proxy',
  )
}

function bound(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      const why = isTaken
        ? `port ${port} of ${host} is taken; choose another, or 0 for any`
        : `cannot listen on ${host}:${port}: ${error.message}`
      reject(new HoldfastError(isTaken ? 'port-taken' : 'unreachable', why))
    })
    server.listen(port, host, resolve)
  })
}
