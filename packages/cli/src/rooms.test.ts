// Goal: who runs a hub lists its rooms, looks into one and closes it, from its machine or with a
// token, and nobody else does; what is wrong is said in a sentence (SE-4).
// Method: the built program, as somebody would call it, with members over real sockets.
// Slow: each case starts the program anew.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { join } from '../../holdfast/src/node.ts'
import { ROOMS_HEADER, ROOMS_PATH } from './rooms.ts'

const CLI = fileURLToPath(new URL('../../holdfast/dist/cli/src/holdfast.js', import.meta.url))
const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-rooms-'))
const token = joinPath(folder, 'token')
let child: ChildProcess
let server = ''

beforeAll(async () => {
  if (!existsSync(CLI)) throw new Error('run `npx tsc -b` first: child processes need dist/')
  writeFileSync(token, 'a-word-of-sixteen-characters\n')
  const data = ['--port', '0', '--data', joinPath(folder, 'hub.db'), '--metrics-token', token]
  child = spawn(process.execPath, [CLI, 'serve', ...data])
  let said = ''
  for await (const bytes of child.stdout!) {
    said += String(bytes)
    if (said.includes('Ctrl-C')) break
  }
  server = /^Holdfast serves (\S+)$/m.exec(said)![1]!
})
afterAll(async () => {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
  rmSync(folder, { recursive: true })
})

function rooms(...words: string[]): { out: string; err: string; code: number | null } {
  const given = [
    CLI,
    'rooms',
    ...words,
    ...(words.includes('--server') ? [] : ['--server', server]),
  ]
  const options = { encoding: 'utf8', timeout: 60_000 } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, given, options)
  return { out: stdout.trim(), err: stderr.trim(), code: status }
}

const finals = ['--game', 'duel', '--room', 'finals']

test('a room is listed, shown and closed, and its players read why (SE-4)', async () => {
  expect(rooms('list').out).toMatch(/^No rooms are listed/)
  const ada = await join({ game: 'duel', room: 'finals', name: 'Ada', server, udp: null })
  await join({ game: 'duel', room: 'quiet', name: 'Bob', server, udp: null, listed: false })
  // A list may be a second old.
  const listed = (): string => rooms('list', '--json').out
  await expect.poll(listed, { interval: 100 }).toContain('"room": "finals"')
  expect(rooms('list').out).toBe('duel/finals  1 of 16  open')
  expect(rooms('show', ...finals).out).toMatch(
    /^duel\/finals: session \S+, open\nplayer 1 {2}[0-9a-f]{64} {2}serves$/,
  )
  // What no list has is shown by its name.
  expect(rooms('show', '--game', 'duel', '--room', 'quiet').code).toBe(0)
  const closed = rooms('close', ...finals, '--why', 'we close at ten', '--seconds', '3600')
  expect(closed.out).toBe('duel/finals is closed; it cannot be reopened for 3600 s.')
  await expect.poll(() => ada.status, { interval: 20 }).toBe('lost')
  expect(ada.code).toBe('forbidden')
  expect(ada.reason).toMatch(/^we close at ten: it opens again in \d+ s$/)
  expect(rooms('show', ...finals).err).toContain('nobody is in duel/finals')
  await expect(join({ game: 'duel', room: 'finals', server, udp: null })).rejects.toThrow(
    'we close at ten',
  )
})

test('what is kept is listed, and dropped', async () => {
  expect(rooms('kept', '--game', 'saved').out).toBe('No rooms are stored.')
  const saved = { game: 'saved', room: 'night', server, udp: null } as const
  const ada = await join({ ...saved, name: 'Ada' })
  await expect.poll(() => ada.safety, { interval: 20 }).toBe('kept')
  const kept = (): string => rooms('kept', '--game', 'saved').out
  expect(kept()).toMatch(/^saved\/night {2}\d+ bytes {2}in use$/)
  await ada.leave()
  const until = /^saved\/night {2}\d+ bytes {2}until \d{4}-\d\d-\d\dT/
  await expect.poll(kept, { interval: 100 }).toMatch(until)
  const which = ['--game', 'saved', '--room', 'night']
  expect(rooms('drop', ...which).out).toBe('saved/night is no longer stored.')
  expect([rooms('drop', ...which).out, kept()]).toEqual([
    'This room was not stored.',
    'No rooms are stored.',
  ])
  const next = await join({ ...saved, name: 'Grace' })
  // It is another session: its players are numbered anew.
  expect([next.me.player, next.token === ada.token]).toEqual([1, false])
  await next.leave()
})

