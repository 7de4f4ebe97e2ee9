/** The parts of Yjs that the bench of pieces measures against, as one module. */

export * as Y from 'yjs'
export { WebsocketProvider } from 'y-websocket'
export { Packr } from 'msgpackr'
export { WebSocket } from 'ws'
