/** What the bench and its members say to each other. All instants are of `clock`. */

/** From a member. */
export type Said =
  | { kind: 'in'; inc: number; player: number }
  /** Our part in the session changed. */
  | { kind: 'role'; role: string; at: number }
  /** A primary that was none before is followed. */
  | { kind: 'led'; epoch: number; primary: number; at: number }
  /** The first operation that it acknowledged. */
  | { kind: 'served'; epoch: number; at: number }
  | { kind: 'figures'; figures: Figures }
  | { kind: 'rested'; acked: number; rows: Row[] }

/** How things stand at one member. */
export interface Figures {
  inc: number
  epoch: number
  primary: number
  backup: number
  members: number
  role: string
  suspectMs: number | null
  acked: number
  /** Processor time since the start, user and system, in ms. */
  cpuMs: number
}

/** What the table holds of one player's operations, as one member sees it. */
export interface Row {
  player: number
  /** The largest number that came. */
  last: number
  /** Numbers that came again. */
  doubled: number
  /** Numbers that were passed over. */
  missing: number
}

/** To a member: tell your figures; stop acting and tell what the table holds. */
export type Asked = 'figures' | 'rest'
