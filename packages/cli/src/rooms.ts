/** `holdfast rooms`: lists, shows and closes rooms of a running hub, and manages stored rooms. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { CAC } from 'cac'
import type { KeptRoom, RoomView } from '../../hub/src/rooms.ts'
import { badValue, type ErrorCode, HoldfastError } from '../../holdfast/src/machine.ts'
import type { ListedSession } from '../../hub/src/server/hub-figures.ts'
import { plain } from '../../holdfast/src/wire/text/plain.ts'
import { tokenIn, type Word } from './given.ts'

/** The hub's endpoint for rooms. */
export const ROOMS_PATH = '/api/rooms'
/** A required header, which pages cannot send to another origin without a preflight. */
export const ROOMS_HEADER = 'x-holdfast'

interface Given {
  server: Word
  token?: Word
  game?: Word
  room?: Word
  why?: Word
  seconds?: Word
  file?: Word
  to?: Word
  json?: boolean
}

export function addRooms(cli: CAC): void {
  cli
    .command(
      'rooms <verb>',
      'list, show, close: open rooms; kept, drop, export, import, copy: stored rooms',
    )
    .option('--server <url>', 'The hub', { default: 'http://127.0.0.1:8700' })
    .option('--token <file>', 'All but list: file of its --metrics-token, if on another machine')
    .option('--game <name>', 'list, kept, copy: only this game; else which game')
    .option('--room <name>', 'show, close, drop, export: which room; import: a new name')
    .option('--why <sentence>', 'close: the reason shown to its players')
    .option('--seconds <count>', 'close: how long it cannot be reopened', { default: 60 })
    .option('--file <path>', 'export, import: file of the saved room')
    .option('--to <url>', 'copy: the hub that gets all stored rooms')
    .option('--json', 'Print JSON')
    .example('holdfast rooms list')
    .example('holdfast rooms show --game duel --room finals')
    .example('holdfast rooms close --game duel --room finals --why "we close at ten"')
    .example('holdfast rooms kept')
    .example('holdfast rooms drop --game duel --room finals')
    .example('holdfast rooms export --game duel --room finals --file finals.room')
    .example('holdfast rooms import --file finals.room')
    .example('holdfast rooms copy --server http://127.0.0.1:8701 --to http://127.0.0.1:8700')
    .action((verb: string, given: Given) => {
      const run = VERBS.get(verb)
      if (run) return run(given)
      throw badValue(`holdfast rooms takes ${[...VERBS.keys()].join(', ')}: "${verb}"`)
    })
}

const ALL = { list, show, close, kept, drop, export: exportRoom, import: importRoom, copy }
const VERBS = new Map<string, (given: Given) => Promise<void>>(Object.entries(ALL))

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
  const { room } = await answer<{ room: RoomView | null }>(given, 'GET', {})
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
  if (why === undefined) throw badValue('--why is required: the reason shown to its players')
  const { ended } = await answer<{ ended: boolean }>(given, 'POST', { why, seconds })
  if (given.json) return console.log(JSON.stringify({ ended }))
  const what = ended ? `${placeOf(given)} is closed` : `nobody was in ${placeOf(given)}`
  console.log(`${what}; it cannot be reopened for ${String(seconds)} s.`)
}

async function storedAt(given: Given): Promise<KeptRoom[]> {
  const response = await ask(given, `${ROOMS_PATH}?kept`, 'GET')
  const { kept: all } = (await response.json()) as { kept: KeptRoom[] }
  return all.filter(({ game }) => given.game === undefined || game === given.game)
}

async function kept(given: Given): Promise<void> {
  const shown = await storedAt(given)
  if (given.json) return console.log(JSON.stringify(shown, null, 2))
  if (shown.length === 0) return console.log('No rooms are stored.')
  for (const { game, room, bytes, until } of shown) {
    const time = until === null ? 'in use' : `until ${new Date(until).toISOString()}`
    console.log(`${plain(game)}/${plain(room)}  ${bytes} bytes  ${time}`)
  }
}

async function drop(given: Given): Promise<void> {
  const { dropped } = await answer<{ dropped: boolean }>(given, 'POST', { drop: '' })
  if (given.json) return console.log(JSON.stringify({ dropped }))
  console.log(dropped ? `${placeOf(given)} is no longer stored.` : 'This room was not stored.')
}

