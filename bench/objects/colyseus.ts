/** As much of Colyseus as the bench calls. Its packages are there only once they are installed. */

import type { ClientSocket } from './stream-count.ts'

/** An entity of the state. */
export interface Entity {
  x: number
  y: number
  turn: number
}

/** The room's state. */
export interface State {
  ents: Map<string, Entity>
}

/** Of `@colyseus/schema`. */
export interface StateView {
  add(entity: Entity): void
  remove(entity: Entity): void
}

/** A client as the room holds it. */
export interface RoomClient {
  view?: StateView
}

/** Of `@colyseus/core`. */
export interface Room {
  state: State
  maxClients: number
  patchRate: number | null
  autoDispose: boolean
  broadcastPatch(): void
}

/** A field of a schema. */
export interface Field {
  view(): Field
}

/** A room as a client holds it. */
export interface ClientRoom {
  state: State
  serializer: { patch(bytes: Uint8Array, it?: { offset: number }): void }
  connection: { transport: { ws: ClientSocket } }
}

/** What draws entities between their updates. */
export interface Predict {
  attachAll(key: 'ents', options: object): void
  tick(now: number): number
  value(entity: Entity, field: 'x' | 'y'): number
}

/** What bench/peers/colyseus.js exports. */
export interface Colyseus {
  Room: new () => Room
  Server: new (options: object) => {
    define(name: string, room: new () => Room): void
    listen(port: number, host: string): Promise<void>
    transport: { server: { address(): { port: number } } }
  }
  Encoder: { BUFFER_SIZE: number }
  schema: (fields: object, name: string) => new () => object
  StateView: new () => StateView
  t: { float32(): Field; map(of: new () => object): Field }
  WebSocketTransport: new (options: object) => { server: { address(): { port: number } } }
  Client: new (url: string) => { joinOrCreate(name: string, options?: object): Promise<ClientRoom> }
  Predict: { get(room: ClientRoom, options: object): Predict }
}
