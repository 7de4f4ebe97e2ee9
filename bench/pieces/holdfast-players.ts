/**
 * Some of Holdfast's players in one process.
 *
 *     node holdfast-players.js FIRST COUNT node|browser
 *
 * Only who says `node` becomes the backup; `browser` is but a word here, for all have sockets.
 */

import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { PieceHandle } from '../../packages/holdfast/src/pieces/handles.ts'
import type { Session } from '../../packages/holdfast/src/node.ts'
import type { Environment } from '../../packages/holdfast/src/ports.ts'
import { Counted } from '../objects/counted.ts'
import { asked, at } from '../objects/ticks.ts'
import { clock } from '../processes/clock.ts'
import { Card, lay } from './card.ts'
import { play, type Player, Score } from './playing.ts'
import { PIECES, type PlayersSaid } from './words.ts'

const [first, count, kind] = process.argv.slice(2) as [string, string, Environment['kind']]
process.on('disconnect', () => process.exit())

type Handle = PieceHandle<typeof Card.schema.fields>

const players: Player[] = []
const score = new Score()

async function join(url: string): Promise<void> {
  for (let n = Number(first); n < Number(first) + Number(count); n++) {
    const wire = new Counted('udp', kind)
    const session = await joinIn(wire.environment, {
      game: 'cards',
      types: [Card, lay],
      server: url,
      playersMax: 256,
      serves: false,
    })
    const cards = await laid(session)
    for (const card of cards) watch(session, card)
    players.push({
      at: n,
      wire,
      move: async (piece, move) => (await cards[piece]!.update(move)).ok,
    })
  }
}

async function laid(session: Session): Promise<Handle[]> {
  for (;;) {
    const cards = session.all(Card)
    if (cards.length === PIECES) return cards.toSorted((a, b) => Number(a.id) - Number(b.id))
    await new Promise<void>((resolve) => at(clock() + 20, resolve))
  }
}

function watch(session: Session, card: Handle): void {
  let before = 0
  card.on('changed', () => {
    const { sent } = card.state
    if (sent === before) return
    before = sent
    if (card.lastBy?.player !== session.me.player) score.saw({ sent })
  })
}

function say(said: PlayersSaid): void {
  process.send?.(said)
}

asked('join', ({ url }) => void join(url).then(() => say({ kind: 'joined' })))
asked('begin', ({ window }) => void play(window, players, score).then(say))
say({ kind: 'stands' })