test('what is kept is saved in a file, and kept again from there, under another name too', async () => {
  const file = joinPath(folder, 'dusk.room')
  const where = { game: 'saved', room: 'dusk', server, udp: null } as const
  const ada = await join({ ...where, name: 'Ada' })
  await expect.poll(() => ada.safety, { interval: 20 }).toBe('kept')
  const which = ['--game', 'saved', '--room', 'dusk']
  const session = (): unknown => /"session": "\S+"/.exec(rooms('kept', '--json').out)?.[0]
  const before = session()
  expect(rooms('export', ...which, '--file', file).out).toMatch(
    /^saved\/dusk is in .*, \d+ bytes.$/,
  )
  // No file is written over.
  expect(rooms('export', ...which, '--file', file).err).toContain('EEXIST')
  expect(rooms('import', '--file', file).err).toContain('is here already')
  await ada.leave()
  expect(rooms('import', '--file', file, '--room', 'dawn').err).toContain('is here already')
  await expect.poll(() => rooms('kept', '--game', 'saved').out).toMatch(/until/)
  expect(rooms('drop', ...which).out).toContain('no longer stored')
  await expect
    .poll(() => rooms('import', '--file', file, '--room', 'dawn').out)
    .toMatch(/^saved\/dawn is stored until \d{4}-/)
  const again = await join({ ...where, room: 'dawn', name: 'Ada', token: ada.token })
  expect(again.me.player).toBe(1)
  expect(session()).toBe(before)
  await again.leave()
  for (const [words, why] of [
    [['export', '--game', 'saved', '--room', 'none', '--file', `${file}.2`], 'is not stored'],
    [['export', ...which], '--file is required'],
    [['import', '--file', `${file}.none`], 'ENOENT'],
    [['import', '--file', token], 'the file is no saved room'],
  ] as const) {
    expect(rooms(...words).err).toContain(why)
  }
})

test('all stored rooms are copied to another hub, each once', async () => {
  const where = { game: 'moved', server, udp: null, keepRoom: '1h' } as const
  const names = ['one', 'two', 'three']
  for (const room of names) {
    const ada = await join({ ...where, room, name: 'Ada' })
    await expect.poll(() => ada.safety, { interval: 20 }).toBe('kept')
    await ada.leave()
  }
  const data = ['--port', '0', '--data', joinPath(folder, 'other.db')]
  const other = spawn(process.execPath, [CLI, 'serve', ...data])
  let said = ''
  for await (const bytes of other.stdout) {
    said += String(bytes)
    if (said.includes('Ctrl-C')) break
  }
  const to = /^Holdfast serves (\S+)$/m.exec(said)![1]!
  const copy = ['copy', '--game', 'moved', '--to', to]
  expect(rooms('copy', '--game', 'moved').err).toContain('--to is required')
  expect(rooms(...copy).out).toBe(`3 rooms were copied to ${to}; 0 were there already.`)
  expect(rooms(...copy).out).toBe(`0 rooms were copied to ${to}; 3 were there already.`)
  const kept = rooms('kept', '--game', 'moved', '--server', to).out.split('\n')
  expect(new Set(kept.map((line) => line.split(' ')[0]))).toEqual(
    new Set(names.map((room) => `moved/${room}`)),
  )
  other.kill('SIGTERM')
  await once(other, 'exit')
  expect(rooms(...copy).err).toContain(`no hub at ${to.slice(0, -1)}`)
})

test('what is wrong is said in a sentence, and changes nothing (SE-4)', () => {
  for (const [words, why] of [
    [['open'], 'holdfast rooms takes list, show, close, kept, drop, export, import, copy: "open"'],
    [['show', '--game', 'duel'], '--room is required'],
    [['close', ...finals], '--why is required: the reason shown to its players'],
    [['close', ...finals, '--why', 'x', '--seconds', '90000'], 'seconds is 0 to 86400: 90000'],
    [['list', '--server', 'http://127.0.0.1:9'], 'no hub at http://127.0.0.1:9: '],
    [['list', '--hub', 'x'], 'Unknown option `--hub`: did you mean --server?'],
    [['list', '--port', '8700'], 'Unknown option `--port`: did you mean --server?'],
  ] as const) {
    const { err, code } = rooms(...words)
    expect(err).toContain(why)
    expect(code).not.toBe(0)
  }
})

test('nobody closes a room from a page, nor through a proxy without the token (SE-4)', async () => {
  const url = new URL(`${ROOMS_PATH}?game=duel&room=x&why=no`, server)
  const asked = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(url, { method: 'POST', headers })).status
  expect(await asked({})).toBe(401)
  expect(await asked({ [ROOMS_HEADER]: 'rooms', origin: 'https://elsewhere.example' })).toBe(403)
  const through = { [ROOMS_HEADER]: 'rooms', 'x-forwarded-for': '192.0.2.1' }
  expect(await asked(through)).toBe(401)
  expect(await asked({ ...through, authorization: 'Bearer another' })).toBe(401)
  const word = 'Bearer a-word-of-sixteen-characters'
  expect(await asked({ ...through, authorization: word })).toBe(200)
  expect((await fetch(new URL('/api/sessions', server), { method: 'POST' })).status).toBe(405)
})
