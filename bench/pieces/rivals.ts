/**
 * One update of a piece from its player to a primary and on to another member, without a network:
 * how ours does it, and what stands in its place elsewhere.
 */

import { patched } from '../../packages/holdfast/src/pieces/types.ts'
import { piece } from '../../packages/holdfast/src/pieces/pieces.ts'
import {
  receiveNews,
  removePending,
  shown,
  update,
} from '../../packages/holdfast/src/pieces/protocol/pending.ts'
import { apply } from '../../packages/holdfast/src/pieces/protocol/changes.ts'
import { perform } from '../../packages/holdfast/src/pieces/protocol/decide.ts'
import { draft } from '../../packages/holdfast/src/pieces/protocol/drafts.ts'
import { decodeOutcome, readNews } from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import {
  create,
  type Pieces,
  type PieceTypes,
} from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { bool, quantise, ranged } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { peer } from '../processes/peers.ts'

/** A card as the application has it. */
export interface Card {
  x: number
  y: number
  up: boolean
}

/** One way to do it. */
export interface Rival {
  readonly name: string
  /** What is written and read of an update is told here. */
  readonly says: string
  /** Does one. @returns bytes of the update as its player sends it */
  move(at: number, card: Card): number
  /** What another member has of it. */
  seen(at: number): Card
}

/** As much of the peers as is called. */
interface Peers {
  Y: {
    Doc: new () => YDoc
    Map: new () => YMap
    applyUpdate: (doc: YDoc, bytes: Uint8Array) => void
  }
  Packr: new (options: object) => {
    pack(value: unknown): Uint8Array
    unpack(bytes: Uint8Array): unknown
  }
}

interface YMap {
  set(key: string, value: unknown): void
  get(key: string): unknown
}

interface YDoc {
  getMap(name: string): YMap
  transact(run: () => void): void
  on(name: 'update', listen: (bytes: Uint8Array) => void): void
}

const OUT = { emit: () => {} }

/** A game's type of cards. */
export const CardType = piece('card', {
  x: ranged(0, 1_000, 0.5),
  y: ranged(0, 1_000, 0.5),
  up: bool,
})
const TYPES: PieceTypes = [CardType.rules]

/** Ours: the player's branch, the primary's decision, its log and the news, and another member. */
export function holdfast(pieces: number): Rival & { primary: Pieces } {
  const members = [state(1), state(2), state(3)]
  const [primary, player, other] = members as [Pieces, Pieces, Pieces]
  deal(primary, [player, other], pieces)
  const own = members.length - 1
  return {
    name: 'holdfast',
    says: 'decided, logged, told to its player and to another, its outcome read',
    primary,
    move: (at, card) => {
      const row = player.published.get(at + 1)!
      const op = { hold: 'keep', ...patched(CardType, { ...card }), z: null } as const
      const seq = player.nextSeq
      const body = update(player, TYPES, row, op, false)
      const done = perform(primary, TYPES, body, own, player.player)
      for (const change of done.changes) apply(primary.committed, TYPES, change)
      receiveNews(player, readNews(done.news!, TYPES) as never, OUT)
      receiveNews(other, readNews(done.news!, TYPES) as never, OUT)
      if (decodeOutcome(done.outcome)?.kind !== 'recorded') throw new Error('it was not recorded')
      removePending(player, row.id, seq, OUT)
      return body.length
    },
    seen: (at) => {
      const [x, y, up] = shown(other, TYPES, at + 1)!.fields as [number, number, number]
      return { x: x / 2, y: y / 2, up: up === 1 }
    },
  }
}

function state(inc: number): Pieces {
  return Object.assign(create(), { me: inc, player: inc, primary: 1, epoch: 1 })
}

function deal(primary: Pieces, others: readonly Pieces[], pieces: number): void {
  const start = quantise(CardType.schema, { x: 0, y: 0, up: false })
  for (let left = pieces; left > 0; left -= 200) {
    const drafted = draft(primary, TYPES, 7, 1)
    for (let n = 0; n < Math.min(left, 200); n++) drafted.api.create(0, 7, start, 'a0')
    const { changes, news } = drafted.done()
    for (const change of changes) apply(primary.committed, TYPES, change)
    for (const other of others) receiveNews(other, readNews(news!, TYPES) as never, OUT)
  }
}

/** The peers, with so many pieces. */
export async function others(pieces: number): Promise<Rival[]> {
  const { Y, Packr } = await peer<Peers>('yjs')
  return [yjs(Y, pieces), msgpackr(Packr, pieces)]
}

function yjs({ Doc, Map: Shared, applyUpdate }: Peers['Y'], pieces: number): Rival {
  const [here, server, there] = [new Doc(), new Doc(), new Doc()]
  let bytes = new Uint8Array(0)
  here.on('update', (made) => (bytes = made as Uint8Array<ArrayBuffer>))
  const cards: YMap[] = []
  for (let at = 0; at < pieces; at++) {
    const card = new Shared()
    here.getMap('cards').set(String(at), card)
    for (const doc of [server, there]) applyUpdate(doc, bytes)
    cards.push(card)
  }
  return {
    name: 'yjs',
    says: 'encoded, applied at a server and at another; nobody decides',
    move: (at, { x, y, up }) => {
      const card = cards[at]!
      here.transact(() => {
        card.set('x', x)
        card.set('y', y)
        card.set('up', up)
      })
      applyUpdate(server, bytes)
      applyUpdate(there, bytes)
      return bytes.length
    },
    seen: (at) => {
      const card = there.getMap('cards').get(String(at)) as YMap
      return { x: card.get('x') as number, y: card.get('y') as number, up: card.get('up') === true }
    },
  }
}

// For orientation: bytes and back alone, twice, as a server and another would.
function msgpackr(Packr: Peers['Packr'], pieces: number): Rival {
  const packr = new Packr({ structures: [], useFloat32: 1 })
  const there = Array.from({ length: pieces }, (): Card => ({ x: 0, y: 0, up: false }))
  return {
    name: 'msgpackr, records',
    says: 'packed, unpacked at a server and at another; nothing is kept or decided',
    move: (at, { x, y, up }) => {
      const bytes = packr.pack({ id: at, x, y, up })
      packr.unpack(bytes)
      const card = packr.unpack(bytes) as Card
      there[at] = card
      return bytes.length
    },
    seen: (at) => there[at]!,
  }
}
