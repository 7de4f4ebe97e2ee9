/** The program of a bridge between a LAN and a session. */

import { Bridge } from '../bridge.ts'
import { LanPlayer } from '../classic/lan.ts'
import { Seat } from '../seat.ts'
import { readAddress } from '../../address.ts'
import { enter } from './joined.ts'

/** How often both mazes are looked at, in milliseconds. */
const LOOK_MS = 40

/** Where to meet on either side. */
export interface Banks {
  /** The address of a hub, or the link of a room. */
  readonly join: string
  readonly room?: string
  readonly group?: string
  readonly port?: string
  /** Name or address of an interface. */
  readonly via?: string
}

/** Bridges until it is told to end, or the session is lost. @throws Error that says what to do */
export async function bridge({ join, room, group, port, via }: Banks): Promise<void> {
  const session = await enter({ ...readAddress(join, room), name: 'LAN bridge' })
  const place = { group, via, port: port === undefined ? undefined : Number(port) }
  const crossing = new Bridge(new Seat(session), (name) =>
    LanPlayer.open({ ...place, puppet: true, name }),
  )
  console.log('The LAN and the session are one maze. Ctrl-C parts them.')
  const ended = new Promise<void>((resolve, reject) => {
    crossing.onFailure = reject
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
    session.on('status', (status) => {
      if (status === 'lost') reject(new Error(`The session is lost: ${session.reason}`))
    })
  })
  const looks = setInterval(() => crossing.look(), LOOK_MS)
  try {
    await ended
  } finally {
    clearInterval(looks)
    crossing.end()
    await session.leave()
  }
}
