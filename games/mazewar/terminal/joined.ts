/** A maze of a session, for a terminal. */

import { HoldfastError, join } from 'holdfast'
import { readAddress } from '../../address.ts'
import { obey } from '../../kill.ts'
import { advice } from '../../news.ts'
import { GAME, PLAYERS_MAX, TYPES } from '../game.ts'
import { readPlace } from '../rules/maze.ts'
import { Seat } from '../seat.ts'
import { restore, type Table } from './screen.ts'

/** Where, and as whom. */
export interface Wanted {
  /** The address of a hub, or the link of a room. */
  readonly join?: string
  readonly room?: string
  readonly name: string
  readonly watch: boolean
  readonly condition?: string
  /** A cell and a facing. */
  readonly born?: string
  /** Whether it dies when a player wishes it while it serves. */
  readonly demo?: boolean
}

/** Joins. @throws Error that says what to do */
export async function joinFrom(wanted: Wanted): Promise<Table> {
  const { server, room } = readAddress(wanted.join ?? '', wanted.room)
  const { name, condition } = wanted
  const session = await enter({ server, room, name, condition })
  const seat = new Seat(session)
  seat.plays = !wanted.watch
  seat.birthplace = readPlace(wanted.born ?? '')
  if (wanted.demo) {
    obey(session, () => {
      restore()
      process.kill(process.pid, 'SIGKILL')
    })
  }
  const over = new Promise<string>((resolve) => {
    session.on('status', (status) => {
      if (status === 'lost') resolve(`The session is lost: ${session.reason}.`)
    })
  })
  return {
    maze: seat,
    beforeFrame: () => seat.look(),
    standing: () => ({
      title: `MAZEWAR  ${room}`,
      words: session.status === 'live' ? `${session.members.length} here` : 'reconnecting…',
    }),
    enter: () => void (seat.plays = true),
    over,
    leave: () => session.leave(),
  }
}

/** Joins as a member. @throws Error that says what to do */
export async function enter(options: {
  server: string
  room: string
  name: string
  condition?: string
}): ReturnType<typeof join> {
  console.log(`Joining ${options.room} at ${options.server}… Ctrl-C gives up.`)
  try {
    return await join({
      game: GAME,
      topology: 'mesh',
      playersMax: PLAYERS_MAX,
      types: TYPES,
      ...options,
    })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    throw new Error(`${error.message}\n${advice(error.code)}`, { cause: error })
  }
}
