// Goal: what docs/deploy/backup.sh copies of a hub that runs is one moment of it, and a hub that
// starts on the copy has the rooms that were kept then.
// Method: the script as it stands, beside a process that writes without a pause, and where copying
// a file takes until its log has begun anew; then a real hub with a member in a kept room.
// Slow: the script copies files dozens of times, in processes of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { cpSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as pathOf, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test, type TestContext } from 'vitest'
import { openSqliteStore } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { action, join } from '../../packages/holdfast/src/node.ts'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import { type HubProcess, startHubIn } from './hub-process.ts'
import { put, recordOf } from './store.ts'
import { inspect, numberIn } from './store-kill.ts'
import { until } from './until.ts'

const SCRIPT = resolve('docs/deploy/backup.sh')
const WRITER = resolve('test/conformance/store-writer.js')
const MODULE = new URL(
  '../../packages/holdfast/dist/holdfast/src/drivers/store/sqlite.js',
  import.meta.url,
).href
const COPIES = 12
const base = mkdtempSync(pathOf(tmpdir(), 'holdfast-backup-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** A writer of one number in many records, and the last of which it said that it is written. */
class Writer {
  readonly file: string
  last = 0
  readonly #child: ChildProcess

  constructor({ onTestFinished }: TestContext) {
    const file = pathOf(mkdtempSync(pathOf(base, 'writer-')), 'hub.db')
    this.file = file
    const words = [WRITER, MODULE, 'openSqliteStore', file]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.last = Number(line.split(' ')[1])
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    this.#child = child
  }

  /** SIGKILL: the log stays as it is. */
  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

interface Ended {
  code: number
  told: string
}

function run(script: string, words: string[], path: string = ''): Promise<Ended> {
  const env = { ...process.env, PATH: `${path}:${process.env['PATH']}` }
  return new Promise((done) => {
    const child = execFile('sh', [script, ...words], { env }, (_error, _stdout, told) => {
      done({ code: child.exitCode!, told })
    })
  })
}

/** What is wrong with a copy of what a writer wrote. @param last  acknowledged before */
async function wrongIn(file: string, last: number): Promise<string[]> {
  try {
    const store = openSqliteStore(file)
    try {
      const found = numberIn(store)
      const late = found < last ? [`change ${last} was acknowledged, the copy has ${found}`] : []
      return [...late, ...(await inspect(store, found))]
    } finally {
      store.close()
    }
  } catch (error) {
    return [String(error)]
  }
}

/** A folder of programs that go before the system's: a `sleep` that takes no time. */
function hastily(): string {
  const folder = mkdtempSync(pathOf(base, 'bin-'))
  writeFileSync(pathOf(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 })
  return folder
}

/** The same with a `cp` that copies a file with a log, and so many times waits for the test. */
class Slowly {
  readonly bin: string = hastily()
  readonly file: string
  readonly #store: Store
  readonly #times: number

  constructor(times: number, { onTestFinished }: TestContext) {
    this.file = pathOf(mkdtempSync(pathOf(base, 'slow-')), 'hub.db')
    this.#store = openSqliteStore(this.file)
    this.#times = times
    onTestFinished(() => this.#store.close())
    const text = `#!/bin/sh
      PATH=/usr/bin:/bin; cp "$@"; [ -e "$1-wal" ] || exit 0
      echo >> ${this.bin}/asked; turn=$(wc -l < ${this.bin}/asked)
      while [ "$turn" -le ${times} ] && [ ! -e ${this.bin}/go-$turn ]; do sleep 0.01; done`
    writeFileSync(pathOf(this.bin, 'cp'), text, { mode: 0o755 })
  }

  /** What a copy must have: see `coldIn`. */
  put(count: number): Promise<unknown> {
    return put(this.#store, 'cold', Uint8Array.of(count))
  }

  /** Runs a script. @param happens  while `cp` waits, for the first time as `turn` 1 */
  async run(
    script: string,
    to: string,
    happens: (turn: number) => void | Promise<void> = this.writeOn,
  ): Promise<Ended> {
    const ended = run(script, [this.file, to], this.bin)
    for (let turn = 1; turn <= this.#times; turn++) {
      await until(() => this.asked() >= turn)
      await happens(turn)
      writeFileSync(pathOf(this.bin, `go-${turn}`), '')
    }
    return ended
  }

  /** The hub is closed: its log goes into the file. */
  close = (): void => this.#store.close()

  /** Another write, and so many more that the log begins anew. */
  writeOn = async (turn: number): Promise<void> => {
    await this.put(turn + 1)
    const began = this.#marks()
    for (let at = 1; this.#marks() === began; at++) {
      // Another each time, for SQLite writes no page that stays as it was.
      await put(this.#store, 'filler', new Uint8Array(50_000).fill(at))
    }
  }

  /** How often the file was copied. */
  asked(): number {
    const path = pathOf(this.bin, 'asked')
    return existsSync(path) ? statSync(path).size : 0
  }

  #marks(): string {
    return readFileSync(`${this.file}-wal`).subarray(0, 32).toString('hex')
  }
}

function coldIn(file: string): number | undefined {
  const store = openSqliteStore(file)
  try {
    return recordOf(store, 'cold')?.value[0]
  } finally {
    store.close()
  }
}

test.concurrent(`each of ${COPIES} copies has all that was acknowledged before it, and no half of a write (AP-15)`, async (context) => {
  const writer = new Writer(context)
  await until(() => writer.last > 30)
  const bin = hastily()
  for (let at = 0; at < COPIES; at++) {
    const { last } = writer
    const to = `${writer.file}-${at}`
    // Its log begins anew many times a second, so the script may well give up.
    while ((await run(SCRIPT, [writer.file, to], bin)).code !== 0) continue
    expect(await wrongIn(pathOf(to, 'hub.db'), last)).toEqual([])
  }
})

test.concurrent('a log that begins anew between the two files is seen, and both are copied again (AP-15)', async (context) => {
  const slow = new Slowly(1, context)
  await slow.put(1)
  const to = `${slow.file}-copy`
  expect(await slow.run(SCRIPT, to)).toEqual({ code: 0, told: '' })
  expect([slow.asked(), coldIn(pathOf(to, 'hub.db'))]).toEqual([2, 2])
})

test.concurrent('a hub that is closed between the two files has one file, which is copied again (AP-15)', async (context) => {
  const slow = new Slowly(1, context)
  await slow.put(3)
  const to = `${slow.file}-copy`
  const { code, told } = await slow.run(SCRIPT, to, slow.close)
  expect([code, readdirSync(to)]).toEqual([0, ['hub.db']])
  expect(told).toContain('hub.db-wal')
  expect(coldIn(pathOf(to, 'hub.db'))).toBe(3)
})

test.concurrent('where a copy finds no room it ends at once with what cp says, and nothing half is left (AP-15)', async (context) => {
  const slow = new Slowly(0, context)
  await slow.put(1)
  const full = `#!/bin/sh\necho "cp: No space left on device" >&2; exit 1`
  writeFileSync(pathOf(slow.bin, 'cp'), full)
  const to = `${slow.file}-copy`
  const { code, told } = await run(SCRIPT, [slow.file, to], slow.bin)
  expect([code, told.split('\n')]).toEqual([
    1,
    ['cp: No space left on device', `${slow.file} could not be copied`, ''],
  ])
  expect(existsSync(to)).toBe(false)
})

test.concurrent('planted: a script that does not look loses what was acknowledged (AP-15)', async (context) => {
  const careless = pathOf(base, 'careless.sh')
  const text = readFileSync(SCRIPT, 'utf8')
  const check = '[ "$ended" != "$began" ] || exit 0'
  expect(text).toContain(check)
  writeFileSync(careless, text.replace(check, 'exit 0'))
  const slow = new Slowly(1, context)
  await slow.put(1)
  const wrong = `${slow.file}-wrong`
  expect(await slow.run(careless, wrong)).toEqual({ code: 0, told: '' })
  expect(coldIn(pathOf(wrong, 'hub.db'))).not.toBe(2)
})

test.concurrent('a file that never stands still long enough is said to be so, and leaves no copy (AP-15)', async (context) => {
  const slow = new Slowly(8, context)
  await slow.put(1)
  const { code, told } = await slow.run(SCRIPT, `${slow.file}-copy`)
  expect([code, told]).toEqual([1, expect.stringContaining('stop the hub')])
  expect(existsSync(`${slow.file}-copy`)).toBe(false)
})

test.concurrent('a hub that is closed or was killed is copied too; a folder that is there is left alone (AP-15)', async (context) => {
  const writer = new Writer(context)
  await until(() => writer.last > 30)
  await writer.kill()
  const { last } = writer
  const killed = `${writer.file}-killed`
  expect(await run(SCRIPT, [writer.file, killed])).toEqual({ code: 0, told: '' })
  const modes = readdirSync(killed).map((name) => statSync(pathOf(killed, name)).mode & 0o77)
  expect(modes).toEqual([0, 0])
  // Opened and closed: its log is gone into it.
  openSqliteStore(writer.file).close()
  const closed = `${writer.file}-closed`
  expect(await run(SCRIPT, [writer.file, closed])).toEqual({ code: 0, told: '' })
  expect(readdirSync(closed)).toEqual(['hub.db'])
  for (const copy of [killed, closed])
    expect(await wrongIn(pathOf(copy, 'hub.db'), last)).toEqual([])
  expect((await run(SCRIPT, [writer.file, closed])).code).not.toBe(0)
  expect((await run(SCRIPT, [`${writer.file}-none`, `${closed}-none`])).code).not.toBe(0)
})

const add = action('add', (table, by: number) => {
  table.set('pins', Number(table.get('pins') ?? 0) + by)
  return table.get('pins') as number
})

test.concurrent('a hub that starts on the copy has the kept room as it was acknowledged then (AP-15)', async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(pathOf(base, 'hub-'))
  const restored = pathOf(base, 'restored')
  const hubs: HubProcess[] = []
  onTestFinished(async () => void (await Promise.all(hubs.map((hub) => hub.kill('SIGKILL')))))
  const hub = await startHubIn(folder)
  hubs.push(hub)
  const wish = { game: 'garden', room: 'friday', types: [add], keepRoom: '30d', udp: null } as const
  const ada = await join({ ...wish, server: hub.url, name: 'Ada' })
  await until(() => ada.safety === 'kept')
  expect(await ada.act(add, 5)).toEqual({ ok: true, value: 5 })
  expect(await run(SCRIPT, [pathOf(folder, 'hub.db'), restored])).toEqual({ code: 0, told: '' })
  expect(await ada.act(add, 2)).toEqual({ ok: true, value: 7 })
  const { token, me } = ada
  await ada.leave()
  const elsewhere = pathOf(base, 'elsewhere')
  mkdirSync(elsewhere)
  cpSync(restored, elsewhere, { recursive: true })
  const other = await startHubIn(elsewhere)
  hubs.push(other)
  const again = await join({ ...wish, server: other.url, name: 'Ada', token })
  expect([again.me.player, again.table.get('pins')]).toEqual([me.player, 5])
  await until(() => again.safety === 'kept')
  expect(await again.act(add, 1)).toEqual({ ok: true, value: 6 })
  await again.leave()
})
