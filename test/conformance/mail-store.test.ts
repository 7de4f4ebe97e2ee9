// Goal: the stores of a mailbox keep to one contract, and lose nothing that they said they had.
// Method: one suite for all; then what a disk would have at any moment that forgets what was not
// synced, SIGKILL, damage, a full disk.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { MailChange, MailStore } from '../../packages/holdfast/src/ports.ts'
import {
  acked,
  bound,
  bytes,
  CLAIMS,
  commit,
  contentOf,
  heard,
  KEEPS,
  posted,
} from './mail-store.ts'
import { Disk, type Step, stepsOf, withImage } from './disk-trace.ts'
import { noPreload, preload } from './preload.ts'
import { dice } from './until.ts'

const MODULE = new URL(
  '../../packages/holdfast/dist/mailbox/src/drivers/mail-sqlite.js',
  import.meta.url,
)
const WRITER = fileURLToPath(new URL('mail-writer.js', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'holdfast-mail-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const freshFile = (): string => join(folder, `${++files}.db`)

function complaint(file: string): string {
  try {
    const store = openMailSqlite(file)
    try {
      contentOf(store)
    } finally {
      store.close()
    }
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'store') return error.message
    throw error
  }
  return 'no error'
}

describe('memory', () => {
  for (const [name, claim] of Object.entries(CLAIMS)) {
    test(`${name}`, () => claim(() => Promise.resolve(createMailMemory())))
  }
})

describe('SQLite', () => {
  for (const [name, claim] of Object.entries({ ...CLAIMS, ...KEEPS })) {
    test(`${name}`, () => {
      const file = freshFile()
      return claim(() => Promise.resolve().then(() => openMailSqlite(file)))
    })
  }
})

/** Commits of every kind, some large, so that the journal is written back in between. */
function plan(count: number): MailChange[][] {
  const commits: MailChange[][] = []
  let n = 0
  for (let at = 1; at <= count; at++) {
    const large = at % 4 === 0 ? 6_000 : 10
    const letters = at % 3 === 0 ? 3 : 1
    const changes: MailChange[] = [heard('eve', at)]
    for (let i = 0; i < letters; i++) changes.push(posted('bob', ++n, `${n} `.repeat(large / 4)))
    changes.push({ kind: 'set', key: `k${at % 5}`, value: bytes(`${at}`) })
    if (at % 7 === 0)
      changes.push({ kind: 'dead', peer: 'eve', n: at, body: bytes('x'), why: 'no' })
    if (at % 10 === 0) changes.push(acked('bob', n - 5, 100))
    commits.push(changes)
  }
  return commits
}

/** What a store has after each commit of a plan, nothing first. */
async function contents(commits: readonly MailChange[][]): Promise<string[]> {
  const store = createMailMemory()
  const found = [contentOf(store)]
  for (const changes of commits) {
    await commit(store, changes)
    found.push(contentOf(store))
  }
  return found
}

const asText = (commits: readonly MailChange[][]): string =>
  JSON.stringify(commits, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )

describe('a SQLite mailbox, whatever moment the machine stops at,', () => {
  const COMMITS = 12
  const place = join(folder, 'disk')
  const file = join(place, 'mail.db')
  const acks = join(place, 'acks')
  let steps: Step[] = []
  let after: string[] = []

  // What is written and synced is seen by a library that is built here.
  const lacks = noPreload()

  beforeAll(async () => {
    if (lacks !== null) return
    if (!existsSync(MODULE)) throw new Error('run `npx tsc -b` first: child processes need dist/')
    const commits = plan(COMMITS)
    after = await contents(commits)
    mkdirSync(place)
    const shim = preload('discard', folder)
    const trace = join(folder, 'trace')
    writeFileSync(join(folder, 'plan'), asText(commits))
    const words = [WRITER, MODULE.href, 'openMailSqlite', file, join(folder, 'plan'), acks]
    const env = { ...process.env, LD_PRELOAD: shim, TRACE: trace, WATCH: place }
    const child = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
    if (child.status !== 0 || !existsSync(trace)) throw new Error(`the writer: ${child.stderr}`)
    steps = stepsOf(readFileSync(trace))
  })

  /** What is wrong with what such a disk has after so many steps. */
  const wrongAt = (count: number, keeps: (at: number) => boolean): string | null => {
    const disk = new Disk()
    let acked = 0
    for (const step of steps.slice(0, count)) {
      if (step.path === acks) acked = Number(step.data.toString())
      else disk.take(step)
    }
    const image = disk.image(disk.loose.filter((_step, at) => keeps(at)))
    const found = withImage(image, join(folder, `image${count}`), file, (path) => {
      const store = openMailSqlite(path)
      const content = contentOf(store)
      store.close()
      return after.indexOf(content)
    })
    if (found === acked || found === acked + 1) return null
    return `after step ${count} ${acked} commits had returned, the disk has ${found}`
  }

  test('S31: has all that had returned, if it keeps what was synced alone', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const syncs = steps.flatMap(({ what }, at) => (what === 'S' ? [at, at + 1] : []))
    expect(syncs.length).toBeGreaterThan(2 * COMMITS)
    const points = [...syncs, ...steps.flatMap(({ path }, at) => (path === acks ? [at + 1] : []))]
    const wrong = points.map((at) => wrongAt(at, () => false)).filter((why) => why !== null)
    expect(wrong).toEqual([])
  })

  test('S31: and if it keeps all that was written, at every write', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const some = steps.map((_step, at) => at).filter((at) => at % 2 === 0)
    expect(some.map((at) => wrongAt(at, () => true)).filter((why) => why !== null)).toEqual([])
  })

  test('S31: and if chance decides what it keeps', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const wrong: string[] = []
    for (let seed = 1; seed <= 30; seed++) {
      const random = dice(seed)
      const why = wrongAt(random.below(steps.length), () => random.next() < 0.5)
      if (why !== null) wrong.push(`seed ${seed}: ${why}`)
    }
    expect(wrong).toEqual([])
  })

  test('a store that does not sync is caught', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const real = steps
    steps = steps.filter(({ what, path }) => what !== 'S' || !path.endsWith('-wal'))
    const points = steps.flatMap(({ path }, at) => (path === acks ? [at + 1] : []))
    const wrong = points.map((at) => {
      try {
        return wrongAt(at, () => false)
      } catch (error) {
        return String(error)
      }
    })
    steps = real
    expect(wrong.filter((why) => why !== null).length).toBeGreaterThan(COMMITS / 2)
  })
})

