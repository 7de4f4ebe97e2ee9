/** `holdfast ticket`: creates signing keys, and mints tickets. */

import { existsSync, writeFileSync } from 'node:fs'
import type { CAC } from 'cac'
import {
  mintTicket,
  newTicketKey,
  type TicketKey,
  type TicketOptions,
} from '../../hub/src/tickets.ts'
import { badValue } from '../../holdfast/src/machine.ts'
import { listOf, read, type Word } from './given.ts'

interface Given {
  secret?: Word
  game?: Word
  room?: Word
  rights?: Word | Word[]
  uses?: Word
  expires?: Word
  open?: boolean
  roomKey?: Word
}

export function addTicket(cli: CAC): void {
  cli
    .command('ticket <verb>', 'key: make a key that signs tickets; mint: sign a ticket with it')
    .option('--secret <file>', 'File of the key; `key` creates it, readable only by you')
    .option('--game <name>', 'The game; key: limits its tickets to this game')
    .option('--room <name>', 'mint: the room; default: all rooms of the game')
    .option('--rights <rights>', 'mint: play; host, which may also serve; or watch', {
      default: 'play',
    })
    .option('--uses <count>', 'mint: how many players it admits', { default: 1 })
    .option('--room-key <file>', 'mint: file of the key of a sealed room; the hub never gets it')
    .option('--expires <time>', 'mint: how long it is valid: 90s, 15m, 12h, 30d', { default: '1h' })
    .option('--open', 'key: only hosts need a ticket, players do not')
    .example('holdfast ticket key --secret tickets.key > tickets.json')
    .example('holdfast serve --tickets tickets.json')
    .example('holdfast ticket mint --secret tickets.key --game duel --room finals --uses 2')
    .action((verb: string, given: Given) => run(verb, given))
}

async function run(verb: string, given: Given): Promise<void> {
  if (verb === 'key') return makeKey(given)
  if (verb === 'mint') return mint(given)
  throw badValue(`holdfast ticket takes key or mint: "${verb}"`)
}

async function makeKey(given: Given): Promise<void> {
  const file = fileOf(given)
  if (existsSync(file)) throw badValue(`${file} exists: a key is never overwritten`)
  const { secret, key } = await newTicketKey()
  writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  const row: TicketKey = {
    key,
    ...(given.game !== undefined && { games: [String(given.game)] }),
    ...(given.open && { open: true }),
  }
  console.log(JSON.stringify({ keys: [row] }, null, 2))
}

async function mint(given: Given): Promise<void> {
  const { game, room, rights, uses, expires, roomKey } = given
  const secret = read('--secret', fileOf(given)).trim()
  if (game === undefined) throw badValue('--game is required: the game of the rooms')
  const options = {
    game: String(game),
    ...(room !== undefined && { room: String(room) }),
    rights: listOf(rights) as NonNullable<TicketOptions['rights']>,
    uses: Number(uses),
    seconds: secondsOf(String(expires)),
    ...(roomKey !== undefined && { roomKey: read('--room-key', String(roomKey)).trim() }),
  }
  console.log(await mintTicket(secret, options))
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function secondsOf(time: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(time) ?? []
  if (count !== '') return Number(count) * UNITS[unit]!
  throw badValue(`--expires is a number with s, m, h or d, such as 12h: "${time}"`)
}

function fileOf({ secret }: Given): string {
  if (secret === undefined) throw badValue('--secret is required: the file of the key')
  return String(secret)
}
