/** The parts of Colyseus that the bench of objects uses, as one module. */

export { Room, Server } from '@colyseus/core'
export { Encoder, schema, StateView, t } from '@colyseus/schema'
export { Client, Predict } from '@colyseus/sdk'
export { WebSocketTransport } from '@colyseus/ws-transport'
