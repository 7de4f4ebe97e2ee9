/** A port of its own for streams, where there is no HTTP server already. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HoldfastError } from '../../machine.ts'
import type { Accept, Listening } from '../../ports.ts'
import { acceptStreams } from './websocket-server.ts'

/** Where to listen. */
export interface ListenOptions {
  /** 0 for any free port. */
  port: number
  host: string
  path: string
  /** The origins whose pages may come; see origins.ts. */
  origins?: readonly string[]
}

/** Listens. @throws HoldfastError `port-taken` or `unreachable`, with the cure */
export async function listenStreams(
  { port, host, path, origins = [] }: ListenOptions,
  accept: Accept,
): Promise<Listening> {
  const server = createServer((_request, response) => response.writeHead(404).end())
  const streams = acceptStreams(server, { path, origins, accept })
  try {
    await bound(server, port, host)
  } catch (error) {
    streams.close()
    throw error
  }
  const { port: got } = server.address() as AddressInfo
  return {
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${got}${path}`,
    close: () => {
      streams.close()
      server.close()
      server.closeAllConnections()
    },
  }
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
