/** The messages between the bench and its two ends. */

/** Bare transports, and links of ours on them. */
export const LINES = [
  ...['dgram', 'UDP', 'sealed UDP'],
  ...['channel', 'sealed WebRTC'],
  ...['ws', 'sealed WebSocket'],
  ...['forwarded ws', 'sealed relay', 'sealed relay far away'],
] as const
export type LineName = (typeof LINES)[number]

/** The round trip between a member and the hub that is far away, in ms. */
export const FAR_MS = 40

/** `a` floods and asks, `b` counts and echoes. */
export type Side = 'a' | 'b'

/** The servers that the ends go through. */
export interface Servers {
  /** The port of a plain server that hands on each message. */
  forwarder: number
  /** The stream URL of a hub, and a room there in which members may attach. */
  hub: string
  session: string
}

/** From one end to the other, by way of the bench, while they open a line. */
export interface Word {
  kind: 'word'
  line: LineName
  word: unknown
}

/** From the bench to an end. */
export type Asked =
  | Word
  | { kind: 'open'; servers: Servers }
  /** To `a`: send as fast as you can; null ends it. */
  | { kind: 'flood'; line: LineName | null; bytes: number }
  | { kind: 'count' }
  /** To `a`: so many round trips a second on each of these, in turns. */
  | { kind: 'trips'; lines: readonly LineName[]; bytes: number; perSecond: number; ms: number }

/** Since the process began: messages that arrived, and its processor time in us; `at` is in ms. */
export interface Count {
  messages: number
  cpu: number
  at: number
}

/** Round trips in ms, and how many had no end when the others were waited for. */
export interface Trips {
  ms: number[]
  lost: number
}

/** From an end to the bench. */
export type Said =
  | Word
  | { kind: 'opened' }
  | ({ kind: 'count' } & Count)
  | { kind: 'trips'; trips: Partial<Record<LineName, Trips>> }
