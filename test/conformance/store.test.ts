// Slow: each of fifty kills starts a process anew.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  fdatasync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../packages/holdfast/src/drivers/store/memory.ts'
import { openSqliteStore, type Sync } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import { createWorld } from '../../packages/sim/src/world.ts'
import { FaultyStore } from '../hub/faulty-store.ts'
import { noSmallDisk, PLACE, smallDisk } from './small-disk.ts'
import { cas, got, put, recordOf, storeConformance } from './store.ts'
import { playHistories } from './store-histories.ts'
import { storeKills } from './store-kill.ts'
import { dice, turn } from './until.ts'

const MODULE = new URL(
  '../../packages/holdfast/dist/holdfast/src/drivers/store/sqlite.js',
  import.meta.url,
)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const freshFile = (): string => join(folder, `${++files}.db`)

storeConformance('memory', () => createMemoryStore, { keep: 'it lives in the process alone' })
storeConformance('SQLite', () => {
  const file = freshFile()
  return () => openSqliteStore(file)
})

function checked(store: Store): Promise<HoldfastError | null> {
  return new Promise((resolve) => store.check(resolve))
}

/** The message of the error, which must be ours. */
function complaint(file: string): string {
  try {
    openSqliteStore(file).close()
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'store') return error.message
    throw error
  }
  return 'no error'
}

storeKills('SQLite', MODULE, 'openSqliteStore', openSqliteStore, freshFile)

describe('random histories', () => {
  const count = 10_000

  test("of a simulated node's disk are linearizable, key by key", async () => {
    const world = createWorld({ seed: 1 })
    const { store } = world.node('a')
    const simulated = async (): Promise<void> => world.runSync(1)
    expect(await playHistories(store, { seed: 2, count, turn: simulated })).toEqual([])
  })

  test('of a store that loses answers and makes changes late are, too', async () => {
    const store = new FaultyStore(createMemoryStore(), { seed: 3, later: setImmediate })
    const settle = async (): Promise<void> => {
      while (store.pending > 0) await turn()
    }
    expect(await playHistories(store, { seed: 4, count, turn, settle })).toEqual([])
    expect(Math.min(...Object.values(store.fates))).toBeGreaterThan(count)
  })

  const random = dice(5)
  // Now and then, for a fault that is always there is no art to find.
  const seldom = (): boolean => random.below(50) === 0
  const planted: Record<string, (store: Store) => Partial<Store>> = {
    'a change that was made is answered by a conflict': (store) => ({
      cas: (change, done) => {
        store.cas(change, (outcome) => done(seldom() ? 'conflict' : outcome))
      },
    }),
    'a change conflicts with none': (store) => ({
      cas: (change, done) => {
        if (seldom()) queueMicrotask(() => done('conflict'))
        else store.cas(change, done)
      },
    }),
    'a change is made that names an old revision': (store) => ({
      cas: (change, done) => {
        const { rev } = (seldom() && recordOf(store, change.key)) || change
        store.cas({ ...change, rev }, done)
      },
    }),
    'a change is answered and not made': (store) => ({
      cas: (change, done) => {
        if (seldom() && change.rev > 0) queueMicrotask(() => done({ rev: change.rev + 100_000 }))
        else store.cas(change, done)
      },
    }),
    'a get is stale': (store) => {
      const old = new Map<string, ReturnType<typeof recordOf>>()
      return {
        get: (key, done) => {
          if (!old.has(key)) old.set(key, recordOf(store, key))
          const found = seldom() ? old.get(key)! : recordOf(store, key)
          queueMicrotask(() => done(found))
        },
      }
    },
    'a record comes without its blob': (store) => ({
      cas: (change, done) => {
        store.cas(seldom() ? { ...change, blobs: [] } : change, done)
      },
    }),
    'a change that conflicts makes its blob': (store) => ({
      cas: (change, done) => {
        if (seldom()) {
          const other = { ...change, key: `other ${change.key}`, rev: 0 }
          store.cas(other, () => store.cas(change, done))
        } else store.cas(change, done)
      },
    }),
  }
  test.each(Object.entries(planted))('tell a planted fault: %s', async (_name, fault) => {
    const memory = createMemoryStore()
    const store: Store = {
      entries: () => memory.entries(),
      blobs: (key, names, done) => memory.blobs(key, names, done),
      get: (key, done) => memory.get(key, done),
      cas: (change, done) => memory.cas(change, done),
      check: (done) => memory.check(done),
      close: () => memory.close(),
      ...fault(memory),
    }
    expect(await playHistories(store, { seed: 6, count, turn })).not.toEqual([])
  })
})

