// Goal: who runs a hub makes a key, gives the hub its public half and a friend a ticket, who comes
// in by it and nobody else; what is wrong is said in a sentence.
// Method: the built program, as somebody would call it, and members over real sockets.
// Slow: each case starts the program anew.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { join, type JoinOptions } from '../../holdfast/src/node.ts'

const CLI = fileURLToPath(new URL('../../holdfast/dist/cli/src/holdfast.js', import.meta.url))
const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-ticket-'))
const at = (name: string): string => joinPath(folder, name)
const children: ChildProcess[] = []

beforeAll(() => {
  if (!existsSync(CLI)) throw new Error('run `npx tsc -b` first: child processes need dist/')
})
afterAll(async () => {
  for (const child of children) {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  rmSync(folder, { recursive: true })
})

function ticket(...words: string[]): { out: string; err: string } {
  const options = { encoding: 'utf8', timeout: 60_000 } as const
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, 'ticket', ...words], options)
  return { out: stdout.trim(), err: stderr.trim() }
}

async function serve(...words: string[]): Promise<string> {
  const data = ['--port', '0', '--data', at('hub.db')]
  const child = spawn(process.execPath, [CLI, 'serve', ...data, ...words])
  children.push(child)
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
  await expect.poll(() => said, { interval: 5 }).toContain('Ctrl-C')
  return /^Holdfast serves (\S+)$/m.exec(said)![1]!
}

const met = (options: JoinOptions): Promise<string> =>
  join({ ...options, udp: null }).then(
    async (session) => {
      await session.leave()
      return 'in'
    },
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )

test('a closed room is opened by a ticket that its owner minted, and by no other (SE-18)', async () => {
  const secret = ['--secret', at('own.key')]
  writeFileSync(at('tickets.json'), ticket('key', ...secret, '--game', 'duel').out)
  expect(statSync(at('own.key')).mode & 0o777).toBe(0o600)
  ticket('key', '--secret', at('other.key'))
  const server = await serve('--tickets', at('tickets.json'))
  const minted = ticket('mint', ...secret, '--game', 'duel', '--room', 'finals', '--rights', 'host')
  const duel = { game: 'duel', room: 'finals', server } as const
  expect(await met(duel)).toBe('forbidden: rooms of duel take a ticket')
  const foreign = ticket('mint', '--secret', at('other.key'), '--game', 'duel').out
  const FOREIGN = 'forbidden: the ticket is not signed by a key that this hub accepts'
  expect(await met({ ...duel, ticket: foreign })).toBe(FOREIGN)
  const elsewhere = { ...duel, room: 'attic', ticket: minted.out }
  expect(await met(elsewhere)).toBe('forbidden: the ticket is for duel/finals')
  const ada = await join({ ...duel, primaries: 'hosts', ticket: minted.out, udp: null })
  expect(await met({ ...duel, primaries: 'hosts', ticket: minted.out })).toBe(
    'forbidden: the ticket was used',
  )
  expect(await met({ game: 'chess', server })).toBe('in')
  await ada.leave()
})

test('what is wrong with a word is said in a sentence', () => {
  const secret = ['--secret', at('third.key')]
  expect(ticket('key').err).toBe('holdfast: --secret is required: the file of the key')
  const { keys } = JSON.parse(ticket('key', ...secret, '--open').out) as { keys: object[] }
  expect(keys).toEqual([{ key: readFileSync(at('third.key'), 'utf8').slice(64, 128), open: true }])
  expect(ticket('key', ...secret).err).toMatch(/third.key exists: a key is never overwritten$/)
  expect(ticket('buy', ...secret).err).toBe('holdfast: holdfast ticket takes key or mint: "buy"')
  expect(ticket('mint', ...secret).err).toBe('holdfast: --game is required: the game of the rooms')
  const duel = ['mint', ...secret, '--game', 'duel']
  writeFileSync(at('room.key'), `${'a6'.repeat(32)}\n`)
  expect(ticket(...duel, '--room-key', at('room.key')).out).toMatch(/^[\w.-]+~(a6){32}$/)
  expect(ticket(...duel, '--room-key', at('own.key')).err).toMatch(/roomKey has 64 hexadecimal/)
  expect(ticket(...duel, '--expires', '3 weeks').err).toMatch(
    /--expires is a number with s, m, h or/,
  )
  expect(ticket(...duel, '--rights', 'win').err).toBe(
    'holdfast: rights are of play and host, or watch alone: ["win"]',
  )
  expect(ticket(...duel, '--uses', '0').err).toBe('holdfast: uses is 1 to 1000: 0')
  expect(ticket('mint', '--secret', at('none'), '--game', 'g').err).toMatch(
    /^holdfast: --secret cannot/,
  )
  writeFileSync(at('empty.json'), '{}')
  const served = spawnSync(process.execPath, [CLI, 'serve', '--tickets', at('empty.json')], {
    ...{ encoding: 'utf8', timeout: 60_000 },
  })
  expect(served.stderr).toMatch(
    /empty.json has a list of keys, \{"keys": \[\{"key": "…"\}\]\}: holdfast/,
  )
})
