/** What members tell each other reliably of the world. */

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
} from '../wire/layout.ts'
import { ACT_BYTES_MAX, GAPS_MAX, TALLIES_MAX, WORLD_BYTES_MAX } from './state.ts'

/** The channel of slots. */
export const SLOTS_CHANNEL = 8
/** Bytes of what a world of slots agrees on, as it is told; the rest is left out. */
export const SAYS_MAX = 2_048
/** Events of open slots that go with a world; others come in frames. */
export const WORLD_EVENTS_MAX = 128
/** Players in a world that is told. */
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

/** What goes on SLOTS_CHANNEL. */
export const slotsLayout = message({
  /**
   * How the sender stands to the world; `print` is what both must agree on, `says` the text that it
   * is of, for whoever is refused.
   */
  standing: [
    1,
    record({ standing: word(['closed', 'joining', 'live']), print: u32, says: text(SAYS_MAX) }),
  ],
  /** State inquiry: asks for the world (M5). */
  inquiry: [2, record({})],
  /** The sender's settled world, which is another than somebody's of the same acts. */
  differs: [4, record({ slot: varint, hash: u32, acts: u32 })],
  /**
   * The answer (M6): the world that is settled after a slot, the sum of what is in it, the players
   * in it, which acts of whom it has, and open events.
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
/** One of them. */
export type SlotsMessage = ValueOf<typeof slotsLayout>
/** The answer to an inquiry. */
export type WorldMessage = SlotsMessage & { kind: 'world' }