describe('a SQLite store', () => {
  test('in use by another process names that process', async () => {
    const file = freshFile()
    const script = `import('${MODULE.href}').then((m) => {
      const change = { key: 'a', rev: 0, value: new Uint8Array(1), blobs: [] }
      m.openSqliteStore(process.argv[1]).cas(change, () => console.log('open'))
      setInterval(() => {}, 1000)
    })`
    const child = spawn(process.execPath, ['-e', script, file])
    const lines = createInterface({ input: child.stdout })
    await new Promise((resolve) => lines.once('line', resolve))
    expect(complaint(file)).toBe(
      `the data file ${file} cannot be used: it is in use by process ${child.pid}; ` +
        'stop that, or choose another file',
    )
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    const store = openSqliteStore(file)
    expect([...store.entries()]).toHaveLength(1)
    expect(complaint(file)).toContain('in use by this process')
    // A second attempt in one process must not release the lock of the first.
    const other = spawnSync(process.execPath, ['-e', script, file], { encoding: 'utf8' })
    expect(other.stderr).toContain(`in use by process ${process.pid}`)
    store.close()
  })

  test("stays this process's own when its file is read here too (MB-7)", async () => {
    const file = freshFile()
    const store = openSqliteStore(file)
    await put(store, 'a', Uint8Array.of(1))
    // To close any descriptor of a file gives back all locks that the process has on it.
    copyFileSync(file, `${file}.copy`)
    readFileSync(file)
    const script = `import('${MODULE.href}').then((m) => m.openSqliteStore(process.argv[1]))`
    const other = spawnSync(process.execPath, ['-e', script, file], { encoding: 'utf8' })
    expect(other.stderr).toContain(`in use by process ${process.pid}`)
    await put(store, 'b', Uint8Array.of(2))
    store.close()
  })

  test('syncs once for the changes of one turn, and not at all for a check (SE-10)', async () => {
    let syncs = 0
    const sync: Sync = (descriptor, done) => {
      syncs += 1
      fdatasync(descriptor, done)
    }
    const store = openSqliteStore(freshFile(), { sync })
    const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`)
    await Promise.all(keys.map((key) => put(store, key, Uint8Array.of(1), [[key, null]])))
    expect(syncs).toBe(1)
    for (let i = 0; i < 3; i++) expect(await checked(store)).toBe(null)
    expect(syncs).toBe(1)
    // Those that come during a write go into the next one.
    const first = put(store, 'key 0', Uint8Array.of(2))
    while (syncs === 1) await turn()
    await Promise.all([first, ...keys.slice(1).map((key) => put(store, key, null))])
    expect(syncs).toBe(3)
    store.close()
  })

  test('a get does not see what is not durable yet (SE-5)', async () => {
    const waiting: (() => void)[] = []
    const sync: Sync = (descriptor, done) => {
      waiting.push(() => fdatasync(descriptor, done))
    }
    const store = openSqliteStore(freshFile(), { sync })
    const heard: string[] = []
    const change = { key: 'a', rev: 0, value: Uint8Array.of(1), blobs: [] }
    store.cas(change, () => heard.push('made'))
    while (waiting.length === 0) await turn()
    store.get('a', (found) => heard.push(found && 'rev' in found ? 'found' : 'none'))
    for (let i = 0; i < 10; i++) await turn()
    expect(heard).toEqual([])
    waiting[0]!()
    while (heard.length < 2) await turn()
    expect(heard).toEqual(['made', 'found'])
    store.close()
  })

  test('in a missing folder says which', () => {
    const file = join(folder, 'no', 'such', 'hub.db')
    expect(complaint(file)).toContain(`the folder ${join(folder, 'no', 'such')} does not exist`)
  })

  test('that is a folder, or lies in a file, is told apart', () => {
    expect(complaint(folder)).toContain('this is not a file')
    const file = freshFile()
    writeFileSync(file, '')
    expect(complaint(join(file, 'hub.db'))).toContain(`the folder ${file} does not exist`)
  })

  test('leaves alone a file that is not SQLite', () => {
    for (const content of ['x', 'my diary\n'.repeat(1000), '\0'.repeat(4096), 'SQLite format 3']) {
      const file = freshFile()
      writeFileSync(file, content)
      expect(complaint(file)).toContain('it was not made by Holdfast')
      expect(readFileSync(file, 'utf8')).toBe(content)
    }
  })

  test('leaves alone an SQLite file of another program', () => {
    for (const sql of ['CREATE TABLE notes (text)', 'PRAGMA application_id = 7']) {
      const file = freshFile()
      const other = new Database(file)
      other.exec(`PRAGMA journal_mode = WAL; ${sql}`)
      other.close()
      const before = readFileSync(file)
      expect(complaint(file)).toContain('it was not made by Holdfast')
      expect(Buffer.compare(readFileSync(file), before)).toBe(0)
      expect(existsSync(`${file}-pid`)).toBe(false)
    }
  })

  test('of a newer version says both versions', () => {
    const file = freshFile()
    openSqliteStore(file).close()
    const newer = new Database(file)
    newer.exec('PRAGMA user_version = 7')
    newer.close()
    expect(complaint(file)).toContain('its layout has version 7, this Holdfast knows 2')
  })

  test('whose pages were overwritten is damaged', async () => {
    const file = freshFile()
    const store = openSqliteStore(file)
    for (let i = 0; i < 200; i++) await put(store, `key ${i}`, new Uint8Array(500))
    store.close()
    const damage = `const fs = require('node:fs'); const fd = fs.openSync(process.argv[1], 'r+')
      for (let at = 4096; at < fs.fstatSync(fd).size; at += 4096)
        fs.writeSync(fd, Buffer.alloc(4096, 0xab), 0, 4096, at)`
    spawnSync(process.execPath, ['-e', damage, file])
    // The second time finds it free.
    for (let i = 0; i < 2; i++) expect(complaint(file)).toContain('it is damaged')
  })

  test('after a sync that failed it writes nothing more, and says why (SE-5)', async () => {
    const file = freshFile()
    let fails = false
    const sync: Sync = (descriptor, done) => {
      if (fails) done(new Error('EIO'))
      else fdatasync(descriptor, done)
    }
    const store = openSqliteStore(file, { sync })
    const rev = await put(store, 'a', Uint8Array.of(1))
    fails = true
    const place =
      /file \d+[.]db cannot be used: a sync failed \(EIO\), so what the disk holds is not known/
    const found = got(store, 'a')
    await expect(put(store, 'b', Uint8Array.of(2))).rejects.toThrow(place)
    expect(await found).toEqual({ value: Uint8Array.of(1), rev })
    fails = false
    await expect(cas(store, 'c', 0, Uint8Array.of(3))).rejects.toThrow(place)
    for (const told of [await checked(store), await got(store, 'b'), await got(store, 'a')]) {
      expect(told).toMatchObject({ message: expect.stringMatching(place) as string })
    }
    store.close()
    const again = openSqliteStore(file)
    expect([...again.entries()].map(([key]) => key)).toContain('a')
    again.close()
  })

  test.each(['deleted', 'moved'])(
    'whose file was %s changes nothing more (SE-21)',
    async (what) => {
      const file = freshFile()
      const store = openSqliteStore(file)
      await put(store, 'a', Uint8Array.of(1))
      if (what === 'moved') renameSync(file, `${file}.elsewhere`)
      else rmSync(file)
      const place = /it was deleted or moved while it was open; bring it back, then start anew/
      expect(await checked(store)).toMatchObject({
        message: expect.stringMatching(place) as string,
      })
      await expect(put(store, 'b', Uint8Array.of(2))).rejects.toThrow(place)
      store.close()
    },
  )

  test('on a full disk keeps nothing of a write, and goes on once there is space (SE-5)', async (context) => {
    const why = noSmallDisk()
    if (why !== null) context.skip(why) // needs mount namespaces
    const disk = await smallDisk('1m')
    context.onTestFinished(() => disk.close())
    const script = `
      const fs = require('node:fs')
      import('${MODULE.href}').then(async (m) => {
        const store = m.openSqliteStore('${PLACE}/hub.db')
        const toldOf = ({ message = 'made' }) => message.replace(/.*(?=the disk)/, '')
        const cas = (key, size) => new Promise((done) => {
          const blobs = [[key, new Uint8Array(size)]]
          const change = { key, rev: 0, value: new Uint8Array(1), blobs }
          store.cas(change, (outcome) => done(toldOf(outcome)))
        })
        const check = () => new Promise((done) => store.check((error) => done(toldOf(error ?? {}))))
        const tell = async (...answers) => console.log((await Promise.all(answers)).join(', '))
        await tell(cas('a', 1))
        try { for (;;) fs.appendFileSync('${PLACE}/filler', Buffer.alloc(512)) } catch {}
        await tell(cas('b', 1), cas('c', 100_000))
        await tell(check())
        fs.rmSync('${PLACE}/filler')
        await tell(check(), cas('d', 1))
        const [b] = await new Promise((done) => store.blobs('b', ['b'], done))
        console.log([...store.entries()].map(([key]) => key).join(), b)
        store.close()
      })`
    const child = disk.start(process.execPath, ['-e', script])
    const told: string[] = []
    createInterface({ input: child.stdout! }).on('line', (line) => told.push(line))
    await new Promise((resolve) => child.once('close', resolve))
    const full = 'the disk is full; nothing of this write was kept'
    expect(told).toEqual(['made', `${full}, ${full}`, full, 'made, made', 'a,d null'])
  })

  test('its log goes into the database each megabyte, synced in that order (SE-5)', async () => {
    const file = freshFile()
    const synced: number[] = []
    const sync: Sync = (descriptor, done) => {
      synced.push(descriptor)
      fdatasync(descriptor, done)
    }
    const store = openSqliteStore(file, { sync })
    const value = new Uint8Array(60_000)
    for (let i = 0; i < 60; i++) await put(store, `key ${i % 7}`, value.fill(i))
    const [log] = synced
    const database = synced.filter((one) => one !== log)
    expect(new Set(database).size).toBe(1)
    expect(database.length).toBe(3)
    // The log has grown no longer than two rounds of it need.
    expect(statSync(`${file}-wal`).size).toBeLessThan(2 * 1024 * 1024)
    // What a machine that lost its power now would find is what was acknowledged.
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${file}.copy${end}`)
    const copy = openSqliteStore(`${file}.copy`)
    const values = [...copy.entries()].map(([key, { value: bytes }]) => `${key}: ${bytes[0]}`)
    expect(values).toEqual([56, 57, 58, 59, 53, 54, 55].map((last, i) => `key ${i}: ${last}`))
    copy.close()
    store.close()
  })

  test('says once what is under way when it is closed', async () => {
    const store = openSqliteStore(freshFile())
    const heard: unknown[] = []
    const hear = (answer: unknown): void => void heard.push(answer)
    const change = { key: 'a', rev: 0, value: Uint8Array.of(1), blobs: [] }
    store.cas(change, hear)
    while (recordOf(store, 'a') === null) await turn()
    store.cas({ ...change, key: 'b' }, hear)
    store.get('a', hear)
    store.blobs('a', ['a'], hear)
    store.check(hear)
    store.close()
    for (let i = 0; i < 10; i++) await turn()
    expect(heard.map(String)).toEqual(
      heard.map(() => expect.stringContaining('it was closed before it had answered') as string),
    )
    expect(heard).toHaveLength(5)
  })

  test('an empty file becomes a store', () => {
    const file = freshFile()
    writeFileSync(file, '')
    expect(complaint(file)).toBe('no error')
  })

  test('on a disk that cannot be written says so', () => {
    const place = join(folder, 'read-only')
    mkdirSync(place)
    chmodSync(folder, 0o755)
    chmodSync(place, 0o555)
    const script = `import('${MODULE.href}').then((m) => m.openSqliteStore(process.argv[1]))`
    // Root may write anywhere, so root looks through the eyes of nobody.
    const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const path = join(place, 'hub.db')
    const child = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', ...who })
    expect(child.stderr).toContain(`${path} cannot be used: it cannot be written (EACCES)`)
  })

  test('does not take a name for an order to SQLite', () => {
    const before = process.cwd()
    process.chdir(folder)
    for (const name of [':memory:', 'file:hub.db?mode=memory']) openSqliteStore(name).close()
    process.chdir(before)
    expect(existsSync(join(folder, ':memory:'))).toBe(true)
    expect(existsSync(join(folder, 'file:hub.db?mode=memory'))).toBe(true)
  })
})
