/**
 * `/api/rooms` of `holdfast serve`: shows and closes rooms, for programs on this machine or with
 * the token. Pages of other origins cannot send the required header without a preflight.
 */

import type { HubHandle } from '../../../hub/src/open-hub.ts'
import type { IncomingMessage } from 'node:http'
import { SAVED_MAX } from '../../../holdfast/src/hub-protocol/saved-room.ts'
import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import { fail, respondJson } from './give.ts'
import type { Answer } from './http.ts'
import { ROOMS_HEADER } from '../rooms.ts'
import { mayRead, type Readers } from './site.ts'

/**
 * Responds to GET for one room, with `kept` for all stored rooms, with `export` for the content of
 * a stored one; and to POST, which closes a room, with `drop` deletes a stored one, with `import`
 * stores the saved room in the body.
 */
export function roomDoor(rooms: HubHandle, readers: Readers): Answer {
  return async (_path, request, response) => {
    const isAsked = request.headers[ROOMS_HEADER] === 'rooms'
    if (!isAsked || !mayRead(readers, request)) {
      const why =
        'rooms are for programs on this machine, or for a request with the --metrics-token'
      return respondJson(response, 401, { why })
    }
    const { searchParams: asked } = new URL(request.url ?? '', 'http://hub')
    const [game, room] = [asked.get('game') ?? '', asked.get('room') ?? '']
    const shown = async (): Promise<object> => {
      if (asked.has('kept')) return { kept: rooms.kept() }
      if (!asked.has('export')) return { room: rooms.room(game, room) }
      const saved = await rooms.exportRoom(game, room)
      return { saved: saved && Buffer.from(saved).toString('base64') }
    }
    const done = async (): Promise<object> => {
      if (asked.has('import')) {
        const options = asked.has('room') ? { room } : {}
        return { kept: await rooms.importRoom(await bodyOf(request), options) }
      }
      if (asked.has('drop')) return { dropped: rooms.dropRoom(game, room) }
      const seconds = asked.get('seconds')
      const options = { why: asked.get('why') ?? '', ...(seconds && { seconds: Number(seconds) }) }
      return { ended: rooms.closeRoom(game, room, options) }
    }
    try {
      if (request.method === 'HEAD') return fail(response, 405)
      const isGet = request.method === 'GET'
      return respondJson(response, 200, await (isGet ? shown() : done()))
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      return respondJson(response, 400, { why: error.message, code: error.code })
    }
  }
}

// Reads at most the size of a saved room.
async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Uint8Array>) {
    bytes += part.length
    if (bytes > SAVED_MAX) throw badValue(`a saved room has ${SAVED_MAX} bytes at most`)
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}
