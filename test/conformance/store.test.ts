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
import { openSqliteStore } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import { storeConformance, written } from './store.ts'
import { storeKills } from './store-kill.ts'

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

describe('a SQLite store', () => {
  test('in use by another process names that process', async () => {
    const file = freshFile()
    const script = `import('${MODULE.href}').then((m) => {
      m.openSqliteStore(process.argv[1]).write([['a', new Uint8Array(1)]], () => {
        console.log('open')
      })
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
    await written(store, [['a', Uint8Array.of(1)]])
    // To close any descriptor of a file gives back all locks that the process has on it.
    copyFileSync(file, `${file}.copy`)
    readFileSync(file)
    const script = `import('${MODULE.href}').then((m) => m.openSqliteStore(process.argv[1]))`
    const other = spawnSync(process.execPath, ['-e', script, file], { encoding: 'utf8' })
    expect(other.stderr).toContain(`in use by process ${process.pid}`)
    await written(store, [['b', Uint8Array.of(2)]])
    store.close()
  })

  test('syncs nothing for a write of nothing', async () => {
    let syncs = 0
    const store = openSqliteStore(freshFile(), (descriptor, done) => {
      syncs += 1
      fdatasync(descriptor, done)
    })
    await written(store, [['a', Uint8Array.of(1)]])
    const before = syncs
    expect(before).toBeGreaterThan(0)
    for (let i = 0; i < 3; i++) await written(store, [])
    expect(syncs).toBe(before)
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
    expect(complaint(file)).toContain('its layout has version 7, this Holdfast knows 1')
  })

  test('whose pages were overwritten is damaged', async () => {
    const file = freshFile()
    const store = openSqliteStore(file)
    for (let i = 0; i < 200; i++) await written(store, [[`key ${i}`, new Uint8Array(500)]])
    store.close()
    const damage = `const fs = require('node:fs'); const fd = fs.openSync(process.argv[1], 'r+')
      for (let at = 4096; at < fs.fstatSync(fd).size; at += 4096)
        fs.writeSync(fd, Buffer.alloc(4096, 0xab), 0, 4096, at)`
    spawnSync(process.execPath, ['-e', damage, file])
    const damaged = openSqliteStore(file)
    expect(() => damaged.entries()).toThrow(/it is damaged/)
    damaged.close()
  })

  test('after a sync that failed it writes nothing more, and says why (SE-5)', async () => {
    const file = freshFile()
    let fails = false
    const store = openSqliteStore(file, (descriptor, done) => {
      if (fails) done(new Error('EIO'))
      else fdatasync(descriptor, done)
    })
    await written(store, [['a', Uint8Array.of(1)]])
    fails = true
    const place = /[.]db cannot be used: a sync failed \(EIO\), so what the disk holds is not known/
    await expect(written(store, [['b', Uint8Array.of(2)]])).rejects.toThrow(place)
    fails = false
    await expect(written(store, [['c', Uint8Array.of(3)]])).rejects.toThrow(place)
    store.close()
    const again = openSqliteStore(file)
    expect([...again.entries()].map(([key]) => key)).toContain('a')
    again.close()
  })

  test('its log goes into the database each megabyte, synced in that order (SE-5)', async () => {
    const file = freshFile()
    const synced: number[] = []
    const store = openSqliteStore(file, (descriptor, done) => {
      synced.push(descriptor)
      fdatasync(descriptor, done)
    })
    const value = new Uint8Array(60_000)
    for (let i = 0; i < 60; i++) await written(store, [[`key ${i % 7}`, value.fill(i)]])
    const [log] = synced
    const database = synced.filter((one) => one !== log)
    expect(new Set(database).size).toBe(1)
    expect(database.length).toBe(3)
    // The log has grown no longer than two rounds of it need.
    expect(statSync(`${file}-wal`).size).toBeLessThan(2 * 1024 * 1024)
    // What a machine that lost its power now would find is what was acknowledged.
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${file}.copy${end}`)
    const copy = openSqliteStore(`${file}.copy`)
    const values = [...copy.entries()].map(([key, bytes]) => `${key}: ${bytes[0]}`)
    expect(values).toEqual([56, 57, 58, 59, 53, 54, 55].map((last, i) => `key ${i}: ${last}`))
    copy.close()
    store.close()
  })

  test('says once that a write is under way when it is closed', async () => {
    const store = openSqliteStore(freshFile())
    const write = written(store, [['a', Uint8Array.of(1)]])
    store.close()
    await expect(write).rejects.toThrow('it was closed before it had answered')
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
