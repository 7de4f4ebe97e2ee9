/** How a program asks a hub about one of its rooms, or all. */

import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import { plain } from '../../holdfast/src/wire/plain.ts'
import { tokenIn, type Word } from './given.ts'

/** Where they are. */
export const ROOMS_PATH = '/api/rooms'
/** A header that pages do not send by themselves: without it nobody is answered. */
export const ROOMS_HEADER = 'x-holdfast'

/** What was given to `holdfast rooms`. */
export interface Given {
  server: Word
  token?: Word
  game?: Word
  room?: Word
  why?: Word
  seconds?: Word
  file?: Word
  json?: boolean
}

/** The room as one reads it. */
export function placeOf({ game, room }: Given): string {
  return plain(`${String(game)}/${String(room)}`)
}

/** Asks about one room. */
export async function answer(
  given: Given,
  method: string,
  more: object,
  body?: Uint8Array<ArrayBuffer>,
): Promise<unknown> {
  for (const name of ['game', 'room'] as const) {
    if (given[name] === undefined) throw badValue(`--${name} is needed`)
  }
  const { game, room } = given
  const words = Object.entries({ game, room, ...more }).map(([name, word]) => [name, String(word)])
  const response = await ask(
    given,
    `${ROOMS_PATH}?${new URLSearchParams(words).toString()}`,
    method,
    body,
  )
  return response.json()
}

/** Asks the hub. @throws HoldfastError `unreachable`, `forbidden` */
export async function ask(
  { server, token }: Given,
  path: string,
  method: string,
  body?: Uint8Array<ArrayBuffer>,
): Promise<Response> {
  const shown = tokenIn(token)
  const headers = {
    [ROOMS_HEADER]: 'rooms',
    ...(shown !== null && { authorization: `Bearer ${shown}` }),
  }
  const where = String(server).replace(/\/$/, '')
  let response: Response
  try {
    response = await fetch(new URL(`${where}${path}`), {
      method,
      headers,
      ...(body && { body }),
    })
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
