/**
 * What a liar says of pieces: updates that are nonsense, near misses, or well formed with tags and
 * numbers of its own making; news that only a primary may tell; and what must hold of the others.
 */

import {
  fill,
  below,
  chance,
  pick,
  type Prng,
  word,
} from '../../packages/holdfast/src/faults/prng.ts'
import {
  encodeNews,
  encodeTable,
  encodeUpdate,
} from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import {
  encodeFree,
  type Pieces,
  PIECES_CHANNEL,
  type Row,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { bool, piece, secret, u8 } from '../../packages/holdfast/src/index.ts'

/** Its rule throws now and then. */
export const Card = piece(
  'card',
  { mark: u8, open: bool, face: secret(u8, (card, who) => card.heldBy === who) },
  {
    hold: 'must',
    rules: {
      update: (_card, patch) => {
        if (patch.mark === 13) throw new Error('a devil of a rule')
        return patch
      },
    },
  },
)
const RULES = [Card.rules]
const HOLDS = ['keep', 'grab', 'release', 'wrest'] as const
const NUMBERS = [0, 1, 127, 128, 2 ** 31, 2 ** 32, 3 * 2 ** 32 + 5, 2 ** 52]

function anyGen(chaos: Prng, { processed }: Pieces): number {
  return chance(chaos, 0.5) ? processed + below(chaos, 5) - 2 : pick(chaos, NUMBERS)
}

/** The body of an operation. */
export function cardBody(chaos: Prng, state: Pieces): Uint8Array {
  if (chance(chaos, 0.1)) return encodeFree([1, 2, 3, below(chaos, 300)])
  const mask = below(chaos, 8)
  const fields = [pick(chaos, [0, 13, 255]), below(chaos, 2), below(chaos, 256)]
  const z = chance(chaos, 0.3) ? pick(chaos, ['a0', 'a0V', 'b11', `a0${'1'.repeat(40)}`]) : null
  const op = { hold: pick(chaos, HOLDS), mask, fields, z }
  const id = chance(chaos, 0.9) ? 1 + below(chaos, 8) : below(chaos, 2 ** 20)
  const tag = Math.max(0, anyGen(chaos, state))
  const seq = below(chaos, 128)
  return spoilt(chaos, encodeUpdate(RULES, 0, { seq, id, tag, loose: chance(chaos, 0.3), op }))
}

/** A message on the channel of pieces, as if it led. */
export function cardNews(chaos: Prng, state: Pieces): Uint8Array {
  const rows = [...state.published.values()].map((row): Row => {
    const gen = Math.max(1, anyGen(chaos, state))
    const mine = { lastClient: 0, genBefore: 0, byBefore: 0, heldBy: 4, hidden: 0, refused: [] }
    return { ...row, ...mine, gen, zg: gen, fields: [66, 1, 66] }
  })
  const { epoch } = state
  const gen = (epoch + below(chaos, 3)) * 2 ** 32 + 9
  const entries = rows.map((row) => {
    return { id: row.id, row, why: 'recorded', seq: 1, reason: '', gen } as const
  })
  const said = chance(chaos, 0.5)
    ? encodeTable(RULES, { first: true, last: true, gen, lostRanges: [], rows })
    : encodeNews(RULES, entries)
  const bytes = new Uint8Array(said.length + 1)
  bytes[0] = PIECES_CHANNEL
  bytes.set(said, 1)
  return spoilt(chaos, bytes)
}

function spoilt(chaos: Prng, bytes: Uint8Array): Uint8Array {
  if (chance(chaos, 0.5)) return bytes
  if (chance(chaos, 0.2)) fill(chaos, bytes.subarray(1))
  else if (bytes.length > 1) bytes[1 + below(chaos, bytes.length - 1)] = word(chaos) & 0xff
  return chance(chaos, 0.2) ? bytes.subarray(0, 1 + below(chaos, bytes.length)) : bytes
}

/** What of each member's cards is not as the primary has them. */
export function cardsWronged(primary: Pieces, all: readonly Pieces[]): string[] {
  const essence = (rows: Iterable<Row>): string[] => {
    return [...rows].map(({ id, gen, heldBy, z, fields }) => {
      return `${id} ${gen} ${heldBy} ${z} ${fields[0]} ${fields[1]}`
    })
  }
  const right = essence(primary.committed.rows.values()).sort().join('; ')
  return all.flatMap(({ published, player }) => {
    const mine = essence(published.values()).sort().join('; ')
    return mine === right ? [] : [`the cards of ${player} are ${mine}, not ${right}`]
  })
}
