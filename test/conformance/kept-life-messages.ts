/** What a hub and a lone player that are killed are told, and what they tell. */

/** What a life is told. */
export type ToLife =
  /** Serves a hub on that file. */
  | { serve: string; port: number }
  /** Comes into the room, as the player of that token or as a new one. */
  | Enter
  /** Does so many operations from that number on, some at a time; and moves its piece as often. */
  | { act: number; count: number; atOnce: number }

/** Where somebody comes in, and as whom. */
export interface Enter {
  join: string
  token: string | null
}

/** An operation that was answered: all from what its player was told. */
export interface Ack {
  /** Its number, as its player gave it. */
  n: number
  /** Which operation of the room it was, from 1. */
  at: number
  player: number
  /** Session time then, in ms, and how safe what is acknowledged was. */
  now: number
  safety: string
}

/** The room as somebody finds it who opens it. */
export interface Found {
  player: number
  token: string
  epoch: number
  now: number
  /** How many operations it has had, and the numbers of the newest, oldest first. */
  count: number
  newest: number[]
  /** The piece that moves: how often it did. */
  moves: number
  /** Pieces that operations made: their ids, and by which operation. */
  made: { id: string; at: number }[]
}

/** What a life tells, a field each. */
export interface FromLife {
  loaded: true
  /** The hub serves. */
  serves: true
  /** The hub says that somebody opened the room. */
  opened: string
  /** It came in. */
  found: Found
  /** It did not, and why. */
  failed: string
  acked: Ack
  /** Its piece was moved: how often in all. */
  moved: number
  /** An operation had another outcome than `ok`; or the hub does not keep the room. */
  refused: string
  unkept: string
}
