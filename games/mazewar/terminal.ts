/**
 * `npm run mazewar`: the game in a terminal, with nobody but bots, in a session, or on the LAN;
 * or a bridge between these two.
 */

import { parseArgs } from 'node:util'
import { pickName } from '../news.ts'
import { Practice } from './practice.ts'
import { bridge } from './terminal/bridged.ts'
import { joinFrom } from './terminal/joined.ts'
import { joinLan } from './terminal/onlan.ts'
import { playAt, type Table } from './terminal/screen.ts'

const USAGE = `npm run mazewar -- practice [--bots 5]        against bots, no network
npm run mazewar -- --join ADDRESS [--room R]  in a session: a hub's address, or a room's link
npm run mazewar -- --lan                      with whoever plays on the LAN, without a server
npm run mazewar -- bridge --join ADDRESS      makes the LAN and a session one maze

  --join     such as http://127.0.0.1:8700, or the link that a player sent you; also --server
  --room     which maze of that hub; by default that of the link, or main
  --name     how others see you
  --watch    only to look on
  --bots     how many bots, for practice: 0 to 60
  --born     where, as a cell and a facing such as 2,3; by default anywhere
  --group    where the players of the LAN meet: 239.77.1.1
  --port     and at which port: 47701
  --via      name or address of an interface; by default the first that leads to others
  --demo     you may be killed by the button of a page, while you are the server
  --strict   the document to the letter: heartbeats are repeated, the number is the address
  --help     this

Keys: arrows or WASD move and turn, space shoots, X turns round, Q and E peek round the next
corner, C is the cloak, H helps, Ctrl-C leaves. The terminal should know 24-bit colours.`

const options = {
  join: { type: 'string' },
  server: { type: 'string' },
  room: { type: 'string' },
  name: { type: 'string' },
  watch: { type: 'boolean', default: false },
  bots: { type: 'string', default: '5' },
  condition: { type: 'string' },
  born: { type: 'string' },
  demo: { type: 'boolean', default: false },
  lan: { type: 'boolean', default: false },
  group: { type: 'string' },
  port: { type: 'string' },
  via: { type: 'string' },
  strict: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BOTS_MAX = 60

async function main(): Promise<void> {
  const { values: given, positionals } = parseArgs({ options, allowPositionals: true })
  const values = { ...given, join: given.join ?? given.server }
  const [what] = positionals
  const name = (values.name ?? pickName(Math.random())).slice(0, 16)
  if (values.help) console.log(USAGE)
  else if (what === 'practice') await playAt(practise(name, Number(values.bots)))
  else if (what === 'bridge') await bridge({ ...values, join: values.join ?? '' })
  else if (values.lan) await playAt(await joinLan({ ...values, name }))
  else if (values.join !== undefined) await playAt(await joinFrom({ ...values, name }))
  else {
    console.log(USAGE)
    process.exitCode = 2
  }
}

function practise(name: string, bots: number): Table {
  if (!Number.isInteger(bots) || bots < 0 || bots > BOTS_MAX) {
    throw new RangeError(`--bots is 0 to ${BOTS_MAX}`)
  }
  const seed = Math.floor(Math.random() * 2 ** 31)
  const practice = new Practice({ name, bots, seed, now: performance.now() })
  return {
    maze: practice,
    beforeFrame: (now) => practice.advance(now),
    standing: () => ({ title: 'MAZEWAR  practice', words: `${bots} bots, no network` }),
    enter: () => {},
    over: new Promise<string>(() => {}),
    leave: () => Promise.resolve(),
  }
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
process.exit()
