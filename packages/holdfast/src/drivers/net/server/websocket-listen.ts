/** Listeners for streams: on their own port, with TLS or without, or on an existing server. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HoldfastError } from '../../../machine.ts'
import type { Accept, Door, Listening, OwnDoor, SharedDoor } from '../../../ports.ts'
import { warn } from '../../report.ts'
import { createSecureServer, isSecure, whenBare } from './tls.ts'
import { acceptStreams, type StreamServerOptions, type WebServer } from './websocket-server.ts'

export interface ListenBounds extends Pick<
  StreamServerOptions,
  'connectionsMax' | 'messageMax' | 'trust'
> {
  /** The caller seals what it sends, so nobody is warned where TLS is missing. */
  isSealed?: boolean
}

/** Listens. @throws HoldfastError `port-taken`, `unreachable` or `bad-value`, with the cure */
export async function listenStreams(
  door: Door,
  accept: Accept,
  bounds: ListenBounds = {},
): Promise<Listening> {
  return 'server' in door ? share(door, accept, bounds) : own(door, accept, bounds)
}

async function own(
  door: OwnDoor,
  accept: Accept,
  { isSealed = false, ...bounds }: ListenBounds,
): Promise<Listening> {
  const { port, host, path, origins, tls } = door
  const server = tls
    ? (createSecureServer(tls, 'listen.tls', {}, refuseRequest) as unknown as Server)
    : createServer(refuseRequest)
  const streams = acceptStreams(server, { ...bounds, path, origins, accept })
  try {
    await bound(server, port, host)
  } catch (error) {
    streams.close()
    throw error
  }
  if (!isSealed) whenBare(server, warnOf)
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

/** Streams on the application's server, whose requests and other paths stay untouched. */
function share(
  { server: given, path, origins }: SharedDoor,
  accept: Accept,
  { isSealed = false, ...bounds }: ListenBounds,
): Listening {
  const server = given as Server
  const options = { ...bounds, path, origins, accept, waitingMax: 0 }
  const streams = acceptStreams(server as WebServer, options)
  const stop = isSealed ? () => {} : whenBare(server, warnOf)
  let isOpen = true
  return {
    get url() {
      const address = isOpen ? server.address() : null
      if (typeof address !== 'object' || address === null) return null
      return urlOf(server, address.address, address.port, path)
    },
    close: () => {
      isOpen = false
      stop()
      streams.close()
    },
  }
}

function urlOf(server: object, host: string, port: number, path: string): string {
  const scheme = isSecure(server) ? 'wss' : 'ws'
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
