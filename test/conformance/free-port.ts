/** A port of loopback that nobody listens on just now. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to whoever asks for any: one of those may be the port of some
 * connection by the time somebody listens there, or listens there again.
 */
const [LEAST, BEYOND] = [20_000, 32_000]

/** Its number. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LEAST, BEYOND)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
