/** What the bench of a hub and its processes that load it say to each other. */

/** What such a process is to prepare. */
export type Order = { url: string } & (
  | { kind: 'streams' | 'rooms'; count: number; net: number }
  | { kind: 'registrations'; streams: number }
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
