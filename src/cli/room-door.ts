/**
 * `/api/rooms` of `holdfast serve`: one room, and closing it, for programs of this machine and for
 * who shows the token. A page can send neither without being asked for by its own name.
 */

import type { HubHandle } from '../faces/hub-opening.ts'
import { HoldfastError } from '../machine.ts'
import { fail, sayJson } from './answers.ts'
import type { Answer } from './http.ts'
import { ROOMS_HEADER } from './room-path.ts'
import { mayRead, type Readers } from './site.ts'

type Rooms = Pick<HubHandle, 'room' | 'closeRoom' | 'kept' | 'dropRoom'>

/**
 * Answers requests for one room, or with `kept` for all that is kept (GET), and to close one, or
 * with `drop` to drop what is kept of it (POST).
 */
export function roomDoor(rooms: Rooms, readers: Readers): Answer {
  return async (_path, request, response) => {
    const isAsked = request.headers[ROOMS_HEADER] === 'rooms'
    if (!isAsked || !mayRead(readers, request)) {
      const why = 'rooms are for programs of this machine, and for who shows the --metrics-token'
      return sayJson(response, 401, { why })
    }
    const { searchParams: asked } = new URL(request.url ?? '', 'http://hub')
    const [game, room] = [asked.get('game') ?? '', asked.get('room') ?? '']
    try {
      if (request.method === 'HEAD') return fail(response, 405)
      if (request.method === 'GET' && asked.has('kept')) {
        return sayJson(response, 200, { kept: rooms.kept() })
      }
      if (request.method === 'GET') {
        return sayJson(response, 200, { room: rooms.room(game, room) })
      }
      if (asked.has('drop')) {
        return sayJson(response, 200, { dropped: rooms.dropRoom(game, room) })
      }
      const seconds = asked.get('seconds')
      const options = { why: asked.get('why') ?? '', ...(seconds && { seconds: Number(seconds) }) }
      return sayJson(response, 200, { ended: rooms.closeRoom(game, room, options) })
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      return sayJson(response, 400, { why: error.message })
    }
  }
}
