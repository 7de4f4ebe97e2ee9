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

export const SLOTS_CHANNEL = 8
/** Most bytes of a world's options, as text in a message; the rest is cut off. */
export const SAYS_MAX = 2_048
/** Most open events sent with a world; others follow in frames. */
export const WORLD_EVENTS_MAX = 128
/** Most players in a world. */
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

export const slotsLayout = message({
  /**
   * `print`: fingerprint of the options, which must be equal; `says`: their text, for the error.
   */
  standing: [
    1,
    record({ standing: word(['closed', 'joining', 'live']), print: u32, says: text(SAYS_MAX) }),
  ],
  /** State inquiry: requests the world (M5). */
  inquiry: [2, record({})],
  /** Reports a settled world that differs from another member's with the same acts. */
  differs: [4, record({ slot: varint, hash: u32, acts: u32 })],
  /**
   * The answer (M6): a settled world, the sum of its acts, its players and tallies, open events.
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
export type SlotsMessage = ValueOf<typeof slotsLayout>
export type WorldMessage = SlotsMessage & { kind: 'world' }
