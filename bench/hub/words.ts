/** What the bench of a hub and its processes that load it say to each other. */

/** What such a process is to prepare. */
export type Order = { url: string } & (
  | { kind: 'streams' | 'plain' | 'rooms' | 'members'; count: number; net: number }
  | { kind: 'left'; count: number; net: number }
  | { kind: 'registrations' | 'segments'; streams: number }
  | { kind: 'lists'; by: 'stream' | 'request' }
  | { kind: 'relay' | 'echo'; bytes: number }
)

/** It is told to prepare, and then to begin. */
export type Asked = { kind: 'prepare'; order: Order } | { kind: 'begin'; ms: number }

/** It is ready; or this is what it did, in what time, and what never came back. */
export type Said = { kind: 'ready' } | ({ kind: 'did' } & Did)

/** What was done. */
export interface Did {
  count: number
  ms: number
  lost: number
}

/** The memory of a process, in bytes: as the system counts it, and what Node's heap holds. */
export interface Weight {
  rss: number
  heap: number
}

/** So many operations of one lone player, or as many as so many of them do in that time. */
export type LoneAsked = { turns: number } | { rooms: number; ms: number }

/** An operation and syncs of as many bytes as a hub writes for one, in turns; middles, in ms. */
export interface BesideSync {
  bytes: number
  turns: { append: number; overwrite: number; operation: number }[]
}

/** Operations that so many lone players together had acknowledged each second. */
export interface Together {
  rooms: number
  each: number
}
