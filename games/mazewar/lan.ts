/**
 * A rat on the LAN without a screen: a bot, for tests and to have somebody to play against.
 *
 *     node build/games/mazewar/lan.js [--via eth0] [--report 1000]
 *
 * With `--report` it prints a line of JSON every so many milliseconds. It takes `still`, `move` and
 * `leave` on standard input.
 */

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { LanPlayer } from './classic/lan.ts'
import { createMind, skillOf, think } from './rules/brain.ts'

const options = {
  group: { type: 'string' },
  port: { type: 'string' },
  via: { type: 'string' },
  strict: { type: 'boolean', default: false },
  name: { type: 'string' },
  still: { type: 'boolean', default: false },
  report: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const USAGE = `node build/games/mazewar/lan.js: a bot on the LAN, with no server
  --group   where the players meet: 239.77.1.1
  --port    and at which port: 47701
  --via     name or address of an interface: the first that leads to others
  --name    how others see it
  --strict  heartbeats are repeated, and the id is the address
  --still   it does nothing until it is told to move
  --report  prints what it sees, as JSON, every so many milliseconds
On standard input: still, move, leave`

const THINK_MS = 50

async function main(): Promise<void> {
  const { values } = parseArgs({ options })
  if (values.help) return console.log(USAGE)
  const { group, via, strict } = values
  const port = values.port === undefined ? undefined : Number(values.port)
  const player = await LanPlayer.open({
    ...{ group, port, via, strict, name: values.name },
    onNews: (news) => console.log(JSON.stringify({ news })),
  })
  const state = { moves: !values.still, slot: -1 }
  const mind = createMind(player.me, skillOf(player.me % 97))
  setInterval(() => {
    if (!state.moves || !player.live || player.slot === state.slot) return
    state.slot = player.slot
    const act = think(mind, player.ahead, player.me)
    if (act) player.act(act)
  }, THINK_MS)
  if (values.report) setInterval(() => report(player), Number(values.report))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => leave(player))
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    if (line === 'leave') leave(player)
    else if (line === 'still' || line === 'move') state.moves = line === 'move'
  })
}

function leave(player: LanPlayer): void {
  report(player)
  player.close()
  process.exit(0)
}

function report({ me, state, peer, carrier }: LanPlayer): void {
  const rats = state.rats.map(({ id, at, facing, cloaked, score, missiles }) => {
    return { id, at, facing, cloaked, score, missiles: missiles.length }
  })
  console.log(JSON.stringify({ me, slot: state.slot, rats, counters: peer.counters, carrier }))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