async function exportRoom(given: Given): Promise<void> {
  const file = fileOf(given)
  const bytes = await savedAt(given)
  if (!bytes) throw new HoldfastError('not-found', `${placeOf(given)} is not stored`)
  onDisk(file, () => writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 }))
  if (given.json) return console.log(JSON.stringify({ file, bytes: bytes.length }))
  console.log(`${placeOf(given)} is in ${file}, ${bytes.length} bytes.`)
}

/** A stored room as a file's bytes; null if it is not stored. */
async function savedAt(given: Given): Promise<Uint8Array<ArrayBuffer> | null> {
  const { saved } = await answer<{ saved: string | null }>(given, 'GET', { export: '' })
  return saved === null ? null : Uint8Array.from(Buffer.from(saved, 'base64'))
}

// Rooms that the other hub has already are left alone, so a failed copy can be repeated.
async function copy(given: Given): Promise<void> {
  const { to } = given
  if (to === undefined) throw badValue('--to is required: the hub that gets the rooms')
  const done = { copied: 0, present: 0 }
  for (const { game, room } of await storedAt(given)) {
    const bytes = await savedAt({ ...given, game, room })
    // The room expired after it was listed.
    if (!bytes) continue
    try {
      await ask({ ...given, server: to }, `${ROOMS_PATH}?import`, 'POST', bytes)
      done.copied++
    } catch (error) {
      if ((error as HoldfastError).code !== 'exists') throw error
      done.present++
    }
  }
  if (given.json) return console.log(JSON.stringify(done))
  console.log(
    `${done.copied} rooms were copied to ${String(to)}; ${done.present} were there already.`,
  )
}

async function importRoom(given: Given): Promise<void> {
  const file = fileOf(given)
  const bytes = onDisk(file, () => readFileSync(file))
  const name = given.room === undefined ? '' : `&room=${encodeURIComponent(given.room)}`
  const path = `${ROOMS_PATH}?import${name}`
  const response = await ask(given, path, 'POST', Uint8Array.from(bytes))
  const { kept } = (await response.json()) as { kept: KeptRoom }
  if (given.json) return console.log(JSON.stringify(kept))
  const until = new Date(kept.until ?? 0).toISOString()
  console.log(`${plain(kept.game)}/${plain(kept.room)} is stored until ${until}.`)
}

function fileOf({ file }: Given): string {
  if (file === undefined) throw badValue('--file is required: the file of the saved room')
  return String(file)
}

function onDisk<Result>(file: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw new HoldfastError('store', `${file}: ${(error as Error).message}`)
  }
}

function placeOf({ game, room }: Given): string {
  return plain(`${String(game)}/${String(room)}`)
}

async function answer<Answer>(given: Given, method: string, more: object): Promise<Answer> {
  const { game, room } = given
  for (const [name, word] of Object.entries({ game, room })) {
    if (word === undefined) throw badValue(`--${name} is required`)
  }
  const words = Object.entries({ game, room, ...more }).map(([name, word]) => [name, String(word)])
  const path = `${ROOMS_PATH}?${new URLSearchParams(words).toString()}`
  const response = await ask(given, path, method)
  return response.json() as Promise<Answer>
}

/** Sends a request to the hub. @throws HoldfastError `unreachable`, `forbidden` */
async function ask(
  { server, token }: Given,
  path: string,
  method: string,
  body: Uint8Array<ArrayBuffer> | null = null,
): Promise<Response> {
  const shown = tokenIn(token)
  const authorization = shown !== null && { authorization: `Bearer ${shown}` }
  const headers = { [ROOMS_HEADER]: 'rooms', ...authorization }
  const where = String(server).replace(/\/$/, '')
  let response: Response
  try {
    response = await fetch(new URL(`${where}${path}`), { method, headers, body })
  } catch (error) {
    const why = (error as { cause?: Error }).cause?.message ?? (error as Error).message
    throw new HoldfastError('unreachable', `no hub at ${where}: ${why}`)
  }
  if (response.ok) return response
  const refusal = (await response.json().catch(() => ({}))) as { why?: string; code?: ErrorCode }
  const why = `${response.status}: ${plain(refusal.why ?? response.statusText)}`
  throw new HoldfastError(refusal.code ?? 'forbidden', `the hub at ${where} answered ${why}`)
}
