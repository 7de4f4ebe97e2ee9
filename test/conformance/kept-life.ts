/**
 * One life of a process that is going to be killed: of a hub, or of a player who is alone in a
 * room that the hub keeps. It is bundled into one file before it runs, for what is killed soon is
 * to be loaded soon.
 */

import { createServer } from 'node:http'
import { hub } from '../../packages/hub/src/index.ts'
import { action, join, piece, type Session, u32 } from '../../packages/holdfast/src/node.ts'
import type { Enter, Found, FromLife, ToLife } from './kept-life-messages.ts'
import { MADE_EVERY, MADE_MAX, NEWEST } from './kept-ledger.ts'

/** The room, and for how long it is kept. */
const ROOM = {
  ...({ game: 'killed', room: 'alone', keepRoom: '1d' } as const),
  operationsPerSecond: 10_000,
}

// It counts how often it was moved: an update that is recorded twice shows.
const Man = piece(
  'man',
  { moves: u32 },
  { rules: { update: ({ moves }) => ({ moves: moves + 1 }) } },
)
const Mark = piece('mark', { at: u32 })

/** The operation of that number: it is written down each time it runs. */
const act = action('act', { n: u32 }, (table, { n }) => {
  const at = Number(table.get('count') ?? 0) + 1
  table.set('count', at)
  const newest = [...numbers(table.get('newest')), n].slice(-NEWEST)
  table.set('newest', newest.join(' '))
  if (at === 1) table.create(Man)
  if (at % MADE_EVERY === 0) {
    table.create(Mark, { at })
    const marks = table.all(Mark).toSorted((a, b) => a.state.at - b.state.at)
    for (const mark of marks.slice(0, -MADE_MAX)) mark.remove()
  }
  return at
})

function numbers(text: unknown): number[] {
  return typeof text === 'string' && text !== '' ? text.split(' ').map(Number) : []
}

const tell = (message: Partial<FromLife>): void => void process.send!(message)

function serve(store: string, port: number): void {
  const server = createServer()
  const handle = hub({ server, store })
  handle.on('founded', ({ session }) => tell({ opened: session }))
  server.listen(port, '127.0.0.1', () => tell({ serves: true }))
}

let session: Session | null = null
let moving = Promise.resolve()

async function enter({ join: server, token }: Enter): Promise<void> {
  try {
    const types = [act, Man, Mark]
    const wish = { ...ROOM, types, server, ...(token !== null && { token }) }
    session = await join(wish)
  } catch (error) {
    return tell({ failed: String(error) })
  }
  session.on('error', ({ error }) => tell({ unkept: String(error) }))
  session.on('status', (status) => status === 'lost' && tell({ failed: session!.reason }))
  tell({ found: found(session) })
}

function found(own: Session): Found {
  const { me, token, table } = own
  return {
    ...{ player: me.player, token, epoch: own.debug.figures().epoch, now: own.now() },
    count: Number(table.get('count') ?? 0),
    newest: numbers(table.get('newest')),
    moves: own.all(Man)[0]?.state.moves ?? 0,
    made: own.all(Mark).map(({ id, state }) => ({ id, at: state.at })),
  }
}

/** Operations, one after the other. */
async function operate(own: Session, next: () => number | null): Promise<void> {
  for (let n = next(); n !== null; n = next()) {
    const outcome = await own.act(act, { n })
    if (!outcome.ok) return tell({ refused: `operation ${n}: ${outcome.code}` })
    const { safety, me } = own
    tell({ acked: { n, at: outcome.value, player: me.player, now: own.now(), safety } })
  }
}

/** The piece is moved so often, if it is there yet. */
async function move(own: Session, count: number): Promise<void> {
  const man = own.all(Man)[0]
  for (let left = man ? count : 0; left > 0; left--) {
    const outcome = await man!.update({ moves: man!.state.moves + 1 })
    if (!outcome.ok) return tell({ refused: `a move: ${outcome.code}` })
    tell({ moved: man!.state.moves })
  }
}

process.on('message', (message: ToLife) => {
  if ('serve' in message) serve(message.serve, message.port)
  else if ('join' in message) void enter(message)
  else {
    const { act: first, count, atOnce } = message
    let n = first
    const next = (): number | null => (n < first + count ? n++ : null)
    for (let at = 0; at < atOnce; at++) void operate(session!, next)
    // One after the other: what is shown is what was recorded, with nothing under way on top.
    moving = moving.then(() => move(session!, count))
  }
})
process.on('disconnect', () => process.exit())
tell({ loaded: true })