describe('a SQLite mailbox', () => {
  const filled = async (count: number): Promise<{ file: string; store: MailStore }> => {
    const file = freshFile()
    const store = openMailSqlite(file)
    for (const changes of plan(count)) await commit(store, changes)
    return { file, store }
  }
  /** As a process that is killed leaves it. */
  const killed = async (count: number): Promise<string> => {
    const { file, store } = await filled(count)
    const copy = freshFile()
    for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(file + end))
    store.close()
    return copy
  }

  test('that was killed opens without a word', async () => {
    const store = openMailSqlite(await killed(30))
    expect(store.repaired).toBe(null)
    expect(contentOf(store)).toBe((await contents(plan(30))).at(-1))
    store.close()
  })

  test('whose journal lost its end says so, and has a whole commit', async () => {
    const after = await contents(plan(30))
    const file = await killed(30)
    truncateSync(`${file}-wal`, readFileSync(`${file}-wal`).length - 1_000)
    const store = openMailSqlite(file)
    expect(store.repaired).toContain('was cut short or damaged: 1 of its pages at the end')
    expect(after.slice(0, -1)).toContain(contentOf(store))
    store.close()
  })

  test('whose journal has a flipped bit says so, and has a whole commit', async () => {
    const after = await contents(plan(30))
    for (let seed = 1; seed <= 20; seed++) {
      const file = await killed(30)
      const journal = readFileSync(`${file}-wal`)
      const random = dice(seed)
      journal[random.below(journal.length)]! ^= 1 << random.below(8)
      writeFileSync(`${file}-wal`, journal)
      const store = openMailSqlite(file)
      expect([seed, store.repaired]).toEqual([seed, expect.stringContaining('left out')])
      expect(after).toContain(contentOf(store))
      store.close()
    }
  })

  test('whose letters were changed on the disk says which', async () => {
    const { file, store } = await filled(30)
    const last = store.letters('bob', 0, 1_000_000).letters.at(-1)!
    store.close()
    const content = readFileSync(file)
    const at = content.lastIndexOf(last.body)
    content[at]! ^= 1
    writeFileSync(file, content)
    expect(complaint(file)).toMatch(/letters \d+ to \d+ for bob were damaged on the disk/)
  })

  test('that was cut short is damaged', async () => {
    const { file, store } = await filled(30)
    store.close()
    truncateSync(file, readFileSync(file).length - 8192)
    expect(complaint(file)).toContain('it is damaged')
  })

  test('of a newer version is refused', () => {
    const file = freshFile()
    openMailSqlite(file).close()
    const newer = new Database(file)
    newer.exec('PRAGMA user_version = 9')
    newer.close()
    expect(complaint(file)).toContain('its layout has version 9, this Holdfast knows 3')
  })

  test('of version 2 is brought up to date: nobody is known by a key yet', async () => {
    const { file, store } = await filled(30)
    const before = contentOf(store)
    store.close()
    const older = new Database(file)
    older.exec('ALTER TABLE mail_heads DROP COLUMN keys; PRAGMA user_version = 2')
    older.close()
    const again = openMailSqlite(file)
    expect(contentOf(again)).toBe(before)
    await commit(again, [bound('bob', 9)])
    again.close()
    const third = openMailSqlite(file)
    expect(third.head('bob')!.key![0]).toBe(9)
    third.close()
  })
})
