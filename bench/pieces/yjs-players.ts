/**
 * Some players in one process whose cards are Y.Maps at y-websocket's server.
 *
 *     node yjs-players.js FIRST COUNT
 *
 * It has no outcome: a move is over when all other players of this process have it.
 */

import { StreamCount, type ClientSocket } from '../objects/stream-count.ts'
import { asked, at } from '../objects/ticks.ts'
import { clock } from '../processes/clock.ts'
import { peer } from '../processes/peers.ts'
import { type Move, play, type Player, Score } from './playing.ts'
import { PIECES, type PlayersSaid } from './words.ts'

interface YMap {
  readonly size: number
  set(key: string, value: unknown): void
  get(key: string): unknown
  observeDeep(listen: (events: { target: YMap }[], how: { local: boolean }) => void): void
}

interface YDoc {
  getMap(name: string): YMap
  transact(run: () => void): void
}

/** As much of the peers as is called. */
interface Peers {
  Y: { Doc: new () => YDoc; Map: new () => YMap }
  WebsocketProvider: new (
    url: string,
    room: string,
    doc: YDoc,
    options: object,
  ) => { ws: ClientSocket | null; synced: boolean }
  WebSocket: object
}

const [first, count] = process.argv.slice(2).map(Number) as [number, number]
process.on('disconnect', () => process.exit())
const { Y, WebsocketProvider, WebSocket } = await peer<Peers>('yjs')

const players: Player[] = []
const score = new Score()
/** Players of this process that lack a move, by piece and when it was sent. */
const lacking = new Map<string, { left: number; done: () => void }>()

async function join(url: string): Promise<void> {
  for (let n = first; n < first + count; n++) {
    const doc = new Y.Doc()
    const options = { WebSocketPolyfill: WebSocket, disableBc: true }
    const provider = new WebsocketProvider(url, 'table', doc, options)
    while (!provider.synced) await soon()
    const wire = new StreamCount(provider.ws!)
    const cards = doc.getMap('cards')
    if (n === 0) lay(doc, cards)
    while (cards.size < PIECES) await soon()
    watch(cards)
    players.push({ at: n, wire, move: (piece, move) => moved(doc, cards, piece, move) })
  }
}

function soon(): Promise<void> {
  return new Promise((resolve) => at(clock() + 20, resolve))
}

function lay(doc: YDoc, cards: YMap): void {
  doc.transact(() => {
    for (let piece = 0; piece < PIECES; piece++) {
      const card = new Y.Map()
      card.set('piece', piece)
      cards.set(String(piece), card)
    }
  })
}

function watch(cards: YMap): void {
  cards.observeDeep((events, { local }) => {
    if (local) return
    for (const { target } of events) {
      const sent = target.get('sent')
      if (typeof sent !== 'number') continue
      score.saw({ sent })
      arrived(`${target.get('piece') as number} ${sent}`)
    }
  })
}

function arrived(key: string): void {
  const one = lacking.get(key)
  if (!one || --one.left > 0) return
  lacking.delete(key)
  one.done()
}

function moved(doc: YDoc, cards: YMap, piece: number, { x, y, sent }: Move): Promise<boolean> {
  const card = cards.get(String(piece)) as YMap
  return new Promise((resolve) => {
    // Of two within one tenth of a ms the later is seen.
    const key = `${piece} ${sent}`
    const before = lacking.get(key)
    lacking.set(key, { left: count - 1, done: () => (before?.done(), resolve(true)) })
    doc.transact(() => {
      card.set('x', x)
      card.set('y', y)
      card.set('sent', sent)
    })
  })
}

function say(said: PlayersSaid): void {
  process.send?.(said)
}

asked('join', ({ url }) => void join(url).then(() => say({ kind: 'joined' })))
asked('begin', ({ window }) => void play(window, players, score).then(say))
say({ kind: 'stands' })
