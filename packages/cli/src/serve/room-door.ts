/**
 * `/api/rooms` of `holdfast serve`: one room, and closing it, for programs of this machine and for
 * who shows the token. A page can send neither without being asked for by its own name.
 */

import type { HubHandle } from '../../../hub/src/open-hub.ts'
import type { IncomingMessage } from 'node:http'
import { SAVED_MAX } from '../../../holdfast/src/hub-protocol/saved-room.ts'
import { badValue, HoldfastError } from '../../../holdfast/src/machine.ts'
import { fail, sayJson } from './give.ts'
import type { Answer } from './http.ts'
import { ROOMS_HEADER } from '../rooms.ts'
import { mayRead, type Readers } from './site.ts'

/**
 * Answers requests for one room, with `kept` for all that is kept, with `export` for what is kept
 * of one (GET); and to close one, with `drop` to drop what is kept of it, with `import` to keep the
 * saved room that the request carries (POST).
 */
export function roomDoor(rooms: HubHandle, readers: Readers): Answer {
  return async (_path, request, response) => {
    const isAsked = request.headers[ROOMS_HEADER] === 'rooms'
    if (!isAsked || !mayRead(readers, request)) {
      const why = 'rooms are for programs of this machine, and for who shows the --metrics-token'
      return sayJson(response, 401, { why })
    }
    const { searchParams: asked } = new URL(request.url ?? '', 'http://hub')
    const [game, room] = [asked.get('game') ?? '', asked.get('room') ?? '']
    const shown = (): object => {
      if (asked.has('kept')) return { kept: rooms.kept() }
      if (!asked.has('export')) return { room: rooms.room(game, room) }
      const saved = rooms.exportRoom(game, room)
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
      return sayJson(response, 200, isGet ? shown() : await done())
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      return sayJson(response, 400, { why: error.message })
    }
  }
}

// No more than a saved room has.
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
