/** The maze of the LAN, for a terminal: no server, no hub, nobody to ask. */

import { HoldfastError } from 'holdfast'
import { LanPlayer } from '../classic/lan.ts'
import { nameOnLan } from '../names.ts'
import type { Table } from './screen.ts'

/** Where the players meet. */
export interface Meeting {
  readonly group?: string
  readonly port?: string
  /** Name or address of an interface. */
  readonly via?: string
  readonly strict: boolean
  readonly name?: string
}

/** Joins whoever plays there. @throws Error that says what to do */
export async function joinLan({ port, ...meeting }: Meeting): Promise<Table> {
  let news = ''
  const player = await open({
    ...meeting,
    port: port === undefined ? undefined : Number(port),
    onNews: (one) => {
      if (one.kind === 'out') news = 'cut off from all: joining anew'
      else if (one.kind === 'clash') news = `somebody had our number: ${nameOnLan(one.id)} now`
      else if (one.kind === 'came' || one.kind === 'gone') news = `${nameOnLan(one.id)} ${one.kind}`
    },
  })
  const count = (): number => player.state.rats.length
  const words = (): string => {
    if (!player.live) return 'looking for others…'
    return [count() > 1 ? `${count()} here` : 'alone here', news].filter(Boolean).join(', ')
  }
  return {
    maze: player,
    beforeFrame: () => {},
    standing: () => ({ title: 'MAZEWAR  LAN', words: words() }),
    enter: () => {},
    over: new Promise<string>(() => {}),
    leave: () => {
      player.close()
      return Promise.resolve()
    },
  }
}

async function open(options: Parameters<typeof LanPlayer.open>[0]): Promise<LanPlayer> {
  try {
    return await LanPlayer.open(options)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const advice = 'Choose another interface with --via, or another place with --group and --port.'
    throw new Error(`${error.message}\n${advice}`, { cause: error })
  }
}
