/** What the bench asks its windows. */

/** What a window's channels carried, both ways, as sealed packets. */
export interface Carried {
  frames: number
  bytes: number
}

/** One sealed packet that left or came. */
export interface Frame {
  /** By which the other end finds it. */
  head: string
  bytes: number
  /** Milliseconds since 1970. */
  at: number
}

/** The verbs of a window. */
export interface Own {
  /** @returns when `join` was resolved, in ms since 1970 */
  enter: (room: string) => Promise<number>
  /** @returns when packets to all so many others go directly */
  isDirect: (others: number) => Promise<number>
  /** Changes a thing 60 times a second from now on. */
  play: () => void
  role: () => string
  carried: () => Carried
  /** Notes each frame from now on. */
  note: () => void
  noted: () => Frame[]
}
