/** Streams over package `ws`, for Node 20, which has no WebSocket of its own. */

import { WebSocket } from 'ws'
import { type Connect, STREAM_MESSAGE_MAX } from '../../ports.ts'
import { metByError } from './met.ts'
import { connectWith } from './websocket.ts'

/** Connects with package `ws`, without compression. */
export const connectWebSocketNode: Connect = connectWith(
  (url) =>
    new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: STREAM_MESSAGE_MAX,
      // A redirect could lead a member to another hub than it named.
      followRedirects: false,
    }),
  metByError,
)
