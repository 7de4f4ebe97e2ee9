/** The reliable messages of slots. */

import {
  blob,
  list,
  message,
  record,
  text,
  u32,
  type ValueOf,
  varint,
  word,
} from '../../wire/layout.ts'
import { ACT_BYTES_MAX, GAPS_MAX, TALLIES_MAX, WORLD_BYTES_MAX } from './state.ts'

/** The channel of slots. */
export const SLOTS_CHANNEL = 8
/** Most bytes of the options that a world agrees on, as text in a message; the rest is cut off. */
export const SAYS_MAX = 2_048
/** Open events that are sent with a world; others come in frames. */
export const WORLD_EVENTS_MAX = 128
/** Players in a world that is sent. */
export const WORLD_PLAYERS_MAX = 256

const gap = record({ from: varint, to: varint })
const tally = record({ inc: varint, upTo: varint, gaps: list(gap, GAPS_MAX) })
const event = record({
  inc: varint,
  player: varint,
  id: varint,
  slot: varint,
  gone: varint,
  body: blob(ACT_BYTES_MAX),
})

/** The messages on SLOTS_CHANNEL. */
export const slotsLayout = message({
  /**
   * How the sender stands to the world; `print` is the fingerprint of the options that both must
   * agree on, `says` their text, for a member that is refused.
   */
  standing: [
    1,
    record({ standing: word(['closed', 'joining', 'live']), print: u32, says: text(SAYS_MAX) }),
  ],
  /** State inquiry: asks for the world (M5). */
  inquiry: [2, record({})],
  /** Reports the sender's settled world, which differs from somebody's with the same acts. */
  differs: [4, record({ slot: varint, hash: u32, acts: u32 })],
  /**
   * The answer (M6): the world that is settled after a slot, the sum of its acts, the players in
   * it, which acts of which member it has, and open events.
   */
  world: [
    3,
    record({
      slot: varint,
      text: text(WORLD_BYTES_MAX),
      acts: u32,
      present: list(varint, WORLD_PLAYERS_MAX),
      tallies: list(tally, TALLIES_MAX),
      events: list(event, WORLD_EVENTS_MAX),
    }),
  ],
})
/** One of these messages. */
export type SlotsMessage = ValueOf<typeof slotsLayout>
/** The answer to an inquiry. */
export type WorldMessage = SlotsMessage & { kind: 'world' }
