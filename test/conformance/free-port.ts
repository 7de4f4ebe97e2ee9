/** A port of loopback that nobody listens on just now. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Its number. It may be taken by the time it is used: then whoever listens there says so. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
