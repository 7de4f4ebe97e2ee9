/** `holdfast rooms`: the rooms of a hub that runs, one of them, and closing one. */

import type { CAC } from 'cac'
import type { RoomView } from '../faces/hub-rooms.ts'
import { badValue, HoldfastError } from '../machine.ts'
import type { ListedSession } from '../runtime/hub/hub-figures.ts'
import { plain } from '../wire/plain.ts'
import { tokenIn, type Word } from './given.ts'
import { ROOMS_HEADER, ROOMS_PATH } from './room-path.ts'

interface Given {
  server: Word
  token?: Word
  game?: Word
  room?: Word
  why?: Word
  seconds?: Word
  json?: boolean
}

/** Adds the command. */
export function addRooms(cli: CAC): void {
  cli
    .command('rooms <verb>', 'list: rooms of a hub; show: who is in one; close: ends one')
    .option('--server <url>', 'The hub', { default: 'http://127.0.0.1:8700' })
    .option('--token <file>', 'show, close: its --metrics-token, from another machine')
    .option('--game <name>', 'list: of this game alone; show, close: which')
    .option('--room <name>', 'show, close: which')
    .option('--why <sentence>', 'close: what everybody in it reads')
    .option('--seconds <count>', 'close: how long nobody opens it anew', { default: 60 })
    .option('--json', 'As JSON')
    .example('holdfast rooms list')
    .example('holdfast rooms show --game duel --room finals')
    .example('holdfast rooms close --game duel --room finals --why "we close at ten"')
    .action((verb: string, given: Given) => run(verb, given))
}

async function run(verb: string, given: Given): Promise<void> {
  if (verb === 'list') return list(given)
  if (verb === 'show') return show(given)
  if (verb === 'close') return close(given)
  throw badValue(`holdfast rooms takes list, show or close: "${verb}"`)
}

async function list(given: Given): Promise<void> {
  const { game, json } = given
  const all: ListedSession[] = []
  let next = `/api/sessions${game === undefined ? '' : `?game=${encodeURIComponent(game)}`}`
  while (next !== '') {
    const response = await ask(given, next, 'GET')
    all.push(...((await response.json()) as ListedSession[]))
    const [, query = ''] = /<(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
    next = query && `/api/sessions${query}`
  }
  if (json) return console.log(JSON.stringify(all, null, 2))
  if (all.length === 0) return console.log('No rooms are listed. Rooms by invitation never are.')
  for (const { game: of, room, players, playersMax, standing } of all) {
    console.log(`${plain(of)}/${plain(room)}  ${players} of ${playersMax}  ${standing}`)
  }
}

async function show(given: Given): Promise<void> {
  const { room } = (await answer(given, 'GET', {})) as { room: RoomView | null }
  if (given.json) return console.log(JSON.stringify(room, null, 2))
  if (!room) throw new HoldfastError('not-found', `nobody is in ${placeOf(given)}`)
  console.log(`${placeOf(given)}: session ${room.session}, ${room.standing}`)
  for (const { player, key } of room.players) {
    const serves = room.primary?.player === player ? '  serves' : ''
    console.log(`player ${player}  ${key}${serves}`)
  }
}

async function close(given: Given): Promise<void> {
  const { why, seconds } = given
  if (why === undefined) throw badValue('--why is needed: what everybody in the room reads')
  const { ended } = (await answer(given, 'POST', { why, seconds })) as { ended: boolean }
  if (given.json) return console.log(JSON.stringify({ ended }))
  const what = ended ? `${placeOf(given)} is closed` : `nobody was in ${placeOf(given)}`
  console.log(`${what}; for ${String(seconds)} s nobody opens it.`)
}

function placeOf({ game, room }: Given): string {
  return plain(`${String(game)}/${String(room)}`)
}

async function answer(given: Given, method: string, more: object): Promise<unknown> {
  for (const name of ['game', 'room'] as const) {
    if (given[name] === undefined) throw badValue(`--${name} is needed`)
  }
  const { game, room } = given
  const words = Object.entries({ game, room, ...more }).map(([name, word]) => [name, String(word)])
  const response = await ask(
    given,
    `${ROOMS_PATH}?${new URLSearchParams(words).toString()}`,
    method,
  )
  return response.json()
}

async function ask({ server, token }: Given, path: string, method: string): Promise<Response> {
  const shown = tokenIn(token)
  const headers = {
    [ROOMS_HEADER]: 'rooms',
    ...(shown !== null && { authorization: `Bearer ${shown}` }),
  }
  const where = String(server).replace(/\/$/, '')
  let response: Response
  try {
    response = await fetch(new URL(`${where}${path}`), { method, headers })
  } catch (error) {
    const why = (error as { cause?: Error }).cause?.message ?? (error as Error).message
    throw new HoldfastError('unreachable', `no hub at ${where}: ${why}`)
  }
  if (response.ok) return response
  const { why = response.statusText } = (await response.json().catch(() => ({}))) as {
    why?: string
  }
  throw new HoldfastError(
    'forbidden',
    `the hub at ${where} answers ${response.status}: ${plain(why)}`,
  )
}
