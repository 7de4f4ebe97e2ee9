/** Binding a UDP socket, and the error where that is refused. */

import type dgram from 'node:dgram'
import { HoldfastError } from '../../machine.ts'

/** Words for the error. */
export interface BindWords {
  /** The port, such as `UDP port 4000 on 127.0.0.1`. */
  place: string
  /** The rest of the sentence for a port that is taken. */
  taken: string
}

/** Binds, or closes the socket. @throws HoldfastError `port-taken`, `denied` or `unreachable` */
export function bindUdp(
  socket: dgram.Socket,
  at: dgram.BindOptions,
  words: BindWords,
): Promise<dgram.Socket> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      socket.close()
      reject(refusal(error, words))
    }
    socket.once('error', failed)
    socket.bind(at, () => {
      socket.off('error', failed)
      resolve(socket)
    })
  })
}

function refusal(error: NodeJS.ErrnoException, { place, taken }: BindWords): HoldfastError {
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new HoldfastError('port-taken', `${place} ${taken}`)
    case 'EACCES':
      return new HoldfastError(
        'port-denied',
        `${place} is not allowed to us; choose one above 1023`,
      )
    case 'EADDRNOTAVAIL':
      return new HoldfastError('unreachable', `${place}: this machine has no such address`)
    default:
      return new HoldfastError('unreachable', `${place} could not be opened: ${error.message}`)
  }
}
