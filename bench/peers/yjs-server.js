/** y-websocket's own server, as it comes with the package. */

import utils from 'y-websocket/bin/utils'

export const { setupWSConnection } = utils
export { WebSocketServer } from 'ws'
