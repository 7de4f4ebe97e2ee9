/**
 * `npm run bots -- GAME`: bots that play a game, each in a process of its own, so that one may
 * be killed for real. Ctrl-C lets all of them leave as players do.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readAddress } from './address.ts'
import type { Beat, Bots } from './bot.ts'
import { GAMES } from './games.ts'
import { obey } from './kill.ts'

const fileOf = (game: string): URL => new URL(`./${game}/bots.js`, import.meta.url)
/** The games that bots play. */
const PLAYED: readonly string[] = GAMES.map(({ id }) => id).filter((id) => {
  return existsSync(fileURLToPath(fileOf(id)))
})

const USAGE = `npm run bots -- GAME [--count 3] [--join ADDRESS] [--room R] [--condition WEATHER]
  GAME         ${PLAYED.join(', ')}
  --count      how many, 1 to 64; each is a process of its own
  --join       a hub's address, by default http://127.0.0.1:8700, or a room's link; also --server
  --room       which session of the game; by default that of the link, or main
  --condition  worse weather on their links, such as rtt=120,loss=5%
  --demo       a bot that serves kills itself when a player wishes it; npm run bots says so`

const HUB = 'http://127.0.0.1:8700'
/** Most bots of one call. */
const COUNT_MAX = 64

const options = {
  count: { type: 'string', default: '3' },
  join: { type: 'string' },
  room: { type: 'string' },
  server: { type: 'string' },
  condition: { type: 'string' },
  demo: { type: 'boolean', default: false },
  index: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

type Given = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

const beat: Beat = (run, ms) => {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [game = ''] = positionals
  const count = Number(values.count)
  const mistake = mistakeIn(game, count)
  if (values.help) console.log(USAGE)
  else if (mistake !== '') {
    console.error(`${mistake}\n\n${USAGE}`)
    process.exitCode = 2
  } else if (values.index === undefined) start(count)
  else await play((await import(fileOf(game).href)) as Bots, Number(values.index), values)
}

/** Says in a sentence why a command line is wrong; empty if it is right. */
function mistakeIn(game: string, count: number): string {
  if (game === '') return 'no game was named'
  if (!PLAYED.includes(game)) return `no bots play "${game}"`
  const fits = Number.isInteger(count) && count >= 1 && count <= COUNT_MAX
  return fits ? '' : `--count is 1 to ${COUNT_MAX}: ${count}`
}

/** Starts the processes, and waits for them. */
function start(count: number): void {
  const children = Array.from({ length: count }, (_, i) => startOne(i + 1))
  const end = (): void => {
    for (const child of children) child.kill('SIGTERM')
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

function startOne(index: number): ChildProcess {
  const child = fork(process.argv[1]!, [...process.argv.slice(2), '--index', String(index)])
  child.on('exit', (code, signal) => {
    const how = signal === 'SIGKILL' ? 'was killed' : `ended${code ? ` with code ${code}` : ''}`
    console.log(`bot ${index} (process ${child.pid}) ${how}`)
    if (code) process.exitCode = 1
  })
  return child
}

async function play(bots: Bots, index: number, given: Given): Promise<void> {
  const { condition, demo } = given
  const { server, room } = readAddress(given.join ?? given.server ?? HUB, given.room)
  const bot = await bots.play({ index, room, server, condition, beat })
  const { session, over } = bot
  if (demo) obey(session, () => process.kill(process.pid, 'SIGKILL'))
  console.log(`bot ${index} (process ${process.pid}) plays as player ${session.me.player}`)
  session.on('primary', (member) => {
    if (member.inc === session.me.inc) console.log(`bot ${index} is the server now`)
  })
  const leave = (): void => void bot.leave()
  process.on('SIGINT', leave)
  process.on('SIGTERM', leave)
  // Without the process that started it, a bot would play for ever.
  process.on('disconnect', leave)
  const why = await over
  console.log(`bot ${index}: ${why}`)
  process.exit(why === 'left' ? 0 : 1)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
