/** What the bench, its servers and its clients say to each other. */

/** One setting, the same for all contenders. */
export interface Setting {
  seed: number
  clients: number
  objects: number
  /** All objects, or those near a client. */
  sees: 'all' | 'near'
  /** Loss in percent, both ways, where the carrier is a datagram. */
  loss: number
}

/**
 * How Holdfast's members reach the server: over UDP, over WebSockets at which it listens itself, or
 * over WebSockets through the hub.
 */
export type Way = 'udp' | 'ws' | 'relay'

/** Which ticks are measured; the first tick is at `at` on the clock of the machine. */
export interface Window {
  at: number
  from: number
  to: number
}

/** From the bench to a server or clients; who is asked to join has done nothing before. */
export type Asked = { kind: 'join'; url: string } | { kind: 'begin'; window: Window }

/** From a server to the bench. */
export type ServerSaid =
  | { kind: 'serves'; port: number }
  | {
      kind: 'served'
      cpuMs: number
      interestMs: number
      lateMs: number
      /** It served all the time: nobody took over. */
      steady: boolean
    }

/** What went in one direction. */
export interface Wire {
  /** Headers of IP and of what is above it included. */
  bytes: number
  /** TCP segments or UDP datagrams, bare acks included. */
  packets: number
  /** WebSocket messages or UDP datagrams; 0 where nobody asks. */
  messages: number
  /** Their bytes, without any head. */
  payload: number
}

/** Nothing yet. */
export function blankWire(): Wire {
  return { bytes: 0, packets: 0, messages: 0, payload: 0 }
}

/** Errors of one way of showing, in bins of BIN units; the last holds what is beyond. */
export interface Shown {
  name: string
  bins: number[]
}

/** From a process of clients to the bench. */
export type ClientsSaid =
  | { kind: 'stands' }
  | { kind: 'joined' }
  | {
      kind: 'saw'
      down: Wire
      up: Wire
      cpuMs: number
      /** Clients whose packets went another way than the one that is measured. */
      astray: number
      shown: Shown[]
      /** How often something was to be seen, and how often it was not there. */
      wanted: number
      missing: number
      /** Objects that one client has at the end, on average. */
      has: number
    }

/** Width of a bin of errors, in units. */
export const BIN = 0.002
/** How many bins there are. */
export const BINS = 8192
