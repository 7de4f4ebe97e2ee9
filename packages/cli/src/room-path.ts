/** How a program asks a hub for its rooms. */

/** Where they are. */
export const ROOMS_PATH = '/api/rooms'
/** A header that pages do not send by themselves: without it nobody is answered. */
export const ROOMS_HEADER = 'x-holdfast'
