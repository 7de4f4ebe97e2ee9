/** `holdfast rooms`: the rooms of a hub that runs, one of them, closing one, and what is kept. */

import type { CAC } from 'cac'
import type { KeptRoom, RoomView } from '../../hub/src/rooms.ts'
import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import type { ListedSession } from '../../hub/src/server/hub-figures.ts'
import { plain } from '../../holdfast/src/wire/plain.ts'
import { answer, ask, type Given, placeOf, ROOMS_PATH } from './room-asking.ts'
import { exportRoom, importRoom } from './room-files.ts'

/** Adds the command. */
export function addRooms(cli: CAC): void {
  cli
    .command('rooms <verb>', 'list, show, close: rooms; kept, drop, export, import: what is kept')
    .option('--server <url>', 'The hub', { default: 'http://127.0.0.1:8700' })
    .option('--token <file>', 'All but list: its --metrics-token, from another machine')
    .option('--game <name>', 'list, kept: of this game alone; else which')
    .option('--room <name>', 'show, close, drop, export: which; import: another name')
    .option('--why <sentence>', 'close: what everybody in it reads')
    .option('--seconds <count>', 'close: how long nobody opens it anew', { default: 60 })
    .option('--file <path>', 'export, import: of the saved room')
    .option('--json', 'As JSON')
    .example('holdfast rooms list')
    .example('holdfast rooms show --game duel --room finals')
    .example('holdfast rooms close --game duel --room finals --why "we close at ten"')
    .example('holdfast rooms kept')
    .example('holdfast rooms drop --game duel --room finals')
    .example('holdfast rooms export --game duel --room finals --file finals.room')
    .example('holdfast rooms import --file finals.room')
    .action((verb: string, given: Given) => run(verb, given))
}

async function run(verb: string, given: Given): Promise<void> {
  if (verb === 'list') return list(given)
  if (verb === 'show') return show(given)
  if (verb === 'close') return close(given)
  if (verb === 'kept') return kept(given)
  if (verb === 'drop') return drop(given)
  if (verb === 'export') return exportRoom(given)
  if (verb === 'import') return importRoom(given)
  throw badValue(`holdfast rooms takes list, show, close, kept, drop, export, import: "${verb}"`)
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

async function kept(given: Given): Promise<void> {
  const response = await ask(given, `${ROOMS_PATH}?kept`, 'GET')
  const { kept: all } = (await response.json()) as { kept: KeptRoom[] }
  const shown = all.filter(({ game }) => given.game === undefined || game === given.game)
  if (given.json) return console.log(JSON.stringify(shown, null, 2))
  if (shown.length === 0) return console.log('No rooms are kept.')
  for (const { game, room, bytes, until } of shown) {
    const time = until === null ? 'somebody is in it' : `until ${new Date(until).toISOString()}`
    console.log(`${plain(game)}/${plain(room)}  ${bytes} bytes  ${time}`)
  }
}

async function drop(given: Given): Promise<void> {
  const { dropped } = (await answer(given, 'POST', { drop: '' })) as { dropped: boolean }
  if (given.json) return console.log(JSON.stringify({ dropped }))
  console.log(
    dropped ? `What was kept of ${placeOf(given)} is dropped.` : 'Nothing was kept of it.',
  )
}
