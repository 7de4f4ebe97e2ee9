/**
 * A long line to a server of this machine: TCP through a process between, which passes all bytes on
 * after half of the line's round trip, in both directions. The first bytes of a connection wait for
 * another round trip, as they would for TCP's handshake. It has no bandwidth limit, so what a large
 * file costs on a slow line is not in it.
 */

import { connect, createServer, type Socket } from 'node:net'

/** Opens a line to that port. @returns its port, and what ends it */
export async function openLine(
  port: number,
  roundTripMs: number,
): Promise<{ port: number; close: () => void }> {
  const ends = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (here) => {
    const there = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const shakenAt = performance.now() + roundTripMs
    pass(here, there, roundTripMs / 2, shakenAt)
    pass(there, here, roundTripMs / 2, shakenAt)
    for (const end of [here, there]) {
      ends.add(end)
      end.on('close', () => ends.delete(end))
    }
  })
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  return {
    port: (server.address() as { port: number }).port,
    close: () => {
      for (const end of ends) end.destroy()
      server.close()
    },
  }
}

/** All timers of one direction have the same wait but for the first ones, so the order stays. */
function pass(from: Socket, to: Socket, waitMs: number, shakenAt: number): void {
  let after = Promise.resolve()
  const later = (run: () => void): void => {
    const waited = new Promise((resolve) => {
      setTimeout(resolve, Math.max(waitMs, shakenAt + waitMs - performance.now()))
    })
    after = after.then(() => waited).then(run)
  }
  from.on('data', (bytes) => later(() => to.write(bytes)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => {})
  from.on('close', () => later(() => to.destroy()))
}
