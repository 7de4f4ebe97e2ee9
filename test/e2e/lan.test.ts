// Goal: Mazewar without a server plays on a real network that loses, goes deaf and breaks.
// Method: three processes in three network namespaces on a bridge, real multicast between them;
// nftables drops what shall be lost.
// Slow: whoever says nothing is gone after seconds only, again and again.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { noTerminal, Terminal } from './tmux.ts'

const built = (name: string): string =>
  fileURLToPath(new URL(`../../build/games/mazewar/${name}.js`, import.meta.url))
const PROGRAM = built('lan')
const NAMES = ['1', '2', '3'] as const
type Name = (typeof NAMES)[number]

interface Report {
  me: number
  rats: { id: number; score: number }[]
  counters: { resent: number; sent: { event: number } }
}

interface Player {
  process: ChildProcess
  report: Report | null
  news: { kind: string; id?: number }[]
  errors: string
}

const own = `hf${process.pid % 100_000}`
const players = new Map<Name, Player>()
const spaces = ['b', ...NAMES]
let reason = ''

function ip(...args: string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim() || String(error)}`)
}

function layCables(): void {
  for (const name of spaces) ip('netns', 'add', own + name)
  const bridge = ['-n', `${own}b`]
  ip(...bridge, 'link', 'add', 'br0', 'type', 'bridge')
  ip(...bridge, 'link', 'set', 'br0', 'up')
  for (const name of NAMES) {
    const far = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', own + name]
    ip(...bridge, 'link', 'add', `v${name}`, ...far)
    ip(...bridge, 'link', 'set', `v${name}`, 'master', 'br0', 'up')
    ip('-n', own + name, 'link', 'set', 'lo', 'up')
    ip('-n', own + name, 'addr', 'add', `10.77.0.${name}/24`, 'dev', 'eth0')
    ip('-n', own + name, 'link', 'set', 'eth0', 'up')
  }
}

/** What a machine drops of what comes in; nothing, if no rule is given. */
function drop(name: Name, rule = ''): void {
  const chain = ['type filter hook input priority 0; policy accept;', rule]
  const table = ['table inet hf', 'delete table inet hf', 'table inet hf {', 'chain c {']
  // With a closing brace on the line of a rule it is not understood.
  const rules = [...table, ...chain, '}', '}', ''].join('\n')
  const args = ['netns', 'exec', own + name, 'nft', '-f', '-']
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8', input: rules })
  if (status !== 0) throw new Error(`nft: ${stderr}`)
}

function start(name: Name): Player {
  const args = ['netns', 'exec', own + name, process.execPath, PROGRAM]
  const child = spawn('ip', [...args, '--via', 'eth0', '--report', '100'])
  const player: Player = { process: child, report: null, news: [], errors: '' }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Report | { news: { kind: string } }
    if ('news' in said) player.news.push(said.news)
    else player.report = said
  })
  child.stderr.on('data', (bytes: Buffer) => (player.errors += bytes.toString()))
  return player
}

function tell(what: 'still' | 'move'): void {
  for (const { process: child } of players.values()) child.stdin!.write(`${what}\n`)
}

/** Waits for what players report; the test's own limit ends a vain wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    const dead = [...players.values()].find(({ process: { exitCode } }) => exitCode !== null)
    if (dead) throw new Error(`a player ended: ${dead.errors}`)
    await Promise.race(
      [...players.values()].map(({ process: child }) => {
        return new Promise((resolve) => child.stdout!.once('data', resolve))
      }),
    )
  }
}

const of = (name: Name): Player => players.get(name)!
const count = (name: Name): number => of(name).report?.rats.length ?? 0
const heard = (name: Name, kind: string): boolean => of(name).news.some((one) => one.kind === kind)

/** All see three rats, and the same. */
function agreed(): boolean {
  const pictures = new Set(NAMES.map((name) => JSON.stringify(of(name).report?.rats)))
  return pictures.size === 1 && NAMES.every((name) => count(name) === 3)
}

function forget(): void {
  for (const player of players.values()) player.news.length = 0
}

describe('three machines on a bridge', () => {
  beforeAll(() => {
    if (!existsSync('/usr/sbin/nft') && !existsSync('/usr/bin/nft')) reason = 'nft is not here'
    try {
      if (reason === '') layCables()
    } catch (error) {
      reason = `no network namespaces here: ${(error as Error).message}`
    }
    if (reason === '') for (const name of NAMES) players.set(name, start(name))
  })
  afterAll(() => {
    for (const { process: child } of players.values()) child.kill('SIGKILL')
    for (const name of spaces) spawnSync('ip', ['netns', 'del', own + name])
  })

  test('M1, M24: they find each other by multicast, and see each other', async (context) => {
    if (reason !== '') context.skip(reason) // needs nft and network namespaces
    await until(() => NAMES.every((name) => count(name) === 3))
    tell('still')
    await until(agreed)
    tell('move')
  })

  test('M25, M36: one is deaf to another; the third sees both, and when it hears again all agree', async (context) => {
    if (reason !== '') context.skip(reason) // needs nft and network namespaces
    tell('move')
    forget()
    drop('2', 'ip saddr 10.77.0.1 drop')
    onTestFinished(() => drop('2'))
    await until(() => heard('1', 'gone') && heard('2', 'gone'))
    expect([count('3'), heard('3', 'gone')]).toEqual([3, false])
    drop('2')
    await until(() => NAMES.every((name) => count(name) === 3))
    tell('still')
    await until(agreed)
  })

  test('M37: whose link goes down is out; up again, it joins anew', async (context) => {
    if (reason !== '') context.skip(reason) // needs nft and network namespaces
    tell('move')
    forget()
    ip('-n', `${own}b`, 'link', 'set', 'v3', 'down')
    await until(() => heard('3', 'out') && heard('1', 'gone') && heard('2', 'gone'))
    ip('-n', `${own}b`, 'link', 'set', 'v3', 'up')
    await until(() => NAMES.every((name) => count(name) === 3))
    tell('still')
    await until(agreed)
  })

  // Last: a packet lost here can declare a player gone 1.6 s later, in the next test.
  test('M26: with a fifth of all packets lost they play on, and agree when they stand still', async (context) => {
    if (reason !== '') context.skip(reason) // needs nft and network namespaces
    tell('move')
    const before = new Map(NAMES.map((name) => [name, of(name).report!.counters]))
    for (const name of NAMES) drop(name, 'meta l4proto udp numgen random mod 100 < 20 drop')
    await until(() =>
      NAMES.every((name) => {
        const { sent, resent } = of(name).report!.counters
        const then = before.get(name)!
        return sent.event > then.sent.event + 12 && resent > then.resent + 3
      }),
    )
    tell('still')
    await until(agreed)
    for (const name of NAMES) drop(name)
  })
})

test('a terminal and a bot find each other on a LAN without any server', async (context) => {
  if (noTerminal !== null) context.skip(noTerminal) // needs tmux
  const place = ['--via', '127.0.0.1', '--port', '47705']
  const bot = spawn(process.execPath, [PROGRAM, ...place, '--still'])
  onTestFinished(() => void bot.kill('SIGKILL'))
  const asked = ['--lan', ...place].join(' ')
  const terminal = new Terminal(`${process.execPath} ${built('terminal')} ${asked}`, 100, 30)
  onTestFinished(() => terminal.end())
  const screen = await terminal.until(/2 here/)
  expect(screen).toMatch(/MAZEWAR  LAN/)
  // A terminal has a name, which goes over the LAN too; a bot without one is known by its number.
  expect(screen).toMatch(/\w+ \(you\) +0/)
  expect(screen).toMatch(/LAN [0-9a-f]{4} +0/)
  terminal.type('Space')
  await terminal.until(/\(you\) +-1/)
  bot.stdin.write('leave\n')
  await terminal.until(/alone here, LAN [0-9a-f]{4} gone/)
  terminal.type('C-c')
  expect(await terminal.until(/ended \d+/)).toMatch(/ended 0/)
})
